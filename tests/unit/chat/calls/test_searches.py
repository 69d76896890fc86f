"""Searches: equal ones are sent once, and their number is limited."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.events import AnyEvent, Failure, ToolExecuting, Warning
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool
from tests.unit.chat.calls.executions import codes, execute, execution_of, named, results, search

pytestmark = pytest.mark.anyio


SAME = ["tidal power", "  Tidal   POWER ", '"tidal power"', "ｔｉｄａｌ power", "“Tidal power”"]


@pytest.mark.parametrize("other", SAME)
async def test_equal_searches_are_sent_once(other: str) -> None:
    """Case, width, spaces and outer quotes do not make another search; the second result is marked cached (PS-17)."""
    backend = FakeSearch()
    execution = execution_of([search_web(backend, None)])
    first, second = results(await execute(execution, search(SAME[0]), search(other)))
    assert len(backend.asked) == 1
    assert (first.cached, second.cached) == (first.cached, True)
    assert first.cached is not True
    assert first.result == second.result


@pytest.mark.parametrize(
    "more", [{"time_hint": "week"}, {"after": "2026-01-01"}, {"before": "2026-01-01"}], ids=lambda m: next(iter(m))
)
async def test_time_filters_make_another_search(more: dict[str, str]) -> None:
    """The same query with another time range is another search."""
    backend = FakeSearch()
    await execute(execution_of([search_web(backend, None)]), search("x"), search("x", **more), search("x", **more))
    assert len(backend.asked) == 2


async def test_a_search_under_way_is_awaited() -> None:
    """An equal search joins the running one: one executing event, two results at its end."""
    backend = FakeSearch(gate=asyncio.Event())
    execution = execution_of([search_web(backend, None)])
    running = asyncio.create_task(execute(execution, search("x"), search("X"), search(" x ")))
    await backend.arrived.wait()
    assert not any(call.outcome for call in execution.calls)
    backend.gate.set()  # type: ignore[union-attr]
    events = await running
    assert len(backend.asked) == 1
    assert sum(isinstance(event, ToolExecuting) for event in events) == 1
    assert [result.cached is True for result in results(events)] == [False, True, True]


async def test_a_failed_search_is_shared_but_not_cached() -> None:
    """Calls that wait for a failing search get its error; a later call sends the search again (PS-17)."""
    backend = FakeSearch(gate=asyncio.Event(), fail=lambda query: ToolError(Code.RATE_LIMIT, "slow down"))
    execution = execution_of([search_web(backend, None)])
    running = asyncio.create_task(execute(execution, search("x"), search("x")))
    await backend.arrived.wait()
    backend.gate.set()  # type: ignore[union-attr]
    events = await running
    assert codes(events) == [Code.RATE_LIMIT] * 2
    assert not any(result.cached is True for result in results(events))
    assert len(backend.asked) == 1
    backend.fail = lambda query: None
    assert codes(await execute(execution, search("x"))) == [None]
    assert len(backend.asked) == 2


async def test_other_tools_are_not_deduplicated() -> None:
    """Only tools with a search key are deduplicated."""
    ran: list[object] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments))
    await execute(execution_of([tool]), named("f", a=1), named("f", a=1))
    assert len(ran) == 2


def warnings(events: Sequence[AnyEvent]) -> list[Warning]:
    """Return the warnings among events."""
    return [event for event in events if isinstance(event, Warning)]


async def test_eight_searches_six_sent() -> None:
    """Six searches are sent, all eight calls are answered, and one warning is emitted (PS-18)."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)]), *(search(f"q{n}") for n in range(8)))
    assert len(backend.asked) == 6
    assert codes(events) == [None] * 6 + [Code.TOOL_CLAMP] * 2
    assert [warning.code for warning in warnings(events)] == [Code.TOOL_CLAMP]


async def test_failed_searches_count_and_equal_ones_do_not() -> None:
    """A failed search counts, a reused one does not; the warning is emitted once over many steps."""
    backend = FakeSearch(fail=lambda query: ToolError(Code.TOOL_FAILED, "no") if query.text == "bad" else None)
    execution = execution_of([search_web(backend, None)], max_searches=2)
    first = await execute(execution, search("bad"), search("good"), search("GOOD"))
    assert codes(first) == [Code.TOOL_FAILED, None, None]
    assert not warnings(first)
    second = await execute(execution, search("good"), search("bad"), search("new"))
    assert codes(second) == [None, Code.TOOL_CLAMP, Code.TOOL_CLAMP]
    assert len(warnings(second)) == 1
    assert not warnings(await execute(execution, search("newer")))
    assert len(backend.asked) == 2


async def test_equal_keys_of_two_tools_are_two_searches() -> None:
    """Search keys are compared only within one tool."""
    tools = [make_tool("books"), make_tool("films")]
    tools = [replace(tool, spec=replace(tool.spec, search_key=lambda _: "same")) for tool in tools]
    events = await execute(execution_of(tools), named("books"), named("films"), named("books"))
    assert [result.cached is True for result in results(events)] == [False, False, True]


async def test_no_searches_allowed() -> None:
    """With a limit of 0, no search is sent, and every call is answered."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)], max_searches=0), search("a"), search("b"))
    assert codes(events) == [Code.TOOL_CLAMP] * 2
    assert len(warnings(events)) == 1
    assert not backend.asked


async def test_a_search_that_is_not_offered_gets_the_reason() -> None:
    """With `max_searches: 0` no search tool is offered; the result of a call says why."""
    execution = execution_of([search_web(FakeSearch(), None)], offered=[], max_searches=0)
    [result] = results(await execute(execution, search("a")))
    assert isinstance(result.result, Failure)
    assert (result.result.code, result.result.error) == (
        Code.TOOL_CLAMP,
        "No searches may be sent for this answer (max_searches is 0); answer without them.",
    )


async def test_invalid_searches_do_not_count() -> None:
    """A search that the schema or the tool rejects was never sent."""
    backend = FakeSearch()
    execution = execution_of([search_web(backend, None)], max_searches=1)
    for bad in (search("\n"), search("x", after="not a day"), search("x", num_results=99)):
        assert codes(await execute(execution, bad)) == [Code.INVALID_ARGUMENTS]
    assert codes(await execute(execution, search("x"))) == [None]
    assert len(backend.asked) == 1


async def test_only_searches_are_clamped() -> None:
    """Other tools are not counted and not clamped."""
    tools = [search_web(FakeSearch(), None), make_tool("f")]
    calls = [search("a"), *[named("f")] * 5]
    assert codes(await execute(execution_of(tools, max_searches=1), *calls)) == [None] * 6
