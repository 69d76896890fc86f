"""Converts errors of Google's APIs, with their details, to UpstreamError."""

import re
from collections.abc import Mapping
from time import time

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.gemini.values import objects_in, text_in
from signalbox.wire.http_errors import code_of_status, overload_or, retry_after_in, sentence_of
from signalbox.wire.json_text import loads

# The canonical codes of google.rpc.Code.
_BY_STATUS = {
    "UNAUTHENTICATED": Code.UPSTREAM_AUTH,
    "PERMISSION_DENIED": Code.UPSTREAM_FORBIDDEN,
    "NOT_FOUND": Code.UPSTREAM_NOT_FOUND,
    "RESOURCE_EXHAUSTED": Code.RATE_LIMIT,
    "UNAVAILABLE": Code.UPSTREAM_OVERLOADED,
    "DEADLINE_EXCEEDED": Code.UPSTREAM_TIMEOUT,
    "INTERNAL": Code.UPSTREAM_ERROR,
    "INVALID_ARGUMENT": Code.UPSTREAM_REJECTED,
    "OUT_OF_RANGE": Code.UPSTREAM_REJECTED,
    # "User location is not supported for the API use.", and features that need billing.
    "FAILED_PRECONDITION": Code.UPSTREAM_FORBIDDEN,
}
# `reason` of google.rpc.ErrorInfo. An invalid key is a 400 INVALID_ARGUMENT.
_BY_REASON = {
    "API_KEY_INVALID": Code.UPSTREAM_AUTH,
    "API_KEY_EXPIRED": Code.UPSTREAM_AUTH,
    "API_KEY_SERVICE_BLOCKED": Code.UPSTREAM_FORBIDDEN,
    "SERVICE_DISABLED": Code.UPSTREAM_FORBIDDEN,
}
# Google says: "API key not valid. Please pass a valid API key.", "API key expired. Please renew the API key."
_KEY = re.compile(r"api key (?:not valid|expired|not found)", re.IGNORECASE)
# Google says: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
_OVERFLOW = re.compile(r"token count.{0,80}exceeds|exceeds the maximum number of tokens", re.IGNORECASE)
# Google says: "Function call is missing a thought_signature in functionCall parts." (quirks B1 and B2)
_SIGNATURE = re.compile(r"thought.?signature", re.IGNORECASE)
_NO_TOOLS = re.compile(r"function calling is not (?:enabled|supported)|tool use .{0,40}not supported", re.IGNORECASE)
_IMAGE = re.compile(r"\bimages?\b|inline_?data", re.IGNORECASE)
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
# Daily quotas are reset at midnight Pacific time; in summer, this is an hour late. `RetryInfo` names seconds for them.
_DAY, _RESET = 24 * 3600, 8 * 3600
_PER_DAY = re.compile(r"per.?day", re.IGNORECASE)
_MOST_READ = 16 * 1024


def error_of_response(status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
    """Return what an HTTP error means; a body that is not JSON (a proxy's HTML) is ignored."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    if isinstance(value, list):  # the form of streams without `alt=sse`
        value = value[0] if value else None
    inner = value.get("error", value) if isinstance(value, dict) else None
    if status == 404 and inner is None:
        words = "There is no Gemini API at the upstream's URL. The base URL is the part before /v1beta."
        return UpstreamError(Code.UPSTREAM_NOT_FOUND, words, status=404)
    return error_of_value(inner, status, headers)


def error_of_value(
    value: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None
) -> UpstreamError:
    """Return what an error object or a bare sentence means; `status` is the HTTP status unless that is 200."""
    fields: JsonObject = value if isinstance(value, dict) else {"message": value}
    listed = fields.get("code")
    number = status or (listed if type(listed) is int and 0 < listed < 1000 else None)
    message, details = text_in(fields, "message")[:_MOST_READ], objects_in(fields, "details")
    code = overload_or(_code(fields, details, number, message), message)
    retry_after = retry_after_in(headers or {})
    if retry_after is None:
        retry_after = _retry_after(details)
    return UpstreamError(
        code,
        sentence_of(code, message, retry_after=retry_after),
        status=number,
        retry_after=retry_after,
        about_images=code is Code.UPSTREAM_TOO_LARGE
        or (code is Code.UPSTREAM_REJECTED and _IMAGE.search(message) is not None),
    )


def _code(fields: JsonObject, details: list[JsonObject], number: int | None, message: str) -> Code:
    reasons = (text_in(detail, "reason") for detail in details)
    if known := next((_BY_REASON[reason] for reason in reasons if reason in _BY_REASON), None):
        return known
    status = text_in(fields, "status")
    if number in (400, None) and status in ("INVALID_ARGUMENT", ""):
        for words, code in (
            (_KEY, Code.UPSTREAM_AUTH),
            (_OVERFLOW, Code.CONTEXT_LENGTH_EXCEEDED),
            (_SIGNATURE, Code.UPSTREAM_SIGNATURE),
            (_NO_TOOLS, Code.UPSTREAM_NO_TOOLS),
        ):
            if words.search(message):
                return code
    if number == 413:
        return Code.UPSTREAM_TOO_LARGE
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return code_of_status(number) if number is not None else Code.UPSTREAM_ERROR


def _retry_after(details: list[JsonObject]) -> float | None:
    """Return the seconds until a daily quota is reset, else those of `RetryInfo`."""
    quotas = [violation for detail in details for violation in objects_in(detail, "violations")]
    if any(_PER_DAY.search(text_in(quota, "quotaId")) for quota in quotas):
        return float(round(_DAY - (time() - _RESET) % _DAY))
    delays = (_SECONDS.fullmatch(text_in(detail, "retryDelay")) for detail in details)
    return next((round(float(found[1]), 1) for found in delays if found), None)
