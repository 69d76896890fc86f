"""Each reason for a difference between the loops, produced by running both loops."""

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
from signalbox.replay.parity import Trial, TrialResult, TrialSetup, run_trial
from signalbox.replay.reasons import REASONS
from signalbox.services.tool_executor import ToolExecutor
from signalbox.wire.finish_reasons import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending
from tests.support.loop_runs import no_wait
from tests.support.loop_tools import Q, eager, searching

pytestmark = pytest.mark.anyio

Script = Sequence[object]
WORDS = {reason.name: reason.words for reason in REASONS}
BROKEN: Script = [[SERVED], [ReasoningDelta("Hm")], [TextDelta("Half")], UpstreamError(Code.UPSTREAM_TIMEOUT)]
CUT = [finish_of("length"), *ending()[1:]]


async def compare(
    legacy: Sequence[Script],
    v2: Sequence[Script],
    *tools: Tool,
    limits: Limits | None = None,
    budget: Budget | None = None,
) -> TrialResult:
    """Run a script on each loop and compare the outcomes."""
    offered = tools or (eager("f"),)
    schemas = tuple(ToolSchema(tool.spec.name, tool.spec.description, tool.spec.parameters) for tool in offered)
    plan = RunPlan(
        model="openai/sim", messages=(UserMessage("Q"),), tools=schemas, limits=limits or Limits(), budget=budget
    )
    clients: dict[LoopName, ScriptedClient] = {"legacy": ScriptedClient(*legacy), "v2": ScriptedClient(*v2)}
    return await run_trial(
        Trial(Case("a case", plan), lambda: ToolExecutor(offered)), TrialSetup(clients, sleep=no_wait)
    )


def reasons(found: TrialResult) -> dict[str, str | None]:
    """Return the reason of each kind of difference, by name."""
    by_words = {words: name for name, words in WORDS.items()}
    return {one.kind: by_words.get(one.why, "another") if one.why else None for one in found.found}


async def test_a_failure_after_output_ends_only_v2() -> None:
    """Legacy retries and gets an answer; V2 ends with the text that it has shown (F2)."""
    found = await compare([BROKEN, answer("Whole")], [BROKEN])
    assert (found.legacy.text, found.v2.text) == ("Whole", "Half")
    assert (found.legacy.status, found.v2.code) == ("complete", "UPSTREAM_TIMEOUT")
    assert set(reasons(found).values()) == {"failed after output"}


async def test_a_failure_of_only_one_loop_is_unexpected() -> None:
    """If only V2's request failed, no reason explains the differences."""
    found = await compare([answer("Whole")], [BROKEN])
    assert {"ending", "code", "text"} <= {one.kind for one in found.unexpected}


async def test_v2_keeps_executed_calls_of_a_cut_step() -> None:
    """Legacy drops the calls of a step that was cut off, and the model calls again."""
    step: Script = [[SERVED], [call(0, "f", '{"a":1}')], [call(1, "f", '{"b":')], CUT]
    legacy = [step, calls(call(0, "f", '{"a":1}')), answer("Done")]
    found = await compare(legacy, [step, answer("Done")])
    assert [one.code for one in found.legacy.calls] == ["STEP_FAILED", "ARGUMENTS_CUT", None]
    assert [one.code for one in found.v2.calls] == [None, "ARGUMENTS_CUT"]
    assert found.unexpected == []
    assert reasons(found)["calls"] == "cut step"


@pytest.mark.parametrize("is_slow", [True, False])
async def test_a_call_that_v2_starts_too_early_appears_twice(is_slow: bool) -> None:
    """Legacy starts calls after the step, so it has only the complete call."""
    grows, gate = [CallDelta(0, "c", "f", "{}")], asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> str:
        if is_slow and not arguments:
            await gate.wait()
        return "seen"

    grown: Script = [[SERVED], grows, [], [], [], [CallDelta(0, None, None, '{"a":1}')], ending("tool_calls")]
    found = await compare([grown, answer("Done")], [grown, answer("Done")], eager("f", work))
    assert [(one.arguments, one.code) for one in found.legacy.calls] == [({"a": 1}, None)]
    first = ({}, "SUPERSEDED" if is_slow else None)
    assert [(one.arguments, one.code) for one in found.v2.calls] == [first, ({"a": 1}, None)]
    assert found.unexpected == []
    assert reasons(found)["calls"] == "early start"


async def test_v2_shows_the_text_of_a_malformed_step() -> None:
    """Legacy drops the text of a step whose calls are malformed (A13)."""
    malformed: Script = [[SERVED], [TextDelta("call(")], [finish_of("stop", "MALFORMED_FUNCTION_CALL"), *ending()[1:]]]
    found = await compare([malformed, answer("Done")], [malformed, answer("Done")])
    assert (found.legacy.text, found.v2.text) == ("Done", "call(\n\nDone")
    assert reasons(found) == {"text": "malformed step"}


async def test_v2_warns_of_an_unreadable_frame() -> None:
    """The warning is the only difference."""
    whole = answer("Done")
    odd: Script = [[SERVED], [Unreadable(9)], *whole[1:]]
    assert reasons(await compare([whole], [odd])) == {"warnings": "unreadable frame"}


async def test_legacy_loses_an_unreadable_answer() -> None:
    """Where legacy cannot parse the whole answer, V2 loses only one frame."""
    whole = answer("Done")
    lost: list[Script] = [[UpstreamError(Code.UPSTREAM_PROTOCOL)]] * 3
    found = await compare(lost, [[[SERVED], [Unreadable(9)], *whole[1:]]])
    assert (found.legacy.status, found.v2.status) == ("error", "complete")
    assert set(reasons(found).values()) == {"lost frame"}


async def test_v2_stops_inside_an_answer_when_the_budget_is_spent() -> None:
    """Legacy receives the complete answer before it knows the cost."""
    script = [answer("Half of it, ", "and the rest of it.")]
    found = await compare(script, script, budget=Budget(0.003, Prices(0.0, 0.001)))
    assert (found.legacy.text, found.v2.text) == ("Half of it, and the rest of it.", "Half of it, ")
    assert (found.legacy.status, found.v2.code) == ("complete", "BUDGET_REACHED")
    assert set(reasons(found).values()) == {"budget"}
    assert (await compare(script, script, budget=Budget(1, Prices(0.0, 0.001)))).found == []


async def test_v2_starts_tools_earlier() -> None:
    """The tool events are equal except for their order."""
    step: Script = [[SERVED], [call(0, "f", '{"a":1}')], [], [], [call(1, "f", '{"b":1}')], ending("tool_calls")]
    found = await compare([step, answer("Done")], [step, answer("Done")])
    assert reasons(found) == {"order": "order"}
    other = replace(found.v2, order=(*found.v2.order, "result 9"))
    assert not next(one for one in REASONS if one.name == "order").holds(found.legacy, other)


async def test_dedupe_limits_and_invalid_calls_are_equal() -> None:
    """Dedupe, the search limit and invalid calls give the same results on both loops."""
    same = calls(call(0, "search_web", Q), call(1, "search_web", '{"query":"TIDES"}'))
    more = calls(*[call(place, "search_web", f'{{"query":"q{place}"}}') for place in range(3)])
    odd = calls(call(0, "unknown", "{}"), call(1, "search_web", '{"q":1}'), call(2, "search_web", "[1]"))
    script = [same, more, odd, answer("Done")]
    found = await compare(script, script, searching()[1], limits=Limits(max_searches=2))
    assert [one.code for one in found.v2.calls] == [
        *(None, None, None, "TOOL_CLAMP", "TOOL_CLAMP"),
        *("UNKNOWN_TOOL", "INVALID_ARGUMENTS", "INVALID_ARGUMENTS"),
    ]
    assert {one.kind for one in found.found} <= {"order"}
    assert found.unexpected == []


async def test_every_reason_has_a_test() -> None:
    """Every reason is produced by a test in this file."""
    shown = {
        "failed after output",
        "lost frame",
        "unreadable frame",
        "malformed step",
        "cut step",
        "early start",
        "order",
        "budget",
    }
    assert set(WORDS) == shown
