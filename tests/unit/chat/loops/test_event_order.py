"""Any model and provider behaviour gives events in the contract's order, with a result for every call."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.chat.context import Limits
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError, UpstreamError
from signalbox.core.events import Content
from signalbox.core.messages import JsonObject, ReasoningDetail
from signalbox.core.parts import (
    CallDelta,
    Details,
    EndOfStream,
    Fault,
    Finish,
    HiddenReasoning,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    Unreadable,
    Usage,
    UsageReport,
)
from signalbox.core.tools import Tool, ToolContext
from signalbox.encoders.check import first_stream_fault
from signalbox.wire.finish_reasons import finish_of

from tests.scenarios.contract.golden import encode
from tests.support.fakes import SERVED, ScriptedClient, answer, make_tool
from tests.support.loop_runs import Outcome, run
from tests.support.loop_tools import searching

pytestmark = pytest.mark.anyio

CALLS = st.builds(
    CallDelta,
    st.none() | st.integers(0, 2),
    st.none() | st.sampled_from(["a", "b", "call_0"]),
    st.none() | st.sampled_from(["search_web", "look", "save", "nothing", "functions.look"]),
    st.none()
    | st.sampled_from(
        ["", "{}", '{"query":"x"}', '{"query":"y"}', '{"que', 'ry":"z"}', "null", "[]", "}", '{"n":1}{"n":2}']
    ),
    st.none() | st.integers(0, 1),
)
PARTS = st.one_of(
    st.builds(TextDelta, st.sampled_from(["words", " ", "\n", "<think>", "</think>"])),
    st.builds(ReasoningDelta, st.sampled_from(["Hm", " "]), st.sampled_from(["reasoning", None])),
    st.just(HiddenReasoning()),
    CALLS,
    CALLS,
    st.builds(RefusalDelta, st.just("No.")),
    st.builds(Finish, st.sampled_from(["stop", "tool_calls", "length", "content_filter", "error", None]), st.none()),
    st.just(UsageReport(Usage(1, 1, cost=0.1), {})),
    st.just(Details((ReasoningDetail({"type": "x", "id": "a"}),))),
    st.just(Unreadable(3)),
    st.just(SERVED),
    st.just(EndOfStream()),
)


async def _tick() -> None:
    await asyncio.sleep(0)


ERRORS = [Code.UPSTREAM_ERROR, Code.STREAM_CUT, Code.RATE_LIMIT, Code.UPSTREAM_AUTH, Code.CONTENT_FILTER]
SPOILS = st.one_of(
    st.builds(UpstreamError, st.sampled_from(ERRORS)),
    st.builds(ValueError, st.just("broken")),
    st.just([Fault(UpstreamError(Code.UPSTREAM_ERROR))]),
)
# Most reads are words and calls, some take their time, few break.
READS = st.integers(0, 15).flatmap(
    lambda n: SPOILS if n == 13 else st.just(_tick) if n in (3, 6, 9) else st.lists(PARTS, max_size=3)
)
ENDS = st.sampled_from(
    [
        [],
        [[finish_of("tool_calls"), EndOfStream()]],
        [[finish_of("stop"), EndOfStream()]],
        [[TextDelta("So far"), finish_of("length")]],
    ]
)
SCRIPTS = st.lists(st.builds(lambda reads, end: [*reads, *end], st.lists(READS, max_size=6), ENDS), max_size=4)


def tools() -> list[Tool]:
    """Return a search tool, a fast eager tool, and a slow tool that fails."""

    async def look(arguments: JsonObject, context: ToolContext) -> object:
        await asyncio.sleep(0)
        return arguments

    async def save(arguments: JsonObject, context: ToolContext) -> object:
        for _ in range(5):
            await asyncio.sleep(0)
        raise ToolError(Code.TOOL_FAILED, "no")

    return [searching()[1], make_tool("look", look, eager=True), make_tool("save", save)]


async def drive(scripts: list[list[Any]], stop_after: int | None, model: str) -> tuple[Outcome, ScriptedClient]:
    """Run these scripts and then answers; the run is stopped after this many ticks."""
    client = ScriptedClient(*scripts, *(answer("Hi") for _ in range(30)))
    task = asyncio.create_task(run(client, tools(), model=model, limits=Limits(max_steps=4, max_searches=1)))
    for _ in range(stop_after or 0):
        await asyncio.sleep(0)
    if stop_after is not None:
        task.cancel()
    return await asyncio.wait_for(task, 10), client


@settings(max_examples=300)
@given(SCRIPTS, st.none() | st.integers(1, 40), st.sampled_from(["openai/x", "deepseek/x"]))
async def test_any_run_keeps_the_order(scripts: list[list[Any]], stop_after: int | None, model: str) -> None:
    """Events are in order, each call has one result, `done` is correct, and streams are closed."""
    before = asyncio.all_tasks()
    outcome, client = await drive(scripts, stop_after, model)  # `run` has checked the order already
    assert first_stream_fault(encode(outcome)) == (None, len(outcome.events))
    assert client.closed == len(client.requests)
    assert asyncio.all_tasks() == before
    done = outcome.done
    assert done.steps == outcome.progress.steps <= 5
    if done.status == "complete":
        assert any(isinstance(e, Content) and e.content.strip() for e in outcome.events)
    assert outcome.warnings.count("TOOL_CLAMP") <= 1
    assert outcome.warnings.count("MAX_STEPS") <= 1


@given(st.lists(st.tuples(st.sampled_from(["x", "X ", "y", "z"]), st.booleans()), min_size=1, max_size=8))
async def test_distinct_searches_never_exceed_the_limit(wanted: list[tuple[str, bool]]) -> None:
    """With any mixture of equal and new searches, the backend gets at most two requests."""
    backend, tool = searching()
    scripts: list[list[Any]] = []
    for n, (query, begins) in enumerate(wanted):
        delta = CallDelta(n, f"c{n}", "search_web", f'{{"query":"{query}"}}')
        if begins or not scripts:
            scripts.append([[SERVED], [], [finish_of("tool_calls"), EndOfStream()]])
        scripts[-1][1].append(delta)
    client = ScriptedClient(*scripts, *(answer("Hi") for _ in range(3)))
    outcome = await run(client, [tool], limits=Limits(max_steps=20, max_searches=2))
    keys = [query.text.strip().lower() for query in backend.asked]
    assert len(keys) == len(set(keys)) <= 2
    assert len(outcome.results) == len(outcome.announced)


def test_the_scripts_reach_every_ending() -> None:
    """The generated scripts reach every status with which a run can end."""
    statuses: set[str] = set()

    async def look(scripts: list[list[Any]], stop_after: int | None) -> None:
        outcome, _ = await drive(scripts, stop_after, "openai/x")
        statuses.add(outcome.done.status)

    @settings(max_examples=300)
    @given(SCRIPTS, st.none() | st.integers(1, 4) | st.integers(5, 40))
    def wander(scripts: list[list[Any]], stop_after: int | None) -> None:
        asyncio.run(look(scripts, stop_after))

    wander()
    assert statuses == {"complete", "cancelled", "interrupted", "error", "length", "content_filter"}
