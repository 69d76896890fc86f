"""Interprets HTTP statuses and headers, and redacts error messages, for all dialects."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import ceil, isfinite
from time import time

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import LONGEST_RETRY_AFTER
from signalbox.core.messages import JsonValue

# The message for a 404 that is no JSON, such as a web page.
NO_CHAT_API = "There is no chat API at the upstream's URL."
_BY_STATUS = {
    401: Code.UPSTREAM_AUTH,
    402: Code.UPSTREAM_CREDITS,
    403: Code.UPSTREAM_FORBIDDEN,
    404: Code.UPSTREAM_NOT_FOUND,
    408: Code.UPSTREAM_TIMEOUT,
    413: Code.UPSTREAM_TOO_LARGE,
    429: Code.RATE_LIMIT,
    503: Code.UPSTREAM_OVERLOADED,
    504: Code.UPSTREAM_TIMEOUT,
    524: Code.UPSTREAM_TIMEOUT,
    529: Code.UPSTREAM_OVERLOADED,
}
# Some servers report an overload only in the message of a general error, above all in a stream, which has no status.
_OVERLOADED = re.compile(r"\boverloaded\b|\b(?:at|over) capacity\b", re.IGNORECASE)
# Upstream texts contain account ids and, from careless providers, the key itself (quirk G4).
_SECRETS = re.compile(
    r"sk-[\w-]{6,}|AIza[\w-]{20,}|Bearer\s+\S+|\b(?:user|org|key)_\w{8,}"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-fA-F]{32,}\b",
    re.IGNORECASE,
)
# Characters of an upstream's error message that are shown.
_SHOWN = 300
# Epoch seconds of the year 2001: a smaller number is a duration.
_EARLIEST_TIME = 1e9


def code_of_status(status: int) -> Code:
    """Return the code of an HTTP status that is not 2xx."""
    return _BY_STATUS.get(status, Code.UPSTREAM_REJECTED if 400 <= status < 500 else Code.UPSTREAM_ERROR)


def overload_or(code: Code, message: str) -> Code:
    """Return UPSTREAM_OVERLOADED instead of UPSTREAM_ERROR if the message says so, else the code."""
    is_overloaded = code is Code.UPSTREAM_ERROR and _OVERLOADED.search(message) is not None
    return Code.UPSTREAM_OVERLOADED if is_overloaded else code


def redact(text: str) -> str:
    """Replace everything that looks like a key or an account id."""
    return _SECRETS.sub("…", text)


def sentence_of(code: Code, message: str, who: str = "The upstream", retry_after: float | None = None) -> str:
    """Return the code's sentence, followed by the upstream's message, shortened and redacted."""
    sentence = CODES[code].sentence
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER:
        sentence += f" It accepts requests again in about {_duration_in_words(retry_after)}."
    message = " ".join(redact(message).split())
    if not message:
        return sentence
    shown = message if len(message) <= _SHOWN else message[:_SHOWN] + "…"
    return f"{sentence} {who} said: {shown}"


def _duration_in_words(seconds: float) -> str:
    """Return a long duration in words, rounded up."""
    return f"{ceil(seconds / 3600)} hours" if seconds > 3600 else f"{ceil(seconds / 60)} minutes"


def retry_after_in(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After`, which may be a date (quirk F1)."""
    header = headers.get("retry-after")
    return _seconds(header) if header else None


def reset_in(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until `X-RateLimit-Reset`.

    Some servers put seconds, or a duration such as "6m0s", into this header. Only a point in time is unambiguous.
    """
    reset = headers.get("x-ratelimit-reset")
    return seconds_until(reset) if reset is not None and (_finite(reset) or 0) > _EARLIEST_TIME else None


def seconds_until(reset: JsonValue) -> float | None:
    """Return the seconds until a reset that is epoch milliseconds, or seconds."""
    at = _finite(reset) if isinstance(reset, str | int | float) else None
    return None if at is None else _wait((at / 1000 if at > 1e11 else at) - time())


def _seconds(header: str) -> float | None:
    seconds = _finite(header)
    if seconds is not None:
        return _wait(seconds)
    try:
        return _wait(parsedate_to_datetime(header).timestamp() - time())
    except (ValueError, OverflowError):
        return None


def _finite(number: str | float) -> float | None:
    try:
        value = float(number)
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None  # JSON has no Infinity


def _wait(seconds: float) -> float:
    return max(0.0, round(seconds, 1))
