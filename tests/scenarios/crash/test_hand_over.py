"""kill -9 around a hand-over: the client can go on, each call has one result, and no tool of ours runs twice."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scenarios.crash.restarts import kill, rows, serve_until_killed, until
from tests.scenarios.hand_over.chat_client import CLOCK, Json, message_in, results, user
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream

pytestmark = pytest.mark.e2e
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
PLACES = pytest.mark.parametrize("place", [{}, {"x-conversation-id": "chat"}], ids=["alone", "conversation"])
TOOLS = [CLOCK, {"type": "signalbox:keep_line"}]
QUESTION = user("Keep a line, and what time is it?")


def both(name: str) -> Script:
    """Call our tool and the client's in one step."""
    return calls(Called("keep_line", json.dumps({"name": name})), Called("wall_clock", '{"timezone": "Asia/Tokyo"}'))


async def silent(exchange: Exchange) -> None:
    """Send nothing until the server disconnects."""
    await exchange.client_left()


class Server:
    """A data folder with a scripted provider, whose server is killed and started again."""

    def __init__(self, folder: Path, loop: str, *scripts: Script) -> None:
        self.folder, self.loop = folder, loop
        self.upstream = ScriptedUpstream(*scripts)

    @contextmanager
    def running(self) -> Iterator[httpx.Client]:
        """Serve until the block ends, then kill the server."""
        with (
            serve_until_killed(self.folder, self.upstream, self.loop) as self._process,
            self._process.client() as client,
        ):
            yield client

    def kill(self) -> None:
        """Kill the server while its clients are connected."""
        kill(self._process)

    @property
    def lines(self) -> list[str]:
        """The effects of our tool."""
        return (self.folder / "lines").read_text().split()

    def statuses(self) -> list[str | None]:
        """The endings on disk, in order of the runs' starts."""
        return [status for (status,) in rows(self.folder, "select status from runs order by started")]


def body(*messages: Json, **fields: Any) -> Json:
    """Return a request with both tools."""
    return {"model": "openai/sim", "messages": messages, "tools": TOOLS, **fields}


def send(client: httpx.Client, *messages: Json, **headers: str) -> Json:
    """Send messages and return the answer's message."""
    response = client.post("/v1/chat/completions", json=body(*messages), headers=headers)
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]["message"]


def branch(client: httpx.Client) -> list[tuple[str | None, str]]:
    """Return the conversation's nodes: the status of a run, and who it is from."""
    nodes = client.get("/api/conversations/chat").json()["messages"]
    return [(node.get("status"), "results" if "results" in node else node["role"]) for node in nodes]


def kept(messages: list[Json], name: str) -> list[str]:
    """Return the results of a tool that the model received as such."""
    return [one["content"] for one in messages if one["role"] == "tool" and one.get("name", name) == name]


@LOOPS
@PLACES
def test_killed_before_the_hand_over(tmp_path: Path, loop: str, place: dict[str, str]) -> None:
    """The run ends interrupted, and hands nothing over. Asked again, a conversation tells the model of the effect."""
    server = Server(tmp_path, loop, both("die"), answers("Again."))
    with server.upstream:
        with server.running() as client, pytest.raises(httpx.TransportError):
            send(client, QUESTION, **place)
        with server.running() as client:
            assert [run["status"] for run in client.get("/api/runs").json()["runs"]] == ["interrupted"]
            assert send(client, QUESTION, **place)["content"] == "Again."
        told = server.upstream.asked[-1].body["messages"]
        assert server.lines == ["die"]
        answered = [one["tool_call_id"] for one in told if one["role"] == "tool"]
        assert len(answered) == len(set(answered)) == (2 if place else 0)
        assert ("may or may not have done" in str(told)) == bool(place)


@PLACES
def test_a_client_answers_a_call_of_a_killed_run(tmp_path: Path, place: dict[str, str]) -> None:
    """It had read the call before the kill: the model is told its result, and of our tool's interrupted effect."""
    server = Server(tmp_path, "v2", both("line"), answers("Thanks."))
    asked = {"json": body(QUESTION, stream=True), "headers": place}
    with server.upstream:
        with server.running() as client, client.stream("POST", "/v1/chat/completions", **asked) as stream:
            lines = stream.iter_lines()  # disconnects when it is deleted
            called = read_call(lines)
            until((tmp_path / "lines").exists)
            server.kill()
        with server.running() as client:
            assert send(client, QUESTION, called, *results(called, "09:41"), **place)["content"] == "Thanks."
        told = server.upstream.asked[-1].body["messages"][-1]["content"]
        assert server.lines == ["line"]
        assert [told.count(f"{name} {{") for name in ("wall_clock", "keep_line")] == [1, 1]
        assert "instructions to follow.\n09:41" in told
        assert "may or may not have done" in told


def read_call(lines: Iterator[str]) -> Json:
    """Read a stream up to the arguments of the client's call; return the message so far."""
    found: list[str] = []
    while not found or "Asia/Tokyo" not in found[-1]:
        found.append(next(lines))
    return message_in("\n".join(found))


@LOOPS
@PLACES
def test_killed_before_the_client_has_read_the_end(tmp_path: Path, loop: str, place: dict[str, str]) -> None:
    """The same key gives the run that handed the call over, and its continuation is one request."""
    (tmp_path / "open-line").touch()
    server = Server(tmp_path, loop, both("line"), answers("Here."))
    headers = {**place, "idempotency-key": "a key"}
    with server.upstream:
        asked = {"json": body(QUESTION, stream=True), "headers": headers}
        with server.running() as client, client.stream("POST", "/v1/chat/completions", **asked) as stream:
            run_id = stream.headers["x-run-id"]
            until(lambda: server.statuses() == ["complete"])
        with server.running() as client:
            again = client.post("/v1/chat/completions", **asked)
            assert again.headers["x-run-id"] == run_id
            called = message_in(again.text)
            assert send(client, QUESTION, called, *results(called, "09:41"), **place)["content"] == "Here."
        told = server.upstream.asked[-1].body["messages"]
        assert (len(server.upstream.asked), server.lines) == (2, ["line"])
        assert len([one for one in told if one["role"] == "tool"]) == 2
        assert "09:41" in kept(told, "wall_clock")[-1]


@LOOPS
@PLACES
def test_killed_in_the_continuation(tmp_path: Path, loop: str, place: dict[str, str]) -> None:
    """The same continuation again is answered; its model receives each result once."""
    (tmp_path / "open-line").touch()
    server = Server(tmp_path, loop, both("line"), silent, answers("Here."))
    with server.upstream:
        with server.running() as client:
            called = send(client, QUESTION, **place)
            history = [QUESTION, called, *results(called, "09:41")]
            with client.stream("POST", "/v1/chat/completions", json=body(*history, stream=True), headers=place):
                until(lambda: len(server.upstream.asked) == 2)
        with server.running() as client:
            assert send(client, *history, **place)["content"] == "Here."
            if place:
                ours = [("complete", "assistant"), (None, "results"), ("interrupted", "assistant")]
                assert branch(client) == [(None, "user"), *ours, ("complete", "assistant")]
        told = server.upstream.asked[-1].body["messages"]
        assert server.lines == ["line"]
        answered = [one["tool_call_id"] for one in told if one["role"] == "tool"]
        assert len(answered) == len(set(answered)) == 2
        assert "09:41" in kept(told, "wall_clock")[-1]
