"""Asking an app over the simulator on a loop of the test's choice, with what the simulator received on the way."""

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
    """A run from both sides: its stream, and the requests that the upstream received with their statuses."""

    heard: ParsedStream
    requests: list[Body]
    statuses: list[int | None] = field(default_factory=list[int | None])

    @property
    def status(self) -> tuple[str, str | None]:
        """How it ended: status and code."""
        return self.heard.done["status"], self.heard.done.get("code")

    @property
    def last(self) -> Body:
        return self.requests[-1]

    def trace(self, app: RunningApp) -> Body:
        return app.client.get(f"/api/runs/{self.heard.events[0]['run_id']}").json()


@dataclass
class Asker:
    """Asks one app on one loop."""

    app: RunningApp
    simulator: BackgroundSimulator
    loop: str

    def __call__(self, model: str, prompt: str | None = None, **body: Any) -> ObservedRun:
        """Ask, read the stream to its end, check it; without a prompt a question that nobody has asked yet."""
        memory = self.simulator.memory
        memory.requests.clear()
        if "messages" not in body:
            body["prompt"] = prompt or question()
        heard = check_stream(streamed(self.app, self.loop, model=model, **body))
        received: list[Received] = [one for one in memory.requests if one.path.endswith("/chat/completions")]
        return ObservedRun(heard, [one.body for one in received], [one.status for one in received])


def question() -> str:
    """Ask for a search; quirks that pass count how often the same was asked, so no two are the same.

    What tells them apart is no word of any page: with a bare number the search found the pages in which that stands.
    """
    return f"How does the tool loop of Signalbox work? (q{next(_NUMBERS)}q)"


def streamed(app: RunningApp, loop: str, **body: Any) -> bytes:
    """Ask on this loop and read to the end; a run that has none fails here, and is left."""
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
    """Ask an app over a scripted provider."""
    before = len(asked)
    heard = check_stream(streamed(app, loop, **{"model": "openai/sim", "prompt": "Hello!", **body}))
    return ObservedRun(heard, [one.body for one in asked[before:]])


def roles(body: Body) -> list[str]:
    """Say who speaks in a request, in order."""
    return [message["role"] for message in body["messages"]]


def said_by(body: Body, role: str) -> list[Body]:
    """Give a role's messages."""
    return [message for message in body["messages"] if message["role"] == role]


def calling(body: Body) -> list[Body]:
    """Give the assistant's messages with calls."""
    return [message for message in said_by(body, "assistant") if message.get("tool_calls")]


def call(call_id: str, name: str = "search_web", arguments: str = '{"query": "tool loop"}') -> Body:
    """Write a call as a client sends it."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Body, content: str | None = None) -> Body:
    """Write an assistant's turn of calls."""
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def result(call_id: str, content: Any = "Signalbox has two loops.") -> Body:
    """Write a call's result."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def user(content: Any) -> Body:
    """Write a turn of the user's."""
    return {"role": "user", "content": content}


def says_either(text: str) -> Script:
    """Answer in words, in a stream or as a whole, as it is asked for."""
    return _either(says(text), {"role": "assistant", "content": text}, "stop")


def calls_either(name: str, arguments: str) -> Script:
    """Make one call, in a stream or as a whole answer."""
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
    """Refuse every request in OpenRouter's form."""
    body = json.dumps({"error": {"code": status, "message": message}}).encode()
    return sends(body, status=status, kind="application/json", **headers)
