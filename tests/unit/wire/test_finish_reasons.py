"""Providers' finish reasons and their normalised meaning."""

import pytest
from signalbox.core.parts import FinishReason
from signalbox.wire.finish_reasons import finish_of, finish_reason, later_finish, later_word

GOOD = {FinishReason.STOP, FinishReason.TOOL_CALLS}


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("completed", FinishReason.STOP),
        ("end_turn", FinishReason.STOP),
        ("endTurn", FinishReason.STOP),
        ("COMPLETE", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("FinishReason.STOP", FinishReason.STOP),
        ("1", FinishReason.STOP),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("toolCalls", FinishReason.TOOL_CALLS),
        ("function_call", FinishReason.TOOL_CALLS),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("max_output_tokens", FinishReason.LENGTH),
        ("model_length", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.WITHHELD),
        ("SAFETY", FinishReason.WITHHELD),
        ("PROHIBITED_CONTENT", FinishReason.WITHHELD),
        ("guardrail_intervened", FinishReason.WITHHELD),
        ("sensitive", FinishReason.WITHHELD),
        ("pause_turn", FinishReason.PAUSED),
        ("MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED_CALL),
        ("UNEXPECTED_TOOL_CALL", FinishReason.UNEXPECTED_CALL),
        ("error", FinishReason.FAILED),
        ("insufficient_system_resource", FinishReason.FAILED),
        ("OTHER", FinishReason.UNKNOWN),
        ("LANGUAGE", FinishReason.UNKNOWN),
        ("TOO_MANY_TOOL_CALLS", FinishReason.UNKNOWN),
        ("FINISH_REASON_UNSPECIFIED", FinishReason.UNKNOWN),
        ("brand_new_reason", FinishReason.UNKNOWN),
        ("5", FinishReason.UNKNOWN),
        ("…", FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons_of_providers(word: str, meaning: FinishReason) -> None:
    """Either field alone has the same meaning, in any case and spelling; unlisted words are unknown."""
    assert finish_reason(word, None) is meaning
    assert finish_reason(None, word) is meaning
    assert finish_reason("stop", word) is meaning or meaning in GOOD


@pytest.mark.parametrize(
    ("finish", "native", "meaning"),
    [
        (None, None, None),
        ("", "", None),
        ("tool_calls", "STOP", FinishReason.TOOL_CALLS),
        ("stop", "tool_use", FinishReason.TOOL_CALLS),
        ("tool_calls", "max_output_tokens", FinishReason.LENGTH),
        ("length", "incomplete", FinishReason.LENGTH),
        ("content_filter", "stop", FinishReason.WITHHELD),
        ("error", "SAFETY", FinishReason.WITHHELD),
        ("error", "MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED_CALL),
        ("new", "STOP", FinishReason.UNKNOWN),
    ],
)
def test_the_worse_of_two_finish_reasons_counts(
    finish: str | None, native: str | None, meaning: FinishReason | None
) -> None:
    """A good finish reason never hides a bad one, in either field (A20)."""
    assert finish_reason(finish, native) is meaning


def test_every_recorded_finish_reason_is_known() -> None:
    """No finish reason in the recordings is unknown."""
    words = ["completed", "end_turn", "length", "max_output_tokens", "max_tokens", "MAX_TOKENS", "stop", "STOP"]
    words += ["stop_sequence", "tool_calls", "tool_use"]
    assert [word for word in words if finish_reason(None, word) is FinishReason.UNKNOWN] == []


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
def test_a_bad_ending_stays(earlier: str | None, later: str | None, holds: str) -> None:
    """The later of two finish reasons counts, but none makes a bad ending good (A12, A20)."""
    assert later_word(earlier, later) == holds


def test_each_field_replaces_only_itself() -> None:
    """`tool_calls` then `stop` is `stop`; a later None keeps the earlier word, in both fields (A12)."""
    finish = finish_of("tool_calls", "STOP")
    for word, native in (("stop", None), (None, "MAX_TOKENS")):
        finish = later_finish(finish, word, native)
    assert (finish.reason, finish.word, finish.native) == (FinishReason.LENGTH, "stop", "MAX_TOKENS")
