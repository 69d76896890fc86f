"""E12, E13: event order and unknown events, and the effect of a stop; through the whole app."""

import asyncio
import json
from typing import Any

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext
from signalbox.encoders.check import first_stream_fault

from tests.scenarios.quirks.assertions import body_of, is_whole, speaks
from tests.scenarios.quirks.sim_runs import Asker, said_by, scripted
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import read_until
from tests.support.scripted_upstream import DONE, Exchange, call_chunk, chunk, holds, says, silent
from tests.support.stream_reader import check_stream

SOON = 2.0
HEADER = {"signalbox_allow_loop_header": True}
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


# ---- E12: event order and unknown events


@LOOPS
def test_e12_results_come_as_they_are_ready(start_app: StartApp, loop: str) -> None:
    """Results of parallel calls are emitted as they finish, with the call's id."""
    rung = asyncio.Event()

    async def first(arguments: JsonObject, context: ToolContext) -> Any:
        await rung.wait()
        return "first"

    tools = [make_tool("first", first), make_tool("second", lambda arguments, _: rung.set() or "second")]

    async def both(exchange: Exchange) -> None:
        made = [
            {"index": at, "id": f"c{at}", "function": {"name": tool.spec.name, "arguments": "{}"}}
            for at, tool in enumerate(tools)
        ]
        if is_whole(exchange):
            await exchange.whole(200, body_of({"tool_calls": made}))
            return
        await exchange.head()
        await exchange.send(chunk({"tool_calls": made}) + chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(both, speaks("Done."), extra_tools=tools, settings=HEADER)
    observed = scripted(app, upstream.asked, loop, tools=["first", "second"])
    ids = [made["id"] for made in observed.heard.calls]
    assert [event["id"] for event in observed.heard.of("tool_result")] == ids[::-1]
    assert {event["id"] for event in observed.heard.of("tool_executing")} == set(ids)
    sent = [said["content"] for said in said_by(observed.last, "tool")]
    assert ["first" in sent[0], "second" in sent[1]] == [True, True]
    assert observed.status == ("complete", None)


def test_e12_text_while_a_tool_works(start_app: StartApp) -> None:
    """Text that arrives while an eager tool runs is emitted between call and result."""
    gate = asyncio.Event()

    async def reads(arguments: JsonObject, context: ToolContext) -> Any:
        await gate.wait()
        return "read"

    async def speaks_on(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk("look", "{}"))
        await exchange.gate_opened()
        await exchange.send_text("Meanwhile.")
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    app, upstream = start_app(speaks_on, says("Done."), extra_tools=[make_tool("look", reads, eager=True)])
    with app.asking(tools=["look"]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"tool_executing")
        upstream.opened.set()
        seen += read_until(chunks, b"Meanwhile.")
        app.call(gate.set)
        heard = check_stream(seen + b"".join(chunks))
    assert heard.types == ["tool_calls", "tool_executing", "content", "tool_result", "content", "done"]
    assert heard.result_codes() == [None]


def test_e12_event_types_of_the_future(ask_sim: Asker) -> None:
    """The first event names the version; an unknown event type is valid anywhere."""
    heard = ask_sim("openai/sim-quirk-a01").heard
    assert (heard.events[0]["v"], heard.events[0]["loop"]) == ("1.1", ask_sim.loop)
    run_id = heard.events[0]["run_id"]
    future = {"type": "citation", "id": "c1", "spans": [[0, 4]]}
    grown = b""
    for at, event in enumerate(heard.events):
        pair = (event, future) if at < len(heard.events) - 1 else (event,)
        for beside, value in enumerate(pair):
            grown += b"data: %b\nid: %b:%d\n\n" % (json.dumps(value).encode(), run_id.encode(), 2 * at + beside + 1)
    assert first_stream_fault(grown) == (None, 2 * len(heard.events) - 1)


@pytest.mark.parametrize("shape", ["e01", "e02", "e10-many"])
def test_e12_a_fatal_error_erases_nothing(ask_sim: Asker, shape: str) -> None:
    """Emitted text stays in the stream and the journal, followed by a warning and `done`."""
    heard = ask_sim(f"openai/sim-quirk-{shape}", tools=[]).heard
    assert heard.text
    assert heard.types[-3:] == ["content", "warning", "done"]
    journal = ask_sim.app.client.get(f"/api/runs/{heard.events[0]['run_id']}/events")
    assert check_stream(journal.content).text == heard.text


# ---- E13: stopping


@LOOPS
def test_e13_stop_keeps_what_was_said(start_app: StartApp, loop: str) -> None:
    """A stop closes the upstream; question and partial answer can be read again."""
    app, upstream = start_app(holds, says("Hello again."), settings={"tool_loop_v2": loop == "v2"})
    with app.asking(tools=[]) as response:
        run_id = response.headers["x-run-id"]
        chunks = response.iter_raw()
        seen = read_until(chunks, b"So far")
        stopped = app.client.post(f"/api/runs/{run_id}/stop").json()
        heard = check_stream(seen + b"".join(chunks))
    assert stopped == {"run_id": run_id, "stopped": True, "status": "cancelled"}
    assert upstream.wait_until(lambda: len(upstream.left) == 1, SOON)
    assert (heard.done["status"], heard.text) == ("cancelled", "So far")
    assert heard.warnings == []
    assert check_stream(app.client.get(f"/api/runs/{run_id}/events").content).text == "So far"
    going_on = [
        {"role": "user", "content": "Hello!"},
        {"role": "assistant", "content": heard.text},
        {"role": "user", "content": "Go on."},
    ]
    assert app.ask(messages=going_on, tools=[]).text == "Hello again."


@LOOPS
def test_e13_stop_of_a_whole_answer(start_app: StartApp, loop: str) -> None:
    """A stop before the first text ends the run immediately."""
    app, upstream = start_app(silent, settings={"tool_loop_v2": loop == "v2"})
    with app.asking(tools=["calculate"]) as response:
        run_id = response.headers["x-run-id"]
        assert upstream.wait_until(lambda: len(upstream.asked) == 1)
        app.client.post(f"/api/runs/{run_id}/stop")
        heard = check_stream(b"".join(response.iter_raw()))
    assert upstream.wait_until(lambda: len(upstream.left) == 1, SOON)
    assert (heard.types, heard.done["status"]) == (["done"], "cancelled")
