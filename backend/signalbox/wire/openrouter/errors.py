"""Converts errors of OpenRouter and its providers, in five JSON shapes, to UpstreamError."""

import re
from collections.abc import Mapping

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonValue
from signalbox.wire.http_errors import (
    NO_CHAT_API,
    code_of_status,
    overload_or,
    reset_in,
    retry_after_in,
    seconds_until,
    sentence_of,
)
from signalbox.wire.json_text import loads

# By OpenRouter's stable key, `error.metadata.error_type`, or by the type or code of other servers.
_BY_TYPE = {
    "context_length_exceeded": Code.CONTEXT_LENGTH_EXCEEDED,
    "max_tokens_exceeded": Code.UPSTREAM_REJECTED,
    "token_limit_exceeded": Code.CONTEXT_LENGTH_EXCEEDED,
    "string_too_long": Code.UPSTREAM_TOO_LARGE,
    "authentication": Code.UPSTREAM_AUTH,
    "permission_denied": Code.UPSTREAM_FORBIDDEN,
    "payment_required": Code.UPSTREAM_CREDITS,
    "rate_limit_exceeded": Code.RATE_LIMIT,
    "provider_overloaded": Code.UPSTREAM_OVERLOADED,
    "provider_unavailable": Code.UPSTREAM_OVERLOADED,
    "overloaded_error": Code.UPSTREAM_OVERLOADED,
    "server_is_overloaded": Code.UPSTREAM_OVERLOADED,
    "slow_down": Code.UPSTREAM_OVERLOADED,
    "not_found": Code.UPSTREAM_NOT_FOUND,
    "payload_too_large": Code.UPSTREAM_TOO_LARGE,
    "content_policy_violation": Code.CONTENT_FILTER,
    "refusal": Code.CONTENT_FILTER,
    "server": Code.UPSTREAM_ERROR,
    "timeout": Code.UPSTREAM_TIMEOUT,
    # OpenAI's codes of a 429 and a 400; waiting does not help.
    "insufficient_quota": Code.UPSTREAM_CREDITS,
    "billing_hard_limit_reached": Code.UPSTREAM_CREDITS,
}
# Some providers describe an overflow only in the message.
_OVERFLOW = re.compile(r"context[ _](length|window)|maximum context|prompt is too long|too many tokens", re.IGNORECASE)
# "…, but can only afford 512." (quirk F3).
_AFFORDABLE = re.compile(r"can only afford (\d{1,9})")
# In a 404 of OpenRouter, only the message names what no provider supports (quirks C1, C2).
_UNSUPPORTED = (
    (re.compile(r"support tool use", re.IGNORECASE), Code.UPSTREAM_NO_TOOLS),
    (re.compile(r"support image input", re.IGNORECASE), Code.UPSTREAM_NO_IMAGES),
    (re.compile(r"requested parameters", re.IGNORECASE), Code.UPSTREAM_NO_PARAMS),
)
# OpenRouter rejects an unknown model id with a 400; only the message distinguishes it from an invalid request.
_NO_MODEL = re.compile(r"is not a valid model\b", re.IGNORECASE)
# "Could not process image", "Invalid base64 image_url.", "image exceeds 5 MB maximum": the message differs by provider.
_IMAGE = re.compile(r"\bimages?\b|image_|_image", re.IGNORECASE)
# How providers reject reasoning that was sent back, or that is missing (quirks B1 to B5, B7).
_SIGNATURE = re.compile(
    r"invalid_encrypted_content|encrypted content could not|invalid .?signature|thought.?signature"
    r"|invalid .?data.? in .?redacted"
    r"|reasoning details to be preserved|expected .?thinking|required 'reasoning' item|reasoning input is not enabled"
    r"|missing .?reasoning_content|reasoning_content.{0,60}passed back",
    re.IGNORECASE,
)
# Characters of a provider's message that are searched.
_MOST_READ = 16 * 1024


def error_of_response(status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
    """Return what an HTTP error means; a body that is not JSON (a proxy's HTML) is ignored."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    inner = value.get("error", value) if isinstance(value, dict) else None
    if status == 404 and inner is None:
        return UpstreamError(Code.UPSTREAM_NOT_FOUND, NO_CHAT_API, status=404)
    return error_of_value(inner, status, headers)


def error_of_value(
    value: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None
) -> UpstreamError:
    """Return what an error object or a bare sentence means; `status` is the HTTP status unless that is 200."""
    fields = value if isinstance(value, dict) else {"message": value}
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    number = status or _number(fields.get("code"))
    message = _message_of(fields, metadata)
    code = overload_or(_code(fields, metadata, number, message), message)
    retry_after = _retry_after(code, headers or {}, metadata)
    provider = metadata.get("provider_name")
    who = provider if isinstance(provider, str) and provider else "The upstream"
    return UpstreamError(
        code,
        sentence_of(code, message, who, retry_after),
        status=number,
        retry_after=retry_after,
        affordable=_affordable(fields) if code is Code.UPSTREAM_CREDITS else None,
        about_images=code is Code.UPSTREAM_TOO_LARGE
        or (code is Code.UPSTREAM_REJECTED and _IMAGE.search(message) is not None),
    )


def _number(code: JsonValue) -> int | None:
    if isinstance(code, bool):
        return None
    if isinstance(code, int):
        return code if 0 < code < 1000 else None
    return int(code) if isinstance(code, str) and len(code) == 3 and code.isascii() and code.isdigit() else None


def _message_of(fields: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue]) -> str:
    """Return the provider's message: OpenRouter's is often only "Provider returned error", with the cause in `raw`."""
    raw = metadata.get("raw")
    message = raw if isinstance(raw, str) and raw.strip() else fields.get("message") or fields.get("detail")
    return _innermost(message[:_MOST_READ]) if isinstance(message, str) else ""


def _innermost(text: str) -> str:
    """Return the sentence of an error that is quoted as JSON inside an error."""
    try:
        value = loads(text)
    except ValueError:
        return text.strip()
    while isinstance(value, dict):
        value = value.get("error") or value.get("message") or value.get("detail")
    return value.strip() if isinstance(value, str) else text.strip()


def _code(fields: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue], number: int | None, message: str) -> Code:
    if number == 404 and (known := next((code for words, code in _UNSUPPORTED if words.search(message)), None)):
        return known
    kinds = (metadata.get("error_type"), fields.get("type"), fields.get("code"))
    for kind in kinds:
        if isinstance(kind, str) and kind in _BY_TYPE:
            return _BY_TYPE[kind]
    if number in (400, 413, None) and _OVERFLOW.search(message):
        return Code.CONTEXT_LENGTH_EXCEEDED
    if number in (400, None) and _NO_MODEL.search(message):
        return Code.UPSTREAM_NOT_FOUND
    if number in (400, 422, None) and _SIGNATURE.search(message):
        return Code.UPSTREAM_SIGNATURE
    if number is not None and (known := code_of_status(number)) is not Code.UPSTREAM_ERROR:
        return known
    # Not a server failure: Groq's tool_use_failed, for example, has the type invalid_request_error.
    if fields.get("type") == "invalid_request_error":
        return Code.UPSTREAM_REJECTED
    return Code.UPSTREAM_ERROR


def _affordable(fields: Mapping[str, JsonValue]) -> int | None:
    found = _AFFORDABLE.search(str(fields.get("message") or ""))
    return int(found.group(1)) if found else None


def _retry_after(code: Code, headers: Mapping[str, str], metadata: Mapping[str, JsonValue]) -> float | None:
    """Return the seconds of `Retry-After`, else until the reset in body or, for rate limits, headers (quirk F1)."""
    if (seconds := retry_after_in(headers)) is not None:
        return seconds
    inner = metadata.get("headers")
    reset = inner.get("X-RateLimit-Reset") if isinstance(inner, dict) else None
    if reset is not None:
        return seconds_until(reset)
    return reset_in(headers) if code is Code.RATE_LIMIT else None
