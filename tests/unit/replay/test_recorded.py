"""Tools that are answered from a journal: each call gets what it got then, and none is run."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext
from signalbox.replay.outcome import Called
from signalbox.replay.recorded import RecordedTools, stand_ins
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.save_note import save_note
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool

pytestmark = pytest.mark.anyio

SEARCH = FakeSearch()
TOOLS = [search_web(SEARCH, None), save_note(None, "there is no folder"), make_tool("look")]


def called(name: str, arguments: JsonObject, result: object = "found", code: str | None = None) -> Called:
    """Make a call of then."""
    return Called(name, arguments, 1, success=code is None, code=code, result=result)  # type: ignore[arg-type]


def tools_over(*calls: Called, known: list[Tool] = TOOLS) -> RecordedTools:
    """Make tools over these calls of then."""
    return RecordedTools(calls, ToolExecutor(stand_ins([call.name for call in calls] or ["look"], known)))


async def test_a_call_gets_the_result_of_then() -> None:
    """Arguments in another order are the same, and so is a null for an argument that was not given."""
    tools = tools_over(called("look", {"a": 1, "b": {"x": 1, "y": 2}}, {"seen": True}))
    outcome = await tools.run("look", {"b": {"y": 2, "x": 1}, "a": 1, "c": None}, ToolContext())
    assert (outcome.success, outcome.result, outcome.outside) == (True, {"seen": True}, True)


async def test_equal_calls_get_their_results_in_order() -> None:
    """The first one failed then, and does so again; one more than then gets the last one's."""
    tools = tools_over(called("look", {}, "It broke.", "TOOL_FAILED"), called("look", {}, "second"))
    outcomes = [await tools.run("look", {}, ToolContext()) for _ in range(3)]
    assert [(one.success, one.code, one.result or one.error) for one in outcomes] == [
        (False, Code.TOOL_FAILED, "It broke."),
        (True, None, "second"),
        (True, None, "second"),
    ]
    assert tools.unknown == []


async def test_searches_are_equal_by_their_own_rule() -> None:
    """Another case and quotes name the same search, another time does not; nobody is asked."""
    tools = tools_over(called("search_web", {"query": "ocean tides"}, {"results": []}))
    assert (await tools.run("search_web", {"query": '"Ocean  TIDES"'}, ToolContext())).success
    other = await tools.run("search_web", {"query": "ocean tides", "time_hint": "day"}, ToolContext())
    assert other.code is Code.NOT_RECORDED
    assert not SEARCH.asked


@pytest.mark.parametrize("code", ["TOOL_CLAMP", "SUPERSEDED", "STEP_FAILED", "CANCELLED", "ARGUMENTS_CUT"])
async def test_what_the_loop_decided_then_is_no_tools_answer(code: str) -> None:
    """Such a call has no result of a tool; whether it runs is decided anew, and then it is not known."""
    tools = tools_over(called("look", {}, "Not run.", code))
    outcome = await tools.run("look", {}, ToolContext())
    assert (outcome.code, tools.unknown) == (Code.NOT_RECORDED, ["look"])
    assert "journal" in outcome.error


async def test_a_tool_that_cannot_be_used_here_is_answered() -> None:
    """There is no folder for notes and no such package: what was done then is told, and schemas are checked."""
    tools = tools_over(called("save_note", {"title": "T", "text": "t"}, {"saved": True}), called("theirs", {"x": 1}, 2))
    assert (await tools.run("save_note", {"title": "T", "text": "t"}, ToolContext())).result == {"saved": True}
    assert (await tools.run("theirs", {"x": 1}, ToolContext())).result == 2
    assert tools.check("save_note", {"title": 1}) is not None
    assert tools.check("theirs", {"anything": 1}) is None
    assert tools.spec("nobody's") is None


async def test_a_code_of_a_later_version_is_a_failure() -> None:
    """Whatever a journal says, a result has a code of ours."""
    outcome = await tools_over(called("look", {}, "Odd.", "FROM_TOMORROW")).run("look", {}, ToolContext())
    assert (outcome.code, outcome.error) == (Code.TOOL_FAILED, "Odd.")


async def test_addresses_and_sources_of_results_are_known() -> None:
    """What a recorded search found may be named, as after a real one."""
    found: JsonObject = {"results": [{"n": 1, "title": "Tides", "url": "https://example.org/tides"}]}
    context = ToolContext()
    await tools_over(called("search_web", {"query": "tides"}, found)).run("search_web", {"query": "tides"}, context)
    assert context.sources.titles == {1: ("Tides", "https://example.org/tides")}
    assert context.url_allowlist.as_found("https://example.org/tides") is not None
