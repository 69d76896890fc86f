"""Errors: each has a code, and a message that says what happened and what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from signalbox_client.answers import Answer

_TRY_AGAIN = frozenset({408, 425, 429, 502, 503, 504})


class SignalboxError(Exception):
    """The base of all errors of this package. `retryable`: the same request may succeed later."""

    def __init__(self, code: str, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after


class ConnectionLost(SignalboxError):
    """The server could not be reached, or the connection broke, too many times in a row."""

    def __init__(self, url: str, reason: str) -> None:
        advice = "Check that the server is running, then try again; the server keeps the runs it has started."
        super().__init__("CONNECTION_LOST", f"{url}: {reason}. {advice}", retryable=True)


class NotSignalbox(SignalboxError):
    """The response did not come from a Signalbox server."""

    def __init__(self, url: str) -> None:
        super().__init__("NOT_SIGNALBOX", f"{url} did not answer as Signalbox does. Check the base URL.")


class RequestRejected(SignalboxError):
    """The server rejected a request. `status` is the HTTP status, `field` the path of the invalid field."""

    def __init__(self, response: httpx.Response, error: dict[str, Any], retry_after: float | None) -> None:
        self.status: int = response.status_code
        self.field: str | None = error.get("field")
        self.request_id: str | None = response.headers.get("x-request-id")
        code = str(error.get("code", f"HTTP_{self.status}"))
        message = str(error.get("message", f"The server responded with HTTP {self.status}."))
        retryable = self.status in _TRY_AGAIN or retry_after is not None
        super().__init__(code, message, retryable=retryable, retry_after=retry_after)


class InvalidRequest(RequestRejected):
    """400, 413, 422: the request must be changed; see `field`."""


class AccessDenied(RequestRejected):
    """401, 403: the token is missing or wrong, or the server does not accept this host or origin."""


class NotFound(RequestRejected):
    """404: the run, conversation or save does not exist, or belongs to another owner."""


class Conflict(RequestRejected):
    """409: not possible in the present state, for example because the run has not finished."""


class RateLimited(RequestRejected):
    """429: a limit is reached; `retry_after` says how long to wait."""


class ServerError(RequestRejected):
    """5xx: the server cannot answer now."""


_CLASSES: dict[int, type[RequestRejected]] = {
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
}


class RunFailed(SignalboxError):
    """A run did not end as `complete`; `answer` contains the text so far."""

    def __init__(self, answer: Answer) -> None:
        done = answer.done
        self.answer = answer
        self.status: str = done.status
        code = done.code or done.status.upper()
        # The warning before such an ending says what to do, too.
        warnings = [warning.message for warning in answer.warnings if warning.code == code]
        message = warnings[-1] if warnings else done.error or f"The run ended as {done.status}."
        super().__init__(code, message, retryable=done.retryable is True, retry_after=done.retry_after)


def rejection(response: httpx.Response) -> RequestRejected:
    """Return the error of a response that has been read and is not a success."""
    try:
        error: dict[str, Any] = dict(json.loads(response.content)["error"])
    except (ValueError, LookupError, TypeError):  # not Signalbox's response, but a proxy's
        error = {}
    after = response.headers.get("retry-after", "")
    default = ServerError if response.status_code >= 500 else InvalidRequest
    made = _CLASSES.get(response.status_code, default)
    return made(response, error, float(after) if after.isdecimal() else None)
