"""The fast path, for deltas that differ only in their piece, as nearly all events of one block do.

The first delta of a run of them shows the bytes before its piece. In events that begin with the same bytes, only the
pieces are decoded: all pieces of a read as one list, or one piece as one string. Anthropic pads events with spaces
before the last brace, a different number in each, so the bytes after the piece are compared without spaces.
"""

import re
from functools import lru_cache
from secrets import token_hex

import msgspec
from msgspec import Struct, field

# The fields of a delta in Anthropic's order. Servers with another order take the slow path.
_DELTA = re.compile(
    rb'\{"type": ?"content_block_delta", ?"index": ?(\d{1,4}), ?"delta": ?'
    rb'\{"type": ?"(?:(text)_delta", ?"text|(thinking)_delta", ?"thinking|input_json_delta", ?"(partial_json))": ?"'
)
# A JSON string without line ends, and what follows it.
_REST = rb'("[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+")\} *\} *\n\n'
_AFTER = frozenset(b"}%b}\n\n" % (b" " * spaces) for spaces in range(64))
_BORDER = b"\n\n"
# Random, so that no provider can send this field elsewhere in an event.
_KEY = token_hex(4)
_EVENT = f'{{"{_KEY}":{{"{_KEY}":'.encode()
_FIRST, _NEXT = b"[" + _EVENT, b"," + _EVENT
_NOT_STRINGS = (msgspec.MsgspecError, UnicodeDecodeError)
_read_text = msgspec.json.Decoder(str).decode
_read_texts = msgspec.json.Decoder(list[str]).decode


class _Delta(Struct, forbid_unknown_fields=True, gc=False):
    piece: str = field(name=_KEY)


class _Event(Struct, forbid_unknown_fields=True, gc=False):
    delta: _Delta = field(name=_KEY)


_read_events = msgspec.json.Decoder(list[_Event]).decode


class SimilarDeltas(Struct, frozen=True):
    """The deltas of one field of one block, as patterns of their bytes."""

    index: int
    field: str
    before: bytes
    one: "re.Pattern[bytes]"
    several: "re.Pattern[bytes]"

    def piece_of(self, read: bytes) -> str | None:
        """Return the piece of a read that is one of these events; None for any other read.

        What is between the bytes before and after is decoded with its quotes, so it is one string.
        """
        if not read.startswith(self.before):
            return None
        end = read.rfind(b'"') + 1
        if read[end:] not in _AFTER:
            return None
        try:
            return _read_text(read[len(self.before) : end])
        except _NOT_STRINGS:
            return None

    def pieces_at(self, data: bytes, start: int) -> tuple[list[str], int]:
        """Return the pieces of the events that begin at `start`, and where the first different event begins."""
        if not data.startswith(self.before, start):
            return [], start
        end = data.rfind(_BORDER) + len(_BORDER)
        if (texts := self._all_pieces(data[start + len(self.before) : end - len(_BORDER)])) is not None:
            return texts, end
        found = self.several.match(data, start)
        if found is None:
            return [], start
        end = found.end()
        pieces = self.one.findall(data, start, end)
        try:
            return _read_texts(b"[%b]" % b",".join(pieces)), end
        except _NOT_STRINGS:  # half of a surrogate pair, for example; the slow path replaces it
            return [], start

    def _all_pieces(self, data: bytes) -> list[str] | None:
        """Return the pieces if all events are similar; `data` begins with the first piece.

        Each piece becomes a small object with the end of its event, so that one call decodes all of them. A different
        event leaves a line end in between, or another field.
        """
        data = data.replace(_BORDER + self.before, _NEXT)
        if b"\n" in data or b"\r" in data:
            return None
        try:
            return [event.delta.piece for event in _read_events(_FIRST + data + b"]")]
        except _NOT_STRINGS:
            return None


def similar_to(event: str | None, data: bytes) -> SimilarDeltas | None:
    """Return the pattern of an event with a piece; None for any other event."""
    found = _DELTA.match(data)
    if found is None:
        return None
    return _pattern(event, found[0][:-1], int(found[1]), (found[2] or found[3] or found[4]).decode())


@lru_cache(maxsize=256)
def _pattern(event: str | None, before: bytes, index: int, field: str) -> SimilarDeltas:
    name = b"" if event is None else b"event: %b\n" % event.encode()
    before = name + b"data: " + before
    one = re.escape(before) + _REST
    return SimilarDeltas(index, field, before, re.compile(one, re.DOTALL), re.compile(b"(?:%b)++" % one, re.DOTALL))
