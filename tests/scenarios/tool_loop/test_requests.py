"""Upstream requests: guardrail parameters on every request, and unstreamed steps where a profile requires them."""

import json
from dataclasses import replace
from typing import Any

import pytest
from signalbox.chat import context
from signalbox.profiles import Profile, profile_for

from tests.scenarios.tool_loop.scenario import Scenarios, results_of
from tests.scenarios.tool_loop.script import Said, answers, body_of, calls, fails, says, search
from tests.support.scripted_upstream import DONE, chunk, sends

FORMAT = {"type": "json_object"}


@pytest.mark.parametrize(
    ("model", "parallel", "response_format"),
    [
        ("anthropic/claude-sonnet-4", False, FORMAT),
        ("x-ai/grok-4", False, None),
        ("openai/gpt-4o", None, FORMAT),
        ("deepseek/deepseek-chat", None, FORMAT),
    ],
)
def test_guardrails_are_on_every_request(
    scenario: Scenarios, model: str, parallel: bool | None, response_format: Any
) -> None:
    """First step, retry, later step, final request and its retry all have them (PS-12)."""
    stage = scenario(calls(search("tides")), fails(502), calls(search("moon")), answers(), answers("Done."))
    heard = stage.ask(model=model, max_steps=3, response_format=FORMAT)
    assert heard.text == "Done."
    assert [body.get("tool_choice") for body in stage.bodies] == [None, None, None, "none", "none"]
    assert [body.get("parallel_tool_calls") for body in stage.bodies] == [parallel] * 5
    assert [body.get("response_format") for body in stage.bodies] == [response_format] * 5
    assert all(body["tools"] == stage.bodies[0]["tools"] for body in stage.bodies)
    assert stage.streamed == stage.each(False, False, False, True, True)
    told = ["PARAM_DROPPED"] if response_format is None else []
    assert heard.warnings == [*told, "MAX_STEPS"]


def test_guardrails_leave_tool_free_runs_alone(scenario: Scenarios) -> None:
    """Without tools they are not sent, since providers reject parallel_tool_calls then (C3)."""
    stage = scenario(answers("Done."))
    stage.ask(model="x-ai/grok-4", tools=[], response_format=FORMAT, parallel_tool_calls=True)
    assert "parallel_tool_calls" not in stage.bodies[0]
    assert stage.bodies[0]["response_format"] == FORMAT
    assert stage.streamed == [True]


def test_a_callers_none_is_no_play_of_tools(scenario: Scenarios) -> None:
    """With `tool_choice: none` both loops stream, and calls are not executed."""
    stage = scenario(says(Said(text=("Half ", "and half."), calls=(search("tides"),))))
    heard = stage.ask(tool_choice="none")
    assert (heard.text, heard.calls, stage.searched) == ("Half and half.", [], [])
    assert (stage.streamed, len(heard.of("content"))) == ([True], 2)


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "search_web"}}], ids=["required", "named"]
)
def test_a_forced_choice_binds_the_first_step(scenario: Scenarios, choice: Any) -> None:
    """The choice is forced once; then the model may answer (PS-10)."""
    stage = scenario(calls(search("tides")), answers("Done."))
    stage.ask(tool_choice=choice)
    assert [body["tool_choice"] for body in stage.bodies] == [choice, "auto"]


def test_reasoning_details_go_back_unchanged(scenario: Scenarios) -> None:
    """Within the tool loop the provider receives its details and ids unchanged, streamed or not (B1)."""
    details = [{"type": "reasoning.encrypted", "data": "x", "id": "call_0", "index": 0}]
    said = Said(calls=(search("tides"),))
    message = body_of(said)["choices"][0]["message"] | {"reasoning_details": details}

    async def script(exchange: Any) -> None:
        if exchange.asked.body["stream"]:
            await sends(chunk(message), chunk({}, finish="tool_calls") + DONE)(exchange)
            return
        body = body_of(said)
        body["choices"][0]["message"] = message
        await exchange.whole(200, _json(body))

    stage = scenario(script, answers("Done."))
    stage.ask()
    [sent] = [message for message in stage.bodies[1]["messages"] if message["role"] == "assistant"]
    assert sent["reasoning_details"] == details
    assert list(results_of(stage.bodies[1])) == ["call_0"]


@pytest.fixture
def whole_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark the streamed calls of every family as unreliable."""

    def doubted(model: str) -> Profile:
        return replace(profile_for(model), stream_tools=False)

    monkeypatch.setattr(context, "profile_for", doubted)


def test_steps_are_taken_whole_where_streamed_calls_cannot_be_trusted(scenario: Scenarios, whole_steps: None) -> None:
    """V2 requests one body per step with tools, and streams the final answer, like legacy."""
    stage = scenario(
        calls(search("tides"), search("moon"), search("tides"), text=("Let me ", "look.")),
        answers("Tides ", "rise.", reasoning=("So.",)),
    )
    heard = stage.ask(max_steps=2)
    assert stage.streamed == [False, True]
    assert sorted(stage.searched) == ["moon", "tides"]
    assert heard.result_codes() == [None, None, None]
    assert [event["content"] for event in heard.of("content")] == ["Let me look.", "\n\n", "Tides ", "rise."]
    assert list(results_of(stage.bodies[1])) == ["call_0", "call_1", "call_2"]
    assert heard.done["usage"] == {"input": 20, "output": 10}


def test_tool_free_runs_stream_whatever_the_profile_says(scenario: Scenarios, whole_steps: None) -> None:
    """The fact concerns calls: without tools every family streams."""
    stage = scenario(answers("One, ", "two."))
    heard = stage.ask(tools=[])
    assert (stage.streamed, len(heard.of("content"))) == ([True], 2)


def test_a_whole_step_at_its_limit_goes_on(scenario: Scenarios, whole_steps: None) -> None:
    """Both continue; V2 starts an eager call as soon as it is complete, legacy knows the finish reason first."""
    stage = scenario(calls(search("tides"), finish="length"), answers("Done."))
    heard = stage.ask()
    assert (heard.text, heard.done["status"]) == ("Done.", "complete")
    assert heard.result_codes() == (["STEP_FAILED"] if stage.loop == "legacy" else [None])
    assert len(results_of(stage.bodies[1])) == 1


def test_a_message_inside_a_chunk_is_understood(scenario: Scenarios) -> None:
    """A chunk with a complete `message` is an answer, including its calls."""
    body = body_of(Said(calls=(search("tides"),)))
    answer = body_of(Said(text=("Tides rise.",)))
    frame = b"data: " + _json(body) + b"\n\n" + DONE

    async def first(exchange: Any) -> None:
        stream = exchange.asked.body["stream"]
        await (sends(frame)(exchange) if stream else exchange.whole(200, _json(body)))

    async def second(exchange: Any) -> None:
        await sends(b"data: " + _json(answer) + b"\n\n" + DONE)(exchange)

    stage = scenario(first, second)
    heard = stage.ask(max_steps=2)
    assert stage.streamed == stage.each(False, True)
    assert (heard.text, stage.searched, heard.result_codes()) == ("Tides rise.", ["tides"], [None])


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
