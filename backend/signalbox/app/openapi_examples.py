"""What the OpenAPI page shows beyond what FastAPI reads off the routes: bodies by schema, examples, a stream."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from signalbox.app.schemas import ErrorAnswer
from signalbox.intakes.v1_schema import ChatRequest

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


def headers_of(told: dict[str, str]) -> dict[str, Any]:
    """Describe headers that a route reads itself, by their names."""
    schema = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": False,
                "description": words,
                "schema": {**schema, "title": name.title()},
            }
            for name, words in told.items()
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
_REQUEST_ID = {
    "x-request-id": {
        "description": "The request's own x-request-id where it sent a sane one, else a new one; the log has it too",
        "schema": {"type": "string"},
    }
}
CHAT_BODY = body_of(ChatRequest, EXAMPLES)
CHAT_HEADERS = headers_of(
    {
        "x-tool-loop": "v2 or legacy: the loop of this run, where SIGNALBOX_ALLOW_LOOP_HEADER lets a client choose",
        "last-event-id": "<run_id>:<seq> of the last event that was seen: resume that run, and start none",
        "idempotency-key": "the same key and body again answer with the run that they started first",
    }
)
_STREAM = (
    'data: {"type":"content","content":"The ","v":"1.1","run_id":"4f…","loop":"v2"}\nid: 4f…:1\n\n'
    'data: {"type":"done","done":true,"status":"complete","steps":1,"ts":1790000000000}\nid: 4f…:2\n\n'
)
_CONTRACT = "Events of the contract v1.1: docs/sse-contract.md; each is valid against GET /api/contract/v1.1.json"
STREAM_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": _CONTRACT, "content": {"text/event-stream": {"example": _STREAM}}},
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
            whole["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            for path, operations in whole["paths"].items():
                for operation in operations.values():
                    _complete(operation, is_api=path.startswith("/api/") and not path.startswith("/api/contract/"))
            app.openapi_schema = whole
        return app.openapi_schema

    app.openapi = openapi


def _complete(operation: dict[str, Any], *, is_api: bool) -> None:
    """Say what FastAPI cannot know of an operation: a stream's kind, the one shape of refusals, the token."""
    responses = operation["responses"]
    responses.pop("422", None)
    content = responses.get("200", {}).get("content", {})
    if "text/event-stream" in content:
        content.pop("application/json", None)
    errors = {"4XX": "Refused: a code, a sentence, and the field where it is one"}
    if is_api:
        errors["5XX"] = "Not now (503, with retry-after), or a fault of the server's"
        operation["security"] = [{"token": []}, {}]  # whether one is needed the settings say: docs/security.md
    schema = {"$ref": _REF.format(model=ErrorAnswer.__name__)}
    for kind, words in errors.items():
        responses.setdefault(kind, {"description": words})["content"] = {"application/json": {"schema": schema}}
    for answer in responses.values():
        answer.setdefault("headers", {}).update(_REQUEST_ID)
