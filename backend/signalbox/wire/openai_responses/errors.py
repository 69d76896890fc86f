"""Converts errors of the Responses API, in an HTTP response or in a stream, to UpstreamError."""

import re
from collections.abc import Mapping

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonValue
from signalbox.wire.http_errors import code_of_status, overload_or, reset_in, retry_after_in, sentence_of
from signalbox.wire.json_text import loads
from signalbox.wire.openai_responses.fields import object_of, text_of
from signalbox.wire.openrouter.errors import error_of_value

_NO_API = "There is no Responses API at the upstream's URL."
# By `error.code` or `error.type`. Codes that are not listed are read like those of chat completions.
_CODES = {
    "insufficient_quota": Code.UPSTREAM_CREDITS,  # also the code of a 429; waiting does not help (recorded: gpt-5-nano)
    "billing_hard_limit_reached": Code.UPSTREAM_CREDITS,
    "billing_not_active": Code.UPSTREAM_CREDITS,
    "invalid_api_key": Code.UPSTREAM_AUTH,
    "authentication_error": Code.UPSTREAM_AUTH,
    "model_not_found": Code.UPSTREAM_NOT_FOUND,
    "DeploymentNotFound": Code.UPSTREAM_NOT_FOUND,  # Azure
    "rate_limit_exceeded": Code.RATE_LIMIT,
    "rate_limit_error": Code.RATE_LIMIT,
    "slow_down": Code.UPSTREAM_OVERLOADED,
    "server_is_overloaded": Code.UPSTREAM_OVERLOADED,
    "context_length_exceeded": Code.CONTEXT_LENGTH_EXCEEDED,
    "content_filter": Code.CONTENT_FILTER,  # Azure
    "content_policy_violation": Code.CONTENT_FILTER,
    "image_content_policy_violation": Code.CONTENT_FILTER,
    "moderation_blocked": Code.CONTENT_FILTER,
    "invalid_prompt": Code.CONTENT_FILTER,  # of reasoning models: the prompt was flagged
    "invalid_encrypted_content": Code.UPSTREAM_SIGNATURE,
    "request_timeout": Code.UPSTREAM_TIMEOUT,
    "server_error": Code.UPSTREAM_ERROR,
}
# How an upstream rejects a reasoning item that it cannot read or does not have.
_REASONING = re.compile(
    r"items are not persisted|encrypted content .{0,300}could not be|without its required .{0,40}item", re.IGNORECASE
)
_IMAGE_CODES = re.compile(r"image", re.IGNORECASE)


def error_of_response(status: int, body: bytes, headers: Mapping[str, str]) -> UpstreamError:
    """Return what an HTTP error means; a body that is not JSON (a proxy's HTML) is ignored."""
    try:
        value = loads(body)
    except ValueError:
        value = None
    inner = value.get("error", value) if isinstance(value, dict) else None
    if status == 404 and inner is None:
        return UpstreamError(Code.UPSTREAM_NOT_FOUND, "There is no Responses API at the upstream's URL.", status=status)
    return error_of(inner, status, headers)


def error_of(value: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None) -> UpstreamError:
    """Return what an error object means; `status` is absent for an error inside a stream."""
    fields = object_of(value)
    message = text_of(fields.get("message"))
    words = [text_of(fields.get(name)) for name in ("code", "type")]
    known = next((_CODES[word] for word in words if word in _CODES), None)
    if known is Code.UPSTREAM_ERROR and status is not None and (status == 408 or status >= 500):
        known = code_of_status(status)  # OpenAI's 503 for overload has the type `server_error`, too
    if known is not None:
        known = overload_or(known, message)
    if known is None and _REASONING.search(message):
        known = Code.UPSTREAM_SIGNATURE
    if known is None and _IMAGE_CODES.search(words[0]):
        known = Code.UPSTREAM_REJECTED
    if known is None:
        return error_of_value(value, status, headers)
    wait = retry_after_in(headers or {})
    if wait is None and known is Code.RATE_LIMIT:
        wait = reset_in(headers or {})
    return UpstreamError(
        known,
        sentence_of(known, message, retry_after=wait),
        status=status,
        retry_after=wait,
        about_images=known is Code.UPSTREAM_REJECTED,
    )
