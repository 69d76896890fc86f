"""Errors in OpenAI's shape: `{"error": {"message", "type", "param", "code"}}`, with the status that its clients expect.

Clients decide by status and `code` whether to retry, to shorten the conversation or to ask for another key.
"""

from msgspec import UNSET, Struct

from signalbox.core.codes import CODES, Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Done
from signalbox.core.messages import JsonObject
from signalbox.wire.json_text import dumps

# LiteLLM recognizes a conversation that is too long by these words of llama.cpp, not by the code.
_TOO_LONG = "The request exceeds the available context size."
# The field of an error that concerns the body as a whole.
_WHOLE_BODY = "body"
_INVALID, _SERVER = "invalid_request_error", "server_error"
_ERROR_TYPES = {
    400: "invalid_request",
    401: "authentication",
    403: "permission_denied",
    404: "not_found",
    413: "payload_too_large",
    429: "rate_limit_exceeded",
}


class _Shape(Struct, frozen=True):
    """An HTTP status, OpenAI's `type` and `code`; `error_type` is OpenRouter's name, empty: that of the status."""

    status: int
    type: str
    code: str | None = None
    error_type: str = ""
    param: str | None = None


# Codes that are not listed keep the status of `CODES`, and their name in lower case is the code.
_SHAPES = {
    Code.INVALID_JSON: _Shape(400, _INVALID, None),
    Code.INVALID_REQUEST: _Shape(400, _INVALID, None),
    Code.UNKNOWN_FIELD: _Shape(400, _INVALID, "unknown_parameter"),
    Code.UNKNOWN_MODEL: _Shape(404, _INVALID, "model_not_found", "not_found", "model"),
    Code.UNKNOWN_TOOL: _Shape(400, _INVALID, "unknown_tool"),
    Code.TOOL_UNAVAILABLE: _Shape(400, _INVALID, "tool_unavailable"),
    Code.UNKNOWN_MESSAGE: _Shape(404, _INVALID, "unknown_message"),
    Code.KEY_REUSED: _Shape(400, "idempotency_error", "idempotency_key_reused"),
    Code.UNAUTHORIZED: _Shape(401, _INVALID, "invalid_api_key"),
    Code.TOO_MANY_STREAMS: _Shape(429, "requests", "rate_limit_exceeded"),
    Code.TOO_MANY_QUESTIONS: _Shape(429, "requests", "rate_limit_exceeded"),
    Code.BUDGET_EXHAUSTED: _Shape(402, "insufficient_quota", "insufficient_quota", "payment_required"),
    Code.MODEL_NOT_ALLOWED: _Shape(403, _INVALID, "model_not_allowed", "permission_denied", "model"),
    # How a run failed. An upstream that rejects our key is not the client's fault, so it is no 401.
    Code.UPSTREAM_AUTH: _Shape(502, _SERVER, "upstream_auth", "authentication"),
    Code.UPSTREAM_CREDITS: _Shape(429, "insufficient_quota", "insufficient_quota", "payment_required"),
    Code.UPSTREAM_FORBIDDEN: _Shape(403, _INVALID, "permission_denied"),
    Code.UPSTREAM_NOT_FOUND: _Shape(404, _INVALID, "model_not_found", "not_found", "model"),
    Code.UPSTREAM_NO_TOOLS: _Shape(400, _INVALID, "unsupported_parameter", "invalid_request", "tools"),
    Code.UPSTREAM_NO_IMAGES: _Shape(400, _INVALID, "unsupported_content", "invalid_request", "messages"),
    Code.UPSTREAM_NO_PARAMS: _Shape(400, _INVALID, "unsupported_parameter"),
    Code.UPSTREAM_SIGNATURE: _Shape(400, _INVALID, "upstream_signature"),
    Code.UPSTREAM_REJECTED: _Shape(400, _INVALID, "upstream_rejected"),
    Code.UPSTREAM_TOO_LARGE: _Shape(413, _INVALID, "request_too_large"),
    Code.CONTEXT_LENGTH_EXCEEDED: _Shape(
        400, _INVALID, "context_length_exceeded", "context_length_exceeded", "messages"
    ),
    Code.RATE_LIMIT: _Shape(429, "requests", "rate_limit_exceeded"),
    Code.UPSTREAM_OVERLOADED: _Shape(503, _SERVER, "overloaded", "provider_overloaded"),
    Code.UPSTREAM_ERROR: _Shape(502, _SERVER, "upstream_error", "provider_unavailable"),
    Code.UPSTREAM_TIMEOUT: _Shape(504, _SERVER, "upstream_timeout", "timeout"),
    Code.UPSTREAM_STALLED: _Shape(504, _SERVER, "upstream_stalled", "timeout"),
    Code.UPSTREAM_UNREACHABLE: _Shape(502, _SERVER, "upstream_unreachable", "provider_unavailable"),
    Code.UPSTREAM_PROTOCOL: _Shape(502, _SERVER, "upstream_protocol", "provider_unavailable"),
    Code.STREAM_CUT: _Shape(502, _SERVER, "stream_cut", "provider_unavailable"),
    Code.EMPTY_ANSWER: _Shape(502, _SERVER, "empty_answer", "provider_unavailable"),
    Code.MALFORMED_CALL: _Shape(502, _SERVER, "malformed_call", "provider_unavailable"),
    Code.TURN_PAUSED: _Shape(502, _SERVER, "turn_paused", "provider_unavailable"),
    Code.STOP_UNKNOWN: _Shape(502, _SERVER, "stop_unknown", "provider_unavailable"),
    Code.CONTENT_FILTER: _Shape(400, _INVALID, "content_filter", "content_policy_violation"),
    Code.BUDGET_REACHED: _Shape(400, _INVALID, "budget_reached"),
    Code.RUN_TOO_LARGE: _Shape(500, _SERVER, "run_too_large"),
    Code.DETACHED_TIMEOUT: _Shape(504, _SERVER, "detached_timeout", "timeout"),
    Code.SERVER_SHUTDOWN: _Shape(503, _SERVER, "server_shutdown"),
    Code.SERVER_CRASH: _Shape(500, _SERVER, "server_crash"),
}


def error_of(error: RequestError, usage: JsonObject | None = None) -> tuple[int, bytes]:
    """Return an error's status and its body; `param` is the field that is wrong. `usage` is that of a failed run."""
    shape = _shape_of(error.code, error.status)
    return shape.status, _body(_object(error.code, error.message, shape, error.field), usage)


def openrouter_error_of(error: RequestError, usage: JsonObject | None = None) -> tuple[int, bytes]:
    """Return the same with the fields of OpenRouter, whose SDK accepts only a number as `code`."""
    shape = _shape_of(error.code, error.status)
    return shape.status, _body(_openrouter_object(error.code, error.message, shape, error.field), usage)


def _body(error: JsonObject, usage: JsonObject | None) -> bytes:
    return dumps({"error": error} if usage is None else {"error": error, "usage": usage})


def stream_error_of(done: Done) -> JsonObject:
    """Return the fields of the chunk that ends the stream of a failed run, as OpenRouter writes them."""
    code = Code(done.code) if done.code is not UNSET else Code.INTERNAL
    shape = _shape_of(code, CODES[code].http)
    words = done.error if done.error is not UNSET else CODES[code].sentence
    choice: JsonObject = {"index": 0, "delta": {"content": ""}, "logprobs": None, "finish_reason": "error"}
    return {"error": _openrouter_object(code, words, shape, None), "choices": [choice]}


def _shape_of(code: Code, status: int) -> _Shape:
    known = _SHAPES.get(code)
    if known is not None:
        return known
    kind = _SERVER if status >= 500 else "requests" if status == 429 else _INVALID
    return _Shape(status, kind, str(code).lower())


def _openrouter_object(code: Code, message: str, shape: _Shape, field: str | None) -> JsonObject:
    error = _object(code, message, shape, field)
    error_type = shape.error_type or _ERROR_TYPES.get(shape.status, "server")
    metadata: JsonObject = {"error_type": error_type, "code": shape.code}
    return {**error, "code": shape.status, "metadata": metadata}


def _object(code: Code, message: str, shape: _Shape, field: str | None) -> JsonObject:
    param = shape.param if field in (None, _WHOLE_BODY) else field
    return {"message": _words(code, message), "type": shape.type, "param": param, "code": shape.code}


def _words(code: Code, message: str) -> str:
    if code is Code.INVALID_REQUEST:
        return message
    ended = message if message.endswith((".", "!", "?")) else f"{message}."
    words = f"{ended} {CODES[code].todo}"
    return f"{_TOO_LONG} {words}" if code is Code.CONTEXT_LENGTH_EXCEEDED else words
