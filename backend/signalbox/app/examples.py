"""What the OpenAPI page shows beyond what FastAPI reads off the routes: bodies by schema, examples, a stream."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from signalbox.app.schemas import ChatRequest, ErrorAnswer

_REF = "#/components/schemas/{model}"
_BODIES: list[type[BaseModel]] = []


def body_of(model: type[BaseModel], examples: dict[str, Any]) -> dict[str, Any]:
    """Describe a body that a route reads itself."""
    _BODIES.append(model)
    content = {
        "schema": {"$ref": _REF.format(model=model.__name__)},
        "examples": {name: {"value": value} for name, value in examples.items()},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def headers_of(*names: str) -> dict[str, Any]:
    """Describe headers that a route reads itself."""
    schema = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "parameters": [
            {"name": name, "in": "header", "required": False, "schema": {**schema, "title": name.title()}}
            for name in names
        ]
    }


EXAMPLES: dict[str, dict[str, Any]] = {
    "one question": {"model": "openai/sim", "prompt": "What is the tool loop of Signalbox?"},
    "a conversation with reasoning": {
        "model": "anthropic/sim",
        "messages": [
            {"role": "system", "content": "Answer in one sentence."},
            {"role": "user", "content": "What is 17 % of 2,340, and what time is it in Tokyo?"},
        ],
        "reasoning": {"effort": "low"},
        "tools": ["calculate", "get_current_time"],
    },
}
CHAT_BODY = body_of(ChatRequest, EXAMPLES)
CHAT_HEADERS = headers_of("x-tool-loop", "last-event-id", "idempotency-key")
_STREAM = (
    'id: 4f…:1\ndata: {"type":"content","content":"The ","v":"1.1","run_id":"4f…","loop":"v2"}\n\n'
    'id: 4f…:2\ndata: {"type":"done","done":true,"status":"complete","steps":1,"ts":1790000000000}\n\n'
)
STREAM_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Contract v1.1: docs/sse-contract.md", "content": {"text/event-stream": {"example": _STREAM}}},
    "4XX": {"description": "Refused before a run: nothing started, nothing spent", "model": ErrorAnswer},
}


def add_openapi(app: FastAPI) -> None:
    """Complete the app's OpenAPI: the bodies' schemas, and our own error shape in place of FastAPI's."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            whole = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            _, bodies = models_json_schema(
                [(model, "validation") for model in [*_BODIES, ErrorAnswer]], ref_template=_REF
            )
            schemas = whole.setdefault("components", {}).setdefault("schemas", {})
            schemas |= bodies["$defs"]
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for path in whole["paths"].values():
                for operation in path.values():
                    _tell_errors(operation["responses"])
            app.openapi_schema = whole
        return app.openapi_schema

    app.openapi = openapi


def _tell_errors(responses: dict[str, Any]) -> None:
    """Say that every refusal has the one shape."""
    responses.pop("422", None)
    schema = {"$ref": _REF.format(model=ErrorAnswer.__name__)}
    responses.setdefault("4XX", {"description": "Refused: a code, a sentence, and the field where it is one"})
    responses["4XX"]["content"] = {"application/json": {"schema": schema}}
