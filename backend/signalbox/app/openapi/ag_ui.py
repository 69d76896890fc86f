"""The OpenAPI description of the endpoint for AG-UI."""

from typing import Any

from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body
from signalbox.core.codes import Code
from signalbox.intakes.ag_ui_schema import RunAgentInput

_STREAM = (
    'data: {"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1","protocolVersion":"1.0"}\n\n'
    'data: {"type":"TEXT_MESSAGE_START","messageId":"4f…","role":"assistant"}\n\n'
    'data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"4f…","delta":"Hi"}\n\n'
    'data: {"type":"TEXT_MESSAGE_END","messageId":"4f…"}\n\n'
    'data: {"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1","outcome":{"type":"success"}}\n\n'
)

OPENAPI: dict[str, Any] = {
    "name": "run_agent",
    "tags": ["AG-UI"],
    "description": "Run an agent for a client of AG-UI 1.0. When the client closes the connection, the run stops.",
    "responses": {
        200: {"description": "The events of the run.", "content": {"text/event-stream": {"example": _STREAM}}},
        **api_errors(
            *BODY_ERRORS,
            Code.UNKNOWN_MODEL,
            Code.UNKNOWN_TOOL,
            Code.UNKNOWN_MESSAGE,
            Code.UNKNOWN_CONVERSATION,
            Code.BUDGET_EXHAUSTED,
            Code.MODEL_NOT_ALLOWED,
            Code.TOOL_NOT_ALLOWED,
            Code.TOO_MANY_QUESTIONS,
            Code.TOO_MANY_RUNS,
            Code.TOO_MANY_STREAMS,
        ),
    },
    "openapi_extra": json_body(RunAgentInput),
}
