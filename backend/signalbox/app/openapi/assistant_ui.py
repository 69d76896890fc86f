"""The OpenAPI description of the endpoints for assistant-ui."""

from typing import Any, NotRequired, TypedDict

from signalbox.app.openapi.document import BODY_ERRORS, Json, api_errors, json_body
from signalbox.core.codes import Code
from signalbox.intakes.assistant_ui_schema import AssistantRequest

_STREAM = 'aui-state:[{"type":"set","path":["messages","1","content","0"],"value":{"type":"text","text":"Hi"}}]\n'
ERRORS = (
    *BODY_ERRORS,
    Code.UNKNOWN_MESSAGE,
    Code.UNKNOWN_CONVERSATION,
    Code.UNKNOWN_TOOL,
    Code.BUDGET_EXHAUSTED,
    Code.MODEL_NOT_ALLOWED,
    Code.TOOL_NOT_ALLOWED,
    Code.TOO_MANY_STREAMS,
)


class AssistantState(TypedDict):
    """The state of an assistant-ui client; `messages` have LangChain's format."""

    threadId: str | None
    messages: list[dict[str, Any]]
    warnings: NotRequired[list[dict[str, Any]]]
    run: NotRequired[dict[str, Any]]


class ResumeState(TypedDict):
    """A run to resume, and the state to which its events are added."""

    runId: str
    state: AssistantState


def stream_responses(*codes: Code) -> dict[int | str, Json]:
    """Describe a stream in either framing."""
    content = {"text/plain": {"example": _STREAM}, "text/event-stream": {"example": "data: [DONE]\n\n"}}
    return {200: {"description": "Operations on the client's state.", "content": content}, **api_errors(*codes)}


PROTOCOL: Json = {
    "name": "protocol",
    "in": "query",
    "required": False,
    "description": "The framing, as the client's option `protocol`; absent: by Accept, else data-stream.",
    "schema": {"type": "string", "enum": ["data-stream", "assistant-transport"]},
}

OPENAPI: dict[str, Any] = {
    "name": "answer_assistant",
    "tags": ["assistant-ui"],
    "description": "Follow the commands of an assistant-ui client, and stream operations on its state.",
    "responses": stream_responses(*ERRORS),
    "openapi_extra": {**json_body(AssistantRequest), "parameters": [PROTOCOL]},
}
