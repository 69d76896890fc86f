"""Tool loops over the Responses API: calls, results, reasoning that comes back unchanged, the last step."""

import json
from typing import Any

import pytest
from signalbox.simulator.native.openai.models import ACCENTS
from signalbox.wire.openai_responses import dialect

from tests.scenarios.native.native_runs import LOOPS, Body, NativeAsker

STEPS = "Search for replay, then calculate 2+2"
THINK = {"effort": "low"}
BOTH_LOOPS = pytest.mark.parametrize("loop", LOOPS)


def items_of(body: Body, kind: str) -> list[Body]:
    """Return the items of a type in a request."""
    return [item for item in body["input"] if item.get("type", "message") == kind]


@BOTH_LOOPS
@pytest.mark.parametrize("model", ["sim", "gpt-4o", "gpt-5-mini", "gpt-5.4"])
def test_one_tool(ask_openai: NativeAsker, model: str, loop: str) -> None:
    """The call is executed, its result is sent, and the answer uses it."""
    run = ask_openai(model, "What is 17 * 23?", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    assert "391" in run.heard.text
    [call] = items_of(run.requests[1], "function_call")
    [result] = items_of(run.requests[1], "function_call_output")
    assert (call["name"], result["call_id"]) == ("calculate", call["call_id"])
    assert run.heard.done["usage"]["input"] > 0


@BOTH_LOOPS
def test_parallel_tools(ask_openai: NativeAsker, loop: str) -> None:
    """Three calls of one response have their results after them, in the same order."""
    run = ask_openai("sim-parallel", "What is the tool loop of Signalbox?", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    calls, results = (items_of(run.requests[1], kind) for kind in ("function_call", "function_call_output"))
    assert [result["call_id"] for result in results] == [call["call_id"] for call in calls]
    assert len(calls) == 3


@BOTH_LOOPS
@pytest.mark.parametrize("model", ["sim", "gpt-5-mini", "gpt-5.4", "o4-mini"])
def test_reasoning_over_several_steps(ask_openai: NativeAsker, model: str, loop: str) -> None:
    """Each request has the reasoning of all steps before; the simulator accepts it, since nothing has changed."""
    run = ask_openai(model, STEPS, loop=loop, reasoning=THINK)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200, 200])
    reasoning = [items_of(body, "reasoning") for body in run.requests]
    assert [len(found) for found in reasoning] == [0, 1, 2]
    assert reasoning[2][:1] == reasoning[1]
    assert all(item["encrypted_content"] for item in reasoning[2])
    assert "I should" in run.heard.reasoning
    assert run.heard.done["usage"]["reasoning"] > 0


@BOTH_LOOPS
def test_changed_reasoning(ask_openai: NativeAsker, monkeypatch: pytest.MonkeyPatch, loop: str) -> None:
    """The simulator rejects it. The loop then sends the steps without reasoning, and the run ends in an answer."""

    def altered(*arguments: Any, **options: Any) -> bytes:
        body = json.loads(written(*arguments, **options))
        for item in items_of(body, "reasoning"):
            item["encrypted_content"] = item["encrypted_content"][::-1]
        return json.dumps(body).encode()

    written = dialect.body_of
    monkeypatch.setattr(dialect, "body_of", altered)
    run = ask_openai("gpt-5.4", STEPS, loop=loop, reasoning=THINK)
    assert run.statuses[:2] == [200, 400]
    assert run.outcome == ("complete", None)
    assert "2+2" in run.heard.text


@BOTH_LOOPS
def test_the_last_step_calls_no_tools(ask_openai: NativeAsker, loop: str) -> None:
    """At the step limit, the request has the same tools and the choice `none`."""
    run = ask_openai("sim-steps-8", "What is the tool loop of Signalbox?", loop=loop, max_steps=3)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200, 200])
    first, *_, last = run.requests
    assert (first.get("tool_choice", "auto"), last["tool_choice"]) == ("auto", "none")
    assert first["tools"] == last["tools"]
    assert run.heard.text


@BOTH_LOOPS
def test_another_model_goes_on(ask_openai: NativeAsker, loop: str) -> None:
    """Turns of another model are sent without its reasoning, which would be rejected."""
    first = ask_openai("gpt-5-mini", "What is 17 * 23?", loop=loop, reasoning=THINK)
    said = {"role": "assistant", "content": first.heard.text}
    messages = [{"role": "user", "content": "What is 17 * 23?"}, said, {"role": "user", "content": "And 5 * 5?"}]
    second = ask_openai("gpt-5.4", "", loop=loop, messages=messages, reasoning=THINK)
    assert (second.outcome, set(second.statuses)) == (("complete", None), {200})
    assert "25" in second.heard.text
    assert items_of(second.requests[0], "reasoning") == []


@BOTH_LOOPS
def test_later_steps_read_the_prompt_cache(ask_openai: NativeAsker, loop: str) -> None:
    """The beginning of a request is byte-identical to the request before, so most of it is cached."""
    system = f"You answer briefly. This is the loop {loop}. " * 200
    run = ask_openai("gpt-5.4", STEPS, loop=loop, system=system, reasoning=THINK)
    assert run.outcome == ("complete", None)
    usage = run.heard.done["usage"]
    assert usage["cached"] > usage["input"] / 2


@BOTH_LOOPS
@pytest.mark.parametrize(
    ("model", "reasoning", "sent"),
    [
        ("gpt-4o", THINK, {"temperature"}),
        ("gpt-5-mini", THINK, {"reasoning"}),
        ("o4-mini", None, set[str]()),
        ("gpt-5.4", None, {"temperature"}),
        ("gpt-5.4", THINK, {"reasoning"}),
    ],
)
def test_parameters_that_models_reject(
    ask_openai: NativeAsker, model: str, reasoning: dict[str, str] | None, sent: set[str], loop: str
) -> None:
    """Each model is sent only what it accepts, so that no request is rejected."""
    run = ask_openai(model, "What is 17 * 23?", loop=loop, temperature=0.5, reasoning=reasoning)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    assert all({"temperature", "reasoning"} & body.keys() == sent for body in run.requests)


@BOTH_LOOPS
@pytest.mark.parametrize("model", ACCENTS)
def test_accents(ask_openai: NativeAsker, model: str, loop: str) -> None:
    """Items and events that only some servers send neither fail a run nor change its answer."""
    run = ask_openai(model, "What is 17 * 23?", loop=loop, reasoning=THINK)
    assert run.outcome == ("complete", None)
    assert set(run.statuses) == {200}
    assert ("A step is" if model == "sim-web-search" else "391") in run.heard.text


@BOTH_LOOPS
def test_items_that_only_the_api_knows_come_back(ask_openai: NativeAsker, loop: str) -> None:
    """They are sent back unchanged, in their order."""
    run = ask_openai("sim-unknown", "What is 17 * 23?", loop=loop, reasoning=THINK)
    kinds = [item.get("type", "message") for item in run.requests[1]["input"]]
    assert kinds[-4:] == ["reasoning", "function_call", "unheard_of", "function_call_output"]


@BOTH_LOOPS
def test_a_search_of_the_api(ask_openai: NativeAsker, loop: str) -> None:
    """It is no call for the loop, and the cited page is a citation."""
    run = ask_openai("sim-web-search", "Search for the tool loop", loop=loop)
    assert run.heard.calls == []
    assert "https://example.org/7" in run.heard.raw.decode()


@BOTH_LOOPS
def test_readable_reasoning(ask_openai: NativeAsker, loop: str) -> None:
    """Reasoning that is not encrypted is shown, and comes back."""
    run = ask_openai("sim-open-reasoning", "What is 17 * 23?", loop=loop, reasoning=THINK)
    assert "I should" in run.heard.reasoning
    [item] = items_of(run.requests[1], "reasoning")
    assert item["content"][0]["type"] == "reasoning_text"
