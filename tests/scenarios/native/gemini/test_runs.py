"""Runs over Gemini's own API: tools, thoughts with signatures, finalize steps."""

from itertools import pairwise

import pytest

from tests.scenarios.native.gemini.gemini_runs import QUESTION, GeminiRuns, parts, signatures
from tests.scenarios.native.native_runs import KEY


def test_one_tool(gemini: GeminiRuns) -> None:
    """A call is executed, its result is sent back under its name and id, and the answer uses it."""
    heard, [first, second] = gemini("sim")
    assert (heard.done["status"], heard.done["upstream"]) == ("complete", "native")
    assert [call["name"] for call in heard.calls] == ["search_web"]
    assert heard.text
    [[called, *_]] = parts(second, "model")
    [_, [result]] = parts(second, "user")
    assert result["functionResponse"]["name"] == called["functionCall"]["name"]
    assert result["functionResponse"]["id"] == called["functionCall"]["id"]
    assert second["contents"][: len(first["contents"])] == first["contents"]
    assert heard.done["usage"]["output"] > 0
    assert KEY.encode() not in heard.raw


@pytest.mark.parametrize("model", ["sim-parallel", "gemini-2.5-flash"])
def test_calls_with_and_without_ids(gemini: GeminiRuns, model: str) -> None:
    """Parallel calls, and calls of older models without ids, have one result each in one content."""
    heard, requests = gemini(model, "Search for replay, then calculate 2+2")
    assert heard.done["status"] == "complete"
    assert len(heard.of("tool_result")) == len(heard.calls) >= 2
    for turn, results in zip(parts(requests[-1], "model"), parts(requests[-1], "user")[1:], strict=True):
        called = [part["functionCall"]["name"] for part in turn if "functionCall" in part]
        assert [part["functionResponse"]["name"] for part in results] == called


def test_thoughts_and_their_signatures(gemini: GeminiRuns) -> None:
    """Over several steps, each request has the signatures of all steps before it, unchanged."""
    heard, requests = gemini("sim-steps-3", reasoning_effort="medium")
    assert heard.done["status"] == "complete"
    assert heard.reasoning
    assert [len(signatures(body)) for body in requests] == [0, 1, 2, 3]
    for body, after in pairwise(requests):
        assert after["contents"][: len(body["contents"])] == body["contents"]
        assert signatures(after)[: len(signatures(body))] == signatures(body)


def test_the_prefix_is_cached(gemini: GeminiRuns) -> None:
    """The requests of a run share their prefix, so the upstream reads it from its cache."""
    heard, _ = gemini("sim-steps-2", QUESTION + ". " + "This is a long question. " * 200)
    assert heard.done["status"] == "complete"
    assert heard.done["usage"]["cached"] > 1024


def test_a_finalize_step(gemini: GeminiRuns) -> None:
    """After the last step, mode NONE turns the tools off, and the answer uses the results."""
    heard, requests = gemini("sim-steps-8", max_steps=3)
    assert heard.done["status"] in ("complete", "clamped")
    assert heard.text
    last = requests[-1]
    assert last["toolConfig"]["functionCallingConfig"]["mode"] == "NONE"
    assert last["tools"] == requests[0]["tools"]


def test_a_conversation_goes_on(gemini: GeminiRuns) -> None:
    """The answer is sent back in the next request, and the upstream accepts it."""
    heard, _ = gemini("sim", "hello")
    history = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": heard.text},
        {"role": "user", "content": "What is 17 * 23?"},
    ]
    heard, _ = gemini("sim", messages=history)
    assert heard.done["status"] == "complete"
    assert "391" in heard.text


def test_another_model_in_the_middle(gemini: GeminiRuns) -> None:
    """Signatures are valid only for their model: after a change of the model, the history has none of them."""
    talk = f"gemini-change-{gemini.loop}"
    models = ("sim", "gemini-2.5-flash", "gemini-3-flash-preview", "sim")
    for number, model in enumerate(models):
        heard, requests = gemini(model, f"Search for the tool loop ({number})", conversation_id=talk)
        assert heard.done["status"] == "complete"
        assert [call["name"] for call in heard.calls] == ["search_web"]
        assert heard.text
        assert len(requests) == 2
