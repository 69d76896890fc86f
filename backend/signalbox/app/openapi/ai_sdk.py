"""The OpenAPI description of the AI SDK's routes: what `useChat` sends and gets."""

from typing import Any

from signalbox.app.openapi.document import Json, Responses, json_body
from signalbox.core.codes import CODES, Code
from signalbox.intakes.ai_sdk_schema import AiSdkRequest

_STREAM = (
    'data: {"type":"start","messageId":"4f…"}\n\ndata: {"type":"start-step"}\n\n'
    'data: {"type":"text-start","id":"1"}\n\ndata: {"type":"text-delta","id":"1","delta":"Hi"}\n\n'
    'data: {"type":"text-end","id":"1"}\n\ndata: {"type":"finish-step"}\n\n'
    'data: {"type":"finish","finishReason":"stop"}\n\ndata: [DONE]\n\n'
)
_ERRORS = (Code.INVALID_JSON, Code.INVALID_REQUEST, Code.UNAUTHORIZED, Code.HOST_NOT_ALLOWED, Code.STORE_UNAVAILABLE)
_START_ERRORS = (
    Code.UNKNOWN_MODEL, Code.UNKNOWN_CONVERSATION, Code.UNKNOWN_MESSAGE, Code.BODY_TOO_LARGE, Code.TOO_MANY_QUESTIONS,
    Code.TOO_MANY_RUNS, Code.BUDGET_EXHAUSTED, Code.MODEL_NOT_ALLOWED, Code.TOOL_NOT_ALLOWED,
)  # fmt: skip


def stream_response(description: str) -> Json:
    """Describe a stream of chunks."""
    return {"description": description, "content": {"text/event-stream": {"example": _STREAM}}}


def text_errors(*codes: Code) -> Responses:
    """Describe responses of a failed request: a sentence, which the client shows."""
    statuses = sorted({CODES[code].http for code in (*_ERRORS, *codes)})
    content: Json = {"text/plain": {"schema": {"type": "string"}}}
    return {status: {"description": "What happened, and what to do.", "content": content} for status in statuses}


OPENAPI: dict[str, Any] = {
    "name": "answer_ai_chat",
    "tags": ["AI SDK"],
    "description": "Answer a chat of the Vercel AI SDK as a UI message stream, version 1.",
    "responses": {200: stream_response("The chunks of the answer."), **text_errors(*_START_ERRORS)},
    "openapi_extra": json_body(AiSdkRequest),
}
