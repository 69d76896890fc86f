"""B1 to B14: reasoning is sent back where required, left out where forbidden, and shown once."""

from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry

from tests.scenarios.quirks.sim_runs import Asker, Body, call, calling, calls, question, result, roles, said_by, user
from tests.support.running_app import error_of

THINKS = {"effort": "medium"}
SEALS = ("openai", "anthropic", "google", "x-ai")
OPEN = ("deepseek", "mistralai", "moonshotai", "qwen")
TOLD = "I go on from what the tools returned"


def _details(body: Body) -> list[list[Body]]:
    """Return the reasoning details of each assistant message with calls, in order."""
    return [message["reasoning_details"] for message in calling(body)]


def _has_no_reasoning(body: Body) -> bool:
    fields = {"reasoning", "reasoning_content", "reasoning_details"}
    return not any(fields & message.keys() for message in body["messages"])


def test_b01_geminis_signatures_go_back_with_its_calls(ask_sim: Asker) -> None:
    """Gemini rejects missing or wrong signatures; they are sent back unchanged in every later request."""
    observed = ask_sim("google/sim-quirk-b01", reasoning=THINKS)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    assert [len(_details(body)) for body in observed.requests] == [0, 1, 2]
    assert _details(observed.requests[1]) == _details(observed.requests[2])[:1]
    for message in calling(observed.last):
        text, seal = message["reasoning_details"]
        assert (text["type"], seal["type"]) == ("reasoning.text", "reasoning.encrypted")
        assert len(seal["data"]) > 50


@pytest.mark.parametrize("family", [*SEALS, *OPEN])
def test_b01_every_familys_details_go_back_inside_the_loop(ask_sim: Asker, family: str) -> None:
    """Each family's strict model accepts three steps of reasoning and calls."""
    observed = ask_sim(f"{family}/sim-quirk-b01", reasoning=THINKS)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    assert all(_details(observed.last))


def test_b02_a_loop_stays_at_the_host_that_signed_it(ask_sim: Asker) -> None:
    """From the second step on the request is pinned to the provider; other preferences stay."""
    observed = ask_sim("google/sim-quirk-b02", reasoning=THINKS, provider={"data_collection": "deny"})
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    pinned = {"data_collection": "deny", "order": ["google-vertex"], "allow_fallbacks": False}
    assert [body["provider"] for body in observed.requests] == [{"data_collection": "deny"}, pinned, pinned]
    assert {attempt["provider"] for attempt in observed.trace(ask_sim.app)["attempts"]} == {"Google"}


def test_b02_a_pinned_host_that_is_gone_is_left_without_what_it_signed(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """Without that provider, signatures are dropped and calls and results are sent as delimited text."""
    observed = ask_sim("google/sim-quirk-b02-gone", reasoning=THINKS)
    assert observed.statuses == [200, 503, 503, 503, 200]
    assert observed.status == ("complete", None)
    assert TOLD in observed.heard.text
    assert "provider" not in observed.last
    assert roles(observed.last) == ["user"]
    assert _has_no_reasoning(observed.last)
    assert "<outside-" in observed.last["messages"][0]["content"]
    assert observed.heard.result_codes() == [None]


def test_b02_hosts_of_other_families_are_not_pinned(ask_sim: Asker) -> None:
    """Anthropic's signatures are valid at every provider, so nothing is pinned."""
    observed = ask_sim("anthropic/sim-quirk-b01", reasoning=THINKS)
    assert all("provider" not in body for body in observed.requests)


def test_b03_pieces_of_a_signed_thought_are_one_detail(ask_sim: Asker) -> None:
    """Text, text, then a signature: one detail per turn is sent back, not one per piece or call."""
    observed = ask_sim("anthropic/sim-quirk-b03")
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    for message in calling(observed.last):
        [detail] = message["reasoning_details"]
        assert (detail["type"], detail["index"]) == ("reasoning.text", 0)
        assert detail["text"]
        assert detail["signature"]
        assert detail["text"] in observed.heard.reasoning
        assert set(message["tool_calls"][0]) == {"id", "type", "function"}


@pytest.mark.parametrize("family", SEALS)
def test_b04_refused_details_are_left_out_once(ask_sim: Asker, family: str) -> None:
    """If a provider rejects valid details, the loop is sent as text once, and nothing is shown twice."""
    observed = ask_sim(f"{family}/sim-quirk-b04", reasoning=THINKS)
    assert observed.statuses == [200, 400, 200]
    assert observed.status == ("complete", None)
    assert observed.heard.text.endswith("which came as text.")
    assert len(observed.heard.calls) == 1
    assert len(observed.heard.of("tool_result")) == 1
    assert roles(observed.last) == (
        ["user", "assistant", "user"] if observed.heard.text.startswith("Let me") else ["user"]
    )
    assert _has_no_reasoning(observed.last)


@pytest.mark.parametrize("maker", SEALS)
def test_b04_another_models_details_are_not_sent(ask_sim: Asker, maker: str) -> None:
    """A conversation with one model's signed reasoning continues at other models, which would reject it."""
    made = ask_sim(f"{maker}/sim-quirk-b01", reasoning=THINKS)
    history = [{**message, "content": message.get("content") or ""} for message in made.last["messages"]]
    assert _details(made.last)
    for other in {*SEALS, *OPEN} - {maker}:
        observed = ask_sim(f"{other}/sim", messages=[*history, user("Hello!")], reasoning=THINKS)
        assert (observed.status, observed.statuses) == (("complete", None), [200]), other
        assert _has_no_reasoning(observed.last)


@pytest.mark.parametrize("fallback", ["anthropic", "google", "deepseek"])
def test_b04_a_fallbacks_details_are_not_sent(ask_sim: Asker, fallback: str) -> None:
    """After a fallback, the next step asks the requested model, without the fallback's details."""
    observed = ask_sim("openai/sim-error-503", reasoning=THINKS, models=[f"{fallback}/sim"], max_steps=2)
    assert (observed.status, observed.heard.done["model"]) == (("complete", None), f"{fallback}/sim")
    assert len(observed.requests) >= 2
    assert all(map(_has_no_reasoning, observed.requests))


def test_b05_deepseek_gets_its_reasoning_back_in_the_loop(ask_sim: Asker) -> None:
    """DeepSeek requires the reasoning of turns with calls; details go back in their original field."""
    observed = ask_sim("deepseek/sim-steps-2")
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    assert all(_details(observed.last))


@pytest.mark.parametrize("family", ["deepseek", "moonshotai"])
def test_b05_plain_reasoning_goes_back_under_its_own_name(ask_sim: Asker, family: str) -> None:
    """Reasoning without details is sent back in the field it came in; other families do not receive it."""
    observed = ask_sim(f"{family}/sim-quirk-b10-content")
    [message] = calling(observed.last)
    assert message["reasoning_content"]
    assert observed.heard.reasoning.startswith(message["reasoning_content"])
    assert _has_no_reasoning(ask_sim("openai/sim-quirk-b10-content").last)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "search_web"}}])
@pytest.mark.parametrize(
    ("family", "reasoning"),
    [("anthropic", THINKS), ("deepseek", THINKS), ("qwen", THINKS), ("deepseek", None), ("qwen", None)],
)
def test_b06_a_call_is_not_forced_while_the_model_reasons(
    ask_sim: Asker, family: str, reasoning: Any, choice: Any
) -> None:
    """The tool choice becomes `auto`, also for models that always reason, and the run warns."""
    asked = {"tool_choice": choice, **({"reasoning": reasoning} if reasoning else {})}
    observed = ask_sim(f"{family}/sim", **asked)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert [body["tool_choice"] for body in observed.requests] == ["auto", "auto"]
    [warning] = observed.heard.of("warning")
    assert warning["code"] == "PARAM_DROPPED"
    assert "tool_choice" in warning["message"]


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("anthropic/sim", {}),
        ("deepseek/sim", {"reasoning": {"enabled": False}}),
        ("qwen/sim", {"reasoning": {"effort": "none"}}),
        ("deepseek/deepseek-chat", {}),
        ("openai/sim", {"reasoning": THINKS}),
    ],
)
def test_b06_a_call_is_forced_where_the_model_does_not_reason_or_may(ask_sim: Asker, model: str, asked: Body) -> None:
    """The client's tool choice applies to the first step."""
    observed = ask_sim(model, tool_choice="required", **asked)
    assert observed.status == ("complete", None)
    assert [body["tool_choice"] for body in observed.requests] == ["required", "auto"]
    assert observed.heard.warnings == []


def test_b07_an_open_loop_without_its_thinking_goes_on_without_thinking(ask_sim: Asker) -> None:
    """A client's tool loop without reasoning is sent with thinking off, since Claude would reject it."""
    opened = [user("What is 2 + 2?"), calls(call("call_0001")), result("call_0001")]
    observed = ask_sim("anthropic/sim", messages=opened, reasoning=THINKS)
    assert observed.status == ("complete", None)
    assert {200} == set(observed.statuses)
    assert all(body["reasoning"] == {"enabled": False} for body in observed.requests)


def test_b07_closed_turns_need_no_thinking(ask_sim: Asker) -> None:
    """Thinking stays on before a new question and in the loop that it began."""
    closed = [user("Hi"), calls(call("call_0001")), result("call_0001"), {"role": "assistant", "content": "Two."}]
    observed = ask_sim("anthropic/sim", messages=[*closed, user(question())], reasoning=THINKS)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert all(body["reasoning"] == THINKS for body in observed.requests)


@pytest.mark.parametrize(
    ("asked", "room", "effort"),
    [
        ({"max_tokens": 300, "reasoning": {"effort": "high"}}, 1324, "low"),
        ({"max_tokens": 4000}, 8000, None),
        ({}, 2024, None),
    ],
)
def test_b08_a_model_that_spent_its_room_thinking_is_asked_once_more(
    ask_sim: Asker, asked: Body, room: int, effort: str | None
) -> None:
    """The retry has a higher token limit than the cap or the usage, less effort, and a warning."""
    observed = ask_sim("openai/sim-quirk-b08", **asked)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    assert observed.heard.warnings == ["MORE_ROOM"]
    assert [body.get("max_tokens") for body in observed.requests] == [asked.get("max_tokens"), room, room]
    assert observed.last.get("reasoning", {}).get("effort") == effort


def test_b08_the_second_time_it_is_told(ask_sim: Asker) -> None:
    """There is one retry, then an error with its own message."""
    observed = ask_sim("openai/sim-quirk-b08-always", max_tokens=300)
    assert observed.status == ("length", "REASONING_LENGTH")
    assert observed.statuses == [200, 200]
    assert "reasoning" in observed.heard.done["error"]
    assert observed.heard.text == ""


def test_b08_a_budget_leaves_room_for_the_answer(ask_sim: Asker) -> None:
    """max_tokens at or below the thinking budget is raised above it, with a warning."""
    observed = ask_sim("anthropic/sim", reasoning={"max_tokens": 2000}, max_tokens=2000)
    assert observed.status == ("complete", None)
    assert {body["max_tokens"] for body in observed.requests} == {3024}
    assert observed.heard.warnings == ["PARAM_DROPPED"]


@pytest.mark.parametrize(
    "asked",
    [
        {"reasoning": {"effort": "low", "max_tokens": 100}},
        {"reasoning": {"max_tokens": 100}, "reasoning_effort": "low"},
    ],
)
def test_b09_effort_and_budget_together_are_refused_here(ask_sim: Asker, asked: Body) -> None:
    """Nothing is sent, and the error names the field."""
    ask_sim.simulator.state.requests.clear()
    response = ask_sim.app.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi", **asked})
    assert response.status_code == 422
    assert "not both" in error_of(response)["message"]
    assert ask_sim.simulator.state.requests == []


@pytest.mark.parametrize("asked", [{"reasoning": {"max_tokens": 2000}}, {"reasoning_effort": "low"}])
def test_b09_exactly_one_is_sent(ask_sim: Asker, asked: Body) -> None:
    """The budget is sent, or the effort from either of its fields."""
    observed = ask_sim("openai/sim", **asked)
    assert observed.status == ("complete", None)
    assert observed.last["reasoning"] == asked.get("reasoning", {"effort": "low"})
    assert "reasoning_effort" not in observed.last


@pytest.mark.parametrize("quirk", ["b10", "b10-three"])
@pytest.mark.parametrize("family", ["openai", "anthropic", "deepseek"])
def test_b10_reasoning_in_several_fields_is_shown_once(ask_sim: Asker, family: str, quirk: str) -> None:
    """Each step's reasoning is emitted once, and only the details are sent back."""
    observed = ask_sim(f"{family}/sim-quirk-{quirk}", reasoning=THINKS)
    assert observed.status == ("complete", None)
    [message] = calling(observed.last)
    [shown] = [d for d in message["reasoning_details"] if d["type"] != "reasoning.encrypted"]
    thought = shown.get("text") or shown["summary"]
    assert observed.heard.reasoning.count(thought[:40]) == 1
    assert not {"reasoning", "reasoning_content"} & message.keys()


def test_b10_the_third_name_alone_is_shown(ask_sim: Asker) -> None:
    """`reasoning_content` alone is shown, too."""
    assert "so I call search_web" in ask_sim("openai/sim-quirk-b10-content").heard.reasoning


@pytest.mark.parametrize("variant", ["", "-split"])
@pytest.mark.parametrize("family", ["qwen", "deepseek"])
def test_b11_thinking_in_the_answer_is_taken_out(ask_sim: Asker, family: str, variant: str) -> None:
    """Text in thinking tags is reasoning, also in a step with calls; the answer has neither."""
    observed = ask_sim(f"{family}/sim-quirk-b11{variant}")
    assert observed.status == ("complete", None)
    assert observed.heard.text.startswith("Here is what I found")
    assert "think>" not in observed.heard.text + observed.heard.reasoning
    assert observed.heard.reasoning.count("I ") >= 2
    assert "think>" not in str(observed.last["messages"])


def test_b11_a_tag_that_never_closes_loses_no_letter(ask_sim: Asker) -> None:
    """Everything after an open tag is reasoning, and the missing answer is handled as in D2."""
    observed = ask_sim("qwen/sim-quirk-b11-open")
    assert observed.status == ("complete", None)
    assert "Here is what I found" in observed.heard.reasoning
    assert observed.heard.warnings == ["FINAL_EMPTY"]
    assert "<think>" not in observed.heard.text


def test_b11_only_the_beginning_of_an_answer_is_looked_at(ask_sim: Asker) -> None:
    """A closing tag after text, and an answer about tags, are shown unchanged and without delay."""
    quoted = ask_sim("qwen/sim-quirk-b11-quoted").heard
    assert "Some models write `<think>` and `</think>` themselves." in quoted.text
    assert quoted.reasoning == ""
    for variant in ("-stray", "-close"):
        assert "</think>" in ask_sim(f"qwen/sim-quirk-b11{variant}").heard.text


def test_b11_families_that_do_not_do_this_are_left_alone(ask_sim: Asker) -> None:
    """A profile enables the parser; OpenAI's does not."""
    observed = ask_sim("openai/sim-quirk-b11")
    assert "<think>" in observed.heard.text
    assert observed.heard.reasoning == ""


@pytest.mark.parametrize("family", ["openai", "google", "moonshotai"])
def test_b12_reasoning_that_the_provider_hides_is_told_as_hidden(ask_sim: Asker, family: str) -> None:
    """Each step emits one event without text that marks hidden reasoning."""
    observed = ask_sim(f"{family}/sim-quirk-b12")
    assert observed.status == ("complete", None)
    hidden = observed.heard.of("reasoning")
    assert [(event["content"], event["hidden"], event["step"]) for event in hidden] == [("", True, 1), ("", True, 2)]


@pytest.mark.parametrize("family", SEALS)
def test_b13_seals_never_leave_the_server(ask_sim: Asker, family: str) -> None:
    """Signatures that were sent back are in neither the stream nor the trace."""
    observed = ask_sim(f"{family}/sim-quirk-b01", reasoning=THINKS)
    seals = [detail.get("data") or detail.get("signature") for items in _details(observed.last) for detail in items]
    seals = [seal for seal in seals if seal]
    assert len(seals) == 2
    seen = observed.heard.raw.decode() + str(observed.trace(ask_sim.app))
    assert not [seal for seal in seals if seal in seen]


@pytest.mark.parametrize("family", ["openai", "moonshotai", "mistralai"])
def test_b14_a_turn_of_reasoning_alone_is_not_kept(ask_sim: Asker, family: str) -> None:
    """A turn with only reasoning is followed by a final request and is left out of later ones."""
    observed = ask_sim(f"{family}/sim-quirk-b14")
    assert observed.status == ("complete", None)
    assert observed.heard.warnings == ["FINAL_EMPTY"]
    assert observed.heard.of("content")[-1]["synthetic"] is True
    for body in observed.requests:
        assert all(message.get("tool_calls") for message in said_by(body, "assistant"))
    wedged = [user("Why?"), {"role": "assistant", "content": "", "reasoning": "Hm."}, user("Hello!")]
    later = ask_sim(f"{family}/sim", messages=wedged)
    assert later.status == ("complete", None)
    assert "assistant" not in roles(later.last)


def test_b14_a_first_turn_of_reasoning_alone_is_an_error_of_its_own(ask_sim: Asker) -> None:
    """Without tools there is no fallback: the run reports that there is no answer."""
    observed = ask_sim("openai/sim-reasoning-only", tools=[])
    assert observed.status == ("error", "EMPTY_ANSWER")
    assert observed.heard.reasoning
