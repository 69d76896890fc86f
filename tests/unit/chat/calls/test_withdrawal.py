"""Withdrawing single calls, and closing an execution."""

import asyncio

import pytest
from signalbox.core.codes import Code
from signalbox.core.events import ToolExecuting, ToolResult
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool
from tests.unit.chat.calls.executions import Doors, codes, execution_of, named, search

pytestmark = pytest.mark.anyio


async def test_a_withdrawn_call_is_answered_and_stopped() -> None:
    """Its task is cancelled, and its only result says why."""
    doors = Doors()
    execution = execution_of([doors.tool("a")])
    [call] = execution.announce([named("a")], 1)
    execution.start(call)
    await doors.entered.get()
    execution.withdraw(call, Code.SUPERSEDED)
    assert call.task is not None
    await asyncio.wait({call.task})
    doors.gates["a"].set()
    await asyncio.sleep(0)
    told = [*execution.seen]
    assert codes(told) == [Code.SUPERSEDED]
    assert doors.inside == 0
    execution.withdraw(call, Code.STEP_FAILED)
    execution.answer(call, ToolOutcome(True, "late"))
    assert execution.seen == told
    await asyncio.wait_for(execution.wait_for_results(), 30)


async def test_a_withdrawn_call_that_waits_for_a_slot_never_executes() -> None:
    """It emits no executing event and never runs."""
    doors = Doors()
    execution = execution_of([doors.tool("a"), doors.tool("b")], tools_at_once=1)
    first, second = execution.announce([named("a"), named("b")], 1)
    execution.start(first)
    execution.start(second)
    await doors.entered.get()
    execution.withdraw(second, Code.STEP_FAILED)
    doors.gates["a"].set()
    await execution.wait_for_results()
    assert doors.entered.empty()
    assert [e.id for e in execution.seen if isinstance(e, ToolExecuting)] == [first.id]


@pytest.mark.parametrize("gone", [0, 1])
async def test_withdrawing_one_of_two_equal_searches_keeps_the_other(gone: int) -> None:
    """The search continues for the other call, whichever of the two sent it."""
    backend = FakeSearch(gate=asyncio.Event())
    execution = execution_of([search_web(backend, None)])
    both = execution.announce([search("x"), search("x")], 1)
    for call in both:
        execution.start(call)
    await backend.arrived.wait()
    execution.withdraw(both[gone], Code.SUPERSEDED)
    await asyncio.sleep(0)
    backend.gate.set()  # type: ignore[union-attr]
    await execution.wait_for_results()
    events = execution.seen
    assert {r.id: getattr(r.result, "code", None) for r in events if isinstance(r, ToolResult)} == {
        both[gone].id: Code.SUPERSEDED,
        both[1 - gone].id: None,
    }


async def test_closing_answers_every_open_call_once() -> None:
    """At the end of a run every open call is answered, and no task is left."""
    doors = Doors()
    execution = execution_of([doors.tool("a"), make_tool("f", eager=True)])
    open_, done, waiting = execution.announce([named("a"), named("f"), named("f")], 1)
    execution.start(open_)
    execution.start(done)
    await doors.entered.get()
    assert done.task is not None
    await asyncio.wait({done.task})
    execution.close_open(Code.CANCELLED)
    assert codes(execution.seen) == [Code.CANCELLED, None, Code.CANCELLED]
    await execution.aclose()
    assert doors.inside == 0
    assert waiting.outcome is not None


async def test_a_tool_that_ignores_its_cancellation_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits only briefly for such a tool."""
    monkeypatch.setattr("signalbox.chat.calls.execution._STOP_SECONDS", 0.01)
    release, entered = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments: JsonObject, context: ToolContext) -> str:
        entered.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    execution = execution_of([make_tool("f", stubborn, timeout=60, eager=True)])
    [call] = execution.announce([named("f")], 1)
    execution.start(call)
    await entered.wait()
    await execution.aclose()
    assert call.task is not None
    assert not call.task.done()
    release.set()
    await asyncio.wait({call.task})


async def test_nothing_is_emitted_after_closing() -> None:
    """Neither a tool that ignores its cancellation nor a late result emits an event."""
    release, entered, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def tidies_up(arguments: JsonObject, context: ToolContext) -> str:
        try:
            entered.set()
            await release.wait()
        finally:
            over.set()
        return "late"

    execution = execution_of([make_tool("f", tidies_up, timeout=60, eager=True)])
    ran, never_ran = execution.announce([named("f"), named("f")], 1)
    execution.start(ran)
    await entered.wait()
    await execution.aclose()
    assert over.is_set()
    execution.answer(never_ran, ToolOutcome(True, "late"))
    assert execution.announce([named("f")], 2)
    assert execution.seen.kinds == ["ToolCalls", "ToolExecuting"]


async def test_waiting_covers_calls_announced_meanwhile() -> None:
    """Without open calls the wait returns at once; a call announced during the wait is included."""
    execution = execution_of([make_tool("f")])
    await asyncio.wait_for(execution.wait_for_results(), 30)
    [first] = execution.announce([named("f")], 1)
    waiting = asyncio.create_task(execution.wait_for_results())
    await asyncio.sleep(0)
    execution.answer(first, ToolOutcome(True, 1))
    [second] = execution.announce([named("f")], 1)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    execution.answer(second, ToolOutcome(True, 2))
    await asyncio.wait_for(waiting, 30)
