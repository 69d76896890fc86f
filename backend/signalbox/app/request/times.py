"""Times in query parameters: ISO or epoch seconds."""

from datetime import UTC, datetime
from typing import TypeAlias

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

Moment: TypeAlias = str | None
"""The text of a time in a query, None without the parameter."""

# The year 3000. A time beyond is a mistake, such as milliseconds.
_LATEST = 32_503_680_000.0


def time_of(value: Moment, field: str) -> float | None:
    """Return the epoch seconds of a query parameter; raises RequestError."""
    if value is None:
        return None
    try:
        found = float(value)
    except ValueError:
        found = _iso_time_of(value, field)
    if not 0 <= found <= _LATEST:  # also false for nan
        raise _no_time(field)
    return found


def _iso_time_of(value: str, field: str) -> float:
    """Return the epoch seconds of an ISO time, which is in UTC unless it says otherwise."""
    try:
        # An unencoded plus in a query is a space.
        time = datetime.fromisoformat(value.replace(" ", "+") if "T" in value else value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _no_time(field) from None


def _no_time(field: str) -> RequestError:
    words = (
        f"{field} must be a time between the years 1970 and 3000: 2026-11-28T06:00:00Z, or epoch seconds such as "
        "1795845600, not milliseconds."
    )
    return RequestError(Code.INVALID_REQUEST, words, field)
