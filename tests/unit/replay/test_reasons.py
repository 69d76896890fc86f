"""Each reason for which the loops may differ, shown with both loops themselves; and that it explains no more."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from signalbox.chat.budget import Budget
from signalbox.chat.context import Limits
from signalbox.chat.plan import RunPlan
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject, UserMessage
from signalbox.core.parts import CallDelta, ReasoningDelta, TextDelta, ToolSchema, Unreadable
from signalbox.core.tools import Tool, ToolContext
from signalbox.replay.case import Case
from signalbox.replay.parity import Bench, Trial, TrialResult, judge
from signalbox.replay.reasons import REASONS
from signalbox.services.tool_executor import ToolExecutor
from signalbox.wire.finish_words import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending
from tests.support.loop_runs import no_wait
from tests.support.loop_tools import Q, eager, searching

pytestmark = pytest.mark.anyio

Script = Sequence[object]
WORDS = {reason.name: reason.words for reason in REASONS}
BROKEN: Script = [[SERVED], [ReasoningDelta("Hm")], [TextDelta("Half")], UpstreamError(Code.UPSTREAM_TIMEOUT)]
CUT = [finish_of("length"), *ending()[1:]]


async def verdict(
    legacy: Sequence[Script],
    v2: Sequence[Script],
    *tools: Tool,
    limits: Limits | None = None,
    budget: Budget | None = None,
) -> TrialResult:
    """Play a script on each loop, and compare."""
    offered = tools or (eager("f"),)
    schemas = tuple(ToolSchema(tool.spec.name, tool.spec.description, tool.spec.parameters) for tool in offered)
    plan = RunPlan(
        model="openai/sim", messages=(UserMessage("Q"),), tools=schemas, limits=limits or Limits(), budget=budget
    )
    clients: dict[LoopName, ScriptedClient] = {"legacy": ScriptedClient(*legacy), "v2": ScriptedClient(*v2)}
    return await judge(Trial(Case("a case", plan), lambda: ToolExecutor(offered)), Bench(clients, sleep=no_wait))


def reasons(found: TrialResult) -> dict[str, str | None]:
    """Name the reason of each kind that differs."""
    by_words = {words: name for name, words in WORDS.items()}
    return {one.kind: by_words.get(one.why, "another") if one.why else None for one in found.found}


async def test_a_step_that_broke_in_sight_ends_v2_alone() -> None:
    """Legacy asks again and has an answer; V2 ends with what was shown (F2)."""
    found = await verdict([BROKEN, answer("Whole")], [BROKEN])
    assert (found.legacy.text, found.v2.text) == ("Whole", "Half")
    assert (found.legacy.status, found.v2.code) == ("complete", "UPSTREAM_TIMEOUT")
    assert set(reasons(found).values()) == {"broke in sight"}


async def test_that_v2_breaks_where_legacy_never_did_is_not_explained() -> None:
    """Without a failure on the other side it is a fault until it is looked at."""
    found = await verdict([answer("Whole")], [BROKEN])
    assert {"ending", "code", "text"} <= {one.kind for one in found.unexpected}


async def test_a_call_of_a_cut_step_that_had_run_is_kept_by_v2() -> None:
    """Legacy hears of the cut before it starts anything, and the model has to call again."""
    step: Script = [[SERVED], [call(0, "f", '{"a":1}')], [call(1, "f", '{"b":')], CUT]
    legacy = [step, calls(call(0, "f", '{"a":1}')), answer("Done")]
    found = await verdict(legacy, [step, answer("Done")])
    assert [one.code for one in found.legacy.calls] == ["STEP_FAILED", "ARGUMENTS_CUT", None]
    assert [one.code for one in found.v2.calls] == [None, "ARGUMENTS_CUT"]
    assert found.unexpected == []
    assert reasons(found)["calls"] == "cut step"


@pytest.mark.parametrize("is_slow", [True, False])
async def test_a_call_that_grew_after_its_start_is_there_twice_in_v2(is_slow: bool) -> None:
    """Legacy starts nothing before a step is whole, so it knows only the true call."""
    grows, gate = [CallDelta(0, "c", "f", "{}")], asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        if is_slow and not arguments:
            await gate.wait()
        return "seen"

    grown: Script = [[SERVED], grows, [], [], [], [CallDelta(0, None, None, '{"a":1}')], ending("tool_calls")]
    found = await verdict([grown, answer("Done")], [grown, answer("Done")], eager("f", work))
    assert [(one.arguments, one.code) for one in found.legacy.calls] == [({"a": 1}, None)]
    first = ({}, "SUPERSEDED" if is_slow else None)
    assert [(one.arguments, one.code) for one in found.v2.calls] == [first, ({"a": 1}, None)]
    assert found.unexpected == []
    assert reasons(found)["calls"] == "early start"


async def test_a_step_of_calls_that_cannot_be_read_was_shown_by_v2() -> None:
    """Its text is dropped by legacy, where nobody has seen it yet (A13)."""
    malformed: Script = [[SERVED], [TextDelta("call(")], [finish_of("stop", "MALFORMED_FUNCTION_CALL"), *ending()[1:]]]
    found = await verdict([malformed, answer("Done")], [malformed, answer("Done")])
    assert (found.legacy.text, found.v2.text) == ("Done", "call(\n\nDone")
    assert reasons(found) == {"text": "malformed step"}


async def test_a_frame_that_cannot_be_read_is_told_by_v2() -> None:
    """The answer is the same."""
    whole = answer("Done")
    odd: Script = [[SERVED], [Unreadable(9)], *whole[1:]]
    assert reasons(await verdict([whole], [odd])) == {"warnings": "frames"}


async def test_a_lost_frame_costs_legacy_its_answer() -> None:
    """What is no JSON as a whole is nothing; V2 has lost one piece of it."""
    whole = answer("Done")
    lost: list[Script] = [[UpstreamError(Code.UPSTREAM_PROTOCOL)]] * 3
    found = await verdict(lost, [[[SERVED], [Unreadable(9)], *whole[1:]]])
    assert (found.legacy.status, found.v2.status) == ("error", "complete")
    assert set(reasons(found).values()) == {"lost frame"}


async def test_v2_leaves_an_answer_when_its_budget_is_spent() -> None:
    """A whole answer is there, and paid for, when legacy learns what it cost."""
    script = [answer("Half of it, ", "and the rest of it.")]
    found = await verdict(script, script, budget=Budget(0.003, Prices(0.0, 0.001)))
    assert (found.legacy.text, found.v2.text) == ("Half of it, and the rest of it.", "Half of it, ")
    assert (found.legacy.status, found.v2.code) == ("complete", "BUDGET_REACHED")
    assert set(reasons(found).values()) == {"budget"}
    assert (await verdict(script, script, budget=Budget(1, Prices(0.0, 0.001)))).found == []


async def test_tools_that_start_early_are_told_earlier() -> None:
    """The same events in another order, and nothing else."""
    step: Script = [[SERVED], [call(0, "f", '{"a":1}')], [], [], [call(1, "f", '{"b":1}')], ending("tool_calls")]
    found = await verdict([step, answer("Done")], [step, answer("Done")])
    assert reasons(found) == {"order": "order"}
    other = replace(found.v2, order=(*found.v2.order, "result 9"))
    assert not next(one for one in REASONS if one.name == "order").holds(found.legacy, other)


async def test_dedupe_clamp_and_broken_calls_are_alike() -> None:
    """Both loops run tools by the same rules: nothing of these differs but the order."""
    same = calls(call(0, "search_web", Q), call(1, "search_web", '{"query":"TIDES"}'))
    more = calls(*[call(place, "search_web", f'{{"query":"q{place}"}}') for place in range(3)])
    odd = calls(call(0, "nobody", "{}"), call(1, "search_web", '{"q":1}'), call(2, "search_web", "[1]"))
    script = [same, more, odd, answer("Done")]
    found = await verdict(script, script, searching()[1], limits=Limits(max_searches=2))
    assert [one.code for one in found.v2.calls] == [
        *(None, None, None, "TOOL_CLAMP", "TOOL_CLAMP"),
        *("UNKNOWN_TOOL", "INVALID_ARGUMENTS", "INVALID_ARGUMENTS"),
    ]
    assert {one.kind for one in found.found} <= {"order"}
    assert found.unexpected == []


async def test_every_reason_is_shown_here() -> None:
    """A reason that no test holds to is none."""
    shown = {"broke in sight", "lost frame", "frames", "malformed step", "cut step", "early start", "order", "budget"}
    assert set(WORDS) == shown
