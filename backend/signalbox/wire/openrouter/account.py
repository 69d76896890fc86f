"""OpenRouter's word on a key: `GET /key` to what is left and what was spent."""

from dataclasses import dataclass
from math import isfinite

from signalbox.core.messages import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Account:
    """Dollars; `left` is None where the key has no limit, or the provider reports none."""

    left: float | None = None
    spent: float | None = None


def account_of(data: JsonObject) -> Account:
    """Read the figures that are there."""
    return Account(left=_dollars(data.get("limit_remaining")), spent=_dollars(data.get("usage")))


def _dollars(value: JsonValue) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    return None
