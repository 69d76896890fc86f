"""A stop of the V2 loop at any point: one ending, nothing left open."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest
from msgspec import UNSET
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import (
    JsonObject,
    UserMessage,
)
from signalbox.core.parts import (
    ReasoningDelta,
    TextDelta,
)
from signalbox.core.tools import ToolContext

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import Outcome, context_for, run
from tests.support.loop_tools import Q, kinds, searching

pytestmark = pytest.mark.anyio


# --- stop, wherever it is ---


async def stopped_at(place: Awaitable[object], work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """Run, wait for the point, cancel, and return the outcome."""
    task = asyncio.create_task(work)
    await place
    task.cancel()
    outcome = await asyncio.wait_for(task, 5)
    assert not task.cancelling()  # or no timeout would work in whatever the task does next
    return outcome


def assert_stopped(outcome: Outcome, client: ScriptedClient) -> None:
    """Check that the run was cancelled once, the upstream closed and every call answered."""
    assert kinds(outcome.events).count("Done") == 1
    assert outcome.done.status == "cancelled"
    assert outcome.done.code is UNSET
    assert client.closed == len(client.requests)
    assert sorted(outcome.announced) == sorted(result.id for result in outcome.results)


async def forever() -> None:
    """Wait until cancelled."""
    await asyncio.Event().wait()


async def test_stop_before_the_first_byte() -> None:
    """The upstream has not answered yet."""
    reached = asyncio.Event()

    async def here() -> None:
        reached.set()
        await forever()

    client = ScriptedClient([here])
    outcome = await stopped_at(reached.wait(), run(client))
    assert_stopped(outcome, client)
    assert kinds(outcome.events) == ["Done"]


async def test_stop_while_reading() -> None:
    """The text received so far stays."""
    reached = asyncio.Event()

    async def here() -> None:
        reached.set()
        await forever()

    client = ScriptedClient([[SERVED], [TextDelta("Half")], here])
    outcome = await stopped_at(reached.wait(), run(client))
    assert_stopped(outcome, client)
    assert outcome.text == "Half"


@pytest.mark.parametrize(("is_eager", "streams_on"), [(True, True), (True, False), (False, False)])
async def test_stop_while_a_tool_runs(is_eager: bool, streams_on: bool) -> None:
    """The tool is cancelled, its call gets CANCELLED or STEP_FAILED, and no request follows."""
    inside, left = asyncio.Event(), asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> None:
        inside.set()
        try:
            await forever()
        finally:
            left.set()

    tail: list[object] = [forever] if streams_on else [ending("tool_calls")]
    client = ScriptedClient([[SERVED], [call(0, "f", "{}"), call(1, "f", "{}")], *tail])
    tool = make_tool("f", work, eager=is_eager)
    outcome = await stopped_at(inside.wait(), run(client, [tool]))
    assert_stopped(outcome, client)
    assert outcome.codes() == [Code.CANCELLED] * 2
    assert left.is_set()


async def test_stop_while_sleeping_for_a_retry() -> None:
    """The wait before the next attempt ends at once."""
    asleep = asyncio.Event()

    async def sleep(seconds: float) -> None:
        asleep.set()
        await forever()

    client = ScriptedClient([UpstreamError(Code.UPSTREAM_OVERLOADED)])
    outcome = await stopped_at(asleep.wait(), run(client, sleep=sleep))
    assert_stopped(outcome, client)


async def test_stop_between_steps() -> None:
    """The results are emitted, and the next step's upstream has not answered."""
    reached = asyncio.Event()

    async def here() -> None:
        reached.set()
        await forever()

    client = ScriptedClient(calls(call(0, "f", "{}")), [here])
    outcome = await stopped_at(reached.wait(), run(client, [make_tool("f")]))
    assert_stopped(outcome, client)
    assert outcome.codes() == [None]


@pytest.mark.parametrize("ticks", range(1, 60))
async def test_stop_after_any_number_of_ticks(ticks: int) -> None:
    """A stop at any point ends the run once, and leaves no task."""
    before = asyncio.all_tasks()

    async def tick() -> None:
        await asyncio.sleep(0)

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        await asyncio.sleep(0)
        return "ok"

    _, search = searching()
    both = [call(0, "search_web", Q), call(1, "f", "{}")]
    step = [[SERVED], tick, [ReasoningDelta("Hm")], tick, both[:1], tick, both[1:], tick, ending("tool_calls")]
    client = ScriptedClient(
        [UpstreamError(Code.UPSTREAM_ERROR)], step, step, [[SERVED], tick, [TextDelta("Hi")], tick, ending()]
    )

    async def place() -> None:
        for _ in range(ticks):
            await asyncio.sleep(0)

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    outcome = await stopped_at(place(), run(client, [search, make_tool("f", work)], sleep=sleep))
    if outcome.done.status == "complete":
        assert outcome.text == "Hi"
    else:
        assert_stopped(outcome, client)
    assert asyncio.all_tasks() == before
    assert outcome.done.status == "complete" or ticks < 59, "the ticks must reach the end of the run"


async def test_the_context_of_a_stopped_run_can_be_sent_again() -> None:
    """The history of a stopped run is a valid conversation (D1)."""
    inside = asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> None:
        inside.set()
        await forever()

    tool = make_tool("f", work)
    context = context_for([tool])
    client = ScriptedClient(calls(call(0, "f", "{}")))
    await stopped_at(inside.wait(), run(client, [tool], context=context))
    follow_up = context_for([tool], messages=[*context.messages, UserMessage("Go on")])
    next_client = ScriptedClient(answer("Fine"))
    outcome = await run(next_client, [tool], context=follow_up)
    assert outcome.text == "Fine"
    roles = [type(m).__name__ for m in next_client.requests[0].messages]
    assert roles in (["UserMessage", "UserMessage"], ["UserMessage", "AssistantMessage", "ToolMessage", "UserMessage"])


async def test_stop_emits_what_was_held_back() -> None:
    """The possible beginning of a leaked call is text, and is emitted before the end (E13)."""
    reached = asyncio.Event()

    async def here() -> None:
        reached.set()
        await forever()

    client = ScriptedClient([[SERVED], [TextDelta("One <tool_c")], here])
    outcome = await stopped_at(reached.wait(), run(client, [make_tool("f")]))
    assert_stopped(outcome, client)
    assert outcome.text == "One <tool_c"
