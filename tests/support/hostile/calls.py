"""Hostile tool calls: many, broken, nameless, and with huge arguments."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.hostile.shape import (
    SEARCH,
    TEXT_SIZES,
    Shape,
    end_of_calls,
    repeated,
    search_call,
    writes,
)
from tests.support.scripted_upstream import chunk


def _in_one_frame(calls: list[dict[str, Any]]) -> Iterator[bytes]:
    yield from writes(chunk({"tool_calls": calls}) + end_of_calls())


def _calls_in_one(count: int) -> Iterator[bytes]:
    yield from _in_one_frame([search_call(place) for place in range(count)])


def _calls_in_frames(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [search_call(place)]})
    yield end_of_calls()


def _calls_at_one_index(count: int) -> Iterator[bytes]:
    """Yield calls with different ids at the same index."""
    yield from _in_one_frame([search_call(0, id=f"call_{place}") for place in range(count)])


def _calls_without_index(count: int) -> Iterator[bytes]:
    yield from _in_one_frame([{**search_call(place), "index": None} for place in range(count)])


def _calls_of_unknown_tools(count: int) -> Iterator[bytes]:
    """Yield calls of tools that are not offered."""
    function = {"name": "erase_everything", "arguments": "{}"}
    yield from _in_one_frame([{"index": n, "id": f"c{n}", "function": function} for n in range(count)])


def _calls_broken(count: int) -> Iterator[bytes]:
    """Yield calls whose arguments need repair."""
    yield from _in_one_frame([search_call(place, "{'query': 'hello',") for place in range(count)])


def _nameless(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": "{"}}]})
    yield end_of_calls()


def _name_in_pieces(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [{"index": 0, "function": {"name": f"n{place:05}"}}]})
    yield end_of_calls()


def _arguments(text: str) -> Iterator[bytes]:
    yield from _in_one_frame([search_call(0, text)])


def _arguments_deep(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":' + "[" * (size // 2) + "]" * (size // 2) + "}")


def _arguments_deep_dicts(size: int) -> Iterator[bytes]:
    yield from _arguments('{"a":' * (size // 6) + "1" + "}" * (size // 6))


def _arguments_open(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":' + "[" * size)


def _arguments_number(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":' + "9" * size + "}")


def _arguments_blank(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":"a"' + " " * size + "}")


def _arguments_backslashes(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":"' + "\\" * size)


def _arguments_quotes(size: int) -> Iterator[bytes]:
    yield from _arguments('{"query":' + '"' * size)


def _arguments_twice(size: int) -> Iterator[bytes]:
    """Yield one object after another in the arguments of a call."""
    yield from _arguments(SEARCH * (size // len(SEARCH)))


def _arguments_encoded(size: int) -> Iterator[bytes]:
    """Yield arguments that are JSON in a string in JSON in a string, and so on."""
    text = "x" * 8
    while len(text) < size:
        text = json.dumps(text)
    yield from _arguments(text)


def _arguments_braces(size: int) -> Iterator[bytes]:
    """Yield pieces that each end in a brace, so that each could end the arguments."""
    yield chunk({"tool_calls": [search_call(0, '{"query":"')]})
    frame = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})
    yield from repeated(frame, size // len(frame), end_of_calls())


def _arguments_in_pieces(size: int) -> Iterator[bytes]:
    yield chunk({"tool_calls": [search_call(0, '{"query":"')]})
    frame = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]})
    yield from repeated(frame, size // len(frame), end_of_calls())


def _arguments_interleaved(size: int) -> Iterator[bytes]:
    """Yield pieces of two calls in turn."""
    yield chunk({"tool_calls": [search_call(0, '{"query":"'), search_call(1, '{"query":"')]})
    pair = b"".join(chunk({"tool_calls": [{"index": n, "function": {"arguments": "a"}}]}) for n in (0, 1))
    yield from repeated(pair, size // len(pair), end_of_calls())


def _arguments_keys(size: int) -> Iterator[bytes]:
    yield from _arguments(json.dumps({f"key{place}": place for place in range(size // 20)}))


CALLS: dict[str, Shape] = {
    "calls-in-one": Shape(_calls_in_one, (10_000, 100_000), "calls"),
    "calls-in-frames": Shape(_calls_in_frames, (5_000, 50_000), "calls"),
    "calls-at-one-index": Shape(_calls_at_one_index, (10_000, 100_000), "calls"),
    "calls-without-index": Shape(_calls_without_index, (10_000, 100_000), "calls"),
    "calls-of-unknown-tools": Shape(_calls_of_unknown_tools, (10_000, 100_000), "calls"),
    "calls-broken": Shape(_calls_broken, (10_000, 100_000), "calls"),
    "nameless": Shape(_nameless, (5_000, 50_000), "calls"),
    "name-in-pieces": Shape(_name_in_pieces, (5_000, 50_000), "pieces"),
    "arguments-deep": Shape(_arguments_deep, TEXT_SIZES),
    "arguments-dicts": Shape(_arguments_deep_dicts, TEXT_SIZES),
    "arguments-open": Shape(_arguments_open, TEXT_SIZES),
    "arguments-number": Shape(_arguments_number, TEXT_SIZES),
    "arguments-blank": Shape(_arguments_blank, TEXT_SIZES),
    "arguments-backslashes": Shape(_arguments_backslashes, TEXT_SIZES),
    "arguments-quotes": Shape(_arguments_quotes, TEXT_SIZES),
    "arguments-twice": Shape(_arguments_twice, TEXT_SIZES),
    "arguments-encoded": Shape(_arguments_encoded, TEXT_SIZES),
    "arguments-braces": Shape(_arguments_braces, TEXT_SIZES),
    "arguments-pieces": Shape(_arguments_in_pieces, TEXT_SIZES),
    "arguments-interleaved": Shape(_arguments_interleaved, TEXT_SIZES),
    "arguments-keys": Shape(_arguments_keys, TEXT_SIZES),
}
