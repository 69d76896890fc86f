"""Reads the balance of an API key from `GET /key`."""

from math import isfinite

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.dialect import Account


def account_of(answer: JsonObject) -> Account:
    """Return the amounts that the answer states."""
    found = answer.get("data")
    data = found if isinstance(found, dict) else {}
    return Account(left=_dollars(data.get("limit_remaining")), spent=_dollars(data.get("usage")))


def _dollars(value: JsonValue) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    return None
