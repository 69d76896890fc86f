"""Runs of an app on a chosen loop, with the requests that the upstream received."""

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.http.state import Received

from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Asked, Exchange, Script, call_chunk, calls_then, says, sends
from tests.support.stream_reader import ParsedStream, check_stream

TIMEOUT = 20.0
MOST = 2_000_000
_NUMBERS = count(1)
Body = dict[str, Any]


@dataclass
class ObservedRun:
    """A run from both sides: its stream, and the upstream requests with their statuses."""

    heard: ParsedStream
    requests: list[Body]
    statuses: list[int | None] = field(default_factory=list[int | None])

    @property
    def status(self) -> tuple[str, str | None]:
        """Return status and code of the run."""
        return self.heard.done["status"], self.heard.done.get("code")

    @property
    def last(self) -> Body:
        return self.requests[-1]

    def trace(self, app: RunningApp) -> Body:
        return app.client.get(f"/api/runs/{self.heard.events[0]['run_id']}").json()


@dataclass
class Asker:
    """Sends questions to one app on one loop."""

    app: RunningApp
    simulator: BackgroundSimulator
    loop: str

    def __call__(self, model: str, prompt: str | None = None, **body: Any) -> ObservedRun:
        """Send a question and check the stream; without a prompt, use a question that was not sent before."""
        memory = self.simulator.state
        memory.requests.clear()
        if "messages" not in body:
            body["prompt"] = prompt or question()
        heard = check_stream(streamed(self.app, self.loop, model=model, **body))
        received: list[Received] = [one for one in memory.requests if one.path.endswith("/chat/completions")]
        return ObservedRun(heard, [one.body for one in received], [one.status for one in received])


def question() -> str:
    """Return a new question that needs a search; quirks that pass count how often they saw a question.

    The suffix is in no page: with a bare number, the search found pages that contain it.
    """
    return f"How does the tool loop of Signalbox work? (q{next(_NUMBERS)}q)"


def streamed(app: RunningApp, loop: str, **body: Any) -> bytes:
    """Send a request on this loop and read the stream to its end; fail if it does not end."""
    seen = b""
    headers = {"x-tool-loop": loop}
    with app.client.stream("POST", "/api/chat/stream", json=body, headers=headers, timeout=TIMEOUT) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["x-tool-loop"] == loop
        for piece in response.iter_raw():
            seen += piece
            assert len(seen) < MOST, "the run does not end"
    return seen


def scripted(app: RunningApp, asked: list[Asked], loop: str, **body: Any) -> ObservedRun:
    """Send a question to an app over a scripted provider."""
    before = len(asked)
    heard = check_stream(streamed(app, loop, **{"model": "openai/sim", "prompt": "Hello!", **body}))
    return ObservedRun(heard, [one.body for one in asked[before:]])


def roles(body: Body) -> list[str]:
    """Return the roles of a request's messages, in order."""
    return [message["role"] for message in body["messages"]]


def said_by(body: Body, role: str) -> list[Body]:
    """Return the messages of a role."""
    return [message for message in body["messages"] if message["role"] == role]


def calling(body: Body) -> list[Body]:
    """Return the assistant messages with calls."""
    return [message for message in said_by(body, "assistant") if message.get("tool_calls")]


def call(call_id: str, name: str = "search_web", arguments: str = '{"query": "tool loop"}') -> Body:
    """Return a call as a client sends it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Body, content: str | None = None) -> Body:
    """Return an assistant message with calls."""
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(call_id: str, content: Any = "Signalbox has two loops.") -> Body:
    """Return a tool message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def user(content: Any) -> Body:
    """Return a user message."""
    return {"role": "user", "content": content}


def says_either(text: str) -> Script:
    """Answer with text, as a stream or one body as requested."""
    return _either(says(text), {"role": "assistant", "content": text}, "stop")


def calls_either(name: str, arguments: str) -> Script:
    """Make one call, as a stream or one body as requested."""
    message = {"role": "assistant", "content": None, "tool_calls": [call("call_1", name, arguments)]}
    return _either(calls_then(call_chunk(name, arguments)), message, "tool_calls")


def _either(streamed: Script, message: Body, finish: str) -> Script:
    whole = {"id": "gen-1", "provider": "Scripted", "model": "openai/sim"}
    choice = {"index": 0, "message": message, "finish_reason": finish}

    async def script(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await streamed(exchange)
        else:
            await exchange.whole(200, json.dumps({**whole, "choices": [choice]}).encode())

    return script


def refuses(status: int, message: str, **headers: str) -> Script:
    """Reject every request with an error in OpenRouter's form."""
    body = json.dumps({"error": {"code": status, "message": message}}).encode()
    return sends(body, status=status, kind="application/json", **headers)
