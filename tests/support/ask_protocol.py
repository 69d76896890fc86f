"""A client protocol for tests: a request names an Ask that the test holds, and the answer is the run's journal."""

from collections.abc import Mapping
from typing import Any, ClassVar

import httpx
from msgspec import json
from msgspec.structs import replace
from signalbox.app.protocols import ClientProtocol
from signalbox.core.ask import Ask
from signalbox.core.events import AnyEvent, Done, Stamped, ToolCalls
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import AssistantMessage, JsonObject, Message, ToolCall, ToolMessage
from signalbox.core.records import RunRecord
from signalbox.encoders.v1_error import error_of
from signalbox.intakes.intake import Body, Headers, Tools, named_tools

from tests.support.running_app import RunningApp

NAME = "asks"
_events = json.Decoder(list[Stamped])


class Journal:
    """Encodes a run as its journal, without a stream."""

    content_type: ClassVar[str] = "application/json"
    headers: ClassVar[Mapping[str, str]] = {}
    ping: ClassVar[bytes] = b" "
    starts_anywhere: ClassVar[bool] = False

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        self._events: list[Stamped] = []

    def encode(self, batch: list[Stamped]) -> bytes:
        self.feed(batch)
        return self.answer()[1] if isinstance(batch[-1].event, Done) else b""

    def feed(self, batch: list[Stamped]) -> None:
        self._events += batch

    def answer(self) -> tuple[int, bytes]:
        return 200, json.encode(self._events)


class Answer:
    """One run as its client has it."""

    def __init__(self, run_id: str, events: list[Stamped]) -> None:
        self.run_id = run_id
        self.events: list[AnyEvent] = [stamped.event for stamped in events]
        done = self.events[-1]
        assert isinstance(done, Done)
        self.done = done

    @property
    def handed(self) -> list[ToolCall]:
        """Return the calls that were handed over, under the ids that a client gets."""
        ids = self.done.handed or []
        calls = (call for event in self.events if isinstance(event, ToolCalls) for call in event.calls)
        return [
            ToolCall(handed_id(self.run_id, call.id), call.name, json.decode(call.arguments))
            for call in calls
            if call.id in ids
        ]

    def copy(self, *results: str) -> list[Message]:
        """Return what a client sends back of this run: its calls without text, and their results."""
        pairs = zip(self.handed, results, strict=True)
        return [
            AssistantMessage(calls=tuple(self.handed)),
            *(ToolMessage(call.id, call.name, result) for call, result in pairs),
        ]


class AskClient:
    """Sends Asks to an app that serves `protocol`."""

    def __init__(self) -> None:
        self.asks: dict[str, tuple[Ask, list[str]]] = {}
        self.protocol: ClientProtocol[Any] = ClientProtocol(
            name=NAME,
            paths=("/asks",),
            body_of=lambda value: Body(str(value["ask"]), value, is_streamed=False),
            ask_of=self._ask_of,
            encoder=Journal,
            error_of=error_of,
            whole=Journal,
        )

    def _ask_of(self, body: Body[str], tools: Tools, headers: Headers) -> Ask:
        ask, ours = self.asks[body.model]
        return replace(ask, tools=named_tools(ours, tools), protocol=NAME)

    def post(
        self, app: RunningApp, ask: Ask, *ours: str, headers: Mapping[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        """Send an Ask that offers these of our tools."""
        name = str(len(self.asks))
        self.asks[name] = (ask, [*ours])
        sent: JsonObject = {"ask": name, **body}
        return app.client.post("/asks", json=sent, headers=dict(headers or {}))

    def send(self, app: RunningApp, ask: Ask, *ours: str, **given: Any) -> Answer:
        """Send an Ask and return the run."""
        response = self.post(app, ask, *ours, **given)
        assert response.status_code == 200, response.text
        return Answer(response.headers["x-run-id"], _events.decode(response.content))
