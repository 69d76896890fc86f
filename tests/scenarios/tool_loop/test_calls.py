"""Scenarios 04, 05, 20 to 23, 28, 33 and 36: parallel, equal, clamped, broken and incomplete calls."""

import asyncio
import json
import threading

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.tool_loop.scenario import Scenario, Scenarios, results_of
from tests.scenarios.tool_loop.script import Called, answers, calls, search
from tests.support.fakes import make_tool
from tests.support.running_app import WAIT


def test_04_three_parallel_one_duplicate(scenario: Scenarios) -> None:
    """All three calls have results; two searches are sent, and the model receives three results."""
    stage = scenario(calls(search("tides"), search("moon"), search('  "TIDES" ')), answers("Done."))
    heard = stage.ask()
    assert sorted(stage.searched) == ["moon", "tides"]
    results = {event["id"]: event for event in heard.of("tool_result")}
    first, _, again = (results[call["id"]] for call in heard.calls)
    assert (first.get("cached"), again.get("cached")) == (None, True)
    assert again["result"] == first["result"]
    assert heard.result_codes() == [None, None, None]
    sent = results_of(stage.bodies[1])
    assert list(sent) == ["call_0", "call_1", "call_2"]
    assert ["moon" in text for text in sent.values()] == [False, True, False]
    assert ["You have this already" in text for text in sent.values()] == [False, False, True]
    assert (heard.text, heard.done["status"]) == ("Done.", "complete")


def test_sc01_independent_calls_run_at_the_same_time(scenario: Scenarios) -> None:
    """Each of two calls ends only after the other has started: two calls of a second take one second."""
    both = threading.Barrier(2)

    async def meet(arguments: JsonObject, context: ToolContext) -> str:
        await asyncio.to_thread(both.wait, WAIT)
        return "met"

    tools = [make_tool(name, meet) for name in ("left", "right")]
    stage = scenario(calls(Called("left", "{}"), Called("right", "{}")), answers("Done."), extra_tools=tools)
    heard = stage.ask(tools=["left", "right"])
    assert heard.result_codes() == [None, None]
    assert [event["result"]["result"] for event in heard.of("tool_result")] == ["met", "met"]
    assert list(results_of(stage.bodies[1])) == ["call_0", "call_1"]
    assert heard.done["status"] == "complete"


def test_05_eight_parallel_searches(scenario: Scenarios) -> None:
    """Six searches are sent, all eight calls have results, and one warning reports the limit."""
    stage = scenario(calls(*(search(f"tide {n}") for n in range(8))), answers("Done."))
    heard = stage.ask()
    assert sorted(stage.searched) == [f"tide {n}" for n in range(6)]
    assert heard.result_codes() == [None] * 6 + ["TOOL_CLAMP"] * 2
    assert heard.warnings == ["TOOL_CLAMP"]
    sent = results_of(stage.bodies[1])
    assert len(sent) == 8
    assert ["TOOL_CLAMP" in text for text in sent.values()] == [False] * 6 + [True] * 2


def test_05_the_limit_is_the_callers(scenario: Scenarios) -> None:
    """`max_searches` sets the limit; failed searches count, too."""
    stage = scenario(calls(*(search(f"tide {n}") for n in range(4))), answers("Done."))
    heard = stage.ask(max_searches=2)
    assert len(stage.searched) == 2
    assert heard.warnings == ["TOOL_CLAMP"]


def assert_not_run(stage: Scenario) -> None:
    """Check that a cut call is not executed, client and model are told, and the run continues."""
    heard = stage.ask()
    assert stage.searched == []
    assert heard.result_codes() == ["ARGUMENTS_CUT"]
    assert "ARGUMENTS_CUT" in results_of(stage.bodies[1])["call_0"]
    [said] = [message for message in stage.bodies[1]["messages"] if message["role"] == "assistant"]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == {}
    assert (heard.text, heard.done["status"]) == ("Done.", "complete")


def test_20_truncated_arguments(scenario: Scenarios) -> None:
    """Cut arguments are detected, even if the provider reports success."""
    assert_not_run(scenario(calls(Called("search_web", '{"query":"ti')), answers("Done.")))


def test_21_truncated_arguments_at_the_token_limit(scenario: Scenarios) -> None:
    """The same if the provider reports its token limit."""
    assert_not_run(scenario(calls(Called("search_web", '{"query":"ti'), finish="length"), answers("Done.")))


@pytest.mark.parametrize("arguments", ['["tides"]', '"tides"', "42"])
def test_22_arguments_are_no_object(scenario: Scenarios, arguments: str) -> None:
    """JSON that is no object gives an error that a model can act on, without Python's words."""
    stage = scenario(calls(Called("search_web", arguments)), answers("Done."))
    heard = stage.ask()
    assert heard.result_codes() == ["INVALID_ARGUMENTS"]
    said = heard.of("tool_result")[0]["result"]["error"]
    assert "object" in said
    assert not any(word in said for word in ("NoneType", "positional", "Traceback", "**", "dict"))
    assert stage.searched == []
    assert heard.done["status"] == "complete"


def test_23_arguments_are_null(scenario: Scenarios) -> None:
    """`null` counts as no arguments: the error names the missing field."""
    stage = scenario(calls(Called("search_web", "null")), answers("Done."))
    heard = stage.ask()
    assert heard.result_codes() == ["INVALID_ARGUMENTS"]
    assert "query" in heard.of("tool_result")[0]["result"]["error"]
    assert "query" in results_of(stage.bodies[1])["call_0"]


@pytest.mark.parametrize("arguments", ["", "null", "{}"])
def test_28_empty_arguments_for_a_tool_that_needs_none(scenario: Scenarios, arguments: str) -> None:
    """The call is executed."""
    stage = scenario(calls(Called("get_current_time", arguments)), answers("Noon."))
    heard = stage.ask()
    assert heard.result_codes() == [None]
    assert heard.of("tool_result")[0]["result"]["result"]["timezone"] == "UTC"
    assert heard.text == "Noon."


@pytest.mark.parametrize("given", [None, "same", ""], ids=["no id", "one id for both", "empty id"])
def test_33_calls_without_ids(scenario: Scenarios, given: str | None) -> None:
    """Each call has a unique id, in events and upstream; results match their calls."""
    stage = scenario(calls(search("tides", id=given), search("moon", id=given)), answers("Done."))
    heard = stage.ask()
    ids = [call["id"] for call in heard.calls]
    assert len(set(ids)) == 2
    assert sorted(event["id"] for event in heard.of("tool_result")) == sorted(ids)
    sent = list(results_of(stage.bodies[1]).values())
    assert ["tides" in sent[0], "moon" in sent[1]] == [True, True]


def test_36_mixed_time_sum_and_search(scenario: Scenarios) -> None:
    """All three are executed; a hidden call is hidden from its first event on (PS-16)."""
    made = (Called("get_current_time", "{}"), Called("calculate", '{"expression":"2+2"}'), search("tides"))
    stage = scenario(calls(*made), answers("Done."))
    heard = stage.ask()
    assert heard.result_codes() == [None, None, None]
    assert stage.searched == ["tides"]
    shown = [(call["name"], call["category"], call["visibility"]) for call in heard.calls]
    assert shown == [
        ("get_current_time", "utility", "hidden"),
        ("calculate", "utility", "hidden"),
        ("search_web", "search", "primary"),
    ]
    names = {call["id"]: (call["category"], call["visibility"]) for call in heard.calls}
    for event in (*heard.of("tool_executing"), *heard.of("tool_result")):
        assert (event["category"], event["visibility"]) == names[event["id"]]
    assert len(results_of(stage.bodies[1])) == 3
