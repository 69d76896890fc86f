"""The shortest way of frames that differ in nothing but their piece, as those of one answer do.

One of them is read as always, and shows where its piece stands. Where others have the same bytes before and behind
theirs, only the pieces are decoded. Those of many frames in one read are one list of texts: a sixth of what decoding
each frame takes. That of a frame which comes alone is one text: a fifth of a paced event's instructions are spared.
"""

import re
from itertools import compress, count, islice, repeat
from operator import itemgetter, ne
from secrets import token_hex

import msgspec
from msgspec import Struct

from signalbox.wire.openrouter.typed_chunk import NOT_PLAIN, read_plain, who_of

# Fewer than these are not worth their template.
_FEW = 8
# What a piece may stand behind; the template is tried, so that a guess is enough.
_PIECE = re.compile(rb'"(?:content|arguments)": ?"([^"\\]*(?:\\.[^"\\]*)*)"')
_BORDER = b"\n\n"
_DATA = b"data: "
_BEGIN = _DATA + b"{"
# Behind the first two of them no template was found in any recording; each is tried by decoding the whole frame.
_TRIES = 2
# What is put in the place of a piece. No host can know it: it might write it elsewhere, with an escape.
_PROBE = token_hex(8)
_PROBED = _PROBE.encode()
# What is put between two pieces.
_BETWEEN = b'","m","'

_read_text = msgspec.json.Decoder(str).decode
_read_texts = msgspec.json.Decoder(list[str]).decode


class Template(Struct):
    """A frame's bytes before and behind its piece; `index` is that of the call whose arguments the piece is of."""

    before: bytes
    behind: bytes
    index: int | None = None


class OneByOne:
    """Reads that bring one frame each, all like the one that was learned: what a slow stream brings.

    `index` as in the template. A template is made of the first, second, fourth … such read in a row that fits none:
    where every frame differs, as with OpenAI's padding, they would cost more than they save.
    """

    def __init__(self) -> None:
        self.index: int | None = None
        self._before: bytes | None = None
        self._behind = b""
        self._front = self._piece = self._rear = slice(0)
        self._strangers = 0

    def piece_of(self, read: bytes) -> str | None:
        """Return the piece of a read that is one frame like the one that was learned; None of any other.

        What is between the same bytes is decoded with its quotes. It is one text, or no JSON: a second frame, or
        another field, would stand behind the quote that ends the text, and no text has a line end in it.
        """
        if read[self._front] == self._before and read[self._rear] == self._behind:
            try:
                piece = _read_text(read[self._piece])
            except NOT_PLAIN:
                return None
            self._strangers = 0
            return piece
        return None

    def forget(self) -> None:
        """Take any other read for a stranger, until one is learned."""
        self._before = None

    def learn(self, read: bytes, who: object) -> None:
        """Take a read that `piece_of` did not know as what the next ones may be like; it ends where a frame does."""
        if not _is_one_line(read):
            return
        self._strangers += 1
        if self._strangers & (self._strangers - 1) == 0 and (template := template_of(read, who)) is not None:
            self._before, self._behind, self.index = template.before, template.behind, template.index
            before, behind = len(template.before), len(template.behind)
            self._front, self._piece, self._rear = slice(before), slice(before - 1, 1 - behind), slice(-behind, None)


def pieces_of(frames: bytes, who: object) -> tuple[list[str], int | None, bytes]:
    """Return the pieces of the frames at the beginning that are alike, the index of their call, and the other frames.

    `frames` are whole and begin between two others; `who` speaks, as `Template` has it. No piece is returned where
    there are too few of them.
    """
    frame = frames[: frames.find(_BORDER) + len(_BORDER)]
    if frames.startswith(frame[: len(frame) // 4], len(frame)) and (template := template_of(frame, who)) is not None:
        bodies, others = _cut(frames, template)
        if len(bodies) >= _FEW and (texts := _texts_of(bodies)) is not None:
            return texts, template.index, others
    return [], None, frames


def template_of(frame: bytes, who: object) -> Template | None:
    """Find out what of a plain frame is its piece, by putting another one there; None for a frame of another kind.

    A text for a text leaves all the rest of a JSON object as it is, so what holds for this one holds for any.
    """
    if not _is_one_line(frame) or _PROBED in frame:
        return None
    for found in islice(_PIECE.finditer(frame), _TRIES):
        before, behind = frame[: found.start(1)], frame[found.end(1) :]
        try:
            chunk = read_plain(before[len(_DATA) :] + _PROBED + behind)
        except NOT_PLAIN:
            return None
        if who_of(chunk) != who:
            return None
        delta = chunk.choices.first.delta
        if delta.tool_calls is None:
            if delta.content == _PROBE:
                return Template(before, behind)
        elif not delta.content and delta.tool_calls.first.function.arguments == _PROBE:
            return Template(before, behind, delta.tool_calls.first.index)
    return None


def _is_one_line(frame: bytes) -> bool:
    """Whether a frame is an object in one line, and the blank line behind it."""
    return (
        frame.startswith(_BEGIN)
        and frame.endswith(_BORDER)
        and frame.find(b"\n") == len(frame) - len(_BORDER)
        and b"\r" not in frame
    )


def _cut(frames: bytes, template: Template) -> tuple[list[bytes], bytes]:
    """Cut out the JSON of the pieces up to the first frame that is not alike; also return what begins there."""
    before, behind = template.before[len(_BEGIN) :], template.behind[: -len(_BORDER)]
    lines = frames[len(_BEGIN) : -len(_BORDER)].split(_BORDER + _BEGIN)
    for alike in (lambda: len(lines), lambda: _alike(lines, before, behind)):  # most often it is all of them
        bodies = list(map(itemgetter(slice(len(before), -len(behind))), lines[: alike()]))
        # To put them together again and compare is much cheaper than to look at each.
        whole = template.before + (template.behind + template.before).join(bodies) + template.behind
        if frames.startswith(whole):
            return bodies, frames[len(whole) :]
    return [], frames


def _alike(lines: list[bytes], before: bytes, behind: bytes) -> int:
    """Count the lines at the beginning that begin and end so."""
    return min(
        _first_other(lines, slice(len(before)), before),
        _first_other(lines, slice(-len(behind), None), behind),
    )


def _first_other(lines: list[bytes], part: slice, wanted: bytes) -> int:
    return next(compress(count(), map(ne, map(itemgetter(part), lines), repeat(wanted))), len(lines))


def _texts_of(bodies: list[bytes]) -> list[str] | None:
    """Decode the pieces in one go; None where one of them is no text, or more than one.

    More than one makes the list longer, and nothing makes it shorter: were the quote behind a piece swallowed by a
    backslash, the next one would end a text and a letter would follow, which is no JSON.
    """
    try:
        texts = _read_texts(b'["%b"]' % _BETWEEN.join(bodies))
    except NOT_PLAIN:
        return None
    return texts[::2] if len(texts) == 2 * len(bodies) - 1 else None
