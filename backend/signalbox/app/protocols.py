"""The table of client protocols: one row configures everything about a protocol."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from signalbox.app.openapi.document import CHAT_BODY, CHAT_HEADERS, CHAT_RESPONSES
from signalbox.encoders.encoder import Encoder, ErrorOf, WholeEncoder
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.encoders.v1_error import error_of
from signalbox.intakes import v1, v1_body
from signalbox.intakes.intake import AskOf, BodyOf, Model


@dataclass(frozen=True, slots=True)
class ClientProtocol(Generic[Model]):
    """One client protocol. A POST to one of its `paths` starts a run, or resumes one with Last-Event-ID.

    `whole` encodes responses that are not streamed, if the protocol has them. `query` are query parameters that are
    accepted and ignored. `openapi` describes the routes.
    """

    name: str
    paths: tuple[str, ...]
    body_of: BodyOf[Model]
    ask_of: AskOf[Model]
    encoder: type[Encoder]
    error_of: ErrorOf
    whole: type[WholeEncoder] | None = None
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
        "description": (
            "Answer a conversation as a stream of contract v1.1; after validation the status is always 200.\n\n"
            "With Last-Event-ID it resumes that run and never starts one. A repeated Idempotency-Key returns the run "
            "that it\nstarted first."
        ),
        "openapi_extra": {**CHAT_HEADERS, **CHAT_BODY},
        "responses": CHAT_RESPONSES,
    },
)

PROTOCOLS: tuple[ClientProtocol[Any], ...] = (V1,)


def by_path(protocols: Iterable[ClientProtocol[Any]]) -> dict[str, ClientProtocol[Any]]:
    """Return the protocols by path."""
    return {path: protocol for protocol in protocols for path in protocol.paths}
