"""Hostile texts: half characters, thinking tags, and texts that look like tool calls."""

from collections.abc import Callable, Iterator

from tests.support.hostile.shape import TEXT_SIZES, WORDS, Shape, end_of_text, repeated, writes
from tests.support.scripted_upstream import chunk

_LEAKS = {
    "tool-call": "<tool_call>",
    "function": "<function=search_web>",
    "json": '{"name": "search_web", ',
    "brackets": "[TOOL_CALLS]",
    "angle": "<",
    "pipe": "<|",
    "fence": "```json\n",
    "tick": "`",
    "invoke": '<invoke name="search_web">',
    "almost": '<tool_call>{"name": "search_web", "arguments": {',
    "python": "search_web(",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>",
}


def _said(size: int, text: str) -> Iterator[bytes]:
    frame = chunk({"content": text})
    yield from repeated(frame, size // len(frame), end_of_text())


def _text_of(piece: str) -> Callable[[int], Iterator[bytes]]:
    """Make a shape with one frame that repeats a text."""

    def body(size: int) -> Iterator[bytes]:
        yield from writes(chunk({"content": piece * (size // len(piece))}) + end_of_text())

    return body


def _pieces_of(piece: str) -> Callable[[int], Iterator[bytes]]:
    """Make a shape with many frames of a text."""
    return lambda size: _said(size, piece)


def _after(opening: str, piece: str) -> Callable[[int], Iterator[bytes]]:
    """Make a shape with an opening and then many frames of a text."""

    def body(size: int) -> Iterator[bytes]:
        yield chunk({"content": opening})
        yield from _said(size, piece)

    return body


def _halves(size: int) -> Iterator[bytes]:
    """Yield frames that end inside a character."""
    frame = b'data: {"choices":[{"delta":{"content":"' + b"a" * 40 + b'\\ud83d"}}]}\n\n'
    yield from repeated(frame, size // len(frame), end_of_text())


def _half(size: int) -> Iterator[bytes]:
    """Yield one large frame that ends inside a character."""
    yield from writes(b'data: {"choices":[{"delta":{"content":"' + b"a" * size + b'\\ud83d"}}]}\n\n' + end_of_text())


def _surrogates(size: int) -> Iterator[bytes]:
    """Yield one frame full of unpaired surrogates."""
    yield from writes(
        b'data: {"choices":[{"delta":{"content":"' + b"\\ud83d " * (size // 7) + b'"}}]}\n\n' + end_of_text()
    )


TEXTS: dict[str, Shape] = {
    "blank-text": Shape(_text_of(" "), TEXT_SIZES),
    "blank-texts": Shape(_pieces_of(" \n"), TEXT_SIZES),
    "halves": Shape(_halves, TEXT_SIZES),
    "half": Shape(_half, TEXT_SIZES),
    "surrogates": Shape(_surrogates, TEXT_SIZES),
    "think": Shape(_after("<think>", "</think"), TEXT_SIZES),
    "think-ticks": Shape(_text_of("`</think>"), TEXT_SIZES),
    "think-open": Shape(_text_of("<think>"), TEXT_SIZES),
    **{f"leak-{name}": Shape(_text_of(piece), TEXT_SIZES) for name, piece in _LEAKS.items()},
    **{f"leaks-{name}": Shape(_pieces_of(piece), TEXT_SIZES) for name, piece in _LEAKS.items()},
    "leak-then-text": Shape(_after("<tool_call>", WORDS), TEXT_SIZES),
}
