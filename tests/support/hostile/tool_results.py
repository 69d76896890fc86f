"""Values that hostile tools return, by name: their JSON is much larger than the value in memory."""

import math
from collections.abc import Callable
from typing import Any

_LONGEST_NUMBER = 100_000


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _in_itself(size: int) -> Any:
    circle: dict[str, Any] = {"text": "x" * size}
    circle["itself"] = [circle]
    return circle


def _doubling(size: int) -> Any:
    """Return a list that contains another list twice, 40 levels deep: 10¹² values in JSON."""
    value: Any = ["x" * (size // 1_000)]
    for _ in range(40):
        value = [value, value]
    return value


# Each is about this many bytes of JSON.
RESULTS: dict[str, Callable[[int], Any]] = {
    "text": lambda n: "x" * n,
    "fences": lambda n: "<outside-1>\n" * (n // 12),
    "addresses": lambda n: "http://a.bc/(( " * (n // 15),
    "tokens": lambda n: "<|im_start|>" * (n // 12),
    "controls": lambda n: "\1" * (n // 6),
    "surrogates": lambda n: ["\ud800" * (n // 3)],
    "quotes": lambda n: ['"' * (n // 2)],
    "deep": lambda n: _nested(n // 80),
    "values": lambda n: [*range(n // 8)],
    "lists": lambda n: [[] for _ in range(n // 8)],
    "fields": lambda n: {f"key{place}": place for place in range(n // 20)},
    "keys": lambda n: {place: place for place in range(n // 16)},
    "numbers": lambda n: [math.nan] * (n // 8),
    "digits": lambda n: 10 ** min(n, _LONGEST_NUMBER),
    "many-digits": lambda n: [10**3_900] * (n // 4_000),
    "shared": lambda n: ["x" * n] * 1_000,
    "circle": _in_itself,
    "doubling": _doubling,
}
# Rejected at every size.
REFUSED = {"deep", "digits", "shared", "circle", "doubling"}
