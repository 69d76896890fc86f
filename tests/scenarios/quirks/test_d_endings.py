"""D1 to D7: every run ends with an answer or a message, and the chat can continue."""

import json
from typing import Any

import pytest

from tests.scenarios.quirks.sim_runs import Asker, Body, call, calls, result, roles, said_by, user
from tests.support.running_app import error_of
from tests.support.stream_reader import ParsedStream

FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")
OFF = "Tools are off from here on."
EMPTY = "Your last turn was empty."
ALREADY = "You have this already."


def _finals(requests: list[Body]) -> list[Body]:
    return [body for body in requests if body.get("tool_choice") == "none"]


def _system(body: Body) -> str:
    return "".join(message["content"] for message in said_by(body, "system"))


def _as_client(heard: ParsedStream, prompt: str) -> list[Body]:
    """Return a run's messages as a client stores them: calls, results, and the answer last."""
    results = {event["id"]: event["result"] for event in heard.of("tool_result")}
    messages = [user(prompt)]
    for event in heard.of("tool_calls"):
        made = [call(one["id"], one["name"], one["arguments"]) for one in event["calls"]]
        messages.append(calls(*made))
        messages += [result(one["id"], json.dumps(results[one["id"]])) for one in made]
    return [*messages, {"role": "assistant", "content": heard.text}]


@pytest.mark.parametrize("family", FAMILIES)
def test_d01_a_conversation_cut_anywhere_goes_on(ask_sim: Asker, family: str) -> None:
    """The strict model accepts a history cut after any message, also with missing calls."""
    prompt = "How does the tool loop of Signalbox work?"
    kept = _as_client(ask_sim("openai/sim-quirk-d06", prompt).heard, prompt) + _as_client(
        ask_sim("openai/sim-parallel", prompt).heard, prompt
    )
    assert len(kept) >= 12
    for at in range(1, len(kept) + 1):
        observed = ask_sim(f"{family}/sim", messages=[*kept[:at], user("Hello!")])
        assert (observed.status, set(observed.statuses)) == (("complete", None), {200}), roles({"messages": kept[:at]})


@pytest.mark.parametrize("place", [1, 2, 4])
def test_d01_a_result_of_no_call_is_refused_here(ask_sim: Asker, place: int) -> None:
    """A result without a call is rejected with its position, before a request is sent."""
    history = [user("One?"), calls(call("call_0001")), result("call_0001"), user("Two?")]
    history.insert(place, result("call_0009", "lost"))
    if history[-1]["role"] != "user":
        history.append(user("Hello!"))
    ask_sim.simulator.state.requests.clear()
    body = {"model": f"{FAMILIES[place]}/sim", "messages": history}
    response = ask_sim.app.client.post("/api/chat/stream", json=body, headers={"x-tool-loop": ask_sim.loop})
    assert response.status_code == 422
    assert error_of(response)["field"] == f"messages.{place}.tool_call_id"
    assert ask_sim.simulator.state.requests == []


def test_d01_an_unanswered_call_is_answered_for_the_tool(ask_sim: Asker) -> None:
    """The model is told that a call has no result, and why."""
    observed = ask_sim("openai/sim", messages=[user("One?"), calls(call("call_0001")), user("Hello!")])
    assert said_by(observed.last, "tool")[0]["content"] == "No result: this call was never answered."


@pytest.mark.parametrize("quirk", ["d02", "d02-blank"])
@pytest.mark.parametrize("family", ["openai", "anthropic", "google"])
def test_d02_a_silent_model_is_told_twice_and_then_answered_for(ask_sim: Asker, family: str, quirk: str) -> None:
    """After two final requests without text, a sentence with the sources is the answer."""
    observed = ask_sim(f"{family}/sim-quirk-{quirk}", max_steps=3)
    assert observed.status == ("complete", None)
    assert observed.statuses == [200] * 4
    first, second = _finals(observed.requests)
    assert OFF in _system(first)
    assert EMPTY not in _system(first)
    assert EMPTY in _system(second)
    assert observed.heard.warnings == ["MAX_STEPS", "FINAL_EMPTY"]
    answer = observed.heard.of("content")[-1]
    assert answer["synthetic"] is True
    assert "- [1] " in answer["content"]
    assert OFF not in _system(observed.requests[0])


def test_d02_the_second_finalize_is_enough(ask_sim: Asker) -> None:
    """An answer to the second final request is used, without a fixed sentence."""
    observed = ask_sim("openai/sim-quirk-d02-once", max_steps=3)
    assert (observed.status, len(_finals(observed.requests))) == (("complete", None), 2)
    assert observed.heard.warnings == ["MAX_STEPS"]
    assert not [event for event in observed.heard.of("content") if event.get("synthetic")]


@pytest.mark.parametrize(
    ("quirk", "finals", "warnings"), [("d02-early", 2, ["FINAL_EMPTY"]), ("d02-early-once", 1, [])]
)
def test_d02_silence_in_the_middle_is_followed_by_a_finalize(
    ask_sim: Asker, quirk: str, finals: int, warnings: list[str]
) -> None:
    """A model that could still call tools and sends nothing is asked to answer."""
    observed = ask_sim(f"openai/sim-quirk-{quirk}")
    assert observed.status == ("complete", None)
    assert (len(_finals(observed.requests)), observed.heard.warnings) == (finals, warnings)
    assert observed.heard.text.strip()


def test_d02_without_tools_silence_is_an_error(ask_sim: Asker) -> None:
    """Without tools, an empty answer is an error."""
    observed = ask_sim("openai/sim-empty", tools=[])
    assert observed.status == ("error", "EMPTY_ANSWER")
    assert observed.heard.done["retryable"] is True


@pytest.mark.parametrize("family", ["openai", "google", "mistralai"])
def test_d03_calls_in_finalize_are_dropped_and_words_kept(ask_sim: Asker, family: str) -> None:
    """Calls in the final step are neither announced nor executed; its text is the answer."""
    observed = ask_sim(f"{family}/sim-quirk-d03", max_steps=3)
    assert (observed.status, observed.statuses) == (("complete", None), [200] * 3)
    assert [event["step"] for event in observed.heard.of("tool_calls")] == [1, 2]
    assert observed.heard.text.endswith("This is what I have so far. ")
    assert observed.heard.warnings == ["MAX_STEPS"]


def test_d03_calls_and_no_words_in_finalize_are_silence(ask_sim: Asker) -> None:
    """Calls without text count as silence, as in D2."""
    observed = ask_sim("openai/sim-quirk-d03-bare", max_steps=3)
    assert len(_finals(observed.requests)) == 2
    assert observed.heard.warnings == ["MAX_STEPS", "FINAL_EMPTY"]
    assert len(observed.heard.calls) == 2


@pytest.mark.parametrize("leak", ["a11-finalize", "a11-finalize-bare"])
def test_d03_leaked_calls_in_finalize_are_no_answer(ask_sim: Asker, leak: str) -> None:
    """Markup of a call is neither executed nor shown."""
    observed = ask_sim(f"deepseek/sim-quirk-{leak}", max_steps=3)
    assert observed.status == ("complete", None)
    assert len(observed.heard.calls) == 2
    assert "DSML" not in observed.heard.text
    assert observed.heard.text.strip()


def test_d04_the_same_search_in_other_words_is_answered_from_the_first(ask_sim: Asker) -> None:
    """A search with other order, case, quotes and spaces is sent once and answered from the first."""
    observed = ask_sim("openai/sim-quirk-d04")
    assert observed.status == ("complete", None)
    first, *again = said_by(observed.last, "tool")
    assert ALREADY not in first["content"]
    assert len(again) == 2
    for message in again:
        note = json.loads(message["content"].split("\n")[2])["note"]
        assert note.startswith(ALREADY)
        assert "another aspect" in note
        assert "loop" not in note
    found = [event["result"]["result"]["results"] for event in observed.heard.of("tool_result")]
    assert found[1:] == found[:1] * 2
    assert [len(_finals([body])) for body in observed.requests] == [0, 0, 0, 1]


def test_d04_too_many_searches_are_clamped_and_the_run_finalized(ask_sim: Asker) -> None:
    """The limit counts different searches, too; then the answer follows."""
    observed = ask_sim("openai/sim-quirk-d05", max_searches=2)
    assert observed.status == ("complete", None)
    assert observed.heard.result_codes()[:3] == [None, None, "TOOL_CLAMP"]
    assert "TOOL_CLAMP" in observed.heard.warnings
    assert _finals(observed.requests) == [observed.last]


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_d05_the_last_call_of_the_model_is_inside_the_limit(ask_sim: Asker, steps: int) -> None:
    """At most `max_steps` requests are sent; the last one may not call tools."""
    observed = ask_sim("openai/sim-quirk-d05", max_steps=steps)
    assert observed.status == ("complete", None)
    assert len(observed.requests) == steps
    assert _finals(observed.requests) == [observed.last]
    assert len(observed.heard.of("tool_calls")) == steps - 1
    assert len(said_by(observed.last, "tool")) == steps - 1
    assert observed.heard.text.strip()


def test_d06_words_between_the_rounds_are_kept_in_order(ask_sim: Asker) -> None:
    """Text between steps keeps its order in the stream and in later requests."""
    observed = ask_sim("openai/sim-quirk-d06")
    assert observed.status == ("complete", None)
    first, second = "First I look for it. ", "Then I look at something else. "
    assert observed.heard.text.startswith(f"{first}\n\n{second}\n\n")
    assert len(observed.heard.text) > len(first + second) + 50
    assert [message["content"] for message in said_by(observed.last, "assistant")] == [first, second]


def test_d07_finalize_says_that_the_results_are_current(ask_sim: Asker) -> None:
    """Only the final request adds text; the client's system prompt stays before it."""
    observed = ask_sim("openai/sim-quirk-d05", max_steps=2, system="Be brief.")
    assert _system(observed.requests[0]) == "Be brief."
    assert _system(observed.last).startswith("Be brief.\n\n")
    assert "The tool results above are current: rely on them." in _system(observed.last)


@pytest.mark.parametrize("quirk", ["d07-always", "d07"])
def test_d07_a_disclaimer_is_shown_as_the_model_said_it(ask_sim: Asker, quirk: str) -> None:
    """Text is emitted immediately, so a disclaimer is shown and no second answer follows."""
    observed = ask_sim(f"openai/sim-quirk-{quirk}")
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert observed.heard.text.startswith("I cannot browse")
    assert observed.heard.result_codes() == [None]
    assert _offered(observed.requests[0]) >= {"search_web", "get_current_time"}


def _offered(body: Any) -> set[str]:
    return {tool["function"]["name"] for tool in body["tools"]}
