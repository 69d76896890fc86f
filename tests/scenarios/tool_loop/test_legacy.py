"""Differences of the legacy loop: it receives each step as one body, and shows and starts nothing before."""

import asyncio
from collections.abc import Iterator

import pytest
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import Content
from signalbox.core.messages import JsonObject
from signalbox.core.parts import CallDelta, Fault, ReasoningDelta, TextDelta
from signalbox.core.tools import ToolContext

from tests.support import loop_runs
from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import Outcome, run
from tests.support.loop_tools import eager, kinds

pytestmark = pytest.mark.anyio

FAILURES: dict[str, tuple[list[object], str, str]] = {
    "error": ([[Fault(UpstreamError(Code.UPSTREAM_ERROR))]], "error", "UPSTREAM_ERROR"),
    "raised": ([UpstreamError(Code.UPSTREAM_TIMEOUT)], "error", "UPSTREAM_TIMEOUT"),
    "cut": ([], "interrupted", "STREAM_CUT"),
}


@pytest.fixture(scope="module", autouse=True)
def _by_legacy() -> Iterator[None]:
    """Run every test of this module on the legacy loop."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_runs, "V2Loop", LegacyLoop)
        yield


async def test_a_whole_step_is_told_in_one_piece() -> None:
    """Reasoning, text and calls are one event each, after the complete body."""
    script = [[SERVED], [ReasoningDelta("a")], [ReasoningDelta("b")], [TextDelta("c")], [TextDelta("d")]]
    outcome = await run(
        ScriptedClient([*script, [call(0, "f", "{}")], ending("tool_calls")], answer("Hi")), [eager("f")]
    )
    assert kinds(outcome.events) == [
        *("Reasoning", "Content", "ToolCalls", "ToolExecuting", "ToolResult"),
        *("Content", "Content", "Done"),
    ]
    assert outcome.text == "cd\n\nHi"


async def test_nothing_starts_before_the_answer_is_whole() -> None:
    """Eager calls wait as well, so no half call is executed."""
    ran: list[JsonObject] = []
    tool = eager("f", lambda arguments, context: ran.append(arguments))

    async def nothing_yet() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        assert not ran

    grown = [[SERVED], [CallDelta(0, "c", "f", "{}")], nothing_yet, [CallDelta(0, None, None, '{"a":1}')]]
    outcome = await run(ScriptedClient([*grown, ending("tool_calls")], answer("Hi")), [tool])
    assert ran == [{"a": 1}]
    assert outcome.codes() == [None]
    assert len(outcome.announced) == 1


@pytest.mark.parametrize("is_eager", [True, False])
@pytest.mark.parametrize("failure", FAILURES)
async def test_a_failed_step_is_asked_again_whatever_was_in_it(failure: str, is_eager: bool) -> None:
    """A failed step showed and executed nothing, so a retry repeats nothing; only the good one counts."""
    ran: list[JsonObject] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments), eager=is_eager)
    bad: list[object] = [[SERVED], [TextDelta("lost")], [call(0, "f", "{}")], *FAILURES[failure][0]]
    client = ScriptedClient(bad, answer("Hi"))
    outcome = await run(client, [tool])
    assert (outcome.text, outcome.done.status, outcome.done.steps) == ("Hi", "complete", 1)
    assert not ran
    assert not outcome.announced
    assert client.requests[0] == client.requests[1]


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_step_that_keeps_failing_runs_no_call(failure: str) -> None:
    """After three attempts the run ends with that failure; its text is emitted once, its calls never."""
    tail, status, code = FAILURES[failure]
    ran: list[JsonObject] = []
    tool = eager("f", lambda arguments, context: ran.append(arguments))
    client = ScriptedClient(*[[[SERVED], [TextDelta("Half")], [call(0, "f", "{}")], *tail]] * 3)
    outcome = await run(client, [tool])
    assert (outcome.done.status, outcome.done.code) == (status, code)
    assert (len(client.requests), client.closed) == (3, 3)
    assert outcome.text == ("" if failure == "raised" else "Half")
    assert not ran
    assert not outcome.announced
    assert outcome.warnings == [code]


async def test_the_streamed_answer_is_not_asked_again_after_a_word() -> None:
    """The final answer streams, so there is no retry after its first text (F2)."""
    client = ScriptedClient([[SERVED], [TextDelta("Half")], UpstreamError(Code.UPSTREAM_TIMEOUT)])
    outcome = await run(client)
    assert (outcome.text, outcome.done.code, len(client.requests)) == ("Half", "UPSTREAM_TIMEOUT", 1)


async def test_stop_while_tools_run() -> None:
    """Every call of the step has the result CANCELLED, and the tool's work ends."""
    inside, left = asyncio.Event(), asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> None:
        inside.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    client = ScriptedClient(calls(call(0, "f", "{}"), call(1, "f", "{}")))
    task: asyncio.Task[Outcome] = asyncio.create_task(run(client, [make_tool("f", work)]))
    await asyncio.wait_for(inside.wait(), 5)
    task.cancel()
    outcome = await asyncio.wait_for(task, 5)
    assert outcome.done.status == "cancelled"
    assert outcome.codes() == [Code.CANCELLED] * 2
    assert left.is_set()
    assert len(client.requests) == 1


async def test_thinking_tags_of_a_whole_answer_are_reasoning() -> None:
    """Thinking tags are also removed from complete bodies."""
    outcome = await run(
        ScriptedClient([[SERVED], [TextDelta("<think>Hm</think>Hi")], ending()]), [make_tool("f")], model="deepseek/r1"
    )
    assert (outcome.reasoning.strip(), outcome.text.strip()) == ("Hm", "Hi")
    assert all("think" not in e.content for e in outcome.events if isinstance(e, Content))
