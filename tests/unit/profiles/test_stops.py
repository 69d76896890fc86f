"""The words of providers for the end of a turn."""

import pytest
from signalbox.core.parts import StopReason
from signalbox.profiles.stops import later_reason, stop_reason

GOOD = {StopReason.STOP, StopReason.TOOL_CALLS}


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("stop", StopReason.STOP),
        ("STOP", StopReason.STOP),
        ("completed", StopReason.STOP),
        ("end_turn", StopReason.STOP),
        ("endTurn", StopReason.STOP),
        ("COMPLETE", StopReason.STOP),
        ("eos_token", StopReason.STOP),
        ("FinishReason.STOP", StopReason.STOP),
        ("1", StopReason.STOP),
        ("tool_use", StopReason.TOOL_CALLS),
        ("toolCalls", StopReason.TOOL_CALLS),
        ("function_call", StopReason.TOOL_CALLS),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("max_output_tokens", StopReason.LENGTH),
        ("model_length", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("refusal", StopReason.WITHHELD),
        ("SAFETY", StopReason.WITHHELD),
        ("PROHIBITED_CONTENT", StopReason.WITHHELD),
        ("guardrail_intervened", StopReason.WITHHELD),
        ("sensitive", StopReason.WITHHELD),
        ("pause_turn", StopReason.PAUSED),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_CALL),
        ("UNEXPECTED_TOOL_CALL", StopReason.UNEXPECTED_CALL),
        ("error", StopReason.FAILED),
        ("insufficient_system_resource", StopReason.FAILED),
        ("OTHER", StopReason.UNKNOWN),
        ("LANGUAGE", StopReason.UNKNOWN),
        ("TOO_MANY_TOOL_CALLS", StopReason.UNKNOWN),
        ("FINISH_REASON_UNSPECIFIED", StopReason.UNKNOWN),
        ("brand_new_reason", StopReason.UNKNOWN),
        ("5", StopReason.UNKNOWN),
        ("…", StopReason.UNKNOWN),
    ],
)
def test_words_of_providers(word: str, meaning: StopReason) -> None:
    """Either word alone has the same meaning, in any case and spelling; what is not listed is unknown."""
    assert stop_reason(word, None) is meaning
    assert stop_reason(None, word) is meaning
    assert stop_reason("stop", word) is meaning or meaning in GOOD


@pytest.mark.parametrize(
    ("finish", "native", "meaning"),
    [
        (None, None, None),
        ("", "", None),
        ("tool_calls", "STOP", StopReason.TOOL_CALLS),
        ("stop", "tool_use", StopReason.TOOL_CALLS),
        ("tool_calls", "max_output_tokens", StopReason.LENGTH),
        ("length", "incomplete", StopReason.LENGTH),
        ("content_filter", "stop", StopReason.WITHHELD),
        ("error", "SAFETY", StopReason.WITHHELD),
        ("error", "MALFORMED_FUNCTION_CALL", StopReason.MALFORMED_CALL),
        ("new", "STOP", StopReason.UNKNOWN),
    ],
)
def test_the_worse_of_two_words_holds(finish: str | None, native: str | None, meaning: StopReason | None) -> None:
    """A good word never hides a bad one, whichever of the two it is (A20)."""
    assert stop_reason(finish, native) is meaning


def test_every_word_on_record_is_known() -> None:
    """The endings of all recordings have a meaning, so none of them is taken for an unknown one."""
    words = ["completed", "end_turn", "length", "max_output_tokens", "max_tokens", "MAX_TOKENS", "stop", "STOP"]
    words += ["stop_sequence", "tool_calls", "tool_use"]
    assert [word for word in words if stop_reason(None, word) is StopReason.UNKNOWN] == []


@pytest.mark.parametrize(
    ("earlier", "later", "holds"),
    [
        (None, "stop", "stop"),
        ("stop", None, "stop"),
        ("stop", "", "stop"),
        ("tool_calls", "stop", "stop"),
        ("stop", "length", "length"),
        ("tool_calls", "refusal", "refusal"),
        ("in_progress", "tool_calls", "tool_calls"),
        ("stop", "in_progress", "in_progress"),
        ("refusal", "tool_calls", "refusal"),
        ("content_filter", "stop", "content_filter"),
        ("pause_turn", "tool_calls", "pause_turn"),
        ("error", "tool_calls", "error"),
        ("length", "error", "error"),
        ("refusal", "pause_turn", "refusal"),
    ],
)
def test_a_bad_ending_is_not_taken_back(earlier: str | None, later: str | None, holds: str) -> None:
    """Of two reasons told one after the other the later one holds, but none makes a bad ending good (A12, A20)."""
    assert later_reason(earlier, later) == holds
