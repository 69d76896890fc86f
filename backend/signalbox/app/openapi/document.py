"""The OpenAPI document: schemas of bodies and responses as the routes declare them, errors, stable operation ids."""

from collections import defaultdict
from collections.abc import Iterable
from inspect import cleandoc
from typing import Any, TypeAlias, cast

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from signalbox.app.openapi.examples import REQUESTS, RESPONSES, STREAM
from signalbox.app.openapi.response_types import RECORDED_EVENTS, REF, ErrorResponse
from signalbox.core.codes import CODES, Code
from signalbox.core.events import Failure, Success
from signalbox.encoders.v1_whole import ChatAnswer
from signalbox.intakes.v1_schema import ChatRequest

Json: TypeAlias = dict[str, Any]
Responses: TypeAlias = dict[int | str, Json]

_TAGS = {
    "chat": "Ask a question.",
    "chat completions": "The same for clients of OpenAI and OpenRouter.",
    "AI SDK": "Chats of pages built with the Vercel AI SDK.",
    "assistant-ui": "The same for pages built with assistant-ui.",
    "AG-UI": "Runs for clients of the Agent User Interaction Protocol.",
    "runs": "List, read, follow, stop and delete runs.",
    "conversations": "Conversations stored on the server.",
    "files": "Files of conversations, with versions.",
    "saves": "Snapshots of runs.",
    "models": "The upstream's models.",
    "tools": "The server's tools.",
    "contract": "The schema of the event stream.",
    "images": "Images of tables in tool results.",
    "flags": "The feature flag that selects the loop.",
    "rollout": "The guarded rollout of the V2 loop.",
    "audit": "What operators have changed.",
    "tokens": "API tokens, and groups whose limits they share.",
    "spend": "What runs have cost.",
    "webhooks": "Events for servers of the operator.",
    "upstreams": "The servers that models are called at.",
    "sign-in": "Sign-in and sign-out of people in a browser.",
    "health": "Probes.",
    "metrics": "Metrics for Prometheus.",
}
BODY_ERRORS = (Code.INVALID_JSON, Code.BODY_TOO_LARGE, Code.TOO_MUCH_AT_ONCE)
_API_ERRORS = (
    Code.INVALID_REQUEST,
    Code.UNKNOWN_FIELD,
    Code.UNAUTHORIZED,
    Code.TOKENS_DIFFER,
    Code.HOST_NOT_ALLOWED,
    Code.ORIGIN_NOT_ALLOWED,
    Code.STORE_UNAVAILABLE,
    Code.INTERNAL,
)
# The limit of one user is a 429, that of the server a 503.
_FURTHER_STATUS = {Code.TOO_MANY_RUNS: 429, Code.TOO_MANY_STREAMS: 503}
_REQUEST_ID = {
    "x-request-id": {
        "description": "The request's own x-request-id if it sent a valid one, otherwise a new one; also in the log.",
        "schema": {"type": "string"},
    }
}
_RETRY_AFTER = {"retry-after": {"description": "Seconds to wait before a retry.", "schema": {"type": "integer"}}}
# The body of an invalid request, unless a route declares one.
_ASSUMED_ERROR = "HTTPValidationError"

# What routes have declared; ChatRequest and the events are referred to by name.
_bodies: set[type[BaseModel]] = {ChatRequest}
_responses: set[type] = {ErrorResponse, Success, Failure, *RECORDED_EVENTS}


# --- for routes -----------------------------------------------------------------------------------------------------


def json_body(model: type[BaseModel], *, required: bool = True) -> Json:
    """Describe a JSON body that the route reads itself."""
    _bodies.add(model)
    examples = {name: {"value": value} for name, value in REQUESTS[model.__name__].items()}
    content = {"application/json": {"schema": _ref(model), "examples": examples}}
    return {"requestBody": {"required": required, "content": content}}


def binary_body(description: str) -> Json:
    """Describe a body of any content that the route reads itself."""
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


def json_response(body: type, description: str = "") -> Json:
    """Describe a JSON response by the type of its body."""
    _responses.add(body)
    content: Json = {"schema": _ref(body)}
    if body.__name__ in RESPONSES:
        content["example"] = RESPONSES[body.__name__]
    return {"description": description or cleandoc(body.__doc__ or ""), "content": {"application/json": content}}


def errors(*codes: Code) -> Responses:
    """Describe error responses, by status."""
    by_status: defaultdict[int, list[Code]] = defaultdict(list)
    for code in codes:
        for status in {CODES[code].http, _FURTHER_STATUS.get(code, CODES[code].http)}:
            by_status[status].append(code)
    return {status: _error_response(status, by_status[status]) for status in sorted(by_status)}


def api_errors(*codes: Code) -> Responses:
    """Describe error responses of a route under /api: those of every request, and further ones."""
    return errors(*_API_ERRORS, *codes)


def _error_response(status: int, codes: Iterable[Code]) -> Json:
    described = json_response(ErrorResponse, " ".join(f"`{code}`: {CODES[code].sentence}" for code in codes))
    return {**described, "headers": _RETRY_AFTER} if status in {429, 503} else described


def _ref(body: type) -> Json:
    return {"$ref": REF + body.__name__}


# --- streams --------------------------------------------------------------------------------------------------------


def _header(name: str, description: str) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": name.title()},
    }


CHAT_BODY = json_body(ChatRequest)
CHAT_HEADERS = {
    "parameters": [
        _header("x-tool-loop", "`v2` or `legacy`: the loop of this run, if SIGNALBOX_ALLOW_LOOP_HEADER is set."),
        _header("last-event-id", "`<run_id>:<seq>` of the last event received: resumes that run and starts none."),
        _header("idempotency-key", "The same key and body again return the run that they started first."),
    ]
}
_STREAM_HEADERS = {
    "x-run-id": "The run.",
    "x-tool-loop": "The loop that drives it.",
    "x-conversation-id": "Its conversation, if it has one.",
    "x-message-id": "The message that it answers, if it has a conversation.",
}
_STREAM: Responses = {
    200: {
        "description": "Events of contract v1.1 (docs/sse-contract.md). Each matches the schema of"
        " GET /api/contract/v1.1.json.",
        "headers": {
            name: {"description": words, "schema": {"type": "string"}} for name, words in _STREAM_HEADERS.items()
        },
        "content": {"text/event-stream": {"example": STREAM}},
    },
    204: {"description": "The run is over, and all of its events were received."},
}
_CHAT_ERRORS = api_errors(
    *BODY_ERRORS,
    Code.UNKNOWN_MODEL,
    Code.UNKNOWN_TOOL,
    Code.TOOL_UNAVAILABLE,
    Code.UNKNOWN_RUN,
    Code.UNKNOWN_CONVERSATION,
    Code.UNKNOWN_MESSAGE,
    Code.KEY_REUSED,
    Code.RUN_NOT_OVER,
    Code.BUDGET_EXHAUSTED,
    Code.MODEL_NOT_ALLOWED,
    Code.TOOL_NOT_ALLOWED,
    Code.TOO_MANY_QUESTIONS,
    Code.TOO_MANY_RUNS,
    Code.TOO_MANY_STREAMS,
    Code.SHUTTING_DOWN,
)


def chat_responses(description: str) -> Responses:
    """Describe the responses of a request that starts a run: a stream or one answer."""
    content = {**_STREAM[200]["content"], **json_response(ChatAnswer)["content"]}
    return {**_STREAM, 200: {**_STREAM[200], "description": description, "content": content}, **_CHAT_ERRORS}


def replay_responses(unknown: Code) -> Responses:
    """Describe the responses of a route that replays a stream."""
    return {**_STREAM, **api_errors(unknown, Code.TOO_MANY_STREAMS)}


# --- the document ---------------------------------------------------------------------------------------------------


def operation_id(route: APIRoute) -> str:
    """Name an operation after its function, in camel case: clients are generated with methods of these names."""
    first, *others = route.name.split("_")
    return first + "".join(map(str.title, others))


def add_openapi(app: FastAPI) -> None:
    """Have the app serve the document; it is built once."""

    def openapi() -> Json:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi


def _document(app: FastAPI) -> Json:
    tags = [{"name": name, "description": words} for name, words in _TAGS.items()]
    document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes, tags=tags)
    document["components"] = {
        "schemas": _schemas(),
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    }
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _complete(operation, is_api=path.startswith("/api/") and not path.startswith("/api/contract/"))
    return document


def _schemas() -> Json:
    """Return the schemas of all bodies and responses, by name."""
    _, bodies = models_json_schema([(model, "validation") for model in _bodies], ref_template=f"{REF}{{model}}")
    _, responses = msgspec.json.schema_components(_responses, ref_template=f"{REF}{{name}}")
    if twice := bodies["$defs"].keys() & responses.keys():
        raise ValueError(f"two schemas are called {', '.join(sorted(twice))}")
    return {name: _tidy(schema) for name, schema in sorted((bodies["$defs"] | responses).items())}


def _tidy(schema: Any) -> Any:
    """Point references of the event contract to the components, dedent docstrings, and help generators of clients.

    openapi-typescript takes a field with a default, even null, for one that is always there. openapi-python-client
    supports no enum of booleans, and no constant boolean that may be absent.
    """
    if isinstance(schema, list):
        return [_tidy(item) for item in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    tidy: Json = {key: _tidy(value) for key, value in cast(Json, schema).items() if (key, value) != ("default", None)}
    if isinstance(ref := tidy.get("$ref"), str):
        tidy["$ref"] = ref.replace("#/$defs/", REF)
    if isinstance(words := tidy.get("description"), str):
        tidy["description"] = cleandoc(words)
    if isinstance(values := tidy.get("enum"), list) and len(cast(list[Any], values)) == 1:
        tidy["const"] = tidy.pop("enum")[0]
    for name, field in tidy.get("properties", {}).items():
        if field.get("const") is True and name not in tidy.get("required", ()):
            field["type"] = "boolean"
            del field["const"]
    return tidy


def _complete(operation: Json, *, is_api: bool) -> None:
    """Add what all operations have in common, and drop what FastAPI assumes of a response."""
    operation["summary"] = operation["summary"].capitalize()
    if is_api:
        operation["security"] = [{"token": []}, {}]  # the settings decide whether a token is needed: docs/security.md
    responses = operation["responses"]
    if _ASSUMED_ERROR in str(responses.get("422")):
        del responses["422"]  # paths under /v1 respond with a 400
    for response in responses.values():
        content = response.get("content", {})
        if not content.get("application/json", {}).get("schema", True):
            del content["application/json"]
        response["headers"] = {**response.get("headers", {}), **_REQUEST_ID}
    operation["responses"] = dict(sorted(responses.items()))
