"""How a response ends: each terminal event, errors, usage, and streams without an end."""

import json
from typing import Any

import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.loops.stop_reason import TurnEnd, classify_turn, fault_of
from signalbox.core.codes import Code
from signalbox.core.parts import EndOfStream, Fault, Finish, FinishReason, NativeTurn, Usage, UsageReport
from signalbox.wire.openai_responses.decoder import ResponseDecoder, parts_of_body

from tests.unit.wire.openai_responses.events import call, decoded, delta, done, ended, event, message, text

ERROR = {"code": "server_error", "message": "Try again."}


@pytest.mark.parametrize(
    ("status", "fields", "reason"),
    [
        ("completed", {}, FinishReason.STOP),
        ("completed", {"output": [call()]}, FinishReason.TOOL_CALLS),
        ("completed", {"status": "incomplete"}, FinishReason.UNKNOWN),
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, FinishReason.LENGTH),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, FinishReason.WITHHELD),
        ("incomplete", {"incomplete_details": {"reason": "later"}}, FinishReason.UNKNOWN),
        ("incomplete", {"incomplete_details": None}, FinishReason.UNKNOWN),
        ("failed", {"error": ERROR}, FinishReason.FAILED),
        ("cancelled", {}, FinishReason.FAILED),
    ],
)
def test_each_terminal_event_has_its_outcome(status: str, fields: dict[str, Any], reason: FinishReason) -> None:
    """The stop reason depends on the status, and for incomplete responses on their reason."""
    parts = decoded(event(f"response.{status}", response={"status": status, **fields}))
    (finish,) = [part for part in parts if isinstance(part, Finish)]
    assert finish == Finish(reason, fields.get("status", status))
    assert parts[-1] == EndOfStream()


@pytest.mark.parametrize("status", ["queued", "in_progress", "later"])
def test_a_body_that_has_not_ended(status: str) -> None:
    """A response that is still running is no answer, and its calls do not run."""
    completion = parse_completion_response(parts_of_body(json.dumps({"status": status, "output": [call()]}).encode()))
    assert completion.finish == Finish(FinishReason.UNKNOWN, status)
    assert classify_turn(completion, has_calls=True) is TurnEnd.UNKNOWN


def test_a_refusal_ends_a_turn() -> None:
    """A refusal is a completed response whose message has a refusal."""
    item = message({"type": "refusal", "refusal": "No."})
    completion = parse_completion_response(decoded(delta("refusal", "No."), done(item), ended()))
    assert (completion.refusal, completion.finish.word) == ("No.", "completed")
    assert classify_turn(completion, has_calls=False) is TurnEnd.REFUSAL


@pytest.mark.parametrize("tail", [b"", b"data: [DONE]\n\n"], ids=["closed", "[DONE]"])
def test_a_stream_without_a_terminal_event_is_unfinished(tail: bytes) -> None:
    """Neither the end of the bytes nor `[DONE]` ends a response; its items are not kept."""
    parts = decoded(delta("output_text", "Hi"), done(message(text("Hi"))), tail)
    assert not [part for part in parts if isinstance(part, Finish | EndOfStream | NativeTurn)]
    error = fault_of(parse_completion_response(parts))
    assert error is not None
    assert error.code is Code.STREAM_CUT


def test_an_error_and_the_failed_response_after_it_are_one_fault() -> None:
    """The failed response has the same error again; it is the one that is kept."""
    first = event("error", sequence_number=2, error={"type": "x", **ERROR, "param": None})
    faults = [part for part in decoded(first, ended("failed", error=ERROR)) if isinstance(part, Fault)]
    assert [(fault.error.code, fault.raw) for fault in faults] == [(Code.UPSTREAM_ERROR, ERROR)]


@pytest.mark.parametrize("tail", [b"", b"data: [DONE]\n\n", ended("failed"), ended()])
def test_an_error_alone_is_a_fault(tail: bytes) -> None:
    """The error counts whatever follows; the error may be the event itself."""
    faults = [part for part in decoded(event("error", **ERROR), tail) if isinstance(part, Fault)]
    assert [fault.error.code for fault in faults] == [Code.UPSTREAM_ERROR]
    assert faults[0].raw == {"type": "error", **ERROR}


@pytest.mark.parametrize("fields", [{"error": ERROR}, {"response": {"error": ERROR}}])
def test_errors_of_proxies(fields: dict[str, Any]) -> None:
    """Some proxies send `response.error`, with the error in one of two places."""
    (fault,) = decoded(event("response.error", **fields))
    assert isinstance(fault, Fault)
    assert fault.raw == ERROR


def test_an_error_is_an_outcome_and_no_end() -> None:
    """The reader waits for the failed response only a short time."""
    decoder = ResponseDecoder()
    decoder.feed(event("error", error=ERROR))
    assert (decoder.has_outcome, decoder.has_ended) == (True, False)
    decoder.feed(ended("failed", error=ERROR))
    assert decoder.has_ended


def test_an_error_in_a_whole_body() -> None:
    """A proxy may answer 200 with only an error."""
    parts = parts_of_body(b'{"error": {"code": "rate_limit_exceeded", "message": "Slow."}}')
    completion = parse_completion_response(parts)
    assert completion.fault is not None
    assert completion.fault.error.code is Code.RATE_LIMIT
    assert completion.finish.word is None


def test_nothing_follows_the_end() -> None:
    """Frames after the terminal event are ignored."""
    assert decoded(ended(), delta("output_text", "late"), ended("failed", error=ERROR)) == decoded(ended())


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        (
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 12},
            },
            Usage(100, 20, 12, 60, cache_written=30),
        ),
        ({"input_tokens": 1, "output_tokens": 2, "cost": 8.6e-06}, Usage(1, 2, cost=8.6e-06)),
        ({"input_tokens": 1, "output_tokens": 2, "cost_in_usd_ticks": 2521500}, Usage(1, 2, cost=0.00025215)),
        ({"input_tokens": -1, "output_tokens": "2", "cost": True, "input_tokens_details": 5}, Usage()),
    ],
)
def test_usage(raw: dict[str, Any], usage: Usage) -> None:
    """Input includes cached tokens, output includes reasoning; OpenRouter and xAI report the cost."""
    (report,) = [part for part in decoded(ended(usage=raw)) if isinstance(part, UsageReport)]
    assert report == UsageReport(usage, raw)
