"""Converts errors of the Messages API to UpstreamError."""

import re
from collections.abc import Mapping

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonValue
from signalbox.wire.http_errors import code_of_status, overload_or, retry_after_in, sentence_of
from signalbox.wire.json_text import loads

# By `error.type`, as Anthropic's documentation of errors lists them. `invalid_request_error` has several causes.
_BY_TYPE = {
    "authentication_error": Code.UPSTREAM_AUTH,
    "billing_error": Code.UPSTREAM_CREDITS,
    "permission_error": Code.UPSTREAM_FORBIDDEN,
    "not_found_error": Code.UPSTREAM_NOT_FOUND,
    "request_too_large": Code.UPSTREAM_TOO_LARGE,
    "rate_limit_error": Code.RATE_LIMIT,
    "timeout_error": Code.UPSTREAM_TIMEOUT,
    "api_error": Code.UPSTREAM_ERROR,
    "overloaded_error": Code.UPSTREAM_OVERLOADED,
}
# "prompt is too long: 210000 tokens > 200000 maximum"; "input length and `max_tokens` exceed context limit: …".
_OVERFLOW = re.compile(r"prompt is too long|exceeds? (?:the )?context|context[ _](?:length|window)", re.IGNORECASE)
# A 400 of the general type: "Your credit balance is too low to access the Anthropic API."
_CREDITS = re.compile(r"credit balance is too low", re.IGNORECASE)
# "Invalid `signature` in `thinking` block"; "Invalid `data` in `redacted_thinking` block" (bifrost's tests quote it
# from both Anthropic and Bedrock); "Expected `thinking` or `redacted_thinking`, but found `tool_use`";
# "`thinking` blocks in the latest assistant message cannot be modified" (quirks B3, B7). DeepSeek: "The
# content[].thinking in the thinking mode must be passed back to the API."
_SIGNATURE = re.compile(
    r"invalid .?signature|invalid .?data.? in .?redacted|expected .?thinking|thinking.{0,40}blocks.{0,60}modified"
    r"|thinking.{0,60}passed back",
    re.IGNORECASE,
)
# "image exceeds 5 MB maximum", "Could not process image", "image dimensions exceed max allowed size".
_IMAGE = re.compile(r"\bimages?\b", re.IGNORECASE)
# Characters of a message that are searched.
_MOST_READ = 16 * 1024


def error_of_response(status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
    """Return what an HTTP error means; a body that is not JSON (a proxy's HTML) is ignored."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    inner = value.get("error", value) if isinstance(value, dict) else None
    if status == 404 and inner is None:
        return UpstreamError(Code.UPSTREAM_NOT_FOUND, "There is no Messages API at the upstream's URL.", status=404)
    return error_of_value(inner, status, headers)


def error_of_value(
    value: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None
) -> UpstreamError:
    """Return what the object `error` means; `status` is absent for an error inside a stream."""
    fields = value if isinstance(value, dict) else {"message": value}
    sent = fields.get("message")
    message = sent[:_MOST_READ] if isinstance(sent, str) else ""
    code = overload_or(_code(fields.get("type"), status, message), message)
    wait = retry_after_in(headers or {})
    return UpstreamError(
        code,
        sentence_of(code, message, retry_after=wait),
        status=status,
        retry_after=wait,
        about_images=code is Code.UPSTREAM_TOO_LARGE
        or (code is Code.UPSTREAM_REJECTED and _IMAGE.search(message) is not None),
    )


def _code(kind: JsonValue, status: int | None, message: str) -> Code:
    """Choose the code: by the type, then by the message, then by the status."""
    if isinstance(kind, str) and kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if status in (400, 413, 422, None):
        for words, code in (
            (_CREDITS, Code.UPSTREAM_CREDITS),
            (_OVERFLOW, Code.CONTEXT_LENGTH_EXCEEDED),
            (_SIGNATURE, Code.UPSTREAM_SIGNATURE),
        ):
            if words.search(message):
                return code
    if status is not None:
        return code_of_status(status)
    return Code.UPSTREAM_REJECTED if kind == "invalid_request_error" else Code.UPSTREAM_ERROR
