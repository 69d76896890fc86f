"""The table of client protocols: one row configures everything about a protocol."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from fastapi import Response

from signalbox.app.assistant_ui import opening_with, stored_with
from signalbox.app.deps import Services
from signalbox.app.openapi.ag_ui import OPENAPI as AG_UI_OPENAPI
from signalbox.app.openapi.ai_sdk import OPENAPI as AI_SDK_OPENAPI
from signalbox.app.openapi.assistant_ui import OPENAPI as ASSISTANT_OPENAPI
from signalbox.app.openapi.chat_completions import OPENAPI as CHAT_COMPLETIONS_OPENAPI
from signalbox.app.openapi.document import CHAT_BODY, CHAT_HEADERS, chat_responses
from signalbox.app.start_run import Stored
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.records import RunRecord
from signalbox.encoders import ag_ui_error, ai_sdk_error, chat_completions_error
from signalbox.encoders.ag_ui import AgUiEncoder
from signalbox.encoders.ai_sdk import AiSdkEncoder
from signalbox.encoders.assistant_ui.error import error_of as assistant_error_of
from signalbox.encoders.assistant_ui.framings import DataStreamEncoder, TransportEncoder
from signalbox.encoders.chat_completions import ChatCompletionsEncoder
from signalbox.encoders.chat_completions_whole import ChatCompletion, OpenRouterCompletion
from signalbox.encoders.encoder import Encoder, ErrorOf, Opening, WholeEncoder
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.encoders.v1_error import error_of
from signalbox.encoders.v1_whole import WholeV1
from signalbox.intakes import ag_ui, ai_sdk, assistant_ui, chat_completions, v1, v1_body
from signalbox.intakes.intake import AskOf, BodyOf, Model


@dataclass(frozen=True, slots=True)
class ClientProtocol(Generic[Model]):
    """One client protocol. A POST to one of its `paths` starts a run, or resumes one with Last-Event-ID.

    `whole` encodes responses that are not streamed, if the protocol has them. `has_late_head`: the head of a stream
    waits for the first visible event, at most 10 seconds, and a run that fails before it is an HTTP error.
    `question_headers` change the question, so an Idempotency-Key covers them, too. `query` are query parameters that
    are accepted and ignored. `openapi` describes the routes; without it they are not listed.

    `variants` are the same protocol in other framings, by name: a request chooses one with the query parameter
    `protocol`, or with the content type in Accept. `opening_of` reads what a stream begins with. `stored_of` answers a
    request that starts no run, if the protocol has such requests.

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
    variants: Mapping[str, "ClientProtocol[Any]"] = field(default_factory=dict[str, "ClientProtocol[Any]"])
    opening_of: Callable[[RunRecord, Services], Awaitable[Opening]] | None = None
    stored_of: Callable[[Stored, Services], Awaitable[Response]] | None = None

    def variant(self, name: str | None, accept: str) -> "ClientProtocol[Any]":
        """Return the variant that a request chooses; raises RequestError for an unknown name."""
        if name is not None:
            if name not in self.variants:
                names = " or ".join(self.variants)
                raise RequestError(Code.INVALID_REQUEST, f"protocol must be {names}.", "protocol")
            return self.variants[name]
        kinds = ((one.encoder.content_type.partition(";")[0], one) for one in self.variants.values())
        return next((one for kind, one in kinds if kind in accept), self)


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

DATA_STREAM = ClientProtocol(
    name=assistant_ui.NAME,
    paths=("/assistant/data-stream",),
    body_of=assistant_ui.body_of,
    ask_of=assistant_ui.ask_of,
    encoder=DataStreamEncoder,
    error_of=assistant_error_of,
    opening_of=opening_with(DataStreamEncoder),
    stored_of=stored_with(DataStreamEncoder),
)
TRANSPORT = replace(
    DATA_STREAM,
    name="assistant-transport",
    paths=("/assistant/transport",),
    encoder=TransportEncoder,
    opening_of=opening_with(TransportEncoder),
    stored_of=stored_with(TransportEncoder),
)
ASSISTANT = replace(
    DATA_STREAM,
    paths=("/assistant",),
    query=frozenset({"protocol"}),
    variants={"data-stream": DATA_STREAM, "assistant-transport": TRANSPORT},
    openapi=ASSISTANT_OPENAPI,
)

AG_UI = ClientProtocol(
    name=ag_ui.NAME,
    paths=("/agui",),
    body_of=ag_ui.body_of,
    ask_of=ag_ui.ask_of,
    encoder=AgUiEncoder,
    error_of=ag_ui_error.error_of,
    openapi=AG_UI_OPENAPI,
)

PROTOCOLS: tuple[ClientProtocol[Any], ...] = (
    V1,
    V1_WHOLE,
    CHAT_COMPLETIONS,
    OPENROUTER,
    AI_SDK,
    ASSISTANT,
    DATA_STREAM,
    TRANSPORT,
    AG_UI,
)


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
