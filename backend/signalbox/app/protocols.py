"""The table of client protocols: one row configures everything about a protocol."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from signalbox.app.openapi.chat_completions import OPENAPI as CHAT_COMPLETIONS_OPENAPI
from signalbox.app.openapi.document import CHAT_BODY, CHAT_HEADERS, CHAT_RESPONSES
from signalbox.encoders import chat_completions_error
from signalbox.encoders.chat_completions import ChatCompletionsEncoder
from signalbox.encoders.chat_completions_whole import ChatCompletion
from signalbox.encoders.encoder import Encoder, ErrorOf, WholeEncoder
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.encoders.v1_error import error_of
from signalbox.intakes import chat_completions, v1, v1_body
from signalbox.intakes.intake import AskOf, BodyOf, Model


@dataclass(frozen=True, slots=True)
class ClientProtocol(Generic[Model]):
    """One client protocol. A POST to one of its `paths` starts a run, or resumes one with Last-Event-ID.

    `whole` encodes responses that are not streamed, if the protocol has them. `has_late_head`: the head of a stream
    waits for the first visible event, at most 10 seconds, and a run that fails before it is an HTTP error. `query` are
    query parameters that are accepted and ignored. `openapi` describes the routes.
    """

    name: str
    paths: tuple[str, ...]
    body_of: BodyOf[Model]
    ask_of: AskOf[Model]
    encoder: type[Encoder]
    error_of: ErrorOf
    whole: type[WholeEncoder] | None = None
    has_late_head: bool = False
    query: frozenset[str] = frozenset()
    openapi: Mapping[str, Any] = field(default_factory=dict[str, Any])


V1 = ClientProtocol(
    name="v1.1",
    paths=("/api/chat/stream",),
    body_of=v1_body.body_of,
    ask_of=v1.ask_of,
    encoder=SseV1Encoder,
    error_of=error_of,
    openapi={
        "tags": ["chat"],
        "description": (
            "Answer a conversation as a stream of contract v1.1; after validation the status is always 200.\n\n"
            "With Last-Event-ID it resumes that run and never starts one. A repeated Idempotency-Key returns the run "
            "that it\nstarted first."
        ),
        "openapi_extra": {**CHAT_HEADERS, **CHAT_BODY},
        "responses": CHAT_RESPONSES,
    },
)

CHAT_COMPLETIONS = ClientProtocol(
    name=chat_completions.NAME,
    paths=("/v1/chat/completions", "/api/v1/chat/completions"),
    body_of=chat_completions.body_of,
    ask_of=chat_completions.ask_of,
    encoder=ChatCompletionsEncoder,
    error_of=chat_completions_error.error_of,
    whole=ChatCompletion,
    has_late_head=True,
    openapi=CHAT_COMPLETIONS_OPENAPI,
)

PROTOCOLS: tuple[ClientProtocol[Any], ...] = (V1, CHAT_COMPLETIONS)


def by_path(protocols: Iterable[ClientProtocol[Any]]) -> dict[str, ClientProtocol[Any]]:
    """Return the protocols by path."""
    return {path: protocol for protocol in protocols for path in protocol.paths}
