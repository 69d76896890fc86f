"""OpenAI's error bodies, and the errors of `sim-error-N`."""

import hashlib
from typing import Any

from ..errors import NativeError

_INVALID = "invalid_request_error"
_KINDS = {
    402: "billing_error",
    408: "server_error",
    429: "requests",
    500: "server_error",
    502: "server_error",
    503: "server_error",
    529: "server_error",
}
_CODES = {
    401: "invalid_api_key",
    402: "billing_hard_limit_reached",
    403: "unsupported_country_region_territory",
    404: "not_found",
    408: "timeout",
    413: "request_too_large",
    429: "rate_limit_exceeded",
}
_MESSAGES = {
    400: "The request could not be processed.",
    401: "Incorrect API key provided: sk-simul****. You can find your API key at "
    "https://platform.openai.com/account/api-keys.",
    402: "Billing hard limit has been reached.",
    403: "Country, region, or territory not supported",
    404: "Not found",
    408: "Request timed out.",
    413: "Request body is too large.",
    422: "The request could not be processed.",
    429: "Rate limit reached for requests. Limit 3, Used 3, Requested 1. Please try again in 2s. Visit "
    "https://platform.openai.com/account/rate-limits to learn more.",
    500: "The server had an error while processing your request. Sorry about that!",
    502: "Bad gateway.",
    503: "The server is currently overloaded with other requests. Sorry about that! You can retry your request, or "
    "contact us if the error persists.",
    529: "Overloaded.",
}


def error_fields(kind: str, code: str | None, message: str, param: str | None = None) -> dict[str, Any]:
    """Return the `error` object of a body or an event."""
    return {"message": message, "type": kind, "param": param, "code": code}


def error_of(
    status: int, message: str, *, kind: str = _INVALID, code: str | None = None, param: str | None = None
) -> NativeError:
    """Return an error in OpenAI's format."""
    return NativeError(status, {"error": error_fields(kind, code, message, param)}, _headers(status, message))


def invalid(message: str, param: str | None = None, code: str | None = None) -> NativeError:
    """Return the error of an invalid request."""
    return error_of(400, message, param=param, code=code)


def missing(param: str) -> NativeError:
    """Return the error of a missing parameter."""
    return invalid(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")


def unknown_parameter(param: str) -> NativeError:
    """Return the error of a parameter that the API does not have."""
    return invalid(f"Unknown parameter: '{param}'.", param, "unknown_parameter")


def unsupported(param: str) -> NativeError:
    """Return the error of a parameter that the model does not support."""
    text = f"Unsupported parameter: '{param}' is not supported with this model."
    return invalid(text, param, "unsupported_parameter")


def wrong_type(param: str, expected: str, value: object) -> NativeError:
    """Return the error of a value of the wrong type."""
    text = f"Invalid type for '{param}': expected {expected}, but got {_type_name(value)} instead."
    return invalid(text, param, "invalid_type")


def wrong_value(param: str, value: object, *supported: str) -> NativeError:
    """Return the error of a value that is not one of the supported ones."""
    quoted = [f"'{one}'" for one in supported]
    named = ", ".join(quoted[:-1]) + f", and {quoted[-1]}" if len(quoted) > 2 else " and ".join(quoted)
    return invalid(f"Invalid value: '{value}'. Supported values are: {named}.", param, "invalid_value")


def scripted_error(status: int) -> NativeError:
    """Return the error of `sim-error-N`."""
    kind = _KINDS.get(status, _INVALID)
    return error_of(status, _MESSAGES.get(status, "Error"), kind=kind, code=_CODES.get(status))


def request_id(seed: str) -> str:
    """Return an id in the format of the `x-request-id` header."""
    return f"req_{hashlib.sha256(seed.encode()).hexdigest()[:32]}"


def _type_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _headers(status: int, message: str) -> dict[str, str]:
    """Return the headers of an error: its request, and how long to wait after a rate limit."""
    headers = {"x-request-id": request_id(message)}
    if status == 429:
        headers |= {
            "retry-after": "2",
            "x-ratelimit-limit-requests": "3",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "2s",
        }
    return headers
