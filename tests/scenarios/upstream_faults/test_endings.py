"""How runs end for every upstream fault: an honest `done`, a warning before it, and the text so far."""

import re
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.simulator.http.state import Received

from tests.support.fixtures import Behind
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import DONE, Exchange, chunk, says, sends
from tests.support.stream_reader import ParsedStream

ASKED = "What is the tool loop of Signalbox?"
# The upstream's message may follow ours, with or without a full stop.
_SENTENCE_FIRST = re.compile(r"[A-Z][^.…!]+[.…!](?: |$)")


class Asker:
    """Asks a faulty model and counts the upstream requests."""

    def __init__(self, app: RunningApp, simulator: BackgroundSimulator) -> None:
        self.app, self.simulator = app, simulator

    def __call__(self, fault: str, **body: Any) -> tuple[ParsedStream, list[Received]]:
        known = {id(request) for request in self.simulator.memory.requests}
        heard = self.app.ask(ASKED, model=fault if "/" in fault else f"openai/{fault}", **body)
        assert self.simulator.wait_until(lambda memory: memory.open_streams == 0)
        new = [request for request in self.simulator.memory.requests if id(request) not in known]
        return heard, [request for request in new if request.path.endswith("/completions")]


@pytest.fixture
def ask(app: RunningApp, simulator: BackgroundSimulator, no_waiting: list[Retry]) -> Asker:
    """Ask through the app, without retry delays."""
    return Asker(app, simulator)


def ended(heard: ParsedStream, status: str, code: str | None) -> None:
    """Check the ending, also with a client that knows only the minimum."""
    done = heard.done
    assert (done["status"], done.get("code")) == (status, code)
    if code is None:
        assert "error" not in done
        return
    assert _SENTENCE_FIRST.match(done["error"]), done
    last = heard.events[-2]
    assert (last["type"], last["code"]) == ("warning", code)
    assert len(last["message"]) >= len(done["error"])


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


def test_a_host_that_falls_silent(behind: Behind) -> None:
    """Silence longer than the timeout is an error with the text so far, and the connection is closed."""

    async def stalls(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")
        await exchange.client_left()

    app, upstream = behind(stalls, settings={"openrouter_timeout": 0.1})
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
    assert ask.simulator.wait_until(lambda memory: memory.open_streams == 0)


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


def test_searches_beyond_the_clamp(ask: Asker) -> None:
    """Of eight searches six are sent, eight have results, with one warning (seed row PS-18)."""
    heard, requests = ask("sim-searches-8")
    ended(heard, "complete", None)
    assert heard.result_codes() == [None] * 6 + ["TOOL_CLAMP"] * 2
    assert heard.warnings.count("TOOL_CLAMP") == 1
    assert len([m for m in requests[-1].body["messages"] if m["role"] == "tool"]) == 8


def test_the_clamp_is_the_callers_to_set(ask: Asker) -> None:
    """With max_searches 2, two of three are sent; with 0, no search is offered."""
    heard, _ = ask("sim-searches-3", max_searches=2)
    assert heard.result_codes() == [None, None, "TOOL_CLAMP"]
    heard, requests = ask("sim-searches-3", max_searches=0)
    offered = [{tool["function"]["name"] for tool in request.body.get("tools", [])} for request in requests]
    assert all("search_web" not in names and "calculate" in names for names in offered[:1])
    assert not any(call["name"] == "search_web" for call in heard.calls)
    assert heard.text


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_several_steps(ask: Asker, steps: int) -> None:
    """N steps with tools and an answer are N+1 requests, each with all earlier results."""
    heard, requests = ask(f"sim-steps-{steps}")
    ended(heard, "complete", None)
    assert len(requests) == heard.done["steps"] == steps + 1
    assert len(heard.of("tool_result")) == steps
    for number, request in enumerate(requests):
        assert len([m for m in request.body["messages"] if m["role"] == "tool"]) == number


def test_the_step_limit_ends_in_an_answer(ask: Asker) -> None:
    """max_steps counts every request; the last one has the same tools and choice `none`."""
    heard, requests = ask("sim-steps-8", max_steps=3)
    ended(heard, "complete", None)
    assert heard.text
    assert heard.warnings == []
    assert len(requests) == heard.done["steps"] == 3
    assert [r.body.get("tool_choice") for r in requests] == [None, None, "none"]
    assert requests[0].body["tools"] == requests[2].body["tools"]


def test_twenty_five_steps_stop_at_eight(ask: Asker) -> None:
    """The default limit ends a model that would continue."""
    heard, requests = ask("sim-steps-25", max_searches=100)
    ended(heard, "complete", None)
    assert len(requests) == 8


def test_equal_searches_are_made_once(ask: Asker) -> None:
    """Searches that differ in case, spaces and quotes are sent once; all have results, two say so (PS-17)."""
    heard, _ = ask("sim-duplicate")
    ended(heard, "complete", None)
    results = heard.of("tool_result")
    assert [result.get("cached") for result in results] == [None, True, True]
    assert len(heard.of("tool_executing")) == 1
    assert results[0]["result"] == results[1]["result"] == results[2]["result"]


@pytest.mark.parametrize("family", ["openai", "google", "deepseek", "mistralai", "moonshotai", "qwen"])
def test_parallel_calls(ask: Asker, family: str) -> None:
    """Three calls of one step have results under their ids, and are sent back together (seed row PS-08)."""
    heard, requests = ask(f"{family}/sim-parallel")
    ended(heard, "complete", None)
    assert sorted(call["name"] for call in heard.calls) == ["calculate", "get_current_time", "search_web"]
    assert heard.result_codes() == [None] * 3
    assert {r["id"] for r in heard.of("tool_result")} == {call["id"] for call in heard.calls}
    assert len(requests) == 2


def test_arguments_that_do_not_fit(ask: Asker) -> None:
    """Cut, mistyped, missing or non-object arguments each give an error result; the run continues."""
    heard, _ = ask("sim-bad-args")
    ended(heard, "complete", None)
    codes = heard.result_codes()
    assert len(codes) == len(heard.calls) == 4
    assert set(codes) <= {"INVALID_ARGUMENTS", "ARGUMENTS_CUT", "STEP_FAILED"}
    assert {"INVALID_ARGUMENTS", "ARGUMENTS_CUT"} <= set(codes)
    assert None not in codes


def test_a_tool_that_was_not_offered(ask: Asker) -> None:
    """The model is told that there is no such tool, and answers."""
    heard, _ = ask("sim-unknown-tool")
    ended(heard, "complete", None)
    assert heard.of("tool_executing") == []
    assert heard.of("tool_result")[0]["result"]["success"] is False
    assert "lookup_everything" in heard.of("tool_result")[0]["result"]["error"]


def test_one_id_for_every_call(ask: Asker) -> None:
    """If a model uses call_0 for every call, ids are unique in events and upstream."""
    heard, requests = ask("sim-same-id")
    ended(heard, "complete", None)
    ids = [call["id"] for call in heard.calls]
    assert len(ids) == len(set(ids)) == 4
    sent = [m["tool_call_id"] for m in requests[-1].body["messages"] if m["role"] == "tool"]
    assert len(sent) == len(set(sent)) == 4


def test_a_call_under_finish_stop_is_run(ask: Asker) -> None:
    """A step with a complete call is a step with calls, whatever its finish reason."""
    heard, requests = ask("sim-late-stop")
    ended(heard, "complete", None)
    assert heard.result_codes() == [None]
    assert len(requests) == 2


def test_a_model_that_never_stops_calling(ask: Asker) -> None:
    """Calls in the final step are dropped; after one retry a replacement text ends the run (quirk D2)."""
    heard, requests = ask("sim-stubborn", max_steps=3)
    ended(heard, "complete", None)
    assert "FINAL_EMPTY" in heard.warnings
    assert heard.of("content")[-1]["synthetic"] is True
    assert len(requests) == 4
    assert [r.body.get("tool_choice") for r in requests] == [None, None, "none", "none"]
    assert len(heard.of("tool_result")) == 2


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
    told = [ask.simulator.memory.generations[r.generation_id or ""] for r in requests]
    assert heard.done["usage"]["output"] == sum(one["tokens_completion"] for one in told)
    assert heard.done["cost"] == pytest.approx(sum(one["total_cost"] for one in told))
    trace = ask.app.client.get(f"/api/runs/{heard.events[0]['run_id']}").json()
    assert [attempt["generation_id"] for attempt in trace["attempts"]] == [r.generation_id for r in requests]


def test_a_fault_in_one_attempt_is_forgotten_by_the_next(behind: Behind, no_waiting: list[Retry]) -> None:
    """A successful retry is a complete run; the trace has the failed attempt."""

    async def fails(exchange: Exchange) -> None:
        await exchange.whole(503, b'{"error":{"code":503,"message":"No instances available"}}')

    app, upstream = behind(fails, says("Hello."))
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
def test_a_200_that_is_no_answer(behind: Behind, no_waiting: list[Retry], kind: str, body: bytes) -> None:
    """A page, a text, half a JSON or nothing with status 200 is an error."""
    app, _ = behind(sends(*([body] if body else []), kind=kind))
    heard = app.ask(tools=[])
    assert heard.done["status"] in ("error", "interrupted")
    assert heard.done["retryable"] is True
    assert heard.text == ""


def test_frames_that_are_all_broken(behind: Behind, no_waiting: list[Retry]) -> None:
    """An upstream that does not speak the protocol has its own error."""
    app, _ = behind(sends(b"data: {broken\n\n" * 10, chunk({"content": "x"}), DONE))
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
