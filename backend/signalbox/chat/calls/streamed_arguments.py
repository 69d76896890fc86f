"""Streams the arguments of calls while they arrive: only what surely is a prefix of the call's final arguments."""

import re
from collections.abc import Callable, Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.calls.assembly import OpenCall
from signalbox.chat.calls.execution import without_namespace
from signalbox.chat.calls.repair import RepairedCall
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, ArgumentsDelta
from signalbox.wire.json_text import clean_text

_STRUCTURE = re.compile(r'["{}\[\]]')
_STRING_END = re.compile(r'["\\]')


class SafePrefix(Struct):
    """The part of a call's arguments that no later piece can change, fed piece by piece.

    It begins with the `{` of an object that is not empty, because a leading `{}` may be an artefact (quirk A6). It ends
    with the `}` of that object: what follows belongs to other calls.
    """

    is_closed: bool = False
    _head: str | None = ""
    _depth: int = 0
    _in_string: bool = False
    _is_escaped: bool = False

    def feed(self, text: str) -> str:
        """Return what can be shown with this piece."""
        if self.is_closed:
            return ""
        if self._head is not None:
            text = (self._head + text).lstrip()
            behind = text[1:].lstrip()
            if not behind and text[:1] in ("", "{"):
                self._head = text
                return ""
            self._head = None
            if text[0] != "{" or behind[0] == "}":
                self.is_closed = True
                return ""
        return text[: self._end_of(text)]

    def _end_of(self, text: str) -> int:
        """Scan a piece; return where its part of the object ends."""
        at = 0
        while at < len(text):
            if self._is_escaped:
                self._is_escaped, at = False, at + 1
                continue
            found = (_STRING_END if self._in_string else _STRUCTURE).search(text, at)
            if found is None:
                break
            at = found.end()
            match found[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._is_escaped = True
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
                    if self._depth == 0:
                        self.is_closed = True
                        return at
        return len(text)


class _StreamedCall(Struct):
    """One call. `id` and `name` are set once some of its arguments are shown; the next event shows `waiting`."""

    call: OpenCall
    prefix: SafePrefix
    name: str = ""
    id: str = ""
    waiting: list[str] = []


class StreamedArguments(Struct):
    """The arguments of one reply as they are shown. `names` are the offered tools, `reserve_id` makes a call's id.

    `shown_tools` are the tools whose calls are shown. What a client has seen of a call to one of `client_tools` must
    come true, because the client executes it.
    """

    names: frozenset[str]
    shown_tools: Collection[str]
    client_tools: Collection[str]
    step: int
    reserve_id: Callable[[], str]
    _calls: dict[int, _StreamedCall] = {}
    _fed: dict[int, _StreamedCall] = {}

    def feed(self, call: OpenCall, text: str) -> None:
        """Take in a piece of a call's arguments."""
        streamed = self._calls.get(call.slot)
        if streamed is None:
            streamed = self._calls[call.slot] = _StreamedCall(call, SafePrefix())
        if piece := streamed.prefix.feed(text):
            streamed.waiting.append(piece)
        self._fed[call.slot] = streamed

    def events(self) -> list[AnyEvent]:
        """Return one event per call with arguments that can be shown since the last call of this."""
        events: list[AnyEvent] = [self._event(one) for one in self._fed.values() if self._can_show(one)]
        self._fed = {}
        return events

    def _can_show(self, streamed: _StreamedCall) -> bool:
        """Whether there is something to show; the name may come behind the arguments."""
        if not streamed.waiting:
            return False
        if not streamed.id:
            name = without_namespace(streamed.call.name, self.names)
            if name not in self.shown_tools:
                return False
            streamed.name, streamed.id = name, self.reserve_id()
        return True

    def _event(self, streamed: _StreamedCall) -> ArgumentsDelta:
        text = "".join(streamed.waiting)
        streamed.waiting = []
        return ArgumentsDelta(streamed.id, streamed.name, clean_text(text), self.step)

    @property
    def shows_client_calls(self) -> bool:
        """Whether anything of a call to the client's tool is shown."""
        return any(streamed.id and streamed.name in self.client_tools for streamed in self._calls.values())

    def shown_id(self, call: OpenCall) -> str | None:
        """Return the id under which a call is shown by its present name, None if it is not."""
        streamed = self._calls.get(call.slot)
        return streamed.id or None if streamed is not None and streamed.name == call.name else None

    def finish(self, slot: int, fixed: Sequence[RepairedCall], *, is_complete: bool) -> list[RepairedCall]:
        """Return the calls of one slot, the first under the id that is shown.

        A call to our tool that turned out to have another name gets another id. Raises UpstreamError if its step
        is complete, and a call to the client's tool turned out otherwise than it is shown.
        """
        streamed = self._calls.get(slot)
        if streamed is None or not streamed.id:
            return [*fixed]
        first = fixed[0]
        has_its_name = without_namespace(first.name, self.names) == streamed.name
        if streamed.name in self.client_tools:
            is_same = has_its_name and first.fault is None and streamed.prefix.is_closed
            if is_complete and not is_same:
                raise UpstreamError(Code.MALFORMED_CALL)
        elif not has_its_name:
            return [*fixed]
        return [replace(first, id=streamed.id), *fixed[1:]]
