"""Stopping a run by request, by leaving or by time limit; upstream and tools end with it."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp, read_until
from tests.support.scripted_upstream import DONE, Exchange, call_chunk, calls_then, chunk, holds, says, silent, waits
from tests.support.stream_reader import check_stream, parse_stream


class Bell:
    """A tool that signals its start and works until it is cancelled."""

    def __init__(self) -> None:
        self.started, self.cancelled = threading.Event(), threading.Event()
        self.tool = make_tool("bell", self._work, timeout=60)

    async def _work(self, arguments: JsonObject, context: ToolContext) -> Any:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def test_stop_by_another_client(start_app: StartApp) -> None:
    """The stop returns 200, the subscriber reads `cancelled`, the upstream is closed, and the text stays."""
    app, upstream = start_app(holds)
    with app.asking(tools=[]) as response:
        run_id = response.headers["x-run-id"]
        chunks = response.iter_raw()
        seen = read_until(chunks, b"So far")
        stopped = app.client.post(f"/api/runs/{run_id}/stop")
        assert (stopped.status_code, stopped.json()) == (
            200,
            {"run_id": run_id, "stopped": True, "status": "cancelled"},
        )
        received = check_stream(seen + b"".join(chunks))
    assert received.done["status"] == "cancelled"
    assert "code" not in received.done
    assert received.warnings == []
    assert received.text == "So far"
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    again = app.client.post(f"/api/runs/{run_id}/stop")
    assert (again.status_code, again.json()) == (200, {"run_id": run_id, "stopped": False, "status": "cancelled"})


def test_stop_of_a_finished_run_changes_nothing(app: RunningApp) -> None:
    """A finished run keeps its status."""
    response = app.post(prompt="Hello!")
    run_id = response.headers["x-run-id"]
    stopped = app.client.post(f"/api/runs/{run_id}/stop").json()
    assert stopped == {"run_id": run_id, "stopped": False, "status": "complete"}
    assert app.client.get(f"/api/runs/{run_id}/events").content == response.content


def test_stop_while_a_tool_works(start_app: StartApp) -> None:
    """The tool is cancelled, its call gets a result, and no request follows."""
    bell = Bell()
    app, upstream = start_app(calls_then(call_chunk("bell", "{}")), says("x"), extra_tools=[bell.tool])
    with app.asking() as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"tool_executing")
        assert bell.started.wait(WAIT)
        app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
        received = check_stream(seen + b"".join(chunks))
    assert bell.cancelled.wait(WAIT)
    assert received.done["status"] == "cancelled"
    assert received.result_codes() == ["CANCELLED"]
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("script", [holds, silent], ids=["quiet after words", "no head yet"])
def test_the_last_subscriber_leaves_a_silent_upstream(start_app: StartApp, script: Any) -> None:
    """The upstream connection is closed while it is silent, also before its first byte (E3)."""
    app, upstream = start_app(script)
    with app.asking(tools=[]) as response:
        run_id = response.headers["x-run-id"]
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    run = app.over(run_id)
    assert run.done is not None
    assert run.done.status == "cancelled"
    check_stream(app.client.get(f"/api/runs/{run_id}/events").content)


def test_the_last_subscriber_leaves_the_simulators_stall(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """The same with the simulator, which counts its open streams."""
    with app.asking(model="openai/sim-stall", tools=[]) as response:
        run_id = response.headers["x-run-id"]
        assert simulator.wait_until(lambda state: state.open_streams == 1)
    assert simulator.wait_until(lambda state: state.open_streams == 0)
    assert simulator.state.requests[-1].closed_early is True
    app.over(run_id)


def test_the_last_subscriber_leaves_while_a_tool_works(start_app: StartApp) -> None:
    """The tool ends with the run."""
    bell = Bell()
    app, upstream = start_app(calls_then(call_chunk("bell", "{}")), says("x"), extra_tools=[bell.tool])
    with app.asking() as response:
        run_id = response.headers["x-run-id"]
        assert bell.started.wait(10)
    assert bell.cancelled.wait(WAIT)
    run = app.over(run_id)
    assert run.done is not None
    assert run.done.status == "cancelled"
    assert len(upstream.asked) == 1


def test_a_client_that_does_not_read_and_then_leaves(start_app: StartApp) -> None:
    """A disconnect is detected even while `send` is blocked by a slow client (quirk E3a)."""
    big = chunk({"content": "x" * 100_000})

    async def floods(exchange: Exchange) -> None:
        await exchange.head()
        for _ in range(200):
            await exchange.send(big)
        await exchange.client_left()

    app, upstream = start_app(floods)
    body = b'{"model":"openai/sim","prompt":"Hello!","tools":[]}'
    head = b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with raw:
        raw.connect(("127.0.0.1", app.port))
        raw.settimeout(10)
        raw.sendall(head + body)
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")
        run_id = app.client.get("/api/runs?limit=1").json()["runs"][0]["run_id"]
        run = app.run(run_id)

        async def all_came() -> None:
            async for batch in run.journal.follow(0):
                if batch[-1].seq >= 200:
                    return

        app.within(asyncio.wait_for(all_came(), 10))
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    run = app.over(run_id)
    assert run.done is not None
    assert run.done.status == "cancelled"


def test_one_subscriber_leaves_and_another_stays(start_app: StartApp) -> None:
    """A run ends with its last subscriber, not with its first."""
    app, upstream = start_app(waits)
    with app.client.stream("POST", "/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi"}) as response:
        run_id = response.headers["x-run-id"]
        stays = response.iter_raw()
        seen = read_until(stays, b"First ")
        with app.asking(tools=[]):
            pass  # another run, to move the loop on
        with app.client.stream("GET", f"/api/runs/{run_id}/events") as leaves:
            read_until(leaves.iter_raw(), b"First ")
        upstream.opened.set()
        assert check_stream(seen + b"".join(stays)).done["status"] == "complete"


def test_a_detached_run_continues(start_app: StartApp) -> None:
    """Without subscribers the run is completed, and can be read later."""
    app, upstream = start_app(waits)
    with app.asking(tools=[], on_disconnect="continue") as response:
        run_id = response.headers["x-run-id"]
        read_until(response.iter_raw(), b"First ")
    upstream.opened.set()
    run = app.over(run_id)
    assert run.done is not None
    assert run.done.status == "complete"
    assert check_stream(app.client.get(f"/api/runs/{run_id}/events").content).text == "First second."


def test_a_run_without_subscribers_has_a_limit(start_app: StartApp) -> None:
    """After the limit the run is interrupted, the upstream closed, and the text stays."""
    app, upstream = start_app(holds, settings={"signalbox_detached_seconds": 0.01})
    with app.asking(tools=[], on_disconnect="continue") as response:
        run_id = response.headers["x-run-id"]
        read_until(response.iter_raw(), b"So far")
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    app.over(run_id)
    received = check_stream(app.client.get(f"/api/runs/{run_id}/events").content)
    assert (received.done["status"], received.done["code"], received.text) == (
        "interrupted",
        "DETACHED_TIMEOUT",
        "So far",
    )


def test_a_returning_subscriber_cancels_the_limit(start_app: StartApp) -> None:
    """Only time without subscribers counts."""
    app, upstream = start_app(waits, settings={"signalbox_detached_seconds": 30})
    with app.asking(tools=[], on_disconnect="continue") as response:
        run_id = response.headers["x-run-id"]
        seen = read_until(response.iter_raw(), b"First ")
    run = app.run(run_id)
    with app.client.stream("GET", f"/api/runs/{run_id}/events") as again:
        chunks = again.iter_raw()
        assert read_until(chunks, b"First ") == seen
        assert app.call(lambda: run.detached_timer) is None
        upstream.opened.set()
        assert check_stream(seen + b"".join(chunks)).done["status"] == "complete"


def test_stop_before_the_first_byte_of_a_retry(start_app: StartApp) -> None:
    """A run that waits before a retry stops at once."""

    async def fails(exchange: Exchange) -> None:
        await exchange.whole(503, b"{}", **{"retry-after": "9"})

    app, upstream = start_app(fails)
    with app.asking(tools=[]) as response:
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
        app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
        received = check_stream(b"".join(response.iter_raw()))
    assert received.done["status"] == "cancelled"
    assert len(upstream.asked) == 1


def test_no_request_follows_a_stop(start_app: StartApp) -> None:
    """After the last subscriber has left, no further step costs anything."""
    bell = Bell()

    async def calls(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk("bell", "{}"))
        await exchange.gate_opened()
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.client_left()

    app, upstream = start_app(calls, says("never"), extra_tools=[bell.tool])
    with app.asking() as response:
        run_id = response.headers["x-run-id"]
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
    app.over(run_id)
    upstream.opened.set()
    assert len(upstream.asked) == 1
    assert parse_stream(app.client.get(f"/api/runs/{run_id}/events").content).done["status"] == "cancelled"
