"""The V2 loop shows the arguments of the client's tools while the model writes them, if they are wanted."""

from collections.abc import Sequence

import pytest
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, ArgumentsDelta, Done, ToolCalls
from signalbox.core.invariants import first_fault
from signalbox.core.messages import UserMessage
from signalbox.core.parts import CallDelta, ToolSchema
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import RUN_ID, no_wait

pytestmark = pytest.mark.anyio

ORDER = ToolSchema("order", "Place an order.", {"type": "object", "properties": {}})
PIECES = [
    [CallDelta(0, "up-1", "order", "")],
    [CallDelta(0, arguments='{"n": ')],
    [CallDelta(0, arguments='1, "to": "a}'), CallDelta(0, arguments='b"')],
    [CallDelta(0, arguments="}")],
]


async def run(
    client: ScriptedClient, tools: Sequence[Tool] = (), *, wanted: bool = True
) -> tuple[list[AnyEvent], ScriptedClient]:
    """Run the loop with ORDER as the client's tool; check the order of its events."""
    offered = (*(tool.spec.schema for tool in tools), ORDER)
    context = ConversationContext(
        RUN_ID, "openai/sim", [UserMessage("Go.")], tool_schemas=offered, client_tools=frozenset({"order"}),
        streams_arguments=wanted,
    )  # fmt: skip
    events: list[AnyEvent] = []
    progress = Progress(clock=lambda: 0.0)
    inputs = LoopInputs(context, client, ToolExecutor(tools), progress, ToolContext(RUN_ID), no_wait)
    await drive(V2Loop(inputs), context, progress, events.extend)
    assert first_fault(events) is None, first_fault(events)
    return events, client


def shown(events: Sequence[AnyEvent]) -> dict[str, str]:
    """Return what was shown of each call by id."""
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, ArgumentsDelta):
            assert event.name == "order"
            texts[event.id] = texts.get(event.id, "") + event.arguments
    return texts


def done_of(events: Sequence[AnyEvent]) -> Done:
    """Return the end of a run."""
    assert isinstance(events[-1], Done)
    return events[-1]


async def test_arguments_are_shown_read_by_read() -> None:
    """One event per network read, under the id that is announced and handed over."""
    events, _ = await run(ScriptedClient([[SERVED], *PIECES, ending("tool_calls")]))
    assert [e.arguments for e in events if isinstance(e, ArgumentsDelta)] == ['{"n": ', '1, "to": "a}b"', "}"]
    assert shown(events) == dict.fromkeys(done_of(events).handed or (), '{"n": 1, "to": "a}b"}')
    assert [one.id for e in events if isinstance(e, ToolCalls) for one in e.calls] == [*shown(events)]


async def test_nothing_is_shown_where_it_is_not_wanted() -> None:
    """Neither without the wish, nor of our tools."""
    events, _ = await run(ScriptedClient([[SERVED], *PIECES, ending("tool_calls")]), wanted=False)
    assert shown(events) == {}
    ours = ScriptedClient(calls(call(0, "lookup", '{"q": 1}')), answer("Done."))
    events, _ = await run(ours, [make_tool("lookup")])
    assert shown(events) == {}
    assert done_of(events).status == "complete"


async def test_parallel_calls_have_their_own_ids() -> None:
    """Also if all of them come at index 0; ours in between keeps its own."""
    one, two = call(0, "order", '{"n": 1}', "up-1"), call(0, "order", '{"n": 2}', "up-2")
    client = ScriptedClient([[SERVED], [one], [call(0, "lookup", '{"q": 1}', "up-3")], [two], ending("tool_calls")])
    events, _ = await run(client, [make_tool("lookup")])
    assert sorted(shown(events).values()) == ['{"n": 1}', '{"n": 2}']
    assert sorted(shown(events)) == sorted(done_of(events).handed or ())


async def test_glued_objects_are_two_calls_of_which_the_first_is_shown() -> None:
    """The second is announced whole."""
    events, _ = await run(ScriptedClient(calls(call(0, "order", '{"n": 1}{"n": 2}'))))
    assert [*shown(events).values()] == ['{"n": 1}']
    assert len(done_of(events).handed or ()) == 2


async def test_a_step_that_breaks_behind_shown_arguments_is_not_retried() -> None:
    """A client has seen the call, so another attempt would double it."""
    client = ScriptedClient([[SERVED], *PIECES[:2], UpstreamError(Code.UPSTREAM_OVERLOADED)])
    events, _ = await run(client)
    assert (done_of(events).status, done_of(events).code) == ("error", Code.UPSTREAM_OVERLOADED)


async def test_a_cut_call_that_is_shown_ends_with_length() -> None:
    """It is announced under the id that was shown, with an error result."""
    events, _ = await run(ScriptedClient([[SERVED], *PIECES[:2], ending("length")]))
    assert (done_of(events).status, done_of(events).handed or ()) == ("length", ())
    assert [one.id for e in events if isinstance(e, ToolCalls) for one in e.calls] == [*shown(events)]


@pytest.mark.parametrize(
    "last",
    [[[CallDelta(0, arguments="]}")], ending("tool_calls")], [ending("error", native="MALFORMED_FUNCTION_CALL")]],
    ids=["broken JSON", "malformed"],
)
async def test_a_call_that_turns_out_otherwise_fails_its_step(last: list[list[object]]) -> None:
    """It cannot be taken back, so the model is not asked again."""
    events, client = await run(ScriptedClient([[SERVED], *PIECES[:2], *last], answer("Not sent.")))
    assert (done_of(events).status, done_of(events).code) == ("error", Code.MALFORMED_CALL)
    assert len(client.requests) == 1
