"""How runs with tool calls end: limits on steps and searches, repeated and invalid calls."""

import pytest

from tests.scenarios.upstream_faults.asker import Asker, ended


def test_searches_beyond_the_clamp(ask: Asker) -> None:
    """Of eight searches six are sent, eight have results, with one warning (seed row PS-18)."""
    heard, requests = ask("sim-searches-8")
    ended(heard, "complete", None)
    assert heard.result_codes() == [None] * 6 + ["TOOL_CLAMP"] * 2
    assert heard.warnings.count("TOOL_CLAMP") == 1
    assert len([m for m in requests[-1].body["messages"] if m["role"] == "tool"]) == 8


def test_the_clamp_is_the_callers_to_set(ask: Asker) -> None:
    """With max_searches 2, two of three are sent; with 0, no search is offered."""
    heard, _ = ask("sim-searches-3", max_searches=2)
    assert heard.result_codes() == [None, None, "TOOL_CLAMP"]
    heard, requests = ask("sim-searches-3", max_searches=0)
    offered = [{tool["function"]["name"] for tool in request.body.get("tools", [])} for request in requests]
    assert all("search_web" not in names and "calculate" in names for names in offered[:1])
    assert not any(call["name"] == "search_web" for call in heard.calls)
    assert heard.text


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_several_steps(ask: Asker, steps: int) -> None:
    """N steps with tools and an answer are N+1 requests, each with all earlier results."""
    heard, requests = ask(f"sim-steps-{steps}")
    ended(heard, "complete", None)
    assert len(requests) == heard.done["steps"] == steps + 1
    assert len(heard.of("tool_result")) == steps
    for number, request in enumerate(requests):
        assert len([m for m in request.body["messages"] if m["role"] == "tool"]) == number


def test_the_step_limit_ends_in_an_answer(ask: Asker) -> None:
    """max_steps counts every request; the last one has the same tools and choice `none`."""
    heard, requests = ask("sim-steps-8", max_steps=3)
    ended(heard, "complete", None)
    assert heard.text
    assert heard.warnings == []
    assert len(requests) == heard.done["steps"] == 3
    assert [r.body.get("tool_choice") for r in requests] == [None, None, "none"]
    assert requests[0].body["tools"] == requests[2].body["tools"]


def test_twenty_five_steps_stop_at_eight(ask: Asker) -> None:
    """The default limit ends a model that would continue."""
    heard, requests = ask("sim-steps-25", max_searches=100)
    ended(heard, "complete", None)
    assert len(requests) == 8


def test_equal_searches_are_made_once(ask: Asker) -> None:
    """Searches that differ in case, spaces and quotes are sent once; all have results, two say so (PS-17)."""
    heard, _ = ask("sim-duplicate")
    ended(heard, "complete", None)
    results = heard.of("tool_result")
    assert [result.get("cached") for result in results] == [None, True, True]
    assert len(heard.of("tool_executing")) == 1
    assert results[0]["result"] == results[1]["result"] == results[2]["result"]


@pytest.mark.parametrize("family", ["openai", "google", "deepseek", "mistralai", "moonshotai", "qwen"])
def test_parallel_calls(ask: Asker, family: str) -> None:
    """Three calls of one step have results under their ids, and are sent back together (seed row PS-08)."""
    heard, requests = ask(f"{family}/sim-parallel")
    ended(heard, "complete", None)
    assert sorted(call["name"] for call in heard.calls) == ["calculate", "get_current_time", "search_web"]
    assert heard.result_codes() == [None] * 3
    assert {r["id"] for r in heard.of("tool_result")} == {call["id"] for call in heard.calls}
    assert len(requests) == 2


def test_arguments_that_do_not_fit(ask: Asker) -> None:
    """Cut, mistyped, missing or non-object arguments each give an error result; the run continues."""
    heard, _ = ask("sim-bad-args")
    ended(heard, "complete", None)
    codes = heard.result_codes()
    assert len(codes) == len(heard.calls) == 4
    assert set(codes) <= {"INVALID_ARGUMENTS", "ARGUMENTS_CUT", "STEP_FAILED"}
    assert {"INVALID_ARGUMENTS", "ARGUMENTS_CUT"} <= set(codes)
    assert None not in codes


def test_a_tool_that_was_not_offered(ask: Asker) -> None:
    """The model is told that there is no such tool, and answers."""
    heard, _ = ask("sim-unknown-tool")
    ended(heard, "complete", None)
    assert heard.of("tool_executing") == []
    assert heard.of("tool_result")[0]["result"]["success"] is False
    assert "lookup_everything" in heard.of("tool_result")[0]["result"]["error"]


def test_one_id_for_every_call(ask: Asker) -> None:
    """If a model uses call_0 for every call, ids are unique in events and upstream."""
    heard, requests = ask("sim-same-id")
    ended(heard, "complete", None)
    ids = [call["id"] for call in heard.calls]
    assert len(ids) == len(set(ids)) == 4
    sent = [m["tool_call_id"] for m in requests[-1].body["messages"] if m["role"] == "tool"]
    assert len(sent) == len(set(sent)) == 4


def test_a_call_under_finish_stop_is_run(ask: Asker) -> None:
    """A step with a complete call is a step with calls, whatever its finish reason."""
    heard, requests = ask("sim-late-stop")
    ended(heard, "complete", None)
    assert heard.result_codes() == [None]
    assert len(requests) == 2


def test_a_model_that_never_stops_calling(ask: Asker) -> None:
    """Calls in the final step are dropped; after one retry a replacement text ends the run (quirk D2)."""
    heard, requests = ask("sim-stubborn", max_steps=3)
    ended(heard, "complete", None)
    assert "FINAL_EMPTY" in heard.warnings
    assert heard.of("content")[-1]["synthetic"] is True
    assert len(requests) == 4
    assert [r.body.get("tool_choice") for r in requests] == [None, None, "none", "none"]
    assert len(heard.of("tool_result")) == 2
