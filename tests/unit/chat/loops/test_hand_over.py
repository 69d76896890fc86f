"""Both loops hand the calls of the client's tools over: when, after what, and what remains for the next request."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.events import AnyEvent, Done, ToolCalls, ToolExecuting, ToolResult
from signalbox.core.messages import AssistantMessage, JsonObject, ToolMessage, UserMessage
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import ScriptedClient, answer, call, calls, make_tool
from tests.support.loop_runs import RUN_ID, no_wait
from tests.support.loop_tools import eager

pytestmark = pytest.mark.anyio

EACH_LOOP = pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
NewLoop = type[V2Loop] | type[LegacyLoop]
ORDER = ToolSchema("order", "Place an order.", {"type": "object", "properties": {}}, strict=True)


async def run(
    new_loop: NewLoop,
    client: ScriptedClient,
    tools: Sequence[Tool] = (),
    stopped_by: Callable[[AnyEvent], bool] = lambda event: False,
) -> tuple[list[AnyEvent], ConversationContext]:
    """Run a loop that offers ORDER as the client's tool beside ours; check the order of its events."""
    offered = (*(tool.spec.schema for tool in tools if tool.spec.name != "order"), ORDER)
    context = ConversationContext(
        RUN_ID, "openai/sim", [UserMessage("Go.")], tool_schemas=offered, client_tools=frozenset({"order"})
    )
    events: list[AnyEvent] = []

    def emit(batch: list[AnyEvent]) -> None:
        events.extend(batch)
        if any(map(stopped_by, batch)):
            task.cancel()

    progress = Progress(clock=lambda: 0.0)
    loop = new_loop(LoopInputs(context, client, ToolExecutor(tools), progress, ToolContext(RUN_ID), no_wait))
    task = asyncio.ensure_future(drive(loop, context, progress, emit, lambda: Ending("cancelled")))
    await task
    assert first_fault(events) is None, first_fault(events)
    return events, context


def announced(events: Sequence[AnyEvent]) -> dict[str, str]:
    """Return the name of each announced call by id."""
    return {one.id: one.name for event in events if isinstance(event, ToolCalls) for one in event.calls}


def done_of(events: Sequence[AnyEvent]) -> Done:
    """Return the end of a run."""
    assert isinstance(events[-1], Done)
    return events[-1]


def codes(events: Sequence[AnyEvent]) -> list[tuple[str, str | None]]:
    """Return the name and the error code of each result."""
    return [(e.name, getattr(e.result, "code", None)) for e in events if isinstance(e, ToolResult)]


@EACH_LOOP
@pytest.mark.parametrize("ours", [make_tool("lookup"), eager("lookup")], ids=["plain", "eager"])
async def test_our_calls_finish_before_the_clients_call_is_handed_over(new_loop: NewLoop, ours: Tool) -> None:
    """One step calls both: ours gets its result, the client's gets none, and no further request is sent."""
    client = ScriptedClient(calls(call(0, "order", '{"n": 1}', "up-1"), call(1, "lookup", '{"q": "x"}', "up-2")))
    events, context = await run(new_loop, client, [ours])
    done, by_id = done_of(events), announced(events)
    assert [by_id[one] for one in done.handed or ()] == ["order"]
    assert (done.status, codes(events)) == ("complete", [("lookup", None)])
    assert [e.name for e in events if isinstance(e, ToolExecuting)] == ["lookup"]
    assert len(client.requests) == 1
    _, turn, result = context.messages
    assert isinstance(turn, AssistantMessage)
    assert isinstance(result, ToolMessage)
    assert [(c.name, c.upstream_id, c.arguments) for c in turn.calls] == [
        ("order", "up-1", {"n": 1}),
        ("lookup", "up-2", {"q": "x"}),
    ]
    assert turn.reasoning == "I need a tool."
    assert result.name == "lookup"


@EACH_LOOP
async def test_the_clients_tool_wins_over_ours_of_the_same_name(new_loop: NewLoop) -> None:
    """Ours is not executed, even if it only reads."""
    executed: list[JsonObject] = []
    ours = eager("order", lambda arguments, context: executed.append(arguments))
    client = ScriptedClient(calls(call(0, "order", "{}")))
    events, _ = await run(new_loop, client, [ours])
    assert [announced(events)[one] for one in done_of(events).handed or ()] == ["order"]
    assert executed == []
    assert client.requests[0].tools == (ORDER,)


@EACH_LOOP
async def test_a_call_that_cannot_be_read_is_not_handed_over(new_loop: NewLoop) -> None:
    """Beside a good call it gets an error result; alone, the model corrects it in the next step."""
    both = ScriptedClient(calls(call(0, "order", '["x"]'), call(1, "order", '{"n": 2}')))
    events, _ = await run(new_loop, both)
    assert len(done_of(events).handed or ()) == 1
    assert codes(events) == [("order", Code.INVALID_ARGUMENTS)]
    alone = ScriptedClient(calls(call(0, "order", '["x"]')), calls(call(0, "order", '{"n": 2}')))
    events, _ = await run(new_loop, alone)
    assert len(done_of(events).handed or ()) == 1
    assert (len(alone.requests), done_of(events).steps) == (2, 2)


@EACH_LOOP
async def test_a_cut_call_ends_the_run_with_length(new_loop: NewLoop) -> None:
    """The client sets the limit, so nothing is retried and nothing is handed over."""
    client = ScriptedClient(calls(call(0, "order", '{"n": '), reason="length"))
    events, _ = await run(new_loop, client)
    done = done_of(events)
    assert (done.status, done.code, done.handed or ()) == ("length", Code.LENGTH, ())
    assert codes(events) == [("order", Code.ARGUMENTS_CUT)]


@EACH_LOOP
async def test_a_run_that_is_cancelled_in_the_step_hands_nothing_over(new_loop: NewLoop) -> None:
    """While our tool still runs, the client's call is open: it gets an error result like every open call."""

    async def never(arguments: JsonObject, context: ToolContext) -> None:
        await asyncio.Event().wait()

    client = ScriptedClient(calls(call(0, "order", "{}"), call(1, "slow", "{}")))
    events, _ = await run(new_loop, client, [make_tool("slow", never)], lambda event: isinstance(event, ToolExecuting))
    done = done_of(events)
    assert (done.status, done.handed or ()) == ("cancelled", ())
    assert sorted(codes(events)) == [("order", Code.CANCELLED), ("slow", Code.CANCELLED)]


@EACH_LOOP
async def test_later_steps_hand_over_too(new_loop: NewLoop) -> None:
    """A step with only our calls goes on; the history then has both steps."""
    client = ScriptedClient(calls(call(0, "lookup", "{}")), calls(call(0, "order", "{}")), answer("Not sent."))
    events, context = await run(new_loop, client, [make_tool("lookup")])
    assert done_of(events).steps == 2
    assert [type(message).__name__ for message in context.messages] == [
        *("UserMessage", "AssistantMessage", "ToolMessage", "AssistantMessage"),
    ]
