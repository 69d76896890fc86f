"""Anthropic's error bodies, which name their request, and the errors of `sim-error-N`."""

import hashlib
from typing import Any

from ..errors import NativeError

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    529: "overloaded_error",
}
_MESSAGES = {
    400: "Error",
    401: "invalid x-api-key",
    402: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
    "purchase credits.",
    403: "Your API key does not have permission to use the specified resource.",
    404: "Not found",
    408: "Request timed out",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your organization's rate limit of 50 requests per minute.",
    500: "Internal server error",
    502: "Bad gateway",
    503: "Service unavailable",
    529: "Overloaded",
}


def error_of(status: int, message: str, *, details: dict[str, Any] | None = None) -> NativeError:
    """Return an error in Anthropic's format."""
    body = error_body(TYPES[status], message, details)
    return NativeError(status, body, {"request-id": body["request_id"], **_limits(status)})


def invalid(message: str) -> NativeError:
    """Return the error of an invalid request."""
    return error_of(400, message)


def unknown_tag(kind: object, expected: str) -> str:
    """Return what the API says about a `type` that is not one of the expected ones."""
    return f"Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"


def scripted_error(status: int) -> NativeError:
    """Return the error of `sim-error-N`."""
    return error_of(status, _MESSAGES.get(status, "Error"))


def error_body(kind: str, message: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON of an error, which is also the data of an `error` event."""
    error = {"details": details, "type": kind, "message": message}
    return {"type": "error", "error": error, "request_id": request_id(kind + message)}


def request_id(seed: str) -> str:
    """Return an id in the format of Anthropic's `request-id` header."""
    return f"req_011C{hashlib.sha256(seed.encode()).hexdigest()[:20]}"


def _limits(status: int) -> dict[str, str]:
    """Return the headers of a rate limit: how long to wait, and how much is left."""
    if status != 429:
        return {}
    return {
        "retry-after": "2",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
    }
