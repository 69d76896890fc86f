"""Runs over OpenAI's own chat completions, which reject what OpenRouter's accept, on both loops."""

import pytest
from signalbox.simulator.faults.scripted import TURNS, WIRE_FAULTS

from tests.scenarios.native.native_runs import KEY, LOOPS, NativeAsker

ASKED = "What is the tool loop of Signalbox?"
STEPS = "Search for replay, then calculate 2+2"
Outcome = tuple[str, str | None]
COMPLETE: Outcome = ("complete", None)
CUT = ("interrupted", "STREAM_CUT")
BOTH_LOOPS = pytest.mark.parametrize("loop", LOOPS)
# The legacy loop requests steps with tools whole, not as streams.
ENDINGS: dict[str, tuple[Outcome, ...]] = {
    "sim-json-error": (("error", "RATE_LIMIT"),) * 2,
    "sim-midstream-error": (("error", "UPSTREAM_ERROR"), ("error", "RATE_LIMIT")),
    "sim-cut": (CUT, CUT),
    "sim-cut-tool": (CUT, CUT),
    "sim-eof": (CUT, CUT),
    "sim-done-only": (CUT, CUT),
    "sim-no-done": (COMPLETE, COMPLETE),
    "sim-drip": (COMPLETE, COMPLETE),
    "sim-malformed": (COMPLETE, ("error", "UPSTREAM_PROTOCOL")),
    "sim-empty": (("error", "EMPTY_ANSWER"),) * 2,
    "sim-reasoning-only": (("error", "EMPTY_ANSWER"),) * 2,
    "sim-length": (("length", "LENGTH"),) * 2,
    "sim-length-document": (("length", "LENGTH"),) * 2,
    "sim-length-repeat": (("length", "LENGTH"),) * 2,
    "sim-length-empty": (("length", "REASONING_LENGTH"),) * 2,
    "sim-length-tool": (COMPLETE, COMPLETE),
    "sim-refusal": (("content_filter", "CONTENT_FILTER"),) * 2,
    "sim-filter": (("content_filter", "CONTENT_FILTER"),) * 2,
    "sim-duplicate": (COMPLETE, COMPLETE),
    "sim-searches-8": (COMPLETE, COMPLETE),
    "sim-steps-5": (COMPLETE, COMPLETE),
    "sim-parallel": (COMPLETE, COMPLETE),
    "sim-bad-args": (COMPLETE, COMPLETE),
    "sim-unknown-tool": (COMPLETE, COMPLETE),
    "sim-same-id": (COMPLETE, COMPLETE),
    "sim-late-stop": (COMPLETE, COMPLETE),
    "sim-stubborn": (COMPLETE, COMPLETE),
    "sim-silent-finalize": (COMPLETE, COMPLETE),
    "sim-long": (COMPLETE, COMPLETE),
}


def test_every_fault_is_tested() -> None:
    """A new fault needs an ending here; `error` has its own test, and `stall` one at the Responses API."""
    tested = {name.removeprefix("sim-").rstrip("-0123456789") for name in ENDINGS}
    assert {*WIRE_FAULTS, *TURNS} - tested == {"error", "stall"}


@BOTH_LOOPS
@pytest.mark.parametrize(
    ("status", "code", "requests"),
    [
        (400, "UPSTREAM_REJECTED", 1),
        (401, "UPSTREAM_AUTH", 1),
        (404, "UPSTREAM_NOT_FOUND", 1),
        (408, "UPSTREAM_TIMEOUT", 3),
        (413, "UPSTREAM_TOO_LARGE", 1),
        (429, "RATE_LIMIT", 3),
        (500, "UPSTREAM_ERROR", 3),
        (503, "UPSTREAM_OVERLOADED", 3),
    ],
)
def test_error_statuses(ask_chat: NativeAsker, status: int, code: str, requests: int, loop: str) -> None:
    """Only temporary errors are retried; the key is in no event."""
    run = ask_chat(f"sim-error-{status}", ASKED, loop=loop)
    assert (run.outcome, run.statuses) == (("error", code), [status] * requests)
    assert KEY.encode() not in run.heard.raw


@BOTH_LOOPS
def test_no_credit(ask_chat: NativeAsker, loop: str) -> None:
    """An exhausted quota is a 429, too, but no rate limit: waiting does not help."""
    run = ask_chat("sim-afford-500", ASKED, loop=loop, max_tokens=600)
    assert (run.outcome, run.statuses) == (("error", "UPSTREAM_CREDITS"), [429])


@BOTH_LOOPS
@pytest.mark.parametrize("model", ["sim", "gpt-4o", "gpt-5-mini", "gpt-5.4", "o4-mini"])
def test_tool_loops(ask_chat: NativeAsker, model: str, loop: str) -> None:
    """Several steps are accepted; the answer uses their results."""
    run = ask_chat(model, STEPS, loop=loop)
    assert (run.outcome, run.statuses) == (COMPLETE, [200, 200, 200])
    assert "**4**" in run.heard.text
    usage = run.heard.done["usage"]
    assert usage["input"] > 0
    assert (usage.get("reasoning", 0) > 0) == (model in ("sim", "gpt-5-mini", "o4-mini"))


@BOTH_LOOPS
@pytest.mark.parametrize("fault", ENDINGS)
def test_endings(ask_chat: NativeAsker, fault: str, loop: str) -> None:
    """Status and code say what happened; nothing is rejected as an invalid request."""
    run = ask_chat(fault, ASKED, loop=loop)
    assert run.outcome == ENDINGS[fault][LOOPS.index(loop)]
    assert set(run.statuses) == {200}


@BOTH_LOOPS
def test_the_last_step_calls_no_tools(ask_chat: NativeAsker, loop: str) -> None:
    """At the step limit, the request has the same tools and the choice `none`."""
    run = ask_chat("sim-steps-8", ASKED, loop=loop, max_steps=3)
    assert (run.outcome, run.statuses) == (COMPLETE, [200, 200, 200])
    assert run.requests[-1]["tool_choice"] == "none"
    assert run.requests[0]["tools"] == run.requests[-1]["tools"]


@BOTH_LOOPS
@pytest.mark.parametrize(
    ("model", "name"),
    [("gpt-4o", "max_tokens"), ("gpt-5-mini", "max_completion_tokens"), ("gpt-5.4", "max_completion_tokens")],
)
def test_a_limit_of_tokens(ask_chat: NativeAsker, model: str, name: str, loop: str) -> None:
    """Reasoning models get the limit under its newer name."""
    run = ask_chat(model, "What is 17 * 23?", loop=loop, max_tokens=500)
    assert (run.outcome, run.statuses) == (COMPLETE, [200, 200])
    assert run.requests[0][name] == 500


@BOTH_LOOPS
@pytest.mark.parametrize(
    ("model", "sent"),
    [("gpt-4o", {"temperature"}), ("gpt-5-mini", {"reasoning_effort"}), ("o4-mini", {"reasoning_effort"})],
)
def test_parameters_that_models_reject(ask_chat: NativeAsker, model: str, sent: set[str], loop: str) -> None:
    """Each model is sent only what it accepts, so that no request is rejected."""
    run = ask_chat(model, "What is 17 * 23?", loop=loop, temperature=0.5, reasoning={"effort": "low"})
    assert (run.outcome, run.statuses) == (COMPLETE, [200, 200])
    assert all({"temperature", "reasoning_effort"} & body.keys() == sent for body in run.requests)


@BOTH_LOOPS
def test_reasoning(ask_chat: NativeAsker, loop: str) -> None:
    """The effort is sent in the API's own field; OpenAI shows no reasoning here."""
    run = ask_chat("gpt-5-mini", "What is 17 * 23?", loop=loop, reasoning={"effort": "low"})
    assert (run.outcome, run.statuses) == (COMPLETE, [200, 200])
    assert run.requests[0]["reasoning_effort"] == "low"
    assert run.heard.reasoning == ""
