"""Errors: each has a code, and a message that says what happened and what to do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from signalbox_client.answers import Answer

_TRY_AGAIN = frozenset({408, 425, 429, 502, 503, 504})
# Proxies in front of Signalbox respond with these, too.
_PROXY = _TRY_AGAIN | {401, 403, 413, 500}


class SignalboxError(Exception):
    """The base class of all errors of this package. If `retryable` is True, the same request may succeed later."""

    def __init__(self, code: str, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy does not call the constructor, whose arguments are others than the message.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[SignalboxError], args: tuple[object, ...]) -> SignalboxError:
    return kind.__new__(kind, *args)


class InvalidBaseUrl(SignalboxError):
    """The base URL of the client is not a valid URL of a server."""

    def __init__(self, url: object, problem: str) -> None:
        advice = "A base URL looks like http://127.0.0.1:8000 or https://chat.example.com/signalbox."
        shown = re.sub(r"//[^/]*@", "//…@", repr(url))  # no password
        super().__init__("INVALID_BASE_URL", f"The base URL {shown} is invalid: {problem}. {advice}")


def checked_header(argument: str, value: object) -> str:
    """Return a text that can be sent in a header; raises SignalboxError, without the text: it may be a token."""
    if isinstance(value, str) and value.isascii() and value.isprintable() and value.strip() == value:
        return value
    problem = "contains a line break, a space at its end or a character that is not ASCII" if value else "is empty"
    shown = problem if isinstance(value, str) else f"is {type(value).__name__}, not a text"
    raise SignalboxError("INVALID_REQUEST", f"{argument}: the value {shown}. Correct the argument.")


class ConnectionLost(SignalboxError):
    """The client gave up: too many attempts in a row could not reach the server or lost the connection."""

    def __init__(self, url: str, reason: str) -> None:
        advice = "Check that the server is running, then try again; the server keeps the runs it has started."
        super().__init__("CONNECTION_LOST", f"{url}: {reason}. {advice}", retryable=True)


class NotSignalbox(SignalboxError):
    """The response did not come from a Signalbox server."""

    def __init__(self, url: str, answer: str) -> None:
        hint = "The base URL must not end in /v1." if "/v1/api/" in url else "Check the base URL."
        super().__init__("NOT_SIGNALBOX", f"{url} did not answer as Signalbox does: {answer}. {hint}")


class RequestRejected(SignalboxError):
    """The server rejected a request. `status` is the HTTP status, and `field` is the path of the invalid field."""

    def __init__(self, response: httpx.Response, error: dict[str, Any], retry_after: float | None) -> None:
        self.status: int = response.status_code
        self.field: str | None = error.get("field")
        self.request_id: str | None = response.headers.get("x-request-id")
        code = str(error.get("code", f"HTTP_{self.status}"))
        message = str(error.get("message", f"A proxy or another server responded with HTTP {self.status}."))
        retryable = self.status in _TRY_AGAIN or retry_after is not None
        super().__init__(code, message, retryable=retryable, retry_after=retry_after)


class InvalidRequest(RequestRejected):
    """400, 413, 422: the request is invalid. `field` names the invalid field. 402: the budget is used up."""


class AccessDenied(RequestRejected):
    """401, 403: the token is missing, is wrong or does not allow the request, or the host or origin is not allowed."""


class NotFound(RequestRejected):
    """404: the run, conversation, file or save does not exist, or belongs to another owner."""


class Conflict(RequestRejected):
    """409: the request is not possible now, for example because the run has not finished."""


class RateLimited(RequestRejected):
    """429: the client has reached a limit. `retry_after` says how long to wait."""


class ServerError(RequestRejected):
    """500 to 599: the server cannot answer now."""


_CLASSES: dict[int, type[RequestRejected]] = {
    401: AccessDenied,
    403: AccessDenied,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
}


class RunFailed(SignalboxError):
    """A run did not end as `complete`. `answer` contains the text so far."""

    def __init__(self, answer: Answer) -> None:
        done = answer.done
        self.answer = answer
        self.status: str = done.status
        code = done.code or done.status.upper()
        # The warning before such an ending says what to do, too.
        warnings = [warning.message for warning in answer.warnings if warning.code == code]
        message = warnings[-1] if warnings else done.error or f"The run ended as {done.status}."
        super().__init__(code, message, retryable=done.retryable is True, retry_after=done.retry_after)


def rejection(response: httpx.Response) -> SignalboxError:
    """Return the error of a response that has been read and is not a success."""
    error = _error_in(response)
    status = response.status_code
    # Signalbox itself has nothing at a wrong path; for example, for a run that does not exist, the code is another one.
    if error.get("code") == "NOT_FOUND" or (not error and status not in _PROXY and status < 502):
        return foreign(response)
    after = response.headers.get("retry-after", "")
    made = _CLASSES.get(status, ServerError if status >= 500 else InvalidRequest)
    return made(response, error, float(after) if after.isdecimal() else None)


def _error_in(response: httpx.Response) -> dict[str, Any]:
    """Return Signalbox's error, or an empty one. The codes of other servers are numbers or in lower case."""
    try:
        error: dict[str, Any] = dict(json.loads(response.content)["error"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return error if str(error.get("code")).isupper() else {}


def foreign(response: httpx.Response) -> NotSignalbox:
    """Return the error of a response that is not one of Signalbox."""
    if response.has_redirect_location:
        what = f"HTTP {response.status_code}, a redirect to {response.headers['location'].partition('?')[0]}"
    else:
        what = f"HTTP {response.status_code} with {response.headers.get('content-type', 'no content type')}"
    return NotSignalbox(address(response.url), what)


def address(url: httpx.URL) -> str:
    """Return a URL for a message: without query and without a password."""
    return str(url.copy_with(query=None, userinfo=b""))
