"""The short way of a read that brings many frames: those that say only a piece are decoded in one go.

A model that is faster than we are, or a proxy that collects, hands over a whole answer in one read. One by one a frame
costs 140 steps of CPython from bytes to parts, in one go 30. Where a read is cut for that changes nothing: the SSE
decoder gives the same frames however its bytes are cut, and what does not fit here goes to it.
"""

import msgspec

from signalbox.wire.plain import NOT_PLAIN, PlainChunk

# A read shorter than this is a few frames at most.
MANY_BYTES = 4096
# A finish reason is in the last frames of an answer, if at all.
_END_BYTES = 4096
_FINISHES = (b'"finish_reason":"', b'"finish_reason": "')
_BORDER = b"\n\n"

# Each chunk stands in a list of its own, so that two frames which are no JSON cannot make one together.
_read = msgspec.json.Decoder(list[tuple[PlainChunk]]).decode


def next_border(data: bytes, start: int) -> int:
    """Return where the next frame begins, `start` where none does."""
    return max(start, data.find(_BORDER, start) + len(_BORDER))


def last_border(data: bytes, start: int) -> int:
    """Return where the frame with the finish reason begins, or else the last one that is not whole.

    That is a guess: a frame before it may still say something else.
    """
    found = (data.rfind(finish, max(start, len(data) - _END_BYTES)) for finish in _FINISHES)
    end = max(found)
    return max(start, data.rfind(_BORDER, start, end if end >= 0 else len(data)) + len(_BORDER))


def chunks_of(frames: bytes) -> list[tuple[PlainChunk]] | None:
    """Decode whole frames between two others; None where one of them is not a single line with a plain chunk."""
    if not frames.startswith(b"data: "):
        return None
    if frames.find(b"],[") >= 0:  # what is put between two frames here: it could close or cut one of them
        return None
    joined = frames[len(b"data: ") : -len(_BORDER)].replace(b"\n\ndata: ", b"],[")
    if joined.find(b"\n") >= 0 or joined.find(b"\r") >= 0:
        return None
    try:
        chunks = _read(b"[[%b]]" % joined)
    except NOT_PLAIN:
        return None
    return chunks if len(chunks) == frames.count(b"\n\ndata: ") + 1 else None
