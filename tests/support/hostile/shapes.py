"""Hostile responses by name; `size` is in bytes, or in the unit that a shape counts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.scripted_upstream import DONE, chunk

KB, MB = 1024, 1024 * 1024
STREAM, JSON, HTML = "text/event-stream", "application/json", "text/html"
# Larger than one write to the socket; the kernel decides how much a client reads at once.
_WRITE = 64 * KB
_WORDS = "All the words of an answer, one after another, as long as it takes. "
_SEARCH = '{"query":"hello"}'


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


def _text(size: int) -> str:
    return (_WORDS * (size // len(_WORDS) + 1))[:size]


def _stop() -> bytes:
    return chunk({}, finish="stop") + DONE


def _calls() -> bytes:
    return chunk({}, finish="tool_calls") + DONE


def _cut(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), _WRITE):
        yield data[at : at + _WRITE]


def _frames(frame: bytes, count: int, last: bytes) -> Iterator[bytes]:
    many = max(1, _WRITE // len(frame))
    for _ in range(count // many):
        yield frame * many
    yield frame * (count % many) + last


def _call(place: int, arguments: str = _SEARCH, **more: Any) -> dict[str, Any]:
    call = {"index": place, "id": f"call_{place}", "type": "function"}
    return {**call, "function": {"name": "search_web", "arguments": arguments}, **more}


# --- frames and bytes -------------------------------------------------------------------------------------------


def _frame(size: int) -> Iterator[bytes]:
    """Make one frame with this many bytes of text."""
    yield from _cut(chunk({"content": _text(size)}) + _stop())


def _frames_of_a_megabyte(size: int) -> Iterator[bytes]:
    for _ in range(size // MB):
        yield from _cut(chunk({"content": _text(MB)}))
    yield _stop()


def _tiny(size: int) -> Iterator[bytes]:
    frame = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    yield from _frames(frame, size // len(frame), _stop())


def _uneven(size: int) -> Iterator[bytes]:
    """Yield tiny frames, each different from the previous one."""
    pair = chunk({"content": "a"}) + b'data: {"choices":[{"delta":{"reasoning":"b"}}]}\n\n'
    yield from _frames(pair, size // len(pair), _stop())


def _empty_frames(size: int) -> Iterator[bytes]:
    frame = b"data: {}\n\n"
    yield from _frames(frame, size // len(frame), _stop())


def _unreadable(size: int) -> Iterator[bytes]:
    """Yield one frame that is not JSON and contains many openings of frames."""
    yield from _cut(b"data: {" + b"data: {" * (size // 7) + b"\n\n" + _stop())


def _bytewise(size: int) -> Iterator[bytes]:
    for byte in chunk({"content": _text(size)}) + _stop():
        yield bytes((byte,))


def _whitespace_before(size: int) -> Iterator[bytes]:
    yield from _cut(b"\n" * size + chunk({"content": "Hello."}) + _stop())


def _whitespace_line(size: int) -> Iterator[bytes]:
    """Yield spaces before the first frame, in one line without an end."""
    yield from _cut(b" " * size + b"\n\n" + chunk({"content": "Hello."}) + _stop())


def _whitespace_inside(size: int) -> Iterator[bytes]:
    yield from _cut(b"data: {" + b" " * size + chunk({"content": "Hello."})[7:] + _stop())


def _carriage_returns(size: int) -> Iterator[bytes]:
    yield from _cut(b"\r" * size + chunk({"content": "Hello."}) + _stop())


def _data_lines(size: int) -> Iterator[bytes]:
    """Yield one frame of `data:` lines with one space each."""
    yield from _cut(b"data:\n" * (size // 6) + chunk({"content": "Hello."}) + _stop())


def _comments(size: int) -> Iterator[bytes]:
    comment = b": OPENROUTER PROCESSING\n\n"
    yield from _frames(comment, size // len(comment), chunk({"content": "Hello."}) + _stop())


def _comment(size: int) -> Iterator[bytes]:
    yield from _cut(b":" + b"x" * size + b"\n\n" + chunk({"content": "Hello."}) + _stop())


def _keepalives(size: int) -> Iterator[bytes]:
    frame = b"data: : keepalive\n\n"
    yield from _frames(frame, size // len(frame), chunk({"content": "Hello."}) + _stop())


def _fields(size: int) -> Iterator[bytes]:
    """Yield lines with unknown fields before the first frame."""
    yield from _frames(b"id: 7\n", size // 6, chunk({"content": "Hello."}) + _stop())


# --- text -------------------------------------------------------------------------------------------------------


def _said(size: int, text: str) -> Iterator[bytes]:
    frame = chunk({"content": text})
    yield from _frames(frame, size // len(frame), _stop())


def _text_of(piece: str) -> Callable[[int], Iterator[bytes]]:
    """Make a shape with one frame that repeats a text."""

    def body(size: int) -> Iterator[bytes]:
        yield from _cut(chunk({"content": piece * (size // len(piece))}) + _stop())

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
    yield from _frames(frame, size // len(frame), _stop())


def _half(size: int) -> Iterator[bytes]:
    """Yield one large frame that ends inside a character."""
    yield from _cut(b'data: {"choices":[{"delta":{"content":"' + b"a" * size + b'\\ud83d"}}]}\n\n' + _stop())


def _surrogates(size: int) -> Iterator[bytes]:
    """Yield one frame full of unpaired surrogates."""
    yield from _cut(b'data: {"choices":[{"delta":{"content":"' + b"\\ud83d " * (size // 7) + b'"}}]}\n\n' + _stop())


# --- calls ------------------------------------------------------------------------------------------------------


def _calls_in_one(count: int) -> Iterator[bytes]:
    yield from _cut(chunk({"tool_calls": [_call(place) for place in range(count)]}) + _calls())


def _calls_in_frames(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [_call(place)]})
    yield _calls()


def _calls_at_one_index(count: int) -> Iterator[bytes]:
    """Yield calls with different ids at the same index."""
    yield from _cut(chunk({"tool_calls": [_call(0, id=f"call_{place}") for place in range(count)]}) + _calls())


def _calls_without_index(count: int) -> Iterator[bytes]:
    yield from _cut(chunk({"tool_calls": [{**_call(place), "index": None} for place in range(count)]}) + _calls())


def _calls_of_unknown_tools(count: int) -> Iterator[bytes]:
    """Yield calls of tools that are not offered."""
    function = {"name": "erase_everything", "arguments": "{}"}
    yield from _cut(
        chunk({"tool_calls": [{"index": n, "id": f"c{n}", "function": function} for n in range(count)]}) + _calls()
    )


def _calls_broken(count: int) -> Iterator[bytes]:
    """Yield calls whose arguments need repair."""
    yield from _cut(chunk({"tool_calls": [_call(place, "{'query': 'hello',") for place in range(count)]}) + _calls())


def _nameless(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": "{"}}]})
    yield _calls()


def _name_in_pieces(count: int) -> Iterator[bytes]:
    for place in range(count):
        yield chunk({"tool_calls": [{"index": 0, "function": {"name": f"n{place:05}"}}]})
    yield _calls()


def _arguments(text: str) -> Iterator[bytes]:
    yield from _cut(chunk({"tool_calls": [_call(0, text)]}) + _calls())


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
    yield from _arguments(_SEARCH * (size // len(_SEARCH)))


def _arguments_encoded(size: int) -> Iterator[bytes]:
    """Yield arguments that are JSON in a string in JSON in a string, and so on."""
    text = "x" * 8
    while len(text) < size:
        text = json.dumps(text)
    yield from _arguments(text)


def _arguments_braces(size: int) -> Iterator[bytes]:
    """Yield pieces that each end in a brace, so that each could end the arguments."""
    yield chunk({"tool_calls": [_call(0, '{"query":"')]})
    frame = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]})
    yield from _frames(frame, size // len(frame), _calls())


def _arguments_in_pieces(size: int) -> Iterator[bytes]:
    yield chunk({"tool_calls": [_call(0, '{"query":"')]})
    frame = chunk({"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]})
    yield from _frames(frame, size // len(frame), _calls())


def _arguments_interleaved(size: int) -> Iterator[bytes]:
    """Yield pieces of two calls in turn."""
    yield chunk({"tool_calls": [_call(0, '{"query":"'), _call(1, '{"query":"')]})
    pair = b"".join(chunk({"tool_calls": [{"index": n, "function": {"arguments": "a"}}]}) for n in (0, 1))
    yield from _frames(pair, size // len(pair), _calls())


def _arguments_keys(size: int) -> Iterator[bytes]:
    yield from _arguments(json.dumps({f"key{place}": place for place in range(size // 20)}))


# --- reasoning and the rest -------------------------------------------------------------------------------------


def _details_in_one(count: int) -> Iterator[bytes]:
    details = [{"type": "reasoning.text", "index": place, "text": "a"} for place in range(count)]
    yield from _cut(chunk({"reasoning_details": details}) + chunk({"content": "Hello."}) + _stop())


def _details_growing(size: int) -> Iterator[bytes]:
    """Yield pieces of one reasoning detail."""
    frame = chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "thinking "}]})
    yield from _frames(frame, size // len(frame), chunk({"content": "Hello."}) + _stop())


def _details_signed(count: int) -> Iterator[bytes]:
    frame = chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "abc"}]})
    yield from _frames(frame, count, chunk({"content": "Hello."}) + _stop())


def _content_parts(count: int) -> Iterator[bytes]:
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]
    yield from _cut(chunk({"content": parts * (count // 2)}) + _stop())


def _thinking_deep(size: int) -> Iterator[bytes]:
    inner = '{"text":' * (size // 9) + '"a"' + "}" * (size // 9)
    frame = '{"choices":[{"delta":{"content":[{"type":"thinking","thinking":' + inner + "}]}}]}"
    yield from _cut(b"data: " + frame.encode() + b"\n\n" + chunk({"content": "Hello."}) + _stop())


def _choices(count: int) -> Iterator[bytes]:
    choices = [{"index": 1, "delta": {"content": "a"}}] * count
    frame = b"data: " + json.dumps({"choices": choices}).encode() + b"\n\n"
    yield from _cut(frame + chunk({"content": "Hello."}) + _stop())


def _who(count: int) -> Iterator[bytes]:
    """Yield frames that each have another generation id."""
    for place in range(count):
        yield chunk({"content": "a"}, id=f"gen-{place}", model=f"m{place}", provider=f"p{place}")
    yield _stop()


def _usages(count: int) -> Iterator[bytes]:
    frame = chunk({}, usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.1})
    yield from _frames(frame, count, chunk({"content": "Hello."}) + _stop())


def _refusals(size: int) -> Iterator[bytes]:
    frame = chunk({"refusal": "no "})
    yield from _frames(frame, size // len(frame), _stop())


def _fault(size: int) -> Iterator[bytes]:
    error = {"code": 502, "message": _text(size), "metadata": {"raw": _text(size // 2)}}
    yield from _cut(chunk({}, error=error) + DONE)


# --- whole bodies -----------------------------------------------------------------------------------------------


def _whole(message: dict[str, Any], finish: str = "stop") -> Iterator[bytes]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    yield from _cut(json.dumps({"id": "gen-hostile", "model": "hostile", "choices": [choice]}).encode())


def _whole_text(size: int) -> Iterator[bytes]:
    yield from _whole({"content": _text(size)})


def _whole_calls(count: int) -> Iterator[bytes]:
    yield from _whole({"content": None, "tool_calls": [_call(place) for place in range(count)]}, "tool_calls")


def _whole_blank(size: int) -> Iterator[bytes]:
    yield from _cut(b" " * size)


def _whole_numbers(size: int) -> Iterator[bytes]:
    yield from _cut(b'{"choices":[' + b"1," * (size // 2) + b"1]}")


def _whole_deep(size: int) -> Iterator[bytes]:
    yield from _cut(b'{"choices":' + b"[" * size)


def _whole_cut(size: int) -> Iterator[bytes]:
    yield from _cut(b'{"choices":[{"message":{"content":"' + b"a" * size)


def _error(size: int) -> Iterator[bytes]:
    error = {"code": 500, "message": _text(size // 2), "metadata": {"raw": json.dumps({"error": _text(size // 4)})}}
    yield from _cut(json.dumps({"error": error}).encode())


def _error_page(size: int) -> Iterator[bytes]:
    yield from _cut(b"<html><title>" + b"<p " * (size // 3))


def _error_deep(size: int) -> Iterator[bytes]:
    yield from _cut(b'{"error":' * (size // 10) + b"1" + b"}" * (size // 10))


_TEXT = (MB, 8 * MB)
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

SHAPES: dict[str, Shape] = {
    "frame": Shape(_frame, (MB, 10 * MB)),
    "frames-1mb": Shape(_frames_of_a_megabyte, (4 * MB, 40 * MB)),
    "frame-too-large": Shape(_frame, (40 * MB, 80 * MB)),
    "tiny-frames": Shape(_tiny, _TEXT),
    "uneven-frames": Shape(_uneven, _TEXT),
    "empty-frames": Shape(_empty_frames, _TEXT),
    "unreadable": Shape(_unreadable, _TEXT),
    "bytewise": Shape(_bytewise, (5_000, 20_000), by_byte=True),
    "blank-lines": Shape(_whitespace_before, _TEXT),
    "blank-line": Shape(_whitespace_line, _TEXT),
    "blank-inside": Shape(_whitespace_inside, _TEXT),
    "carriage-returns": Shape(_carriage_returns, _TEXT),
    "data-lines": Shape(_data_lines, _TEXT),
    "comments": Shape(_comments, _TEXT),
    "comment": Shape(_comment, _TEXT),
    "keepalives": Shape(_keepalives, _TEXT),
    "fields": Shape(_fields, _TEXT),
    "blank-text": Shape(_text_of(" "), _TEXT),
    "blank-texts": Shape(_pieces_of(" \n"), _TEXT),
    "halves": Shape(_halves, _TEXT),
    "half": Shape(_half, _TEXT),
    "surrogates": Shape(_surrogates, _TEXT),
    "think": Shape(_after("<think>", "</think"), _TEXT),
    "think-ticks": Shape(_text_of("`</think>"), _TEXT),
    "think-open": Shape(_text_of("<think>"), _TEXT),
    **{f"leak-{name}": Shape(_text_of(piece), _TEXT) for name, piece in _LEAKS.items()},
    **{f"leaks-{name}": Shape(_pieces_of(piece), _TEXT) for name, piece in _LEAKS.items()},
    "leak-then-text": Shape(_after("<tool_call>", _WORDS), _TEXT),
    "calls-in-one": Shape(_calls_in_one, (10_000, 100_000), "calls"),
    "calls-in-frames": Shape(_calls_in_frames, (5_000, 50_000), "calls"),
    "calls-at-one-index": Shape(_calls_at_one_index, (10_000, 100_000), "calls"),
    "calls-without-index": Shape(_calls_without_index, (10_000, 100_000), "calls"),
    "calls-of-unknown-tools": Shape(_calls_of_unknown_tools, (10_000, 100_000), "calls"),
    "calls-broken": Shape(_calls_broken, (10_000, 100_000), "calls"),
    "nameless": Shape(_nameless, (5_000, 50_000), "calls"),
    "name-in-pieces": Shape(_name_in_pieces, (5_000, 50_000), "pieces"),
    "arguments-deep": Shape(_arguments_deep, _TEXT),
    "arguments-dicts": Shape(_arguments_deep_dicts, _TEXT),
    "arguments-open": Shape(_arguments_open, _TEXT),
    "arguments-number": Shape(_arguments_number, _TEXT),
    "arguments-blank": Shape(_arguments_blank, _TEXT),
    "arguments-backslashes": Shape(_arguments_backslashes, _TEXT),
    "arguments-quotes": Shape(_arguments_quotes, _TEXT),
    "arguments-twice": Shape(_arguments_twice, _TEXT),
    "arguments-encoded": Shape(_arguments_encoded, _TEXT),
    "arguments-braces": Shape(_arguments_braces, _TEXT),
    "arguments-pieces": Shape(_arguments_in_pieces, _TEXT),
    "arguments-interleaved": Shape(_arguments_interleaved, _TEXT),
    "arguments-keys": Shape(_arguments_keys, _TEXT),
    "details-in-one": Shape(_details_in_one, (100_000, 1_000_000), "details"),
    "details-growing": Shape(_details_growing, _TEXT),
    "details-signed": Shape(_details_signed, (5_000, 50_000), "details"),
    "content-parts": Shape(_content_parts, (20_000, 200_000), "parts"),
    "thinking-deep": Shape(_thinking_deep, (8_000, _TEXT[0])),
    "choices": Shape(_choices, (10_000, 100_000), "choices"),
    "who": Shape(_who, (5_000, 50_000), "frames"),
    "usages": Shape(_usages, (5_000, 50_000), "frames"),
    "refusals": Shape(_refusals, _TEXT),
    "fault": Shape(_fault, _TEXT),
    "whole-text": Shape(_whole_text, (5 * MB, 50 * MB), kind=JSON),
    "whole-calls": Shape(_whole_calls, (10_000, 100_000), "calls", kind=JSON),
    "whole-blank": Shape(_whole_blank, (5 * MB, 50 * MB), kind=JSON),
    "whole-numbers": Shape(_whole_numbers, (5 * MB, 50 * MB), kind=JSON),
    "whole-deep": Shape(_whole_deep, _TEXT, kind=JSON),
    "whole-cut": Shape(_whole_cut, (5 * MB, 50 * MB), kind=JSON),
    "error": Shape(_error, (5 * MB, 50 * MB), kind=JSON, status=500),
    "error-page": Shape(_error_page, (5 * MB, 50 * MB), kind=HTML, status=502),
    "error-deep": Shape(_error_deep, (5 * MB, 50 * MB), kind=JSON, status=500),
}
