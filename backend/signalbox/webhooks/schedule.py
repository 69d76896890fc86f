"""When a failed delivery is retried: exponential backoff with jitter over about a day."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from math import isfinite

# Seconds before the second attempt; each further delay is four times as long, up to `_LONGEST`.
_FIRST, _FACTOR, _LONGEST = 5.0, 4.0, 4 * 3600.0
MOST_ATTEMPTS = 12
_JITTER = 0.2
_DAY = 24 * 3600.0


def retry_at(attempts: int, now: float, retry_after: str | None, draw: Callable[[], float]) -> float | None:
    """Return when to retry after so many failed attempts, None if they were the last.

    `draw` returns a number from 0 to 1, for the jitter. A receiver's Retry-After can only delay the attempt, by at
    most a day.
    """
    if attempts >= MOST_ATTEMPTS:
        return None
    delay = min(_FIRST * _FACTOR ** (attempts - 1), _LONGEST) * (1 + _JITTER * draw())
    return now + max(delay, min(seconds_in(retry_after, now), _DAY))


def seconds_in(retry_after: str | None, now: float) -> float:
    """Return the seconds that a Retry-After header names, as a number or as a date; 0 if it is absent or invalid."""
    if not retry_after:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return 0.0
    return max(0.0, seconds) if isfinite(seconds) else 0.0
