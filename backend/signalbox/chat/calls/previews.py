"""Previews of calls: the strings that a tool names as previewed, while the model still writes the call."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import UNSET, Struct, json
from msgspec.structs import replace

from signalbox.chat.calls.assembly import OpenCall
from signalbox.chat.calls.execution import without_namespace
from signalbox.chat.calls.repair import RepairedCall
from signalbox.chat.calls.streamed_arguments import SafePrefix
from signalbox.chat.calls.string_reader import StringReader, choice_of, string_at
from signalbox.core.events import AnyEvent, Preview
from signalbox.core.messages import JsonObject

# All frames of a run that writes a file of 60 kB have at most 1.2 times its size. The bytes that previews add to their
# text, as frames and by escapes, are at most this many and this share of the text: the smaller sum of the two. So a
# short file appears in smaller pieces than the end of a long one. A long piece never waits.
_SHORT_FILE = (1_200, 0.25)
_LONG_FILE = (3_000, 0.09)
_LONG_PIECE = 4_096
# `data: {"type":"preview","id":"123456789","text":""}`, the line with the id, and the blank line.
_FRAME = 100
_KEY, _NAME = len(',"key":""'), len(',"name":"","step":1')

_encode = json.Encoder().encode


class _Waiting(Struct):
    """The text of one key that is not emitted yet: `size` in bytes, and the bytes that its JSON escapes add."""

    key: str
    texts: list[str] = []
    size: int = 0
    escapes: int = 0

    def add(self, text: str) -> None:
        size = len(text) if text.isascii() else len(text.encode())
        self.texts.append(text)
        self.size += size
        self.escapes += len(_encode(text)) - 2 - size


class _PreviewedCall(Struct):
    """One call.

    `unread` are arguments that arrived before the call's name. `id` and `name` are set with the first preview. `shown`
    are the emitted texts by key; `sent` and `added` are their size, and the bytes that their frames add.
    """

    call: OpenCall
    prefix: SafePrefix
    unread: list[str] = []
    reader: StringReader | None = None
    waiting: list[_Waiting] = []
    name: str = ""
    id: str = ""
    last_key: str = ""
    shown: dict[str, list[str]] = {}
    sent: int = 0
    added: int = 0
    is_over: bool = False


class CallPreviews(Struct):
    """The previews of one reply. `names` are the offered tools, `reserve_id` makes a call's id.

    `previewed` are the pointers to the previewed strings by tool.
    """

    names: frozenset[str]
    previewed: Mapping[str, tuple[str, ...]]
    step: int
    reserve_id: Callable[[], str]
    _calls: dict[int, _PreviewedCall] = {}
    _fed: dict[int, _PreviewedCall] = {}
    _settled: list[AnyEvent] = []

    shows_client_calls = False

    def feed(self, call: OpenCall, text: str) -> None:
        """Take in a piece of a call's arguments."""
        one = self._calls.get(call.slot)
        if one is None:
            one = self._calls[call.slot] = _PreviewedCall(call, SafePrefix())
        if not one.is_over:
            one.unread.append(text)
            self._fed[call.slot] = one

    def events(self) -> list[AnyEvent]:
        """Return the previews that the pieces since the last call of this allow."""
        events: list[AnyEvent] = []
        for one in self._fed.values():
            self._read(one)
            while one.waiting and _may_send(one):
                events.append(self._next_preview(one))
            if one.reader is not None and one.reader.is_wrong:
                events += self._withdraw(one)
        self._fed = {}
        return events

    def shown_id(self, call: OpenCall) -> None:
        """Return no id: a call that starts while the model writes is not previewed."""

    def _read(self, one: _PreviewedCall) -> None:
        """Read what has arrived, if the call's tool is known; other tools' calls are not read."""
        if one.reader is None:
            name = without_namespace(one.call.name, self.names)
            if name not in self.previewed:
                one.is_over = name in self.names
                if one.is_over:
                    one.unread = []
                return
            one.name, one.reader = name, StringReader(choice_of(self.previewed[name]))
        text, one.unread = "".join(one.unread), []
        for piece in one.reader.feed(one.prefix.feed(text)):
            if not one.waiting or one.waiting[-1].key != piece.key:
                one.waiting.append(_Waiting(piece.key))
            one.waiting[-1].add(piece.text)

    def _next_preview(self, one: _PreviewedCall) -> Preview:
        waiting = one.waiting.pop(0)
        one.added += _bytes_added(one, waiting)
        one.sent += waiting.size
        return self._preview(one, waiting.key, "".join(waiting.texts))

    def _preview(self, one: _PreviewedCall, key: str, text: str) -> Preview:
        is_first, is_other = not one.id, key != one.last_key
        if is_first:
            one.id = self.reserve_id()
        one.last_key = key
        one.shown.setdefault(key, []).append(text)
        head = (one.name, self.step) if is_first else (UNSET, UNSET)
        return Preview(one.id, head[0], key if is_other else UNSET, text, head[1])

    def _withdraw(self, one: _PreviewedCall) -> list[AnyEvent]:
        """End the previews of a call; return the event that withdraws them, if there are any."""
        one.is_over, one.unread, one.waiting = True, [], []
        withdrawn = [Preview(one.id, withdrawn=True)] if one.shown else []
        one.shown = {}
        return [*withdrawn]

    def finish(self, slot: int, fixed: Sequence[RepairedCall], *, is_complete: bool) -> list[RepairedCall]:
        """Return the calls of one slot, the first under the id that is shown, with the strings previewed completely.

        A call that turned out to have another name gets another id.
        """
        one = self._calls.get(slot)
        if one is None or not one.id:
            return [*fixed]
        first = fixed[0]
        if without_namespace(first.name, self.names) != one.name:
            return [*fixed]
        rests = None if first.fault is not None else _rests(one.shown, first.arguments)
        if rests is None or not one.shown:
            return [replace(first, id=one.id), *fixed[1:]]
        self._settled += [self._preview(one, key, rest) for key, rest in rests.items() if rest]
        previewed = {key: sum(map(len, texts)) for key, texts in one.shown.items()}
        one.is_over, one.shown = True, {}
        return [replace(first, id=one.id, previewed=previewed), *fixed[1:]]

    def settle(self) -> list[AnyEvent]:
        """Return the rest of the previews of finished calls, and withdraw those of all others."""
        events, self._settled = self._settled, []
        for one in self._calls.values():
            events += self._withdraw(one)
        return events


def _may_send(one: _PreviewedCall) -> bool:
    """Whether the first waiting text is worth a frame."""
    waiting = one.waiting[0]
    text = one.sent + waiting.size
    allowed = min(most + share * text for most, share in (_SHORT_FILE, _LONG_FILE))
    return waiting.size >= _LONG_PIECE or one.added + _bytes_added(one, waiting) <= allowed


def _bytes_added(one: _PreviewedCall, waiting: _Waiting) -> int:
    """Return how many bytes a preview adds to its text."""
    key = 0 if waiting.key == one.last_key else _KEY + len(waiting.key)
    return _FRAME + waiting.escapes + key + (0 if one.id else _NAME + len(one.name))


def _rests(shown: Mapping[str, Sequence[str]], arguments: JsonObject) -> dict[str, str] | None:
    """Return what each shown string lacks of its true value; None if one is no beginning of it."""
    rests: dict[str, str] = {}
    for key, texts in shown.items():
        text, value = "".join(texts), string_at(arguments, key)
        if value is None or not value.startswith(text):
            return None
        rests[key] = value[len(text) :]
    return rests
