"""What the OpenAPI page shows of the chat endpoint: its body by schema, examples, a stream."""

from typing import Any

from signalbox.app.schemas import ChatRequest, ErrorAnswer

_SCHEMA = ChatRequest.model_json_schema(ref_template="#/components/schemas/ChatRequest/$defs/{model}")

EXAMPLES: dict[str, dict[str, Any]] = {
    "one question": {"value": {"model": "openai/sim", "prompt": "What is the tool loop of Signalbox?"}},
    "a conversation with reasoning": {
        "value": {
            "model": "anthropic/sim",
            "messages": [
                {"role": "system", "content": "Answer in one sentence."},
                {"role": "user", "content": "What is 17 % of 2,340, and what time is it in Tokyo?"},
            ],
            "reasoning": {"effort": "low"},
            "tools": ["calculate", "get_current_time"],
        }
    },
}
CHAT_BODY: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMA, "examples": EXAMPLES}}}
}
_STREAM = (
    'id: 4f…:1\ndata: {"type":"content","content":"The ","v":"1.1","run_id":"4f…","loop":"v2"}\n\n'
    'id: 4f…:2\ndata: {"type":"done","done":true,"status":"complete","steps":1,"ts":1790000000000}\n\n'
)
STREAM_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Contract v1.1: docs/sse-contract.md", "content": {"text/event-stream": {"example": _STREAM}}},
    "4XX": {"description": "Refused before a run: nothing started, nothing spent", "model": ErrorAnswer},
}
