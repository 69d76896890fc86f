"""The shortest way of many frames: those that differ in nothing but their piece, as the frames of one answer do.

The first of them is read as always, and shows where its piece stands. The pieces of all that have the same bytes before
and behind theirs are cut out and decoded as one list of texts: a sixth of what decoding each frame takes.
"""

import re
from itertools import compress, count, repeat
from operator import itemgetter, ne

import msgspec
from msgspec import Struct

from signalbox.wire.plain import NOT_PLAIN, read_plain, who_of

# Fewer than these are not worth their template.
_FEW = 8
# What a piece may stand behind; the template is tried, so that a guess is enough.
_PIECE = re.compile(rb'"(?:content|arguments)": ?"([^"\\]*(?:\\.[^"\\]*)*)"')
_BORDER = b"\n\n"
_BEGIN = b"data: {"
# What is put in the place of a piece.
_PROBE = "3c1f9a7e0b52d846"
_PROBED = _PROBE.encode()
# What is put between two pieces.
_BETWEEN = b'","m","'

_read_texts = msgspec.json.Decoder(list[str]).decode


class Template(Struct):
    """An object's bytes before and behind its piece; `index` is that of the call whose arguments the piece is of."""

    before: bytes
    behind: bytes
    index: int | None = None


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
    is_one_line = frame.startswith(_BEGIN) and frame.find(b"\n") == len(frame) - 2 and frame.find(b"\r") < 0
    if not is_one_line or frame.find(_PROBED) >= 0:
        return None
    for found in _PIECE.finditer(frame):
        before, behind = frame[len(_BEGIN) : found.start(1)], frame[found.end(1) : -len(_BORDER)]
        try:
            chunk = read_plain(b"{%b%b%b" % (before, _PROBED, behind))
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


def _cut(frames: bytes, template: Template) -> tuple[list[bytes], bytes]:
    """Cut out the JSON of the pieces up to the first frame that is not alike; also return what begins there."""
    before, behind = template.before, template.behind
    lines = frames[len(_BEGIN) : -len(_BORDER)].split(_BORDER + _BEGIN)
    for alike in (lambda: len(lines), lambda: _alike(lines, template)):  # most often it is all of them
        bodies = list(map(itemgetter(slice(len(before), -len(behind))), lines[: alike()]))
        # To put them together again and compare is much cheaper than to look at each.
        whole = _BEGIN + before + (behind + _BORDER + _BEGIN + before).join(bodies) + behind + _BORDER
        if frames.startswith(whole):
            return bodies, frames[len(whole) :]
    return [], frames


def _alike(lines: list[bytes], template: Template) -> int:
    """Count the lines at the beginning that begin and end as the template does."""
    before, behind = template.before, template.behind
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
