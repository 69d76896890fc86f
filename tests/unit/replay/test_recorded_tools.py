"""Tools of a replay: each call gets its recorded result, and no tool is executed."""

from dataclasses import replace

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext
from signalbox.replay.outcome import CallOutcome
from signalbox.replay.recorded_tools import RecordedTools, placeholder_tools
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.save_note import save_note
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool

pytestmark = pytest.mark.anyio

SEARCH = FakeSearch()
TOOLS = [search_web(SEARCH, None), save_note(None, "there is no folder"), make_tool("look")]


def called(name: str, arguments: JsonObject, result: object = "found", code: str | None = None) -> CallOutcome:
    """Return a recorded call."""
    return CallOutcome(name, arguments, 1, success=code is None, code=code, result=result)  # type: ignore[arg-type]


def tools_over(*calls: CallOutcome, known: list[Tool] = TOOLS) -> RecordedTools:
    """Return tools that answer from these recorded calls."""
    return RecordedTools(calls, ToolExecutor(placeholder_tools([call.name for call in calls] or ["look"], known)))


async def test_calls_get_their_recorded_result() -> None:
    """Arguments are equal in another order, and if one is null instead of missing."""
    tools = tools_over(called("look", {"a": 1, "b": {"x": 1, "y": 2}}, {"seen": True}))
    outcome = await tools.run("look", {"b": {"y": 2, "x": 1}, "a": 1, "c": None}, ToolContext())
    assert (outcome.success, outcome.result, outcome.untrusted) == (True, {"seen": True}, True)


async def test_artifacts_are_replayed() -> None:
    """Of results and failures, so that people see what they saw; outcomes that differ only in this are equal."""
    plain, failed = called("look", {"a": 1}), called("look", {"b": 1}, "It broke.", "TOOL_FAILED")
    shown = [replace(call, artifact={"surfaceId": "s1"}) for call in (plain, failed)]
    tools = tools_over(*shown)
    outcomes = [await tools.run("look", call.arguments, ToolContext()) for call in shown]
    assert [outcome.artifact for outcome in outcomes] == [{"surfaceId": "s1"}] * 2
    assert shown == [plain, failed]


async def test_equal_calls_get_their_results_in_order() -> None:
    """A recorded failure is repeated, and a further call gets the last result."""
    tools = tools_over(called("look", {}, "It broke.", "TOOL_FAILED"), called("look", {}, "second"))
    outcomes = [await tools.run("look", {}, ToolContext()) for _ in range(3)]
    assert [(one.success, one.code, one.result or one.error) for one in outcomes] == [
        (False, Code.TOOL_FAILED, "It broke."),
        (True, None, "second"),
        (True, None, "second"),
    ]
    assert tools.unknown == []


async def test_searches_with_equal_keys_are_equal() -> None:
    """Case, quotes and spaces do not matter, but another time hint is another search; the backend is not called."""
    tools = tools_over(called("search_web", {"query": "ocean tides"}, {"results": []}))
    assert (await tools.run("search_web", {"query": '"Ocean  TIDES"'}, ToolContext())).success
    other = await tools.run("search_web", {"query": "ocean tides", "time_hint": "day"}, ToolContext())
    assert other.code is Code.NOT_RECORDED
    assert not SEARCH.asked


@pytest.mark.parametrize("code", ["TOOL_CLAMP", "SUPERSEDED", "STEP_FAILED", "CANCELLED", "ARGUMENTS_CUT"])
async def test_results_of_the_loop_are_not_replayed(code: str) -> None:
    """A recorded result that the loop produced is not the tool's, so the call is not recorded."""
    tools = tools_over(called("look", {}, "Not run.", code))
    outcome = await tools.run("look", {}, ToolContext())
    assert (outcome.code, tools.unknown) == (Code.NOT_RECORDED, ["look"])
    assert "journal" in outcome.error


async def test_unavailable_and_missing_tools() -> None:
    """Recorded results are returned for unavailable and unknown tools; known schemas are checked."""
    tools = tools_over(called("save_note", {"title": "T", "text": "t"}, {"saved": True}), called("theirs", {"x": 1}, 2))
    assert (await tools.run("save_note", {"title": "T", "text": "t"}, ToolContext())).result == {"saved": True}
    assert (await tools.run("theirs", {"x": 1}, ToolContext())).result == 2
    assert tools.check("save_note", {"title": 1}) is not None
    assert tools.check("theirs", {"anything": 1}) is None
    assert tools.spec("unlisted") is None


async def test_unknown_codes() -> None:
    """A recorded code that this version does not know becomes TOOL_FAILED."""
    outcome = await tools_over(called("look", {}, "Odd.", "FROM_TOMORROW")).run("look", {}, ToolContext())
    assert (outcome.code, outcome.error) == (Code.TOOL_FAILED, "Odd.")


async def test_recorded_results_add_urls_and_sources() -> None:
    """URLs and sources of a recorded search are registered, as after a real one."""
    found: JsonObject = {"results": [{"n": 1, "title": "Tides", "url": "https://example.org/tides"}]}
    context = ToolContext()
    await tools_over(called("search_web", {"query": "tides"}, found)).run("search_web", {"query": "tides"}, context)
    assert context.sources.titles == {1: ("Tides", "https://example.org/tides")}
    assert context.url_allowlist.as_found("https://example.org/tides") is not None
