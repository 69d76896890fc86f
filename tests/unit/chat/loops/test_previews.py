"""Previews of calls in the V2 loop: what is shown while the model writes, what is withdrawn, and what is announced."""

import dataclasses
import json
from collections.abc import Sequence
from itertools import zip_longest

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Call, Preview, ToolCalls
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import CallDelta, TextDelta
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import RUN_ID, Outcome, context_for, no_wait, run
from tests.support.previews import writer

pytestmark = pytest.mark.anyio

PAGE = '<h1>\n\tHello 😀 "you" \\ there</h1>'
WRITE = json.dumps({"path": "a.html", "content": PAGE, "overwrite": True})


def pieces(arguments: str, size: int = 5, name: str = "write_file", index: int = 0) -> list[list[CallDelta]]:
    """Return the reads of a call whose arguments come in pieces."""
    deltas = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    return [[call(index, name, "", f"up-{index}")], *([CallDelta(index, arguments=text)] for text in deltas)]


async def previewed(client: ScriptedClient, tools: Sequence[Tool] = (writer(),), *, wanted: bool = True) -> Outcome:
    """Run the loop for a client that asks for previews."""
    context = context_for(tools)
    context.streamed_arguments = "previews" if wanted else "none"
    return await run(client, tools, context=context)


def shown(events: Sequence[AnyEvent]) -> dict[tuple[str, str], str]:
    """Return the joined texts by call id and key, as a client keeps them."""
    kept: dict[tuple[str, str], str] = {}
    keys: dict[str, str] = {}
    for event in events:
        if not isinstance(event, Preview):
            continue
        if event.withdrawn is True:
            kept = {place: text for place, text in kept.items() if place[0] != event.id}
            continue
        key = keys[event.id] = keys[event.id] if event.key is UNSET else event.key
        assert event.text is not UNSET
        kept[event.id, key] = kept.get((event.id, key), "") + event.text
    return kept


def announced(events: Sequence[AnyEvent]) -> list[Call]:
    """Return the announced calls."""
    return [call for event in events if isinstance(event, ToolCalls) for call in event.calls]


def withdrawn(events: Sequence[AnyEvent]) -> list[str]:
    """Return the ids of calls whose previews were withdrawn."""
    return [event.id for event in events if isinstance(event, Preview) and event.withdrawn is True]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_sc03_a_file_appears_while_the_model_writes_it(size: int) -> None:
    """In pieces that together are the file, under the id of the call, which keeps its whole arguments."""
    outcome = await previewed(ScriptedClient([[SERVED], *pieces(WRITE, size), ending("tool_calls")], answer("Done.")))
    [one] = announced(outcome.events)
    assert shown(outcome.events) == {(one.id, "/path"): "a.html", (one.id, "/content"): PAGE}
    assert one.previewed == {"/path": 6, "/content": len(PAGE)}
    assert json.loads(one.arguments) == json.loads(WRITE)
    first = next(event for event in outcome.events if isinstance(event, Preview))
    assert (first.name, first.key, first.step) == ("write_file", "/path", 1)
    assert outcome.done.status == "complete"


async def test_nothing_is_previewed_without_the_wish() -> None:
    """Neither events nor fields."""
    client = ScriptedClient([[SERVED], *pieces(WRITE), ending("tool_calls")], answer("Done."))
    outcome = await previewed(client, wanted=False)
    assert shown(outcome.events) == {}
    assert [one.previewed for one in announced(outcome.events)] == [UNSET]


async def test_only_the_named_strings_of_our_tools_are_previewed() -> None:
    """Not those of other tools, and not those of a tool that starts while the model writes."""
    other = make_tool("other")
    eager = writer("eager")
    eager = replace_spec(eager, eager=True, side_effects=False)
    reads = [*pieces(WRITE, name="other"), *pieces(WRITE, name="eager", index=1)]
    client = ScriptedClient([[SERVED], *reads, ending("tool_calls")], answer("Done."))
    outcome = await previewed(client, [other, eager, writer()])
    assert shown(outcome.events) == {}
    assert len(announced(outcome.events)) == 2


def replace_spec(tool: Tool, **changes: object) -> Tool:
    """Return a tool with another spec."""
    return dataclasses.replace(tool, spec=dataclasses.replace(tool.spec, **changes))  # type: ignore[arg-type]


async def test_edits_of_two_parallel_calls_keep_their_ids() -> None:
    """Each key belongs to the call of its id, also if the pieces of the calls alternate."""
    one = json.dumps({"path": "a.js", "edits": [{"old_text": "let a", "new_text": "const a"}, {"old_text": "b"}]})
    other = json.dumps({"path": "b.js", "content": "go()"})
    pairs = zip_longest(pieces(one, 9), pieces(other, 5, index=1), fillvalue=[])
    reads = [read for pair in pairs for read in pair]
    client = ScriptedClient([[SERVED], *reads, ending("tool_calls")], answer("Done."))
    outcome = await previewed(client)
    first, second = announced(outcome.events)
    assert shown(outcome.events) == {
        (first.id, "/path"): "a.js",
        (first.id, "/edits/0/old_text"): "let a",
        (first.id, "/edits/0/new_text"): "const a",
        (first.id, "/edits/1/old_text"): "b",
        (second.id, "/path"): "b.js",
        (second.id, "/content"): "go()",
    }


async def test_a_name_behind_the_arguments_starts_the_previews() -> None:
    """What came before is kept until the tool is known."""
    reads = [[CallDelta(0, "up-1", arguments='{"path": "a.html", "con')], [CallDelta(0, name="write_file")]]
    client = ScriptedClient(
        [[SERVED], *reads, [CallDelta(0, arguments='tent": "x"}')], ending("tool_calls")], answer("Done.")
    )
    outcome = await previewed(client)
    assert [*shown(outcome.events).values()] == ["a.html", "x"]


async def test_a_retry_withdraws_the_previews() -> None:
    """The attempt is made again, because previews can be taken back; its calls have other ids."""
    broken = [[SERVED], *pieces(WRITE)[:8], UpstreamError(Code.UPSTREAM_OVERLOADED)]
    client = ScriptedClient(broken, [[SERVED], *pieces(WRITE), ending("tool_calls")], answer("Done."))
    outcome = await previewed(client)
    assert outcome.done.status == "complete"
    [lost], [one] = withdrawn(outcome.events), announced(outcome.events)
    assert lost != one.id
    assert shown(outcome.events) == {(one.id, "/path"): "a.html", (one.id, "/content"): PAGE}


async def test_a_retry_follows_only_if_nothing_else_is_visible() -> None:
    """Text that was emitted stays; the run's end withdraws the previews."""
    broken = [[SERVED], [TextDelta("Here it is.")], *pieces(WRITE)[:8], UpstreamError(Code.UPSTREAM_OVERLOADED)]
    outcome = await previewed(ScriptedClient(broken))
    assert outcome.done.status == "error"
    assert len(withdrawn(outcome.events)) == 1


@pytest.mark.parametrize(
    ("arguments", "is_announced_as_it_is"),
    [
        ('{"path": "a.html", "content": "x", "path": "b.html"}', True),
        ('{"path": "a.html", "content": "x", "n": 1e999}', False),
        ('{"path": "a.html", "content": "a\nb"}', False),
        ('{"path": "a.html", "content": "x"', False),
    ],
    ids=["a key twice", "no number", "no string", "cut"],
)
async def test_a_call_that_proves_its_previews_wrong_withdraws_them(
    arguments: str, is_announced_as_it_is: bool
) -> None:
    """It is announced under the same id, with whole arguments or with its error."""
    client = ScriptedClient([[SERVED], *pieces(arguments), ending("tool_calls")], answer("Done."))
    outcome = await previewed(client)
    [one] = announced(outcome.events)
    assert withdrawn(outcome.events) == [one.id]
    assert one.previewed is UNSET
    assert (outcome.codes() == [None]) is is_announced_as_it_is


async def test_a_renamed_call_withdraws_its_previews() -> None:
    """It is announced under another id."""
    reads = [*pieces('{"path": "a.html"', name="write"), [CallDelta(0, name="_file", arguments="}")]]
    client = ScriptedClient([[SERVED], *reads, ending("tool_calls")], answer("Done."))
    outcome = await previewed(client, [writer(), writer("write")])
    [lost], [one] = withdrawn(outcome.events), announced(outcome.events)
    assert (one.name, one.previewed) == ("write_file", UNSET)
    assert lost != one.id


async def test_glued_objects_are_two_calls_of_which_the_first_is_previewed() -> None:
    """The second is announced whole."""
    client = ScriptedClient(calls(call(0, "write_file", '{"path": "a"}{"path": "b"}')), answer("Done."))
    outcome = await previewed(client)
    one, other = announced(outcome.events)
    assert (one.previewed, other.previewed) == ({"/path": 1}, UNSET)


async def test_a_cut_turn_withdraws_its_unfinished_call() -> None:
    """The call gets an error result under the id that was shown."""
    client = ScriptedClient([[SERVED], *pieces(WRITE)[:8], ending("length")], answer("It was too long."))
    outcome = await previewed(client)
    assert withdrawn(outcome.events) == [one.id for one in announced(outcome.events)]
    assert outcome.codes() == [Code.ARGUMENTS_CUT]


async def test_a_malformed_turn_withdraws_its_previews() -> None:
    """Its calls are ignored, and the model is asked again."""
    broken = [[SERVED], *pieces(WRITE)[:8], ending("error", native="MALFORMED_FUNCTION_CALL")]
    outcome = await previewed(ScriptedClient(broken, answer("Done.")))
    assert len(withdrawn(outcome.events)) == 1
    assert announced(outcome.events) == []


async def test_the_end_of_a_run_withdraws_open_previews() -> None:
    """Also if the run fails in the middle of a call, and no attempt follows."""
    failing = UpstreamError(Code.STREAM_CUT, retryable=False)
    outcome = await previewed(ScriptedClient([[SERVED], *pieces(WRITE)[:8], failing]))
    assert outcome.done.status == "interrupted"
    assert len(withdrawn(outcome.events)) == 1


async def test_the_legacy_loop_previews_nothing() -> None:
    """It reads calls as a whole."""
    context = context_for([writer()])
    context.streamed_arguments = "previews"
    client = ScriptedClient([[SERVED], *pieces(WRITE), ending("tool_calls")], answer("Done."))
    progress, events = Progress(clock=lambda: 0.0), list[AnyEvent]()
    inputs = LoopInputs(context, client, ToolExecutor([writer()]), progress, ToolContext(RUN_ID), no_wait)
    await drive(LegacyLoop(inputs), context, progress, events.extend)
    assert first_fault(events) is None
    assert shown(events) == {}
    assert [one.previewed for one in announced(events)] == [UNSET]


async def test_a_preview_changes_nothing_else() -> None:
    """Without previews and `previewed`, the events are those of a run that does not ask for them."""

    async def events(*, wanted: bool) -> list[AnyEvent]:
        client = ScriptedClient([[SERVED], *pieces(WRITE), ending("tool_calls")], answer("Done."))
        outcome = await previewed(client, wanted=wanted)
        return [
            replace(event, calls=[replace(one, previewed=UNSET) for one in event.calls])
            if isinstance(event, ToolCalls)
            else event
            for event in outcome.events
            if not isinstance(event, Preview)
        ]

    assert await events(wanted=True) == await events(wanted=False)
