"""Parts combined into one answer, and how the turn ended."""

import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.loops.stop_reason import TurnEnd, classify_turn, fault_of
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import ReasoningDetail
from signalbox.core.parts import (
    ArgumentStatus,
    CallDelta,
    Completion,
    Details,
    EndOfStream,
    Fault,
    HiddenReasoning,
    RawCall,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    Unreadable,
    Usage,
    UsageReport,
)
from signalbox.wire.finish_reasons import finish_of


def test_all_parts_are_combined() -> None:
    """Text, refusal, reasoning, details, calls, usage and provider are in the completion."""
    detail = ReasoningDetail({"type": "x"})
    parts: list[StreamPart] = [
        Served("gen-1", "a/b", "P"),
        ReasoningDelta("H", "reasoning_content"),
        HiddenReasoning(),
        ReasoningDelta("m"),
        TextDelta("Hel"),
        TextDelta("lo"),
        RefusalDelta("No"),
        CallDelta(0, "c", "f", "{}"),
        Unreadable(3),
        finish_of("tool_calls", "STOP"),
        UsageReport(Usage(1, 2), {"prompt_tokens": 1}),
        Details((detail,)),
        EndOfStream(),
    ]
    got = parse_completion_response(parts, ["f"])
    assert got == Completion(
        content="Hello",
        refusal="No",
        reasoning="Hm",
        reasoning_field="reasoning_content",
        reasoning_details=(detail,),
        calls=(RawCall("c", "f", "{}", ArgumentStatus.OK, {}),),
        finish=finish_of("tool_calls", "STOP"),
        usage=Usage(1, 2),
        usage_raw={"prompt_tokens": 1},
        served=Served("gen-1", "a/b", "P"),
        unreadable=1,
        ended=True,
    )


def test_no_parts_give_an_empty_completion() -> None:
    """Without parts the completion is empty and not ended."""
    assert parse_completion_response([]) == Completion()


def test_the_last_usage_counts() -> None:
    """Usage reports are running totals, so they are not summed."""
    reports = [UsageReport(Usage(1, n), {"completion_tokens": n}) for n in (1, 2, 3)]
    assert parse_completion_response(reports).usage == Usage(1, 3)


def test_the_last_finish_counts() -> None:
    """The decoder has already merged the finish reasons (A12)."""
    assert parse_completion_response([finish_of("tool_calls"), finish_of("stop")]).finish == finish_of("stop")


def test_the_first_fault_counts() -> None:
    """The first error is the cause."""
    faults = [Fault(UpstreamError(Code.RATE_LIMIT)), Fault(UpstreamError(Code.UPSTREAM_ERROR))]
    got = parse_completion_response(faults)
    assert got.fault is faults[0]


CALL = (RawCall("c", "f", "{}", ArgumentStatus.OK, {}),)
CUT = (RawCall("c", "f", '{"a', ArgumentStatus.TRUNCATED, None),)


@pytest.mark.parametrize(
    ("completion", "end"),
    [
        (Completion(content="Hi", finish=finish_of("stop")), TurnEnd.ANSWER),
        (Completion(content="Hi", finish=finish_of("tool_calls")), TurnEnd.ANSWER),
        (Completion(content="Hi", ended=True), TurnEnd.ANSWER),
        (Completion(content=" \n", finish=finish_of("stop")), TurnEnd.BLANK),
        (Completion(reasoning="Hm", finish=finish_of("stop")), TurnEnd.BLANK),
        (Completion(calls=CALL, finish=finish_of("stop")), TurnEnd.CALLS),
        (Completion(calls=CALL, content="Hi", finish=finish_of("tool_calls")), TurnEnd.CALLS),
        (Completion(calls=CALL, ended=True), TurnEnd.CALLS),
        (Completion(calls=CALL, finish=finish_of("weird")), TurnEnd.UNKNOWN),
        (Completion(calls=CALL, finish=finish_of("tool_calls", "weird")), TurnEnd.UNKNOWN),
        (Completion(calls=CALL, finish=finish_of("weird", "STOP")), TurnEnd.UNKNOWN),
        (Completion(calls=CALL, finish=finish_of("tool_calls", "pause_turn")), TurnEnd.PAUSED),
        (Completion(calls=CALL, finish=finish_of("tool_calls", "refusal")), TurnEnd.REFUSAL),
        (Completion(content="Hi", finish=finish_of("stop", "SAFETY")), TurnEnd.REFUSAL),
        (Completion(content="Hi", finish=finish_of("stop", "pause_turn")), TurnEnd.PAUSED),
        (Completion(finish=finish_of("pause_turn")), TurnEnd.PAUSED),
        (Completion(content="Hi", finish=finish_of("stop", "OTHER")), TurnEnd.UNKNOWN),
        (Completion(content="Hi", finish=finish_of("weird"), leaked=True), TurnEnd.UNKNOWN),
        (Completion(finish=finish_of("stop", "OTHER")), TurnEnd.BLANK),
        (Completion(calls=CALL, finish=finish_of("length")), TurnEnd.CUT_CALLS),
        (
            Completion(calls=CALL, finish=finish_of("tool_calls", "max_output_tokens")),
            TurnEnd.CUT_CALLS,
        ),
        (Completion(calls=CALL, finish=finish_of("tool_calls", "MAX_TOKENS")), TurnEnd.CUT_CALLS),
        (Completion(calls=CUT, finish=finish_of("tool_calls")), TurnEnd.CUT_CALLS),
        (Completion(content="Hi", finish=finish_of("length")), TurnEnd.LENGTH),
        (Completion(finish=finish_of("length")), TurnEnd.LENGTH_BLANK),
        (Completion(content="x", finish=finish_of(None, "MALFORMED_FUNCTION_CALL")), TurnEnd.MALFORMED),
        (Completion(content="Hi", finish=finish_of("stop", "max_tokens")), TurnEnd.LENGTH),
        (Completion(refusal="No", finish=finish_of("stop")), TurnEnd.REFUSAL),
        (Completion(content="x", finish=finish_of("content_filter")), TurnEnd.REFUSAL),
        (Completion(calls=CALL, refusal="No"), TurnEnd.REFUSAL),
    ],
)
def test_turns_are_classified(completion: Completion, end: TurnEnd) -> None:
    """The content and both finish reasons decide; calls and answers need a successful ending (A7, A12, A20)."""
    assert classify_turn(completion, has_calls=bool(completion.calls)) is end


def test_calls_in_a_finalize_do_not_count() -> None:
    """In a finalize step, calls are dropped and the text is the answer (D3)."""
    assert classify_turn(Completion(calls=CALL, content="Hi"), has_calls=False) is TurnEnd.ANSWER
    assert classify_turn(Completion(calls=CALL), has_calls=False) is TurnEnd.BLANK


@pytest.mark.parametrize(
    ("completion", "code"),
    [
        (Completion(content="Hi", finish=finish_of("stop")), None),
        (Completion(content="Hi", ended=True), None),
        (Completion(content="Hi"), Code.STREAM_CUT),
        (Completion(), Code.STREAM_CUT),
        (Completion(calls=CALL), Code.STREAM_CUT),
        (Completion(content="Hi", finish=finish_of("error"), ended=True), Code.UPSTREAM_ERROR),
        (Completion(content="Hi", finish=finish_of("stop", "network_error")), Code.UPSTREAM_ERROR),
        (Completion(content="Hi", finish=finish_of("error", "SAFETY")), None),
        (
            Completion(fault=Fault(UpstreamError(Code.RATE_LIMIT)), finish=finish_of("stop"), ended=True),
            Code.RATE_LIMIT,
        ),
    ],
)
def test_failed_answers(completion: Completion, code: Code | None) -> None:
    """An error in the stream, the finish reason `error`, or an end without finish reason and [DONE] (E1, E2)."""
    fault = fault_of(completion)
    assert (fault.code if fault else None) == code


def test_a13_a_malformed_call_in_finalize_is_no_answer() -> None:
    """If no tool may be called, the rest of a malformed call is not an answer; other text is (A13)."""
    broken = Completion(content="default_api.f(", finish=finish_of(None, "MALFORMED_FUNCTION_CALL"), ended=True)
    unexpected = Completion(content="It is 4.", finish=finish_of(None, "UNEXPECTED_TOOL_CALL"), ended=True)
    assert classify_turn(broken, has_calls=False, may_call=False) is TurnEnd.BLANK
    assert classify_turn(unexpected, has_calls=False, may_call=False) is TurnEnd.ANSWER
