"""Hostile reasoning details, content parts, choices, usages and errors of a stream."""

import json
from collections.abc import Iterator

from tests.support.hostile.shape import (
    TEXT_SIZES,
    Shape,
    end_of_text,
    repeated,
    text,
    writes,
)
from tests.support.scripted_upstream import DONE, chunk


def _details_in_one(count: int) -> Iterator[bytes]:
    details = [{"type": "reasoning.text", "index": place, "text": "a"} for place in range(count)]
    yield from writes(chunk({"reasoning_details": details}) + chunk({"content": "Hello."}) + end_of_text())


def _details_growing(size: int) -> Iterator[bytes]:
    """Yield pieces of one reasoning detail."""
    frame = chunk({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "thinking "}]})
    yield from repeated(frame, size // len(frame), chunk({"content": "Hello."}) + end_of_text())


def _details_signed(count: int) -> Iterator[bytes]:
    frame = chunk({"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "abc"}]})
    yield from repeated(frame, count, chunk({"content": "Hello."}) + end_of_text())


def _content_parts(count: int) -> Iterator[bytes]:
    parts = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]
    yield from writes(chunk({"content": parts * (count // 2)}) + end_of_text())


def _thinking_deep(size: int) -> Iterator[bytes]:
    inner = '{"text":' * (size // 9) + '"a"' + "}" * (size // 9)
    frame = '{"choices":[{"delta":{"content":[{"type":"thinking","thinking":' + inner + "}]}}]}"
    yield from writes(b"data: " + frame.encode() + b"\n\n" + chunk({"content": "Hello."}) + end_of_text())


def _choices(count: int) -> Iterator[bytes]:
    choices = [{"index": 1, "delta": {"content": "a"}}] * count
    frame = b"data: " + json.dumps({"choices": choices}).encode() + b"\n\n"
    yield from writes(frame + chunk({"content": "Hello."}) + end_of_text())


def _who(count: int) -> Iterator[bytes]:
    """Yield frames that each have another generation id."""
    for place in range(count):
        yield chunk({"content": "a"}, id=f"gen-{place}", model=f"m{place}", provider=f"p{place}")
    yield end_of_text()


def _usages(count: int) -> Iterator[bytes]:
    frame = chunk({}, usage={"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.1})
    yield from repeated(frame, count, chunk({"content": "Hello."}) + end_of_text())


def _refusals(size: int) -> Iterator[bytes]:
    frame = chunk({"refusal": "no "})
    yield from repeated(frame, size // len(frame), end_of_text())


def _fault(size: int) -> Iterator[bytes]:
    error = {"code": 502, "message": text(size), "metadata": {"raw": text(size // 2)}}
    yield from writes(chunk({}, error=error) + DONE)


DETAILS: dict[str, Shape] = {
    "details-in-one": Shape(_details_in_one, (100_000, 1_000_000), "details"),
    "details-growing": Shape(_details_growing, TEXT_SIZES),
    "details-signed": Shape(_details_signed, (5_000, 50_000), "details"),
    "content-parts": Shape(_content_parts, (20_000, 200_000), "parts"),
    "thinking-deep": Shape(_thinking_deep, (8_000, TEXT_SIZES[0])),
    "choices": Shape(_choices, (10_000, 100_000), "choices"),
    "who": Shape(_who, (5_000, 50_000), "frames"),
    "usages": Shape(_usages, (5_000, 50_000), "frames"),
    "refusals": Shape(_refusals, TEXT_SIZES),
    "fault": Shape(_fault, TEXT_SIZES),
}
