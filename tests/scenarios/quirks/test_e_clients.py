"""E3, E7, E8, E11: disconnected clients, proxies, failures before the first event; through the whole app."""

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.app.asgi import streaming
from signalbox.chat.loops.state import LoopState
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.quirks.assertions import body_of, calls_with, speaks
from tests.scenarios.quirks.sim_runs import Asker, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, chunk, holds, silent
from tests.support.stream_reader import check_stream, parse_stream

SOON = 2.0
HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


async def holds_the_whole(exchange: Exchange) -> None:
    """Send the beginning of a body, then nothing until the client disconnects."""
    await exchange.head(kind="application/json")
    await exchange.send(body_of({"content": "So far"})[:40])
    await exchange.client_left()


async def floods(exchange: Exchange) -> None:
    """Send more than socket buffers hold."""
    await exchange.head()
    for _ in range(200):
        await exchange.send(chunk({"content": "x" * 100_000}))
    await exchange.client_left()


def ended(app: RunningApp, run_id: str) -> str:
    """Wait until a run is over; return status and code. Check that its journal is a valid stream."""
    run = app.over(run_id)
    assert run.done is not None
    heard = check_stream(app.client.get(f"/api/runs/{run_id}/events").content)
    assert heard.done["status"] == run.done.status
    return run.done.status


# ---- E3: the client disconnects


@pytest.mark.parametrize(
    ("loop", "script", "tools"),
    [
        ("v2", holds, []),
        ("legacy", holds, []),
        ("v2", silent, ["calculate"]),
        ("legacy", silent, ["calculate"]),
        ("legacy", holds_the_whole, ["calculate"]),
    ],
    ids=["v2 quiet", "legacy quiet", "v2 no head", "legacy no head", "legacy half a body"],
)
def test_e03_leaving_a_quiet_upstream(start_app: StartApp, loop: str, script: Script, tools: list[str]) -> None:
    """A disconnect while the upstream is silent closes the upstream and ends the run immediately."""
    app, upstream = start_app(script, settings={"tool_loop_v2": loop == "v2"})
    with app.asking(tools=tools) as response:
        run_id = response.headers["x-run-id"]
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
    assert upstream.wait_until(lambda: len(upstream.left) == 1, SOON)
    assert ended(app, run_id) == "cancelled"
    assert len(upstream.asked) == 1


@LOOPS
def test_e03_leaving_while_send_is_blocked(start_app: StartApp, loop: str) -> None:
    """A client that stops reading and disconnects ends its run, although `send` is blocked."""
    app, upstream = start_app(floods, settings={"tool_loop_v2": loop == "v2"})
    body = b'{"model":"openai/sim","prompt":"Hello!","tools":[]}'
    head = b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with raw:
        raw.settimeout(10)
        raw.connect(("127.0.0.1", app.port))
        raw.sendall(head + body)
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")
        run_id = app.client.get("/api/runs?limit=1").json()["runs"][0]["run_id"]
        run = app.run(run_id)

        async def all_came() -> None:
            async for batch in run.journal.follow(0):
                if batch[-1].seq >= 200:
                    return

        app.within(asyncio.wait_for(all_came(), 10))
        assert upstream.left == []
    assert upstream.wait_until(lambda: len(upstream.left) == 1, SOON)
    assert ended(app, run_id) == "cancelled"


@LOOPS
def test_e03_leaving_while_a_tool_works(start_app: StartApp, loop: str) -> None:
    """The tool is cancelled with the run, and no further request is sent."""
    started, cancelled = threading.Event(), threading.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    tool = make_tool("bell", work, timeout=60)
    app, upstream = start_app(
        calls_with("bell", "{}"), speaks("x"), extra_tools=[tool], settings={"tool_loop_v2": loop == "v2"}
    )
    with app.asking(tools=["bell"]) as response:
        run_id = response.headers["x-run-id"]
        assert started.wait(10)
    assert cancelled.wait(SOON)
    assert ended(app, run_id) == "cancelled"
    assert len(upstream.asked) == 1


# ---- E7: proxies


def test_e07_headers_against_buffering(ask_sim: Asker) -> None:
    """Headers tell proxies not to buffer, cache or transform the stream; the charset is named."""
    asked = {"model": "openai/sim", "prompt": "Hello!"}
    response = ask_sim.app.client.post("/api/chat/stream", json=asked, headers={"x-tool-loop": ask_sim.loop})
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "content-length" not in response.headers
    again = ask_sim.app.client.get(f"/api/runs/{response.headers['x-run-id']}/events")
    assert again.headers["cache-control"] == "no-cache, no-transform"
    assert again.headers["x-accel-buffering"] == "no"
    assert streaming.PING_SECONDS <= 15


def test_e07_a_stream_is_never_compressed(ask_sim: Asker) -> None:
    """A client that accepts compression receives uncompressed events without delay."""
    asked = {"model": "openai/sim", "prompt": "What is the tool loop of Signalbox?"}
    headers = {"x-tool-loop": ask_sim.loop, "accept-encoding": "gzip, deflate, br, zstd"}
    with (
        httpx.Client(base_url=ask_sim.app.url, trust_env=False, verify=False) as client,
        client.stream("POST", "/api/chat/stream", json=asked, headers=headers) as response,
    ):
        assert "content-encoding" not in response.headers
        heard = check_stream(b"".join(response.iter_raw()))
    assert heard.done["status"] == "complete"


@LOOPS
def test_e07_each_event_leaves_at_once(start_app: StartApp, loop: str) -> None:
    """Text is on the wire while the model is silent."""
    app, _ = start_app(holds, settings={"tool_loop_v2": loop == "v2"})
    with app.asking(tools=[]) as response:
        assert parse_stream(read_until(response.iter_raw(), b"\n\n")).text == "So far"


# ---- E8: failures before the first event


def _broken(*given: object) -> Any:
    raise RuntimeError("broken on purpose")


def test_e08_a_loop_that_breaks_at_once(ask_sim: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception before the first event gives a stream with version, warning and `done`."""
    monkeypatch.setattr(LoopState, "request_warnings", _broken)
    observed = ask_sim("openai/sim", "Hello!")
    assert observed.status == ("error", "INTERNAL")
    assert observed.heard.types == ["warning", "done"]
    assert observed.heard.events[0]["v"] == "1.1"
    assert b"on purpose" not in observed.heard.raw
    assert observed.requests == []


@LOOPS
@pytest.mark.parametrize("answer", [b"", b"{", b"[]", b"\xff\xfe"], ids=["nothing", "half", "a list", "no text"])
def test_e08_a_catalogue_that_breaks(start_app: StartApp, loop: str, answer: bytes) -> None:
    """The chat works without a readable catalogue."""

    async def models(exchange: Exchange) -> None:
        await exchange.whole(200, answer)

    app, upstream = start_app(speaks("Hello."), models=models, settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert (observed.status, observed.heard.text) == (("complete", None), "Hello.")


@LOOPS
def test_e08_a_tool_that_breaks(start_app: StartApp, loop: str) -> None:
    """An exception in a tool is that call's result, without its text, and the run continues."""
    tool = make_tool("bell", _broken)
    app, upstream = start_app(calls_with("bell", "{}"), speaks("Then without."), extra_tools=[tool], settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["bell"])
    assert observed.heard.result_codes() == ["TOOL_FAILED"]
    assert (observed.status, observed.heard.text) == (("complete", None), "Then without.")
    assert b"on purpose" not in observed.heard.raw


@LOOPS
@pytest.mark.parametrize("answer", [b"", b"no http at all\r\n\r\n"], ids=["closed", "no HTTP"])
def test_e08_an_upstream_that_breaks(start_app: StartApp, no_waiting: list[Any], loop: str, answer: bytes) -> None:
    """A closed connection or another protocol gives an error event in a valid stream."""

    async def breaks(exchange: Exchange) -> None:
        await exchange.raw(answer)
        raise ConnectionError

    app, upstream = start_app(breaks, settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert observed.heard.types == ["warning", "done"]
    assert observed.heard.done["status"] in ("error", "interrupted")
    assert observed.heard.done["code"] != "INTERNAL"


# ---- E11: the connection is lost


@LOOPS
def test_e11_resuming_doubles_and_loses_nothing(start_app: StartApp, loop: str) -> None:
    """A resume after every frame, by GET and POST, gives the rest of that run and starts nothing."""
    app, upstream = start_app(speaks("One"), speaks("Two"), settings={"tool_loop_v2": loop == "v2"})
    whole = [app.post(prompt="Hello!", tools=[]) for _ in range(2)]
    asked = len(upstream.asked)
    for response in whole:
        run_id, heard = response.headers["x-run-id"], parse_stream(response.content)
        for cut, last in enumerate(heard.ids):
            rest = b"".join(heard.pieces[cut + 1 :])
            headers = {"Last-Event-ID": last}
            again = app.client.get(f"/api/runs/{run_id}/events", headers=headers)
            posted = app.client.post("/api/chat/stream", headers=headers, json={"model": "openai/sim", "prompt": "Hi"})
            assert again.content == posted.content == rest
            assert again.status_code == posted.status_code == (200 if rest else 204)
    assert len(upstream.asked) == asked


@LOOPS
def test_e11_reconnecting_after_a_restart_starts_nothing(tmp_path: Path, loop: str) -> None:
    """A client that reconnects after a restart receives its run, and no second one starts."""
    with ScriptedUpstream(speaks("One")) as upstream:
        settings = settings_for(tmp_path, openrouter_base_url=upstream.base_url, tool_loop_v2=loop == "v2")
        with RunningApp(settings) as app:
            whole = app.post(prompt="Hello!", tools=[])
        with RunningApp(settings) as again:
            last = parse_stream(whole.content).ids[0]
            seen = parse_stream(whole.content).pieces[0]
            rest = again.client.post("/api/chat/stream", headers={"Last-Event-ID": last}, content=b"{}")
            assert seen + rest.content == whole.content
            lost = again.client.post("/api/chat/stream", headers={"Last-Event-ID": "0" * 32 + ":1"}, content=b"{}")
            assert lost.status_code == 404
    assert len(upstream.asked) == 1
