"""The OpenAPI description of the chat completions: what clients of OpenAI and OpenRouter send and get."""

from typing import Any, Literal, NotRequired, TypedDict

from signalbox.app.openapi.document import Json, Responses, json_body, json_response
from signalbox.intakes.chat_completions_schema import ChatCompletionRequest


class OpenAiErrorObject(TypedDict):
    """Why a request failed, as clients of OpenAI know it."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAiError(TypedDict):
    """The body of every response with a status of 400 or higher under /v1."""

    error: OpenAiErrorObject


class ChatCompletionMessage(TypedDict):
    """The answer; fields that OpenRouter adds to OpenAI's are described in docs/clients."""

    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    reasoning: NotRequired[str]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[dict[str, Any]]]
    annotations: NotRequired[list[dict[str, Any]]]
    images: NotRequired[list[dict[str, Any]]]
    tool_calls: NotRequired[list[dict[str, Any]]]


class ChatCompletionChoice(TypedDict):
    """The only choice."""

    index: int
    message: ChatCompletionMessage
    logprobs: None
    finish_reason: Literal["stop", "length", "tool_calls", "content_filter"]
    native_finish_reason: NotRequired[str]


class ChatCompletionUsage(TypedDict):
    """Tokens of all model calls of the run, and what they cost in USD."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: dict[str, int]
    completion_tokens_details: dict[str, int]
    cost: NotRequired[float]
    cost_estimated: NotRequired[bool]


class ChatCompletionObject(TypedDict):
    """A whole answer; `id` is the id of the run."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    system_fingerprint: None
    choices: list[ChatCompletionChoice]
    provider: NotRequired[str]
    usage: NotRequired[ChatCompletionUsage]
    warnings: NotRequired[list[dict[str, Any]]]


_STREAM = (
    'data: {"id":"4f…","object":"chat.completion.chunk","created":1790000000,"model":"openai/sim",'
    '"system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}]}'
    "\n\ndata: [DONE]\n\n"
)
_STATUSES = {
    400: "The request is not valid, or the upstream rejected it.",
    401: "A token is required.",
    402: "A budget of the token or its group is used up.",
    403: "This host, origin, model or request is not allowed.",
    404: "There is no such model.",
    413: "The request is too large.",
    429: "A limit is reached, here or upstream; `retry-after` says how long to wait.",
    500: "Signalbox had an internal error.",
    502: "The upstream failed.",
    503: "The server or the provider is overloaded or stopping.",
    504: "The upstream did not answer in time.",
}


def openai_errors(*statuses: int) -> Responses:
    """Describe responses of a failed request in OpenAI's format."""
    return {status: json_response(OpenAiError, _STATUSES[status]) for status in statuses}


def _described() -> Responses:
    whole = json_response(ChatCompletionObject, "A whole answer, or the chunks of a stream.")
    whole["content"]["text/event-stream"] = {"example": _STREAM}
    return {200: whole, **openai_errors(*_STATUSES)}


def _header(name: str, description: str) -> Json:
    return {"name": name, "in": "header", "required": False, "description": description, "schema": {"type": "string"}}


OPENAPI: dict[str, Any] = {
    "name": "create_chat_completion",
    "tags": ["chat completions"],
    "description": "Answer a conversation as OpenAI's chat completions do, streamed or whole.",
    "responses": _described(),
    "openapi_extra": {
        **json_body(ChatCompletionRequest),
        "parameters": [
            _header("x-signalbox-tools", "Names of this server's tools to offer, separated by commas."),
            _header("x-conversation-id", "The conversation in which the messages are stored."),
            _header("idempotency-key", "The same key and body again return the run that they started first."),
        ],
    },
}
