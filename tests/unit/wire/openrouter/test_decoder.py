"""Decoding chunks and bodies: content, choices, finish reasons, usage and origin, in every shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.parts import (
    CallDelta,
    Details,
    EndOfStream,
    Finish,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    UsageReport,
)
from signalbox.wire.finish_reasons import finish_of
from signalbox.wire.openrouter.decoder import parts_of_body
from signalbox.wire.openrouter.stream import ChatStreamDecoder

from tests.unit.wire.openrouter.chat_chunks import FULL, chunk, decode, decoded, frame


def test_text_pieces_are_parts() -> None:
    """Each non-empty piece of content is a part; empty and null content is none."""
    assert decoded({"content": "Hel"}, {"content": ""}, {"content": None}, {}, {"content": "lo"}) == [
        TextDelta("Hel"),
        TextDelta("lo"),
    ]


def test_whitespace_is_text() -> None:
    """A delta of white space is kept (PS-09)."""
    assert decoded({"content": " "}, {"reasoning": "\n"}) == [TextDelta(" "), ReasoningDelta("\n", "reasoning")]


def test_content_as_a_list() -> None:
    """Mistral's magistral sends a list of thinking and text parts; other parts are left out."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm. "}, {"type": "text", "text": "Yes."}]}
    content = [thinking, {"type": "text", "text": "Answer"}, {"type": "unknown"}, "x", None]
    assert decoded({"content": content}) == [ReasoningDelta("Hm. Yes."), TextDelta("Answer")]


def test_thinking_as_a_plain_string() -> None:
    """A thinking part may contain its text directly; an empty one is skipped."""
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "thinking", "thinking": []}]
    assert decoded({"content": content}) == [ReasoningDelta("Hm.")]


def test_refusal() -> None:
    """The refusal field gives a separate part; null gives none."""
    assert decoded({"refusal": "No.", "content": ""}, {"refusal": None}) == [RefusalDelta("No.")]


def test_message_beside_delta_is_ignored() -> None:
    """A `message` beside `delta` repeats all text so far (Perplexity, Writer)."""
    body = frame({"choices": [{"delta": {"content": "b"}, "message": {"content": "ab"}}]})
    last = frame({"choices": [{"delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}]})
    assert decode(body, last) == [TextDelta("b"), finish_of("stop")]


def test_message_alone_is_the_answer() -> None:
    """A `message` in a chunk without a delta is decoded, with its calls and reasoning."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Hi", "reasoning": "Hm", "tool_calls": [call]}
    assert decode(frame({"choices": [{"message": message, "finish_reason": "stop"}]})) == [
        ReasoningDelta("Hm", "reasoning"),
        TextDelta("Hi"),
        CallDelta(None, "c", "f", "{}"),
        finish_of("stop"),
    ]


def test_only_choice_zero_counts() -> None:
    """Choices other than 0 are ignored, in the same chunk and in separate ones, in any order."""
    both = [{"index": 1, "delta": {"content": "other"}}, {"index": 0, "delta": {"content": "ours"}}]
    alone = [{"index": 2, "delta": {"content": "third"}, "finish_reason": "length"}]
    assert decode(frame({"choices": both}), frame({"choices": alone})) == [TextDelta("ours")]


def test_choice_without_an_index_is_choice_zero() -> None:
    """Providers that send one choice leave its index out, or null."""
    for choice in ({"delta": {"content": "a"}}, {"index": None, "delta": {"content": "a"}}):
        assert decode(frame({"choices": [choice]})) == [TextDelta("a")]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": ["x"]},
        {"choices": {"0": {}}},
        {"choices": [{}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": []}]},
        {"choices": [{"delta": {"content": 3, "tool_calls": {}, "reasoning": 4, "reasoning_details": "x"}}]},
        {"choices": [{"delta": {"content": {}, "refusal": {}, "function_call": [], "tool_calls": [None, 1, "x"]}}]},
        {"choices": [{"delta": {}, "finish_reason": None, "native_finish_reason": ""}], "usage": 3, "x_groq": []},
        {"prompt_filter_results": [{"content_filter_results": {}}], "choices": [], "usage": None},
        {"id": 1, "model": 2, "provider": None, "error": None},
        [],
        "text",
        3,
        None,
    ],
    ids=json.dumps,
)
def test_shapes_without_content(value: Any) -> None:
    """Chunks without choices or deltas, or with wrong types, give no parts and no error (quirk E9)."""
    assert decode(frame(value)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["choices", "delta", "message", "content", "tool_calls", "function", "index", "id", "name",
                         "arguments", "reasoning", "reasoning_details", "type", "text", "usage", "cost", "error",
                         "code", "metadata", "raw", "headers", "finish_reason", "x_groq", "function_call", "summary"]),
        inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.lists(JSON, max_size=4))
def test_no_json_breaks_the_decoder(values: list[Any]) -> None:
    """No JSON makes the decoder raise."""
    chunks = [frame(value) for value in values]
    wrapped = [frame({"choices": [{"delta": value, "message": value}], "usage": value}) for value in values]
    for part in decode(*chunks, *wrapped):
        assert isinstance(part, StreamPart)


def test_finish_reasons_are_merged() -> None:
    """Each finish reason is merged with the earlier ones; empty and null ones are skipped."""
    parts = decode(
        chunk({"content": "a"}, finish_reason=None),
        chunk({}, finish_reason=""),
        chunk({"tool_calls": [{"index": 0, "id": "c"}]}, finish_reason="tool_calls", native_finish_reason="STOP"),
        chunk({}, finish_reason=None, native_finish_reason="MALFORMED_FUNCTION_CALL"),
    )
    assert parts == [
        TextDelta("a"),
        CallDelta(0, "c"),
        finish_of("tool_calls", "STOP"),
        finish_of("tool_calls", "MALFORMED_FUNCTION_CALL"),
    ]


@pytest.mark.parametrize(
    ("value", "word"),
    [(3, "3"), (0, "0"), (3.5, "3.5"), (True, "true"), (False, "false"), ([], "[]"), ({"type": "refusal"}, None)],
)
def test_a_finish_reason_that_is_no_string_is_unknown(value: Any, word: str | None) -> None:
    """It is represented by its JSON, so that it counts as unknown and not as absent (A20)."""
    kept = word or '{"type":"refusal"}'
    assert decode(chunk({}, finish_reason=value)) == [finish_of(kept)]
    assert decode(chunk({}, finish_reason="stop", native_finish_reason=value)) == [finish_of("stop", kept)]


def test_the_origin_is_reported_once_and_when_it_changes() -> None:
    """Generation, model and provider give one part, not one per chunk; the id in the headers has priority."""
    first = {"id": "gen-1", "model": "a/b", "provider": "P", "choices": []}
    assert decode(frame(first), frame(first), frame({"id": "gen-1", "choices": []})) == [Served("gen-1", "a/b", "P")]
    assert decode(frame(first), frame({**first, "provider": "Q"}))[-1] == Served("gen-1", "a/b", "Q")
    headed = ChatStreamDecoder(Served(generation_id="gen-h"))
    assert headed.feed(frame(first)) == [Served("gen-h", "a/b", "P")]


def usage_of(value: dict[str, Any]) -> UsageReport:
    """Return the one usage report of a chunk."""
    [report] = [part for part in decode(frame(value)) if isinstance(part, UsageReport)]
    return report


@pytest.mark.parametrize(
    "value",
    [
        {"choices": [], "usage": FULL},
        {"usage": FULL},
        {"choices": [{"index": 0, "delta": {"content": ""}}], "usage": FULL},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": FULL},
        {"choices": [], "x_groq": {"id": "r", "usage": FULL}},
        {"choices": [], "usage": None, "x_groq": {"usage": FULL}},
    ],
    ids=["no choices", "no choices key", "on content", "with finish", "groq", "groq beside null"],
)
def test_usage_in_every_field(value: dict[str, Any]) -> None:
    """Tokens and cost are read from every field that providers use; the raw object is included."""
    report = usage_of(value)
    usage = report.usage
    assert (usage.input, usage.output, usage.reasoning, usage.cached, usage.cost) == (10, 5, 3, 4, 0.25)
    assert report.raw == FULL


def test_usage_with_missing_numbers() -> None:
    """Missing, null and wrongly typed numbers count as 0; a cost of 0 is a cost."""
    odd = usage_of(
        {"usage": {"prompt_tokens": None, "completion_tokens": "5", "completion_tokens_details": None}}
    ).usage
    assert (odd.input, odd.output, odd.reasoning, odd.cost) == (0, 0, 0, None)
    assert usage_of({"usage": {"cost": 0}}).usage.cost == 0.0
    assert usage_of({"usage": {"cost": True}}).usage.cost is None


def test_null_and_empty_usage_is_none() -> None:
    """`usage: null` on ordinary chunks is no report."""
    assert decode(frame({"choices": [], "usage": None}), frame({"choices": [], "usage": {}})) == []


def test_done_ends_the_stream() -> None:
    """[DONE] gives a separate part, with or without white space around it."""
    for end in (b"data: [DONE]\n\n", b"data:[DONE]\n\n", b"data: [DONE] \r\n\r\n", b"data: [DONE]"):
        assert decode(end) == [EndOfStream()]


def test_a_whole_body_is_decoded_like_a_stream() -> None:
    """A whole body is decoded by the same rules as a stream."""
    message = {
        "content": "Hi",
        "reasoning": "Hm",
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm", "signature": "s", "index": 0}],
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    body = {"id": "gen-1", "choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": FULL}
    kinds = [type(part) for part in parts_of_body(json.dumps(body).encode())]
    assert kinds == [Served, ReasoningDelta, TextDelta, CallDelta, Finish, UsageReport, Details, EndOfStream]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'"x"', b"3", b"null", b'{"a":'])
def test_a_body_that_is_not_an_object(body: bytes) -> None:
    """A body that is not a JSON object raises ValueError."""
    with pytest.raises(ValueError, match=r".*"):
        parts_of_body(body)
