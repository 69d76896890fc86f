"""A hostile response, and the pieces that shapes are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.scripted_upstream import DONE, chunk

KB, MB = 1024, 1024 * 1024
STREAM, JSON, HTML = "text/event-stream", "application/json", "text/html"
TEXT_SIZES = (MB, 8 * MB)
# Larger than one write to the socket; the kernel decides how much a client reads at once.
_WRITE = 64 * KB
WORDS = "All the words of an answer, one after another, as long as it takes. "
SEARCH = '{"query":"hello"}'


@dataclass(frozen=True, slots=True)
class Shape:
    """One hostile response.

    `body(size)` yields the pieces to write; `sizes` are a small and a large size.
    """

    body: Callable[[int], Iterator[bytes]]
    sizes: tuple[int, int]
    unit: str = "bytes"
    kind: str = STREAM
    status: int = 200
    by_byte: bool = False  # each piece is one write, and one HTTP chunk


def text(size: int) -> str:
    """Return a text of this length."""
    return (WORDS * (size // len(WORDS) + 1))[:size]


def end_of_text() -> bytes:
    """Return the last bytes of a stream that answers with text."""
    return chunk({}, finish="stop") + DONE


def end_of_calls() -> bytes:
    """Return the last bytes of a stream that calls tools."""
    return chunk({}, finish="tool_calls") + DONE


def writes(data: bytes) -> Iterator[bytes]:
    """Cut bytes into writes."""
    for at in range(0, len(data), _WRITE):
        yield data[at : at + _WRITE]


def repeated(frame: bytes, count: int, last: bytes) -> Iterator[bytes]:
    """Repeat a frame, many in one write, and add the last bytes."""
    many = max(1, _WRITE // len(frame))
    for _ in range(count // many):
        yield frame * many
    yield frame * (count % many) + last


def search_call(place: int, arguments: str = SEARCH, **more: Any) -> dict[str, Any]:
    """Return a call of `search_web`."""
    call = {"index": place, "id": f"call_{place}", "type": "function"}
    return {**call, "function": {"name": "search_web", "arguments": arguments}, **more}
