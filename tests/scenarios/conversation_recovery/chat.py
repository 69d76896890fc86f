"""A chat over HTTP as a real client keeps it: it reads events and sends them back as messages."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import httpx
from signalbox.core.events import LoopName
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.http.state import Received

from tests.scenarios.conversation_recovery.clients import Message, transcript_of, user
from tests.support.running_app import RunningApp, read_until
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream

REASONING = ("reasoning", "reasoning_content", "reasoning_details")
# Tools that need no network.
TOOLS = ["calculate", "get_current_time", "search_web"]


@dataclass
class Chat:
    """One conversation; each turn can use another model, loop and server."""

    app: RunningApp
    simulator: BackgroundSimulator
    messages: list[Message] = field(default_factory=list[Message])
    turns: int = 0

    def ask(self, model: str, text: str, loop: LoopName, *, app: RunningApp | None = None, **body: Any) -> ParsedStream:
        """Send a question and read the answer to its end."""
        sent = self._body(model, text, body)
        response = (app or self.app).client.post("/api/chat/stream", json=sent, headers={"x-tool-loop": loop})
        assert response.status_code == 200, response.text
        assert response.headers["x-tool-loop"] == loop
        return self._add_turn(text, check_stream(response.content))

    def stop(
        self, model: str, text: str, loop: LoopName, *, at: bytes, app: RunningApp | None = None, **body: Any
    ) -> ParsedStream:
        """Send a question, read until these bytes arrive, stop the run, and read its end."""
        server = app or self.app
        with self._asking(server, model, text, loop, body) as response:
            chunks = response.iter_bytes()
            seen = read_until(chunks, at)
            stopped = server.client.post(f"/api/runs/{response.headers['x-run-id']}/stop").json()
            assert (stopped["stopped"], stopped["status"]) == (True, "cancelled")
            return self._add_turn(text, check_stream(seen + b"".join(chunks)))

    def leave(
        self, model: str, text: str, loop: LoopName, *, at: bytes, app: RunningApp | None = None, **body: Any
    ) -> ParsedStream:
        """Send a question, read until these bytes arrive, close the connection, and wait until the run is over."""
        server = app or self.app
        with self._asking(server, model, text, loop, body) as response:
            seen = read_until(response.iter_bytes(), at)
        server.over(response.headers["x-run-id"])
        frames, border, _ = seen.rpartition(b"\n\n")
        return self._add_turn(text, parse_stream(frames + border))

    def _asking(
        self, server: RunningApp, model: str, text: str, loop: LoopName, body: dict[str, Any]
    ) -> AbstractContextManager[httpx.Response]:
        sent = self._body(model, text, body)
        return server.client.stream("POST", "/api/chat/stream", json=sent, headers={"x-tool-loop": loop})

    def ask_successfully(self, model: str, text: str, loop: LoopName, **body: Any) -> ParsedStream:
        """Send a question.

        Check that the run completes, no request is rejected, and only its own reasoning is sent back.
        """
        self.simulator.state.requests.clear()
        answer = self.ask(model, text, loop, **body)
        assert answer.done["status"] == "complete", answer.done
        # A request of a run that was left may still come in.
        received = [one for one in self.simulator.state.requests if one.body["model"] == model]
        assert len(received) == answer.done["steps"]
        assert {one.status for one in received} == {200}
        for one in received:
            assert_own_reasoning(one, answer)
        self.turns += 1
        return answer

    def _body(self, model: str, text: str, body: dict[str, Any]) -> dict[str, Any]:
        return {"model": model, "messages": [*self.messages, user(text)], "tools": TOOLS, **body}

    def _add_turn(self, text: str, answer: ParsedStream) -> ParsedStream:
        self.messages += [user(text), *transcript_of(answer.events)]
        return answer


def assert_own_reasoning(received: Received, answer: ParsedStream) -> None:
    """Check that a request contains only its own reasoning, as its client received it."""
    messages: list[Message] = received.body["messages"]
    asked = max(at for at, message in enumerate(messages) if message["role"] == "user")
    for at, message in enumerate(messages):
        if not any(message.get(name) for name in REASONING):
            continue
        assert at > asked, f"reasoning of an earlier turn at {at}"
        details: list[Message] = message.get("reasoning_details") or []
        texts = [message.get("reasoning"), *(detail.get("text") or detail.get("summary") for detail in details)]
        assert all(text in answer.reasoning for text in texts if text), texts
