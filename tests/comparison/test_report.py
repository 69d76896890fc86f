"""The page of the comparison shows what is stored, for the versions of the locks."""

from datetime import date

from tests.comparison import report
from tests.comparison.cases import CASES, PATIENCE
from tests.comparison.libraries import LIBRARIES, SIGNALBOX
from tests.comparison.observation import Observation, observe, read_executions
from tests.comparison.program import Program
from tests.comparison.stories import Call, answers, call, calls


def test_the_page_has_the_stored_outcomes() -> None:
    """Every table of the page is made of results.json, and the page names its date."""
    stored = report.load()
    page = report.PAGE.read_text(encoding="utf-8")
    made = report.tables(stored)
    assert report.with_tables(page, made) == page
    assert all(f"<!-- table: {name} -->" in page for name in made)
    day = date.fromisoformat(stored["at"])
    assert f"{day.day} {day:%B %Y}" in page


def test_every_case_is_stored_for_the_version_of_its_lock() -> None:
    """A new version or a new case needs a new measurement."""
    stored = report.load()
    assert stored["versions"] == {library.name: library.version for library in LIBRARIES}
    assert list(stored["cases"]) == [case.key for case in CASES]
    assert all({*outcomes} == {library.name for library in LIBRARIES} for outcomes in stored["cases"].values())


def test_signalbox_still_has_its_stored_outcomes() -> None:
    """The cases without waits are measured again."""
    stored = report.load()["cases"]
    slow = ("overlap", "cap", "busy", "leave", "close", "stop")
    quick = [case for case in CASES if case.key not in slow]
    with Program(SIGNALBOX) as program:
        for case in quick:
            seen = observe(program, case.action, case.story)
            assert report.outcome(case, seen) == stored[case.key][SIGNALBOX.name], case.key


def test_faults_are_counted_from_outside() -> None:
    """A result in no request, a repeated call and a repeated request are counted; equal arguments are one call."""
    request = {"messages": [{"role": "user", "content": "Look."}]}
    line = '{{"event": "{}", "result": "{}", "tool": "look", "arguments": {{"path": "/a"}}, "at": {}}}'
    log = [line.format("started", "r1", 1), line.format("ended", "r1", 2)]
    log += [line.format("started", "r2", 3), line.format("ended", "r2", 4)]
    told = {"messages": [*request["messages"], {"role": "tool", "content": "r1"}]}
    seen = Observation({"value": ""}, [request, request, told], read_executions(log), story=[calls(call("look"))])
    assert (seen.lost, seen.repeated, seen.repeated_requests, seen.at_once) == (1, 1, 1, 1)


def test_both_dialects_are_read_in_the_same_words() -> None:
    """Results in a user message of Anthropic's dialect are those of a tool."""
    block = {"type": "tool_result", "tool_use_id": "call_1_0", "content": "r1"}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": []},
        {"role": "user", "content": [block, block, {"type": "text", "text": "Hurry up."}]},
    ]
    seen = Observation({}, [{"messages": messages}])
    assert seen.roles(1) == ["user", "assistant", "tool", "tool", "user"]
    assert "r1" in seen.results(1)


def test_stories_end_as_their_cases_say() -> None:
    """A reply without a stop reason, and an error, are not complete."""
    assert answers().is_complete
    assert not calls(Call("look", "{}"), end="eof").is_complete
    assert len(next(case for case in CASES if case.key == "limit").story) == PATIENCE
