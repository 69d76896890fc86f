"""The V2 loop shows the arguments of calls while the model writes them, if they are wanted."""

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
from signalbox.core.messages import UserMessage
from signalbox.core.order.invariants import first_fault
from signalbox.core.params import StreamedArguments
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
    client: ScriptedClient, tools: Sequence[Tool] = (), *, wanted: StreamedArguments = "client"
) -> tuple[list[AnyEvent], ScriptedClient]:
    """Run the loop with ORDER as the client's tool; check the order of its events."""
    offered = (*(tool.spec.schema for tool in tools), ORDER)
    context = ConversationContext(
        RUN_ID, "openai/sim", [UserMessage("Go.")], tool_schemas=offered, client_tools=frozenset({"order"}),
        streamed_arguments=wanted,
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
    events, _ = await run(ScriptedClient([[SERVED], *PIECES, ending("tool_calls")]), wanted="none")
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


def announced(events: Sequence[AnyEvent]) -> dict[str, str]:
    """Return the arguments of each announced call by id."""
    return {call.id: call.arguments for event in events if isinstance(event, ToolCalls) for call in event.calls}


@pytest.mark.parametrize("eager", [True, False])
async def test_our_calls_are_shown_if_they_are_wanted(eager: bool) -> None:
    """Under the id that is announced, also if the call starts while the model still writes."""
    lookup = [call(0, "lookup", '{"q": ', "up-1")], [CallDelta(0, arguments='"tea"}')]
    client = ScriptedClient(
        [[SERVED], *lookup, [call(1, "lookup", '{"q": 2}', "up-2")], ending("tool_calls")], answer("Done.")
    )
    events, _ = await run(client, [make_tool("lookup", eager=eager)], wanted="all")
    assert shown(events) == {key: text.replace(":", ": ") for key, text in announced(events).items()}
    assert [*shown(events).values()] == ['{"q": "tea"}', '{"q": 2}']
    assert done_of(events).status == "complete"


async def test_a_step_that_breaks_behind_arguments_for_our_tools_is_retried() -> None:
    """Nothing was executed, and the client only loses what was to come: the next attempt has other ids."""
    broken = [[SERVED], [call(0, "lookup", '{"q": ', "up-1")], UpstreamError(Code.UPSTREAM_OVERLOADED)]
    client = ScriptedClient(broken, calls(call(0, "lookup", '{"q": 1}')), answer("Done."))
    events, _ = await run(client, [make_tool("lookup")], wanted="all")
    assert done_of(events).status == "complete"
    lost, kept = shown(events)
    assert [*announced(events)] == [kept] != [lost]


async def test_a_broken_call_of_our_tool_is_corrected() -> None:
    """As without the wish: it gets an error result under the id that is shown, and the model is asked again."""
    broken = [[SERVED], [call(0, "lookup", '{"q": [1', "up-1")], [CallDelta(0, arguments="}")], ending("tool_calls")]
    events, _ = await run(ScriptedClient(broken, answer("Done.")), [make_tool("lookup")], wanted="all")
    assert done_of(events).status == "complete"
    assert [*announced(events)] == [*shown(events)]


async def test_a_call_of_our_tool_that_is_renamed_gets_another_id() -> None:
    """What was shown under the first name is never announced."""
    pieces = [call(0, "look", '{"q": ', "up-1")], [CallDelta(0, name="up", arguments="1}")]
    client = ScriptedClient([[SERVED], *pieces, ending("tool_calls")], answer("Done."))
    events, _ = await run(client, [make_tool("look"), make_tool("lookup")], wanted="all")
    assert [event.calls[0].name for event in events if isinstance(event, ToolCalls)] == ["lookup"]
    assert not shown(events).keys() & announced(events).keys()
