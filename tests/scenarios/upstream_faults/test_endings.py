"""How runs end for every upstream fault: an honest `done`, a warning before it, and the text so far."""

from pathlib import Path

import pytest
from signalbox.chat.loops.retry import Retry

from tests.scenarios.upstream_faults.asker import ASKED, Asker, ended
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import DONE, Exchange, chunk, says, sends


@pytest.mark.parametrize(
    ("status", "code", "asked", "retryable"),
    [
        (400, "UPSTREAM_REJECTED", 1, False),
        (401, "UPSTREAM_AUTH", 1, False),
        (402, "UPSTREAM_CREDITS", 2, False),
        (403, "UPSTREAM_FORBIDDEN", 1, False),
        (404, "UPSTREAM_NOT_FOUND", 1, False),
        (408, "UPSTREAM_TIMEOUT", 3, True),
        (413, "UPSTREAM_TOO_LARGE", 1, False),
        (422, "UPSTREAM_REJECTED", 1, False),
        (429, "RATE_LIMIT", 3, True),
        (500, "UPSTREAM_ERROR", 3, True),
        (502, "UPSTREAM_OVERLOADED", 3, True),
        (503, "UPSTREAM_OVERLOADED", 3, True),
        (529, "UPSTREAM_OVERLOADED", 3, True),
    ],
)
def test_an_error_status(ask: Asker, status: int, code: str, asked: int, retryable: bool) -> None:
    """A rejection is reported in the stream with its code; only temporary errors are retried (quirk F5)."""
    heard, requests = ask(f"sim-error-{status}")
    ended(heard, "error", code)
    assert heard.done["retryable"] is retryable
    assert len(requests) == asked
    assert heard.types == ["warning", "done"]
    assert "usage" not in heard.done


def test_a_model_id_that_the_upstream_does_not_know(ask: Asker) -> None:
    """OpenRouter's 400 for an unknown id is handled like a 404: another model helps."""
    heard, requests = ask("@preset/nonsense")
    ended(heard, "error", "UPSTREAM_NOT_FOUND")
    assert heard.done["error"].endswith("@preset/nonsense is not a valid model ID")
    assert (heard.done["retryable"], len(requests)) == (False, 1)


def test_a_rate_limit_says_when(ask: Asker, no_waiting: list[Retry]) -> None:
    """The reset time in the body, in epoch ms, is waited for and reported in seconds (quirk F1)."""
    heard, _ = ask("sim-error-429")
    assert [0 < retry.wait <= 2.5 for retry in no_waiting] == [True, True]
    assert 0 < heard.done["retry_after"] <= 2.5


def test_a_rate_limit_in_a_200(ask: Asker) -> None:
    """An error body with status 200 is handled as that error (quirk E1)."""
    heard, requests = ask("sim-json-error")
    ended(heard, "error", "RATE_LIMIT")
    assert len(requests) == 3


def test_an_error_in_the_middle_keeps_the_text(ask: Asker) -> None:
    """The text stays, there is no retry, and the code is that of the error chunk."""
    heard, requests = ask("sim-midstream-error")
    ended(heard, "error", "UPSTREAM_OVERLOADED")
    assert heard.text.startswith("This is the beginning of an answer")
    assert len(requests) == 1


@pytest.mark.parametrize("fault", ["sim-cut", "sim-eof"])
def test_a_cut_keeps_the_text(ask: Asker, fault: str) -> None:
    """A closed socket, or a body without a finish reason, interrupts the run and keeps its text (quirk E2)."""
    heard, requests = ask(fault)
    ended(heard, "interrupted", "STREAM_CUT")
    assert heard.text.startswith("This is the beginning of an answer")
    assert heard.done["retryable"] is True
    assert len(requests) == 1


def test_calls_of_a_cut_step_are_answered(ask: Asker) -> None:
    """Calls that were complete before the cut have one result each, and the run is interrupted."""
    heard, _ = ask("sim-cut-tool")
    ended(heard, "interrupted", "STREAM_CUT")
    assert len(heard.of("tool_result")) == len(heard.calls) >= 1


def test_done_alone_is_no_answer(ask: Asker) -> None:
    """A body of only [DONE] is never a complete run (quirk E1)."""
    heard, _ = ask("sim-done-only")
    assert heard.done["status"] in ("error", "interrupted")
    assert heard.done["code"] in ("EMPTY_ANSWER", "STREAM_CUT", "UPSTREAM_PROTOCOL")
    assert heard.events[-2]["code"] == heard.done["code"]
    assert heard.text == ""


def test_a_host_that_falls_silent(start_app: StartApp) -> None:
    """Silence longer than the timeout is an error with the text so far, and the connection is closed."""

    async def stalls(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")
        await exchange.client_left()

    app, upstream = start_app(stalls, settings={"openrouter_timeout": 0.1})
    heard = app.ask(tools=[])
    ended(heard, "interrupted", "UPSTREAM_STALLED")
    assert heard.text == "So far"
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    assert len(upstream.asked) == 1


def test_the_simulators_stall(ask: Asker, tmp_path: Path) -> None:
    """The same with the simulator's fault."""
    settings = settings_for(tmp_path / "b", openrouter_base_url=ask.simulator.base_url, openrouter_timeout=0.1)
    with RunningApp(settings) as app:
        heard = app.ask(model="openai/sim-stall")
        ended(heard, "interrupted", "UPSTREAM_STALLED")
        assert heard.text
    assert ask.simulator.wait_until(lambda state: state.open_streams == 0)


@pytest.mark.parametrize("fault", ["sim-empty", "sim-reasoning-only"])
def test_an_empty_answer_is_asked_for_again_and_then_said(ask: Asker, fault: str) -> None:
    """Two empty answers are an error, never a complete run."""
    heard, requests = ask(fault)
    ended(heard, "error", "EMPTY_ANSWER")
    assert 2 <= len(requests) <= 3
    assert len(requests) == heard.done["steps"]


def test_a_length_limit_keeps_the_text(ask: Asker) -> None:
    """The text so far stays, with its own status."""
    heard, requests = ask("sim-length")
    ended(heard, "length", "LENGTH")
    assert heard.text
    assert len(requests) == 1


def test_a_length_limit_while_still_reasoning(ask: Asker) -> None:
    """Without text there is one retry with a higher limit; then the run reports the reason (B8)."""
    heard, requests = ask("sim-length-empty")
    ended(heard, "length", "REASONING_LENGTH")
    assert heard.text == ""
    assert len(requests) == 2


@pytest.mark.parametrize("family", ["openai", "anthropic"])
def test_a_call_that_was_cut_by_length_is_not_run(ask: Asker, family: str) -> None:
    """The cut call has an error code, and the run continues to an answer."""
    heard, requests = ask(f"{family}/sim-length-tool")
    assert heard.result_codes()[0] in ("ARGUMENTS_CUT", "STEP_FAILED")
    assert not heard.of("tool_executing") or heard.of("tool_executing")[0]["id"] != heard.calls[0]["id"]
    ended(heard, "complete", None)
    assert len(requests) == heard.done["steps"] == 2


def test_a_refusal_is_shown_and_named(ask: Asker) -> None:
    """The text of a refusal is content that is marked as such."""
    heard, requests = ask("sim-refusal")
    ended(heard, "content_filter", "CONTENT_FILTER")
    assert all(event["refusal"] is True for event in heard.of("content"))
    assert heard.text == "I'm sorry, I can't help with that request."
    assert len(requests) == 1


def test_a_filter_in_the_middle_keeps_the_text(ask: Asker) -> None:
    """A late content filter keeps the text so far."""
    heard, _ = ask("sim-filter")
    ended(heard, "content_filter", "CONTENT_FILTER")
    assert heard.text


def test_one_unreadable_frame_is_a_warning(ask: Asker) -> None:
    """A frame that is not JSON is skipped with a warning, and never shown (seed row PS-09)."""
    heard, requests = ask("sim-malformed")
    ended(heard, "complete", None)
    assert "FRAME_UNREADABLE" in heard.warnings
    assert "half a fra" not in heard.text
    assert "gen-broken" not in heard.raw.decode()
    assert len(requests) == 1


def test_a_model_that_is_silent_at_the_end(ask: Asker) -> None:
    """The same for an empty final step; the replacement text has the sources."""
    heard, requests = ask("sim-silent-finalize", max_steps=2)
    ended(heard, "complete", None)
    assert heard.of("content")[-1]["synthetic"] is True
    assert "[1]" in heard.text
    assert len(requests) == 3


def test_a_long_answer_arrives_whole(ask: Asker) -> None:
    """Three thousand deltas arrive once and without gaps in seq."""
    heard, requests = ask("sim-long")
    ended(heard, "complete", None)
    line = "This answer goes on and on so that long streams can be tried. "
    assert heard.text.strip() == (line * (len(heard.text) // len(line) + 1))[: len(heard.text)].strip()
    assert len(heard.of("content")) >= 3000
    assert heard.seqs == list(range(1, len(heard.seqs) + 1))
    assert len(requests) == 1


def test_usage_and_cost_are_summed(ask: Asker) -> None:
    """`done` has the sums of all steps, and the trace has each step."""
    heard, requests = ask("sim-steps-2")
    told = [ask.simulator.state.generations[r.generation_id or ""] for r in requests]
    assert heard.done["usage"]["output"] == sum(one["tokens_completion"] for one in told)
    assert heard.done["cost"] == pytest.approx(sum(one["total_cost"] for one in told))
    trace = ask.app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()
    assert [attempt["generation_id"] for attempt in trace["attempts"]] == [r.generation_id for r in requests]


def test_a_fault_in_one_attempt_is_forgotten_by_the_next(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """A successful retry is a complete run; the trace has the failed attempt."""

    async def fails(exchange: Exchange) -> None:
        await exchange.whole(503, b'{"error":{"code":503,"message":"No instances available"}}')

    app, upstream = start_app(fails, says("Hello."))
    heard = app.ask(tools=[])
    assert (heard.done["status"], heard.text, len(upstream.asked)) == ("complete", "Hello.", 2)
    trace = app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()
    assert [bool(attempt["error"]) for attempt in trace["attempts"]] == [True, False]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html><body>Bad gateway</body></html>"),
        ("text/plain", b"upstream connect error"),
        ("application/json", b'{"half":'),
        ("text/event-stream", b""),
    ],
)
def test_a_200_that_is_no_answer(start_app: StartApp, no_waiting: list[Retry], kind: str, body: bytes) -> None:
    """A page, a text, half a JSON or nothing with status 200 is an error."""
    app, _ = start_app(sends(*([body] if body else []), kind=kind))
    heard = app.ask(tools=[])
    assert heard.done["status"] in ("error", "interrupted")
    assert heard.done["retryable"] is True
    assert heard.text == ""


def test_frames_that_are_all_broken(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """An upstream that does not speak the protocol has its own error."""
    app, _ = start_app(sends(b"data: {broken\n\n" * 10, chunk({"content": "x"}), DONE))
    ended(app.ask(tools=[]), "error", "UPSTREAM_PROTOCOL")


def test_no_server_at_the_address(tmp_path: Path, no_waiting: list[Retry]) -> None:
    """An unreachable upstream is an error with a hint at OPENROUTER_BASE_URL."""
    with RunningApp(settings_for(tmp_path, openrouter_base_url="http://127.0.0.1:9/api/v1")) as app:
        heard = app.ask(tools=[])
    ended(heard, "error", "UPSTREAM_UNREACHABLE")
    assert "OPENROUTER_BASE_URL" in heard.of("warning")[-1]["message"]


def test_the_simulator_of_the_default_start(tmp_path: Path) -> None:
    """Without a key the app runs a simulator, and says so in `done` and in readiness."""
    with RunningApp(settings_for(tmp_path)) as app:
        heard = app.ask(ASKED)
        ready = app.client.get("/health/ready").json()
        models = app.client.get("/api/models").json()
    assert heard.done["simulated"] is True
    assert heard.done["status"] == "complete"
    assert ready["simulated"] is True
    assert "anthropic/sim" in {model["id"] for model in models["models"]}
