"""Reads the final cost of a generation from `GET /generation?id=`."""

from collections.abc import Callable
from math import isfinite
from typing import TypeVar

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Bill, Usage

# Larger counts and prices are invalid; JavaScript cannot represent larger integers exactly.
_MOST = 2**53

Number = TypeVar("Number", int, float)


def bill_of(answer: JsonObject) -> Bill | None:
    """Return the bill; None if the record has no figures, for example while it is being written.

    Streams count native tokens, so these are preferred to OpenRouter's normalised ones: a run sums both.
    """
    found = answer.get("data")
    data = found if isinstance(found, dict) else {}
    cost = _first(_price, data, "total_cost", "usage")
    prompt = _first(_count, data, "native_tokens_prompt", "tokens_prompt")
    completion = _first(_count, data, "native_tokens_completion", "tokens_completion")
    if cost is None and prompt is None and completion is None:
        return None
    usage = Usage(
        input=prompt or 0,
        output=completion or 0,
        reasoning=_count(data.get("native_tokens_reasoning")) or 0,
        cached=_count(data.get("native_tokens_cached")) or 0,
        cost=cost,
    )
    cancelled = data.get("cancelled")
    return Bill(
        usage=usage,
        model=_text(data.get("model")),
        provider=_text(data.get("provider_name")),
        cancelled=cancelled if isinstance(cancelled, bool) else None,
    )


def _first(read: Callable[[JsonValue], Number | None], data: JsonObject, *keys: str) -> Number | None:
    """Return the first valid value of these keys."""
    return next((value for key in keys if (value := read(data.get(key))) is not None), None)


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None


def _price(value: JsonValue) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and 0 <= value < _MOST:
        return float(value)
    return None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
