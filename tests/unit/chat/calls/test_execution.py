"""Executing calls: one result for each announced call, and limited concurrency."""

import asyncio
from collections.abc import Mapping

import pytest
from signalbox.chat.calls.execution import execute_tool_calls
from signalbox.chat.calls.repair import RepairedCall
from signalbox.core.codes import Code
from signalbox.core.events import ToolCalls, ToolExecuting, ToolResult
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool
from tests.unit.chat.calls.executions import Doors, codes, execute, execution_of, named, results, search

pytestmark = pytest.mark.anyio


async def test_the_order_of_one_call() -> None:
    """A call is announced, executed and answered; each event has its metadata and the same id."""
    events = await execute(execution_of([search_web(FakeSearch(), None)]), search("tides"))
    assert [type(event) for event in events] == [ToolCalls, ToolExecuting, ToolResult]
    announced, executing, result = events
    assert isinstance(announced, ToolCalls)
    assert isinstance(executing, ToolExecuting)
    assert isinstance(result, ToolResult)
    [call] = announced.calls
    assert call.id == executing.id == result.id
    assert {(e.category, e.visibility) for e in (call, executing, result)} == {("search", "primary")}


async def test_calls_run_concurrently() -> None:
    """Three calls execute at the same time, and each is answered when it is ready."""
    doors = Doors()
    execution = execution_of([doors.tool(name) for name in "abc"])
    running = asyncio.create_task(execute(execution, named("a"), named("b"), named("c")))
    assert {await doors.entered.get() for _ in range(3)} == {"a", "b", "c"}
    for name in ("c", "a", "b"):
        doors.gates[name].set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    events = await running
    assert [e.name for e in events if isinstance(e, ToolResult)] == ["c", "a", "b"]
    assert doors.most == 3


async def test_concurrent_tools_are_limited() -> None:
    """At most two tools execute at once; the third starts, and emits that, when one has finished."""
    doors = Doors()
    execution = execution_of([doors.tool(name) for name in "abc"], tools_at_once=2)
    running = asyncio.create_task(execute(execution, named("a"), named("b"), named("c")))
    assert {await doors.entered.get(), await doors.entered.get()} == {"a", "b"}
    for _ in range(5):
        await asyncio.sleep(0)
    assert doors.entered.empty()
    doors.gates["b"].set()
    assert await doors.entered.get() == "c"
    doors.gates["a"].set()
    doors.gates["c"].set()
    events = await running
    assert doors.most == 2
    order = [(type(e).__name__, e.name) for e in events if isinstance(e, ToolExecuting | ToolResult)]
    assert order.index(("ToolResult", "b")) < order.index(("ToolExecuting", "c"))


async def test_results_are_emitted_as_tools_finish() -> None:
    """The result of a fast call is emitted while a slow one is still running."""
    doors = Doors()
    execution = execution_of([doors.tool("slow"), make_tool("quick")])
    running = asyncio.create_task(execute_tool_calls(execution, [named("slow"), named("quick")], 1))
    await execution.seen.until("ToolResult")
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick"]
    assert not running.done()
    doors.gates["slow"].set()
    await running
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick", "slow"]


async def test_calls_get_unique_ids() -> None:
    """Ten calls of one name with the same upstream id are announced under ten ids (A15)."""
    execution = execution_of([make_tool("f")])
    events = await execute(execution, *[RepairedCall("f", {}, "call_0")] * 10)
    assert len({result.id for result in results(events)}) == 10
    assert {call.upstream_id for call in execution.calls} == {"call_0"}


async def test_unknown_tools_get_the_list_of_tools() -> None:
    """A tool that is not offered never runs; its result lists the offered ones (A14)."""
    ran: list[object] = []
    hidden = make_tool("hidden", lambda arguments, context: ran.append(arguments))
    offered = make_tool("f")
    execution = execution_of([offered, hidden], offered=[offered])
    events = await execute(execution, named("hidden"), named("nothing"), named("multi_tool_use.parallel"))
    assert codes(events) == [Code.UNKNOWN_TOOL] * 3
    assert not any(isinstance(event, ToolExecuting) for event in events)
    assert not ran
    texts = [str(getattr(result.result, "error", "")) for result in results(events)]
    assert all(" f." in text for text in texts)
    assert not any("hidden" in text.split("The tools are")[1] for text in texts)


@pytest.mark.parametrize("name", ["functions.f", "default_api.f", "a.b.f"])
async def test_a_namespace_is_removed(name: str) -> None:
    """Models put namespaces before names; the call is announced and executed without it (A14)."""
    events = await execute(execution_of([make_tool("f")]), named(name, q=1))
    assert codes(events) == [None]
    assert {result.name for result in results(events)} == {"f"}


async def test_an_offered_name_with_a_dot_is_unchanged() -> None:
    """The name of a tool that contains a dot is not shortened."""
    events = await execute(execution_of([make_tool("f"), make_tool("x.f")]), named("x.f"))
    assert [result.name for result in results(events)] == ["x.f"]


async def test_invalid_arguments_are_rejected_before_execution() -> None:
    """The schema is checked first; the error names the field (PS-20)."""
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    events = await execute(execution_of([make_tool("f", parameters=schema)]), named("f", n="3"), named("f"))
    assert codes(events) == [Code.INVALID_ARGUMENTS] * 2
    assert all("n" in str(getattr(result.result, "error", "")) for result in results(events))
    assert not any(isinstance(event, ToolExecuting) for event in events)


async def test_a_call_with_a_fault_shows_its_text() -> None:
    """Arguments that cannot be parsed are shown as they were sent, up to a limit."""
    fault = ToolOutcome.failed(Code.ARGUMENTS_CUT, "cut")
    [announced, result] = await execute(execution_of([make_tool("f")]), RepairedCall("f", {}, "c", fault, "{" * 5000))
    assert isinstance(announced, ToolCalls)
    assert announced.calls[0].arguments == "{" * 2000
    assert codes([announced, result]) == [Code.ARGUMENTS_CUT]


async def test_a_runner_that_raises_still_gives_a_result() -> None:
    """If the tool runner raises although it must not, the call gets an error result."""
    execution = execution_of([make_tool("f")])

    class Broken(ToolExecutor):
        async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
            raise RuntimeError("secret")

    execution.tools = Broken([make_tool("f")])
    events = await execute(execution, named("f"))
    assert codes(events) == [Code.TOOL_FAILED]
    assert "secret" not in str(events)


async def test_messages_for_the_history() -> None:
    """Arguments are canonical and the outcome is text; a call without an outcome counts as failed (A8)."""
    execution = execution_of([make_tool("f", lambda arguments, context: {"x": 1})])
    await execute(execution, named("f", q="é"))
    [call] = execution.calls
    tool_call, result = call.message()
    assert (tool_call.id, tool_call.upstream_id, tool_call.arguments) == (call.id, "up_f", {"q": "é"})
    assert result is not None
    assert result.content == '{"x":1}'
    [unfinished] = execution.announce([named("f")], 1)
    _, failure = unfinished.message()
    assert failure is not None
    assert "STEP_FAILED" in failure.content
