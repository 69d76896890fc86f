"""Each case runs with five models and both loops; the simulator and OpenRouter get the same requests."""

import pytest

from tests.live.loop_client import LoopClient
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


def test_no_tools(client: LoopClient, model: str) -> None:
    """An answer without tools takes one step and has usage and cost."""
    stream = client.ask_complete(model, "Say hello, and one sentence about the sea.", tools=[])
    assert stream.calls == []
    assert stream.done["steps"] == 1
    assert len(client.trace(stream)["attempts"]) >= 1


def test_search(client: LoopClient, model: str) -> None:
    """The search runs, its sources reach the model, and the answer follows them."""
    prompt = "Search the documentation: how are searches limited (TOOL_CLAMP)? Cite the source."
    stream = client.ask_complete(model, prompt, tools=["search_web"])
    results = stream.of("tool_result")
    assert {call["name"] for call in stream.calls} == {"search_web"}
    assert any(event["result"]["success"] and event["result"]["result"]["results"] for event in results)
    kinds = [event["type"] for event in stream.events]
    last_answer = len(kinds) - 1 - kinds[::-1].index("content")
    assert kinds.index("tool_calls") < kinds.index("tool_result") < last_answer
    assert stream.done["steps"] >= 2


def test_multi_step(client: LoopClient, model: str) -> None:
    """Calls in consecutive steps run before the answer."""
    prompt = "What time is it in Tokyo? Then calculate 6*7. Use a tool for each, one after the other."
    stream = client.ask_complete(model, prompt, tools=BOTH)
    assert {call["name"] for call in stream.calls} == set(BOTH)
    assert "42" in stream.text
    steps = {event["step"] for event in stream.of("tool_calls")}
    assert stream.done["steps"] > len(steps) >= (2 if client.is_simulated else 1)


def test_parallel_calls(client: LoopClient, model: str) -> None:
    """Several calls for one question all succeed, in one step or in several."""
    prompt = "What time is it in Tokyo, and what is 1234*5678? Use the tools for both, at once if you can."
    stream = client.ask_complete(model, prompt, tools=BOTH)
    assert {call["name"] for call in stream.calls} >= set(BOTH)
    assert all(code is None for code in stream.result_codes())
    assert "7006652" in stream.text.replace(",", "").replace(" ", "").replace("\u202f", "")


def test_a_call_without_arguments(client: LoopClient, model: str) -> None:
    """A call may omit optional arguments."""
    stream = client.ask_complete(
        model, "What time is it? Use the tool, without a timezone.", tools=["get_current_time"]
    )
    assert [call["name"] for call in stream.calls][:1] == ["get_current_time"]
    assert stream.result_codes()[0] is None


def test_reasoning(client: LoopClient, model: str) -> None:
    """A run with reasoning and tools completes (quirks B1 to B5)."""
    prompt = "What time is it in Tokyo? Use the tool."
    stream = client.ask_complete(model, prompt, tools=BOTH, reasoning={"effort": "low"})
    assert stream.calls
    assert all(event["content"] or event.get("hidden") for event in stream.of("reasoning"))
    if client.is_simulated:
        assert stream.of("reasoning")


def test_an_unknown_model(client: LoopClient, model: str) -> None:
    """A misspelt model is rejected before a run starts; the error names the model."""
    wrong = f"no-such-vendor/{model.partition('/')[2]}"
    response = client.post(wrong, "Hello!")
    assert response.status_code in (404, 422)
    error = error_of(response)
    assert (error["code"], error["field"]) == ("UNKNOWN_MODEL", "model")
    assert wrong in error["message"]


@pytest.mark.parametrize("tools", [[], ["search_web"]], ids=["no tools", "tools"])
def test_a_tiny_token_limit(client: LoopClient, model: str, tools: list[str]) -> None:
    """A truncated answer has a status or warning that says so, unless a retry with a higher limit completed it (B8)."""
    prompt = "Tell me a joke about trains in at least two hundred words. Do not search."
    stream = client.ask(model, prompt, tools=tools, max_tokens=20, max_steps=2)
    assert stream.done["status"] in ("length", "complete", "error"), stream.done
    if stream.done["status"] == "complete":
        is_short = stream.done["usage"]["output"] <= 40
        assert stream.of("content")[-1].get("synthetic") or is_short or "MORE_ROOM" in stream.warnings
    else:
        assert stream.warnings[-1] == stream.done["code"]
    if client.is_simulated:
        assert stream.done.get("code") == "LENGTH" or "MORE_ROOM" in stream.warnings


def test_clamp(client: LoopClient, model: str) -> None:
    """Searches above the limit get the result TOOL_CLAMP, and one warning is emitted."""
    prompt = "Compare dedupe and clamp."
    stream = client.ask_complete(model, prompt, tools=["search_web"], tool_choice="required", max_searches=1)
    codes = stream.result_codes()
    sent = {event["id"] for event in stream.of("tool_executing")}
    assert len(sent) == 1
    assert stream.warnings.count("TOOL_CLAMP") == (1 if "TOOL_CLAMP" in codes else 0)
    if client.is_simulated:
        assert codes == [None, "TOOL_CLAMP"]
