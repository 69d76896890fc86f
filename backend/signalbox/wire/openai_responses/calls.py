"""Function calls of one response: their arguments arrive in pieces, and again as a whole."""

from msgspec import Struct

from signalbox.core.messages import JsonObject
from signalbox.core.parts import CallDelta, StreamPart
from signalbox.wire.openai_responses.fields import text_of


class _Call(Struct):
    """One call; `pieces` are its arguments so far."""

    index: int
    id: str
    name: str
    pieces: list[str]


class Calls:
    """Emits each call once: pieces as they arrive, and from the finished item only what is missing.

    A call is found by the position of its item in the output. Its id cannot be used: some servers send another item id
    in each event.
    """

    def __init__(self) -> None:
        self._at: dict[int, _Call] = {}
        self._count = 0

    def __len__(self) -> int:
        """How many calls there are."""
        return self._count

    def add(self, item: JsonObject, at: int, out: list[StreamPart]) -> None:
        """Open a call; arguments of an item that has just been added are ignored, because they arrive again."""
        self._open(item, at, out)

    def piece(self, at: int, piece: str, out: list[StreamPart]) -> None:
        """Append a piece of arguments to the call at this position."""
        call = self._at.get(at)
        if call is None:
            call = self._open({}, at, out)
        call.pieces.append(piece)
        if piece:
            out.append(CallDelta(call.index, arguments=piece))

    def finish(self, item: JsonObject, at: int, out: list[StreamPart]) -> None:
        """Append what the finished item has and the pieces had not.

        If the arguments differ from the pieces, the item counts: it is what the next request contains, and the
        upstream rejects a call that differs (recorded: flue-v0-8-latest).
        """
        call_id, arguments = text_of(item.get("call_id")), text_of(item.get("arguments"))
        call = self._at.pop(at, None)
        if call is None or (call.id and call_id and call.id != call_id):
            call = self._open(item, at, out)
            del self._at[at]
        elif (call_id and not call.id) or not call.name:
            out.append(CallDelta(call.index, call_id or None, text_of(item.get("name")) or None))
        written = "".join(call.pieces)
        if arguments.startswith(written):
            if rest := arguments[len(written) :]:
                out.append(CallDelta(call.index, arguments=rest))
        elif arguments:
            out.append(CallDelta(call.index, arguments=arguments, whole=True))

    def _open(self, item: JsonObject, at: int, out: list[StreamPart]) -> _Call:
        call = _Call(self._count, text_of(item.get("call_id")), text_of(item.get("name")), [])
        self._at[at] = call
        self._count += 1
        out.append(CallDelta(call.index, call.id or None, call.name or None))
        return call
