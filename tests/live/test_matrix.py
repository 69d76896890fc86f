"""Five models, seven kinds of question, both loops; the same bodies for the simulator and for OpenRouter."""

import pytest

from tests.live.asking import Asking
from tests.support.running_app import error_of

MODELS = [
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4",
    "google/gemini-2.0-flash-001",
    "x-ai/grok-4",
    "deepseek/deepseek-chat",
]
BOTH = ["get_current_time", "calculate"]

pytestmark = pytest.mark.parametrize("model", MODELS)


def test_no_tools(asking: Asking, model: str) -> None:
    """Words stream, usage and cost are known, one model call."""
    heard = asking.answered(model, "Say hello, and one sentence about the sea.", tools=[])
    assert heard.calls == []
    assert heard.done["steps"] == 1
    assert len(asking.trace(heard)["attempts"]) >= 1


def test_search(asking: Asking, model: str) -> None:
    """The search runs, its sources reach the model, and the answer follows them."""
    prompt = "Search the documentation: how are searches limited (TOOL_CLAMP)? Cite the source."
    heard = asking.answered(model, prompt, tools=["search_web"])
    results = heard.of("tool_result")
    assert {call["name"] for call in heard.calls} == {"search_web"}
    assert any(event["result"]["success"] and event["result"]["result"]["results"] for event in results)
    kinds = [event["type"] for event in heard.events]
    last_answer = len(kinds) - 1 - kinds[::-1].index("content")
    assert kinds.index("tool_calls") < kinds.index("tool_result") < last_answer
    assert heard.done["steps"] >= 2


def test_multi_step(asking: Asking, model: str) -> None:
    """What must wait for a result waits for it: tools are used in two steps, and then there is an answer."""
    prompt = "What time is it in Tokyo? Then calculate 6*7. Use a tool for each, one after the other."
    heard = asking.answered(model, prompt, tools=BOTH)
    assert {call["name"] for call in heard.calls} == set(BOTH)
    assert "42" in heard.text
    steps = {event["step"] for event in heard.of("tool_calls")}
    assert heard.done["steps"] > len(steps) >= (2 if asking.is_simulated else 1)


def test_parallel_calls(asking: Asking, model: str) -> None:
    """Several calls for one question all run, in one step or in several, and each gets one result of its own."""
    prompt = "What time is it in Tokyo, and what is 1234*5678? Use the tools for both, at once if you can."
    heard = asking.answered(model, prompt, tools=BOTH)
    assert {call["name"] for call in heard.calls} >= set(BOTH)
    assert all(code is None for code in heard.result_codes())
    assert "7006652" in heard.text.replace(",", "").replace(" ", "").replace("\u202f", "")


def test_a_call_without_arguments(asking: Asking, model: str) -> None:
    """The time can be asked for without a zone."""
    heard = asking.answered(model, "What time is it? Use the tool, without a timezone.", tools=["get_current_time"])
    assert [call["name"] for call in heard.calls][:1] == ["get_current_time"]
    assert heard.result_codes()[0] is None


def test_reasoning(asking: Asking, model: str) -> None:
    """Reasoning is asked for beside tools: it goes back where it must, and the run ends well (quirks B1 to B5)."""
    prompt = "What time is it in Tokyo? Use the tool."
    heard = asking.answered(model, prompt, tools=BOTH, reasoning={"effort": "low"})
    assert heard.calls
    assert all(event["content"] or event.get("hidden") for event in heard.of("reasoning"))
    if asking.is_simulated:
        assert heard.of("reasoning")


def test_a_model_that_is_not_there(asking: Asking, model: str) -> None:
    """A misspelt model is refused before a run exists, with its name."""
    wrong = f"no-such-vendor/{model.partition('/')[2]}"
    response = asking.post(wrong, "Hello!")
    assert response.status_code in (404, 422)
    error = error_of(response)
    assert (error["code"], error["field"]) == ("UNKNOWN_MODEL", "model")
    assert wrong in error["message"]


@pytest.mark.parametrize("tools", [[], ["search_web"]], ids=["no tools", "tools"])
def test_a_tiny_token_limit(asking: Asking, model: str, tools: list[str]) -> None:
    """An answer that is cut says so, is short, or was given more room once (B8); it is never passed off as whole."""
    prompt = "Tell me a joke about trains in at least two hundred words. Do not search."
    heard = asking.ask(model, prompt, tools=tools, max_tokens=20, max_steps=2)
    assert heard.done["status"] in ("length", "complete", "error"), heard.done
    if heard.done["status"] == "complete":
        is_short = heard.done["usage"]["output"] <= 40
        assert heard.of("content")[-1].get("synthetic") or is_short or "MORE_ROOM" in heard.warnings
    else:
        assert heard.warnings[-1] == heard.done["code"]
    if asking.is_simulated:
        assert heard.done.get("code") == "LENGTH" or "MORE_ROOM" in heard.warnings


def test_clamp(asking: Asking, model: str) -> None:
    """More searches than are allowed: one is sent, the others are answered with a code, one warning tells of it."""
    prompt = "Compare dedupe and clamp."
    heard = asking.answered(model, prompt, tools=["search_web"], tool_choice="required", max_searches=1)
    codes = heard.result_codes()
    sent = {event["id"] for event in heard.of("tool_executing")}
    assert len(sent) == 1
    assert heard.warnings.count("TOOL_CLAMP") == (1 if "TOOL_CLAMP" in codes else 0)
    if asking.is_simulated:
        assert codes == [None, "TOOL_CLAMP"]
