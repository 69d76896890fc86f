"""Calls that the V2 loop starts while the model still streams, and calls that must wait."""

import asyncio

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import (
    AssistantMessage,
    JsonObject,
    ToolMessage,
)
from signalbox.core.parts import (
    CallDelta,
    EndOfStream,
    TextDelta,
)
from signalbox.core.tools import ToolContext
from signalbox.wire.finish_reasons import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, ending, make_tool
from tests.support.loop_runs import Seen, run
from tests.support.loop_tools import eager, kinds

pytestmark = pytest.mark.anyio


async def test_an_eager_call_runs_and_answers_while_the_model_streams() -> None:
    """The call starts when its arguments are complete, and its result is emitted before the stream ends."""
    seen = Seen()
    started, left = asyncio.Event(), []

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        started.set()
        return "done"

    async def until_answered() -> None:
        await asyncio.wait_for(started.wait(), 5)
        await seen.until("ToolResult")
        left.append(seen.kinds)

    script = [
        [SERVED],
        [CallDelta(0, "c", "f", '{"a"')],
        [CallDelta(0, None, None, ":1}")],
        until_answered,
        ending("tool_calls"),
    ]
    outcome = await run(ScriptedClient(script, answer("Hi")), [eager("f", work)], seen=seen)
    assert left == [["ToolCalls", "ToolExecuting", "ToolResult"]]
    assert outcome.codes() == [None]
    assert outcome.announced == outcome.executed


async def test_text_continues_while_an_eager_call_runs() -> None:
    """A slow tool does not delay the model's text; its result follows when it is ready."""
    gate = asyncio.Event()

    async def slow(arguments: JsonObject, context: ToolContext) -> str:
        await gate.wait()
        return "done"

    async def open_gate() -> None:
        gate.set()

    script = [[SERVED], [call(0, "f", "{}")], [TextDelta("still talking")], open_gate, ending("tool_calls")]
    outcome = await run(ScriptedClient(script, answer("Hi")), [eager("f", slow)])
    order = kinds(outcome.events)
    assert order.index("Content") < order.index("ToolResult")


@pytest.mark.parametrize("is_eager", [True, False])
async def test_incomplete_arguments_start_no_eager_call(is_eager: bool) -> None:
    """Arguments that are incomplete, or rejected by the schema, wait for the end of the step."""
    seen = Seen()
    ran: list[JsonObject] = []
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    tool = make_tool("f", lambda arguments, context: ran.append(arguments), eager=is_eager, parameters=schema)

    async def nothing_yet() -> None:
        assert not seen
        assert not ran

    script = [
        [SERVED],
        [call(0, "f", "{}"), call(1, "f", '{"a":'), call(2, "f", "")],
        nothing_yet,
        ending("tool_calls"),
    ]
    outcome = await run(ScriptedClient(script, answer("Hi")), [tool], seen=seen)
    assert outcome.codes() == [Code.STEP_FAILED, Code.ARGUMENTS_CUT, Code.STEP_FAILED]
    assert not ran


async def test_a_side_effecting_call_waits_for_a_successful_end() -> None:
    """A tool with side effects starts only after its step has ended successfully."""
    seen = Seen()

    async def nothing_yet() -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        assert "ToolCalls" not in seen.kinds

    script = [[SERVED], [call(0, "f", "{}")], nothing_yet, [finish_of("tool_calls")], nothing_yet, [EndOfStream()]]
    outcome = await run(ScriptedClient(script, answer("Hi")), [make_tool("f")], seen=seen)
    assert outcome.codes() == [None]


async def test_a_call_that_grows_after_it_started_is_superseded() -> None:
    """The first id gets SUPERSEDED; the final call is announced under a new id, and only it enters the history."""
    gate = asyncio.Event()
    ran: list[JsonObject] = []

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        ran.append(arguments)
        if not arguments:
            await gate.wait()
        return "done"

    script = [[SERVED], [CallDelta(0, "c", "f", "{}")], [CallDelta(0, None, None, '{"a":1}')], ending("tool_calls")]
    client = ScriptedClient(script, answer("Hi"))
    outcome = await run(client, [eager("f", work)])
    first, second = outcome.announced
    assert {r.id: getattr(r.result, "code", None) for r in outcome.results} == {first: Code.SUPERSEDED, second: None}
    assert ran[-1] == {"a": 1}
    [said] = [m for m in client.requests[1].messages if isinstance(m, AssistantMessage)]
    assert [(c.id, c.arguments) for c in said.calls] == [("c", {"a": 1})]
    assert [m.call_id for m in client.requests[1].messages if isinstance(m, ToolMessage)] == ["c"]


async def test_a_call_that_grows_after_its_result() -> None:
    """An emitted result stays; the final call runs under a new id, and the model sees only that."""
    seen = Seen()

    async def until_answered() -> None:
        await seen.until("ToolResult")

    script = [
        [SERVED],
        [CallDelta(0, "c", "f", "{}")],
        until_answered,
        [CallDelta(0, None, None, '{"a":1}')],
        ending("tool_calls"),
    ]
    client = ScriptedClient(script, answer("Hi"))
    outcome = await run(client, [eager("f")], seen=seen)
    assert outcome.codes() == [None, None]
    assert len(set(outcome.announced)) == 2
    [result] = [m for m in client.requests[1].messages if isinstance(m, ToolMessage)]
    assert '{"echo":{"a":1}}' in result.content.split("\n")
