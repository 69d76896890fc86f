"""The short way of a read that brings many frames: those that say only a piece are decoded in one go.

A model that is faster than we are, or a proxy that collects, hands over a whole answer in one read. One by one a frame
costs 140 steps of CPython from bytes to parts, in one go none. Where a read is cut for that changes nothing: the SSE
decoder gives the same frames however its bytes are cut, and what does not fit here goes to it.
"""

import re
from collections.abc import Callable
from operator import attrgetter
from typing import cast

import msgspec

from signalbox.wire.plain import NOT_PLAIN, MarkedChunk, PlainDelta, who_of

# A read shorter than this is a few frames at most.
MANY_BYTES = 4096
# A finish reason is in the last frames of an answer, if at all.
_END_BYTES = 4096
_FINISHES = (b'"finish_reason":"', b'"finish_reason": "')
_BORDER = b"\n\n"
_BEGIN = b"data: {"

_MARK = b"730301476214"  # as in MarkedChunk
_MARKED = b'{"mark":%b,' % _MARK
# The place of an object in the list, as a ValidationError tells it at its end; before that it quotes what a host said.
_PLACE = re.compile(r" - at `\$\[(\d{1,9})\][^`]*`$")

_read = msgspec.json.Decoder(list[MarkedChunk]).decode
_delta_of = cast("Callable[[MarkedChunk], PlainDelta]", attrgetter("choices.first.delta"))


def next_border(data: bytes, start: int) -> int:
    """Return where the next frame begins, `start` where none does."""
    border = data.find(_BORDER, start)
    return start if border < 0 else border + len(_BORDER)


def last_border(data: bytes, start: int) -> int:
    """Return where the frame with the finish reason begins, or else the last one that is not whole.

    That is a guess: a frame before it may still say something else.
    """
    found = (data.rfind(finish, max(start, len(data) - _END_BYTES)) for finish in _FINISHES)
    end = max(found)
    border = data.rfind(_BORDER, start, end if end >= 0 else len(data))
    return start if border < 0 else border + len(_BORDER)


def plain_of(frames: bytes, who: object) -> tuple[list[PlainDelta], bytes]:
    """Decode the plain frames of `who` that `frames` begin with, and return what they say and the bytes behind them.

    `frames` are whole, and begin between two others. Each try is shorter than the last one.
    """
    end = len(frames)
    while end:
        try:
            return _deltas_of(frames[:end], who), frames[end:]
        except msgspec.ValidationError as error:
            end = min(end - 1, _end_before(frames, error))
        except NOT_PLAIN:
            break
    return [], frames


def _end_before(frames: bytes, error: msgspec.ValidationError) -> int:
    """Return where the frame begins that an error names by its place; 0 where it names none."""
    place = _PLACE.search(str(error))
    before = int(place[1]) if place else 0
    return len(frames) - len(frames.split(_BORDER, before)[-1]) if before else 0


def _deltas_of(frames: bytes, who: object) -> list[PlainDelta]:
    """Decode whole frames in one go; raises one of NOT_PLAIN where one is not a single line with a plain chunk.

    No frame can be read in another way than by itself: it begins with a mark, whose digits stand nowhere else. Each
    object of the list must have them, and there are as many objects as marks, so each mark begins an object of the
    list, and that object is all there is up to the next mark. `who` is what a host said: it may be no text at all.
    """
    if not frames.startswith(_BEGIN) or not frames.endswith(_BORDER):
        raise msgspec.DecodeError
    pieces = frames[len(_BEGIN) : -len(_BORDER)].split(_BORDER + _BEGIN)
    marked = b"[%b%b]" % (_MARKED, (b"," + _MARKED).join(pieces))
    if marked.find(b"\n") >= 0 or marked.find(b"\r") >= 0 or marked.count(_MARK) != len(pieces):
        raise msgspec.DecodeError
    chunks = _read(marked)
    if len(chunks) != len(pieces) or list(set(map(who_of, chunks))) != [who]:
        raise msgspec.DecodeError
    return list(map(_delta_of, chunks))
