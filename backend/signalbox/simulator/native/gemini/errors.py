"""Errors of Google's APIs: a JSON body with a status word, and details for some of them."""

from typing import Any

from ..errors import NativeError
from .json_text import compact

STATUS_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_MESSAGES = {
    400: "Request contains an invalid argument.",
    401: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
    "authentication credential.",
    403: "Permission denied: Consumer has been suspended.",
    404: "Requested entity was not found.",
    429: "You exceeded your current quota, please check your plan and billing details. For more information on this "
    "error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: "
    "generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20\nPlease retry in 2s.",
    500: "An internal error has occurred. Please retry or report in "
    "https://developers.generativeai.google/guide/troubleshooting",
    503: "The model is overloaded. Please try again later.",
}
# Google's front end sends a 502 as a page, not as JSON (google-gemini/gemini-cli#4646).
_PAGE = """<!DOCTYPE html>
<html lang=en>
  <meta charset=utf-8>
  <title>Error 502 (Server Error)!!1</title>
  <p><b>502.</b> <ins>That’s an error.</ins>
  <p>The server encountered a temporary error and could not complete your request.<p>Please try again in 30 seconds.
  <ins>That’s all we know.</ins>
"""
_PACKAGE = "type.googleapis.com/google.rpc"
_QUOTA = {
    "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
    "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
    "quotaDimensions": {"location": "global", "model": "simulated"},
    "quotaValue": "20",
}
_RATE_LIMIT_DETAILS = (
    {"@type": f"{_PACKAGE}.QuotaFailure", "violations": [_QUOTA]},
    {"@type": f"{_PACKAGE}.RetryInfo", "retryDelay": "2s"},
)


class GeminiError(NativeError):
    """A request is rejected, or an answer ends with an error."""

    def __init__(self, status: int, message: str, *details: dict[str, Any]) -> None:
        error: dict[str, Any] = {"code": status, "message": message, "status": STATUS_WORDS.get(status, "UNKNOWN")}
        super().__init__(status, {"error": {**error, "details": list(details)} if details else error})
        self.message = message


def invalid(message: str) -> GeminiError:
    """Return the error of an invalid request."""
    return GeminiError(400, message)


def violation(field: str, message: str) -> GeminiError:
    """Return the error of one field, which is named in the details too."""
    found = {"field": field, "description": message} if field else {"description": message}
    return GeminiError(400, message, {"@type": f"{_PACKAGE}.BadRequest", "fieldViolations": [found]})


def unknown_field(name: str, where: str) -> GeminiError:
    """Return the error of a field that the API does not know; `where` is the path of the object around it."""
    at = f" at '{where}'" if where else ""
    return violation(where, f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.')


def wrong_type(field: str, kind: str, value: object) -> GeminiError:
    """Return the error of a value that has not the type of its field."""
    return violation(field, f"Invalid value at '{field}' ({kind}), {compact(value)}")


def scripted_error(status: int) -> GeminiError:
    """Return the error of the model `sim-error-N`."""
    details = _RATE_LIMIT_DETAILS if status == 429 else ()
    error = GeminiError(status, _MESSAGES.get(status, "Simulated error."), *details)
    error.page = _PAGE if status == 502 else None
    return error
