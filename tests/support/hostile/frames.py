"""Hostile frames: huge, tiny, uneven, unreadable, and bytes between frames."""

from collections.abc import Iterator

from tests.support.hostile.shape import MB, TEXT_SIZES, Shape, end_of_text, repeated, text, writes
from tests.support.scripted_upstream import chunk


def _frame(size: int) -> Iterator[bytes]:
    """Make one frame with this many bytes of text."""
    yield from writes(chunk({"content": text(size)}) + end_of_text())


def _frames_of_a_megabyte(size: int) -> Iterator[bytes]:
    for _ in range(size // MB):
        yield from writes(chunk({"content": text(MB)}))
    yield end_of_text()


def _tiny(size: int) -> Iterator[bytes]:
    frame = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    yield from repeated(frame, size // len(frame), end_of_text())


def _uneven(size: int) -> Iterator[bytes]:
    """Yield tiny frames, each different from the previous one."""
    pair = chunk({"content": "a"}) + b'data: {"choices":[{"delta":{"reasoning":"b"}}]}\n\n'
    yield from repeated(pair, size // len(pair), end_of_text())


def _empty_frames(size: int) -> Iterator[bytes]:
    frame = b"data: {}\n\n"
    yield from repeated(frame, size // len(frame), end_of_text())


def _unreadable(size: int) -> Iterator[bytes]:
    """Yield one frame that is not JSON and contains many openings of frames."""
    yield from writes(b"data: {" + b"data: {" * (size // 7) + b"\n\n" + end_of_text())


def _bytewise(size: int) -> Iterator[bytes]:
    for byte in chunk({"content": text(size)}) + end_of_text():
        yield bytes((byte,))


def _whitespace_before(size: int) -> Iterator[bytes]:
    yield from writes(b"\n" * size + chunk({"content": "Hello."}) + end_of_text())


def _whitespace_line(size: int) -> Iterator[bytes]:
    """Yield spaces before the first frame, in one line without an end."""
    yield from writes(b" " * size + b"\n\n" + chunk({"content": "Hello."}) + end_of_text())


def _whitespace_inside(size: int) -> Iterator[bytes]:
    yield from writes(b"data: {" + b" " * size + chunk({"content": "Hello."})[7:] + end_of_text())


def _carriage_returns(size: int) -> Iterator[bytes]:
    yield from writes(b"\r" * size + chunk({"content": "Hello."}) + end_of_text())


def _data_lines(size: int) -> Iterator[bytes]:
    """Yield one frame of `data:` lines with one space each."""
    yield from writes(b"data:\n" * (size // 6) + chunk({"content": "Hello."}) + end_of_text())


def _comments(size: int) -> Iterator[bytes]:
    comment = b": OPENROUTER PROCESSING\n\n"
    yield from repeated(comment, size // len(comment), chunk({"content": "Hello."}) + end_of_text())


def _comment(size: int) -> Iterator[bytes]:
    yield from writes(b":" + b"x" * size + b"\n\n" + chunk({"content": "Hello."}) + end_of_text())


def _keepalives(size: int) -> Iterator[bytes]:
    frame = b"data: : keepalive\n\n"
    yield from repeated(frame, size // len(frame), chunk({"content": "Hello."}) + end_of_text())


def _fields(size: int) -> Iterator[bytes]:
    """Yield lines with unknown fields before the first frame."""
    yield from repeated(b"id: 7\n", size // 6, chunk({"content": "Hello."}) + end_of_text())


FRAMES: dict[str, Shape] = {
    "frame": Shape(_frame, (MB, 10 * MB)),
    "frames-1mb": Shape(_frames_of_a_megabyte, (4 * MB, 40 * MB)),
    "frame-too-large": Shape(_frame, (40 * MB, 80 * MB)),
    "tiny-frames": Shape(_tiny, TEXT_SIZES),
    "uneven-frames": Shape(_uneven, TEXT_SIZES),
    "empty-frames": Shape(_empty_frames, TEXT_SIZES),
    "unreadable": Shape(_unreadable, TEXT_SIZES),
    "bytewise": Shape(_bytewise, (5_000, 20_000), by_byte=True),
    "blank-lines": Shape(_whitespace_before, TEXT_SIZES),
    "blank-line": Shape(_whitespace_line, TEXT_SIZES),
    "blank-inside": Shape(_whitespace_inside, TEXT_SIZES),
    "carriage-returns": Shape(_carriage_returns, TEXT_SIZES),
    "data-lines": Shape(_data_lines, TEXT_SIZES),
    "comments": Shape(_comments, TEXT_SIZES),
    "comment": Shape(_comment, TEXT_SIZES),
    "keepalives": Shape(_keepalives, TEXT_SIZES),
    "fields": Shape(_fields, TEXT_SIZES),
}
