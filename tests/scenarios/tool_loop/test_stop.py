"""Scenario "stop": a disconnect or a stop closes the upstream immediately, and no further request is sent."""

import asyncio
import threading

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.tool_loop.scenario import Scenarios
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fakes import make_tool
from tests.support.running_app import WAIT, read_until
from tests.support.scripted_upstream import Exchange, Script, silent
from tests.support.stream_reader import check_stream


async def half_a_body(exchange: Exchange) -> None:
    """Begin a body or a stream, and never end it."""
    if exchange.asked.body["stream"]:
        await exchange.head()
        await exchange.send_text("So far")
    else:
        await exchange.raw(b"HTTP/1.1 200 Scripted\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{")
    await exchange.client_left()


@pytest.mark.parametrize("script", [silent, half_a_body], ids=["before a byte", "in the middle"])
@pytest.mark.parametrize("tools", [[], ["search_web"]], ids=["no tools", "tools"])
def test_stop_button_while_the_model_answers(scenario: Scenarios, script: Script, tools: list[str]) -> None:
    """The upstream connection is closed while the upstream blocks, also for one body; no request follows."""
    stage = scenario(script)
    with stage.app.asking(tools=tools) as response:
        assert stage.upstream.wait_until(lambda: len(stage.upstream.asked) == 1)
        told = stage.app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop").json()
        assert stage.upstream.wait_until(lambda: len(stage.upstream.left) == 1)
        heard = check_stream(response.read())
    assert (told["stopped"], told["status"]) == (True, "cancelled")
    assert (heard.done["status"], heard.warnings) == ("cancelled", [])
    assert len(stage.bodies) == 1


@pytest.mark.parametrize("script", [silent, half_a_body], ids=["before a byte", "in the middle"])
def test_stop_by_leaving(scenario: Scenarios, script: Script) -> None:
    """A disconnect ends the run and its upstream request, also while one body is pending."""
    stage = scenario(script)
    with stage.app.asking(tools=["search_web"]) as response:
        run_id = response.headers["x-run-id"]
        assert stage.upstream.wait_until(lambda: len(stage.upstream.asked) == 1)
    assert stage.upstream.wait_until(lambda: len(stage.upstream.left) == 1)
    done = stage.app.over(run_id).done
    assert done is not None
    assert done.status == "cancelled"
    assert len(stage.bodies) == 1


def test_stop_during_a_tool(scenario: Scenarios) -> None:
    """The tool is cancelled, its call has the result CANCELLED, and no final request is sent."""
    started, left = threading.Event(), list[bool]()

    async def work(arguments: JsonObject, context: ToolContext) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.append(True)

    stage = scenario(calls(Called("slow", "{}")), answers("Never."), extra_tools=[make_tool("slow", work)])
    with stage.app.asking(tools=["slow"]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"tool_executing")
        assert started.wait(WAIT)
        stage.app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
        heard = check_stream(seen + b"".join(chunks))
    assert heard.result_codes() == ["CANCELLED"]
    assert heard.done["status"] == "cancelled"
    assert left == [True]
    assert len(stage.bodies) == 1
