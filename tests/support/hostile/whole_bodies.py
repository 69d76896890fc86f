"""Hostile responses that are not streams."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.hostile.shape import (
    HTML,
    JSON,
    MB,
    TEXT_SIZES,
    Shape,
    search_call,
    text,
    writes,
)


def _whole(message: dict[str, Any], finish: str = "stop") -> Iterator[bytes]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    yield from writes(json.dumps({"id": "gen-hostile", "model": "hostile", "choices": [choice]}).encode())


def _whole_text(size: int) -> Iterator[bytes]:
    yield from _whole({"content": text(size)})


def _whole_calls(count: int) -> Iterator[bytes]:
    yield from _whole({"content": None, "tool_calls": [search_call(place) for place in range(count)]}, "tool_calls")


def _whole_blank(size: int) -> Iterator[bytes]:
    yield from writes(b" " * size)


def _whole_numbers(size: int) -> Iterator[bytes]:
    yield from writes(b'{"choices":[' + b"1," * (size // 2) + b"1]}")


def _whole_deep(size: int) -> Iterator[bytes]:
    yield from writes(b'{"choices":' + b"[" * size)


def _whole_cut(size: int) -> Iterator[bytes]:
    yield from writes(b'{"choices":[{"message":{"content":"' + b"a" * size)


def _error(size: int) -> Iterator[bytes]:
    error = {"code": 500, "message": text(size // 2), "metadata": {"raw": json.dumps({"error": text(size // 4)})}}
    yield from writes(json.dumps({"error": error}).encode())


def _error_page(size: int) -> Iterator[bytes]:
    yield from writes(b"<html><title>" + b"<p " * (size // 3))


def _error_deep(size: int) -> Iterator[bytes]:
    yield from writes(b'{"error":' * (size // 10) + b"1" + b"}" * (size // 10))


WHOLE_BODIES: dict[str, Shape] = {
    "whole-text": Shape(_whole_text, (5 * MB, 50 * MB), kind=JSON),
    "whole-calls": Shape(_whole_calls, (10_000, 100_000), "calls", kind=JSON),
    "whole-blank": Shape(_whole_blank, (5 * MB, 50 * MB), kind=JSON),
    "whole-numbers": Shape(_whole_numbers, (5 * MB, 50 * MB), kind=JSON),
    "whole-deep": Shape(_whole_deep, TEXT_SIZES, kind=JSON),
    "whole-cut": Shape(_whole_cut, (5 * MB, 50 * MB), kind=JSON),
    "error": Shape(_error, (5 * MB, 50 * MB), kind=JSON, status=500),
    "error-page": Shape(_error_page, (5 * MB, 50 * MB), kind=HTML, status=502),
    "error-deep": Shape(_error_deep, (5 * MB, 50 * MB), kind=JSON, status=500),
}
