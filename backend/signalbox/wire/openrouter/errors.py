"""What OpenRouter's (and its hosts') errors mean: five shapes of JSON, one UpstreamError."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import ceil, isfinite
from time import time

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import LONGEST_RETRY_AFTER, UpstreamError
from signalbox.core.messages import JsonValue
from signalbox.wire.json_text import loads

# OpenRouter's stable key: error.metadata.error_type.
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
    "not_found": Code.UPSTREAM_NOT_FOUND,
    "payload_too_large": Code.UPSTREAM_TOO_LARGE,
    "content_policy_violation": Code.CONTENT_FILTER,
    "refusal": Code.CONTENT_FILTER,
    "server": Code.UPSTREAM_ERROR,
    "timeout": Code.UPSTREAM_TIMEOUT,
}
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
# Hosts say an overflow in words where they have no key for it.
_OVERFLOW = re.compile(r"context[ _](length|window)|maximum context|prompt is too long|too many tokens", re.IGNORECASE)
# "…, but can only afford 512." (quirk F3).
_AFFORDABLE = re.compile(r"can only afford (\d{1,9})")
# OpenRouter's 404 says only in words what it found no host for (quirks C1, C2).
_NO_HOST = (
    (re.compile(r"support tool use", re.IGNORECASE), Code.UPSTREAM_NO_TOOLS),
    (re.compile(r"support image input", re.IGNORECASE), Code.UPSTREAM_NO_IMAGES),
    (re.compile(r"requested parameters", re.IGNORECASE), Code.UPSTREAM_NO_PARAMS),
)
# An unknown model id is a 400 of OpenRouter's, and only its words tell it from a request that is wrong in itself.
_NO_MODEL = re.compile(r"is not a valid model\b", re.IGNORECASE)
# "Could not process image", "Invalid base64 image_url.", "image exceeds 5 MB maximum": every host has its own words.
_IMAGE = re.compile(r"\bimages?\b|image_|_image", re.IGNORECASE)
# How hosts refuse reasoning that was sent back, or that was not (quirks B1 to B5, B7).
_SIGNATURE = re.compile(
    r"invalid_encrypted_content|encrypted content could not|invalid .?signature|thought.?signature"
    r"|reasoning details to be preserved|expected .?thinking|required 'reasoning' item|reasoning input is not enabled"
    r"|missing .?reasoning_content|reasoning_content.{0,60}passed back",
    re.IGNORECASE,
)
# Upstream texts carry account ids and, from careless hosts, the key itself (quirk G4).
_SECRETS = re.compile(
    r"sk-[\w-]{6,}|Bearer\s+\S+|\b(?:user|org|key)_\w{8,}"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-fA-F]{32,}\b",
    re.IGNORECASE,
)
_SHOWN = 300
# Characters of a host's own words that are looked into.
_MOST_READ = 16 * 1024
# Epoch seconds of 2001: a smaller number is a span.
_A_TIME = 1e9


def error_of_response(status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
    """Read an HTTP error answer; a body that is no JSON (a proxy's HTML) counts for nothing."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    inner = value.get("error", value) if isinstance(value, dict) else None
    if status == 404 and inner is None:
        return UpstreamError(Code.UPSTREAM_NOT_FOUND, "There is no chat API at OPENROUTER_BASE_URL.", status=404)
    return error_of_value(inner, status, headers)


def error_of_value(
    value: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None
) -> UpstreamError:
    """Read an error object (or bare sentence) from a body or chunk; `status` is the HTTP status unless that is 200."""
    fields = value if isinstance(value, dict) else {"message": value}
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    number = status or _number(fields.get("code"))
    said = _said(fields, metadata)
    code = _code(fields, metadata, number, said)
    retry_after = _retry_after(code, headers or {}, metadata)
    return UpstreamError(
        code,
        _sentence(code, said, metadata.get("provider_name"), retry_after),
        status=number,
        retry_after=retry_after,
        affordable=_affordable(fields) if code is Code.UPSTREAM_CREDITS else None,
        about_images=code is Code.UPSTREAM_TOO_LARGE
        or (code is Code.UPSTREAM_REJECTED and _IMAGE.search(said) is not None),
    )


def redact(text: str) -> str:
    """Take out what looks like a key or an account id."""
    return _SECRETS.sub("…", text)


def _number(code: JsonValue) -> int | None:
    if isinstance(code, bool):
        return None
    if isinstance(code, int):
        return code if 0 < code < 1000 else None
    return int(code) if isinstance(code, str) and len(code) == 3 and code.isascii() and code.isdigit() else None


def _said(fields: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue]) -> str:
    """Find the host's own words: OpenRouter's message is often only "Provider returned error", the cause is in raw."""
    raw = metadata.get("raw")
    message = fields.get("message") or fields.get("detail")
    said = raw if isinstance(raw, str) and raw.strip() else message
    return _innermost(said[:_MOST_READ]) if isinstance(said, str) else ""


def _innermost(text: str) -> str:
    """Dig the sentence out of an error that was quoted as JSON inside an error."""
    try:
        value = loads(text)
    except ValueError:
        return text.strip()
    while isinstance(value, dict):
        value = value.get("error") or value.get("message") or value.get("detail")
    return value.strip() if isinstance(value, str) else text.strip()


def _code(fields: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue], number: int | None, said: str) -> Code:
    if number == 404 and (known := next((code for words, code in _NO_HOST if words.search(said)), None)):
        return known
    kinds = (metadata.get("error_type"), fields.get("type"), fields.get("code"))
    for kind in kinds:
        if isinstance(kind, str) and kind in _BY_TYPE:
            return _BY_TYPE[kind]
    if number in (400, 413, None) and _OVERFLOW.search(said):
        return Code.CONTEXT_LENGTH_EXCEEDED
    if number in (400, None) and _NO_MODEL.search(said):
        return Code.UPSTREAM_NOT_FOUND
    if number in (400, 422, None) and _SIGNATURE.search(said):
        return Code.UPSTREAM_SIGNATURE
    if number in _BY_STATUS:
        return _BY_STATUS[number]
    if number is not None and 400 <= number < 500:
        return Code.UPSTREAM_REJECTED
    # A host's own string code (Groq's tool_use_failed comes with type invalid_request_error) is no server failure.
    if fields.get("type") == "invalid_request_error":
        return Code.UPSTREAM_REJECTED
    return Code.UPSTREAM_ERROR


def _affordable(fields: Mapping[str, JsonValue]) -> int | None:
    found = _AFFORDABLE.search(str(fields.get("message") or ""))
    return int(found.group(1)) if found else None


def _sentence(code: Code, said: str, provider: JsonValue, retry_after: float | None) -> str:
    sentence = CODES[code].sentence
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER:
        sentence += f" It accepts requests again in about {_span(retry_after)}."
    said = " ".join(redact(said).split())
    if not said:
        return sentence
    shown = said if len(said) <= _SHOWN else said[:_SHOWN] + "…"
    who = provider if isinstance(provider, str) and provider else "The upstream"
    return f"{sentence} {who} said: {shown}"


def _span(seconds: float) -> str:
    """Write a long wait in words, rounded up."""
    return f"{ceil(seconds / 3600)} hours" if seconds > 3600 else f"{ceil(seconds / 60)} minutes"


def _retry_after(code: Code, headers: Mapping[str, str], metadata: Mapping[str, JsonValue]) -> float | None:
    """Return seconds to wait: `Retry-After`, else the reset in the body or, of a rate limit, in the head (quirk F1)."""
    if (header := headers.get("retry-after")) and (seconds := _seconds(header)) is not None:
        return seconds
    inner = metadata.get("headers")
    reset = inner.get("X-RateLimit-Reset") if isinstance(inner, dict) else None
    if reset is not None:
        return _until(reset)
    reset = headers.get("x-ratelimit-reset") if code is Code.RATE_LIMIT else None
    # Other servers put seconds, or a span such as "6m0s", into this header; only a point in time is certain.
    return _until(reset) if reset is not None and (_finite(reset) or 0) > _A_TIME else None


def _until(reset: JsonValue) -> float | None:
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
    return value if isfinite(value) else None  # the contract has no Infinity to tell


def _wait(seconds: float) -> float:
    return max(0.0, round(seconds, 1))
