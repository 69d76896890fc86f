"""A step that calls a tool of ours and the client's: whatever becomes of ours, the ending and the cost are honest."""

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest
from signalbox.core.errors import Code, ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext

from tests.scenarios.hand_over.chat_client import CLOCK, ChatClient, Json, message_in, results, user
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp
from tests.support.scripted_upstream import ScriptedUpstream
from tests.support.stream_reader import check_stream

QUESTION = user("What do you have, and what time is it?")
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
STEP_COST = 0.001
ZONE = '{"timezone": "Asia/Tokyo"}'


class Lingering:
    """A tool that works until it is cancelled."""

    def __init__(self) -> None:
        self.started, self.cancelled = Event(), Event()

    async def run(self, arguments: JsonObject, context: ToolContext) -> JsonValue:
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()


def _fail(arguments: JsonObject, context: ToolContext) -> JsonValue:
    raise ToolError(Code.TOOL_FAILED, "The shelf is empty.")


def started(start_app: StartApp, loop: str, tool: str, lingering: Lingering) -> tuple[ChatClient, ScriptedUpstream]:
    """Start an app whose model calls this tool and the client's."""
    tools = [
        make_tool("fail", _fail),
        make_tool("linger", lingering.run),
        make_tool("late", lingering.run, timeout=0.1),
    ]
    step = calls(Called("wall_clock", ZONE), Called(tool, "{}"))
    app, upstream = start_app(step, answers("Here."), extra_tools=tools, settings={"signalbox_allow_loop_header": True})
    return ChatClient(app, "openai/sim", x_tool_loop=loop, x_signalbox_tools=tool), upstream


def ending_of(response: httpx.Response) -> tuple[Json, Json]:
    """Return how an answer ended, with its cost, and its message, put together as a client does."""
    if response.headers["content-type"] == "application/json":
        choice = response.json()["choices"][0]
        return {**choice, "cost": response.json()["usage"]["cost"]}, choice["message"]
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
    frames = [json.loads(line) for line in lines]
    last = frames[-1]
    return {**last["choices"][0], "cost": last["usage"]["cost"]}, message_in(response.text)


def run_of(app: RunningApp, response: httpx.Response) -> tuple[str, float, int]:
    """Return a run's status, its cost, and how many results its stream has."""
    run_id = response.headers["x-run-id"]
    run = app.client.get(f"/api/runs/{run_id}").json()
    stream = check_stream(app.client.get(f"/api/runs/{run_id}/events").content)
    assert stream.done["cost"] == run["cost"]
    return run["status"], run["cost"], len(stream.of("tool_result"))


def running_id(app: RunningApp, lingering: Lingering) -> str:
    """Wait until the tool works; return the id of its run."""
    assert lingering.started.wait(WAIT)
    [run] = app.client.get("/api/runs").json()["runs"]
    return run["run_id"]


@pytest.fixture
def lingering() -> Lingering:
    """Return a tool that ends only if it is cancelled."""
    return Lingering()


@LOOPS
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tool", ["fail", "late"])
def test_a_tool_that_fails_is_a_result(
    start_app: StartApp, lingering: Lingering, loop: str, tool: str, stream: bool
) -> None:
    """The client's call is handed over once ours has its error, and the model gets both results, once."""
    client, upstream = started(start_app, loop, tool, lingering)
    response = client.post(QUESTION, tools=[CLOCK], stream=stream)
    ending, called = ending_of(response)
    assert (ending["finish_reason"], ending["cost"]) == ("tool_calls", STEP_COST)
    assert client.send(QUESTION, called, *results(called, "09:41"), tools=[CLOCK])["content"] == "Here."
    told = {one["tool_call_id"]: one["content"] for one in upstream.asked[-1].body["messages"] if one["role"] == "tool"}
    assert len(told) == 2
    words = {"fail": "The shelf is empty.", "late": "did not answer within 0.1 s"}[tool]
    assert sum(words in content for content in told.values()) == 1
    assert sum("09:41" in content for content in told.values()) == 1
    assert run_of(client.app, response) == ("complete", STEP_COST, 1)


@LOOPS
@pytest.mark.parametrize("stream", [False, True])
def test_a_stopped_step_hands_nothing_over(start_app: StartApp, lingering: Lingering, loop: str, stream: bool) -> None:
    """Stopped while our tool works: no tool_calls, the cost of the step, and the client can go on."""
    client, upstream = started(start_app, loop, "linger", lingering)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.post, QUESTION, tools=[CLOCK], stream=stream)
        run_id = running_id(client.app, lingering)
        assert client.app.client.post(f"/api/runs/{run_id}/stop").status_code == 200
        response = answer.result(WAIT)
    assert lingering.cancelled.wait(WAIT)
    ending, _ = ending_of(response)
    assert (ending["finish_reason"], ending["native_finish_reason"]) == ("stop", "cancelled")
    assert ending["cost"] == STEP_COST
    assert run_of(client.app, response) == ("cancelled", STEP_COST, 2)
    assert client.send(QUESTION, tools=[CLOCK])["content"] == "Here."
    assert len(upstream.asked) == 2


@LOOPS
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_ends_the_step(start_app: StartApp, lingering: Lingering, loop: str, stream: bool) -> None:
    """The tool is cancelled, every call has one result, and the cost of the step is known."""
    client, _ = started(start_app, loop, "linger", lingering)
    body = json.dumps({"model": "openai/sim", "messages": [QUESTION], "tools": [CLOCK], "stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
    with socket.create_connection(("127.0.0.1", client.app.port)) as connection:
        fields = "".join(f"{name}: {value}\r\n" for name, value in client.headers.items())
        connection.sendall(f"{head}{fields}\r\n".encode() + body)
        run_id = running_id(client.app, lingering)
    assert lingering.cancelled.wait(WAIT)
    client.app.over(run_id)
    answer = client.app.client.get(f"/api/runs/{run_id}/events")
    assert "handed" not in check_stream(answer.content).done
    assert run_of(client.app, httpx.Response(200, headers={"x-run-id": run_id})) == ("cancelled", STEP_COST, 2)
