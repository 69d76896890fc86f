"""How runs over Anthropic's Messages API end for every fault: an honest `done` with its code, on both loops."""

from pathlib import Path

import pytest
from signalbox.simulator.faults.scripted import TURNS, WIRE_FAULTS
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.native.native_runs import KEY, LOOPS, NativeAsker, app_over

ASKED = "What is the tool loop of Signalbox?"
Outcome = tuple[str, str | None]
COMPLETE: Outcome = ("complete", None)
CUT = ("interrupted", "STREAM_CUT")
BOTH_LOOPS = pytest.mark.parametrize("loop", LOOPS)
# The legacy loop requests steps with tools whole, not as streams, so an error in the middle is the whole answer.
ENDINGS: dict[str, tuple[Outcome, ...]] = {
    "sim-json-error": (("error", "RATE_LIMIT"),) * 2,
    "sim-midstream-error": (("error", "UPSTREAM_OVERLOADED"), ("error", "RATE_LIMIT")),
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
    "sim-pause": (COMPLETE, COMPLETE),
    "sim-window": (("length", "LENGTH"),) * 2,
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
    "sim-long": (("length", "LENGTH"),) * 2,
}


def test_every_fault_is_tested() -> None:
    """A new fault needs an ending here; `error` and `stall` have their own tests."""
    tested = {name.removeprefix("sim-").rstrip("-0123456789") for name in ENDINGS}
    assert {*WIRE_FAULTS, *TURNS} - tested == {"error", "stall"}


@BOTH_LOOPS
@pytest.mark.parametrize("fault", ENDINGS)
def test_endings(ask_claude: NativeAsker, fault: str, loop: str) -> None:
    """Status and code say what happened; nothing is rejected as an invalid request."""
    run = ask_claude(fault, ASKED, loop=loop)
    assert run.outcome == ENDINGS[fault][LOOPS.index(loop)]
    assert set(run.statuses) == {200}
    assert ("error" in run.heard.done) == (run.outcome[1] is not None)


@BOTH_LOOPS
@pytest.mark.parametrize(
    ("status", "code", "requests"),
    [
        (400, "UPSTREAM_REJECTED", 1),
        (401, "UPSTREAM_AUTH", 1),
        (402, "UPSTREAM_CREDITS", 1),
        (403, "UPSTREAM_FORBIDDEN", 1),
        (404, "UPSTREAM_NOT_FOUND", 1),
        (408, "UPSTREAM_TIMEOUT", 3),
        (413, "UPSTREAM_TOO_LARGE", 1),
        (422, "UPSTREAM_REJECTED", 1),
        (429, "RATE_LIMIT", 3),
        (500, "UPSTREAM_ERROR", 3),
        (529, "UPSTREAM_OVERLOADED", 3),
    ],
)
def test_error_statuses(ask_claude: NativeAsker, status: int, code: str, requests: int, loop: str) -> None:
    """Only temporary errors are retried; the key is in no event."""
    run = ask_claude(f"sim-error-{status}", ASKED, loop=loop)
    assert run.outcome == ("error", code)
    assert run.statuses == [status] * requests
    assert KEY.encode() not in run.heard.raw


@BOTH_LOOPS
def test_a_stalled_answer(simulator: BackgroundSimulator, tmp_path: Path, loop: str) -> None:
    """The run ends after the upstream's timeout, with the text so far if the answer is streamed."""
    made = app_over(
        simulator, tmp_path, dialect="anthropic-messages", base="/anthropic", family="anthropic", timeout=0.3
    )
    with made as app:
        run = NativeAsker(app, simulator, "/anthropic/v1/messages", "anthropic")("sim-stall", ASKED, loop=loop)
    assert run.outcome[1] in ("UPSTREAM_STALLED", "UPSTREAM_TIMEOUT")


def test_a_prompt_longer_than_the_context(ask_claude: NativeAsker) -> None:
    """The API's message is recognized, and the conversation is truncated until it fits."""
    talk = [{"role": ("user", "assistant")[at % 2], "content": f"{at} " + "word " * 400} for at in range(9)]
    run = ask_claude("sim-context-2000", "", messages=[*talk[:-1], {"role": "user", "content": "Hello!"}])
    assert run.outcome == ("complete", None)
