"""The table of client protocols: one row configures everything about a protocol."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from signalbox.app.openapi.ai_sdk import OPENAPI as AI_SDK_OPENAPI
from signalbox.app.openapi.chat_completions import OPENAPI as CHAT_COMPLETIONS_OPENAPI
from signalbox.app.openapi.document import CHAT_BODY, CHAT_HEADERS, chat_responses
from signalbox.encoders import ai_sdk_error, chat_completions_error
from signalbox.encoders.ai_sdk import AiSdkEncoder
from signalbox.encoders.chat_completions import ChatCompletionsEncoder
from signalbox.encoders.chat_completions_whole import ChatCompletion, OpenRouterCompletion
from signalbox.encoders.encoder import Encoder, ErrorOf, WholeEncoder
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.encoders.v1_error import error_of
from signalbox.encoders.v1_whole import WholeV1
from signalbox.intakes import ai_sdk, chat_completions, v1, v1_body
from signalbox.intakes.intake import AskOf, BodyOf, Model


@dataclass(frozen=True, slots=True)
class ClientProtocol(Generic[Model]):
    """One client protocol. A POST to one of its `paths` starts a run, or resumes one with Last-Event-ID.

    `whole` encodes responses that are not streamed, if the protocol has them. `has_late_head`: the head of a stream
    waits for the first visible event, at most 10 seconds, and a run that fails before it is an HTTP error.
    `question_headers` change the question, so an Idempotency-Key covers them, too. `query` are query parameters that
    are accepted and ignored. `openapi` describes the routes; without it they are not listed.

    `errors_under` are paths such as `/v1`. Errors there and at the paths below that belong to no row, such as a list of
    models or a mistyped path, have this protocol's format. All paths without a format have that of v1.1.
    """

    name: str
    paths: tuple[str, ...]
    body_of: BodyOf[Model]
    ask_of: AskOf[Model]
    encoder: type[Encoder]
    error_of: ErrorOf
    whole: type[WholeEncoder] | None = None
    has_late_head: bool = False
    question_headers: frozenset[str] = frozenset()
    query: frozenset[str] = frozenset()
    errors_under: tuple[str, ...] = ()
    openapi: Mapping[str, Any] = field(default_factory=dict[str, Any])


V1 = ClientProtocol(
    name="v1.1",
    paths=("/api/chat/stream",),
    body_of=v1_body.body_of,
    ask_of=v1.ask_of,
    encoder=SseV1Encoder,
    error_of=error_of,
    whole=WholeV1,
    openapi={
        "tags": ["chat"],
        "description": (
            "Answer a conversation as a stream of contract v1.1; after validation the status is always 200.\n\n"
            "With Last-Event-ID it resumes that run and never starts one. A repeated Idempotency-Key returns the run "
            "that it\nstarted first."
        ),
        "openapi_extra": {**CHAT_HEADERS, **CHAT_BODY},
        "responses": chat_responses(
            "Events of contract v1.1 (docs/sse-contract.md), each as in GET /api/contract/v1.1.json; or with "
            "`stream: false` one answer."
        ),
    },
)

V1_WHOLE = replace(
    V1,
    paths=("/api/chat",),
    body_of=v1_body.whole_body_of,
    openapi={
        "tags": ["chat"],
        "name": "answer_chat",
        "description": (
            "Answer a conversation with one JSON object at the end of the run.\n\n"
            "The status is 200 for every run that was started: `status` says how it ended. With `stream: true` it is "
            "the same\nas /api/chat/stream."
        ),
        "openapi_extra": {**CHAT_HEADERS, **CHAT_BODY},
        "responses": chat_responses(
            "One answer; or with `stream: true` events of contract v1.1 (docs/sse-contract.md)."
        ),
    },
)

CHAT_COMPLETIONS = ClientProtocol(
    name=chat_completions.NAME,
    paths=("/v1/chat/completions",),
    body_of=chat_completions.body_of,
    ask_of=chat_completions.ask_of,
    encoder=ChatCompletionsEncoder,
    error_of=chat_completions_error.error_of,
    whole=ChatCompletion,
    has_late_head=True,
    question_headers=chat_completions.QUESTION_HEADERS,
    errors_under=("/v1",),
    openapi=CHAT_COMPLETIONS_OPENAPI,
)

# The same for clients of OpenRouter, which expect its errors below its path.
OPENROUTER = replace(
    CHAT_COMPLETIONS,
    paths=("/api/v1/chat/completions",),
    error_of=chat_completions_error.openrouter_error_of,
    whole=OpenRouterCompletion,
    errors_under=("/api/v1",),
    openapi={},
)

AI_SDK = ClientProtocol(
    name=ai_sdk.NAME,
    paths=("/api/ai/chat",),
    body_of=ai_sdk.body_of,
    ask_of=ai_sdk.ask_of,
    encoder=AiSdkEncoder,
    error_of=ai_sdk_error.error_of,
    errors_under=("/api/ai",),
    openapi=AI_SDK_OPENAPI,
)

PROTOCOLS: tuple[ClientProtocol[Any], ...] = (V1, V1_WHOLE, CHAT_COMPLETIONS, OPENROUTER, AI_SDK)


def by_path(protocols: Iterable[ClientProtocol[Any]]) -> dict[str, ClientProtocol[Any]]:
    """Return the protocols by path."""
    return {path: protocol for protocol in protocols for path in protocol.paths}


class ErrorFormats:
    """Finds the format of errors at a path."""

    def __init__(self, protocols: Iterable[ClientProtocol[Any]]) -> None:
        protocols = tuple(protocols)
        self._exact = {path: protocol.error_of for path, protocol in by_path(protocols).items()}
        self._under = [(f"{path}/", protocol.error_of) for protocol in protocols for path in protocol.errors_under]

    def of(self, path: str) -> ErrorOf:
        """Return the format of the path's protocol, else that of the first prefix that fits, else that of v1.1."""
        if (exact := self._exact.get(path)) is not None:
            return exact
        return next((format_ for prefix, format_ in self._under if f"{path}/".startswith(prefix)), error_of)
