"""OpenRouter's word on a key: `GET /key` to what is left and what was spent."""

from math import isfinite

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.dialect import Account


def account_of(answer: JsonObject) -> Account:
    """Read the figures that are there."""
    found = answer.get("data")
    data = found if isinstance(found, dict) else {}
    return Account(left=_dollars(data.get("limit_remaining")), spent=_dollars(data.get("usage")))


def _dollars(value: JsonValue) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    return None
