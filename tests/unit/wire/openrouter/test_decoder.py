"""Frames and bodies to parts: every field and shape that hosts send."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.parts import (
    CallDelta,
    Details,
    EndOfStream,
    Fault,
    Finish,
    HiddenReasoning,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    Unreadable,
    UsageReport,
)
from signalbox.wire.finish_reasons import finish_of
from signalbox.wire.openrouter.decoder import parts_of_body
from signalbox.wire.openrouter.stream import ChatStreamDecoder


def frame(value: Any) -> bytes:
    """Write one frame of a stream."""
    return f"data: {json.dumps(value)}\n\n".encode()


def chunk(delta: dict[str, Any], **choice: Any) -> bytes:
    """Write a chunk with one choice."""
    return frame({"choices": [{"index": 0, "delta": delta, **choice}]})


def decode(*pieces: bytes) -> list[StreamPart]:
    """Decode a stream given in pieces."""
    decoder = ChatStreamDecoder()
    parts = [part for piece in pieces for part in decoder.feed(piece)]
    return parts + decoder.close()


def said(*deltas: dict[str, Any]) -> list[StreamPart]:
    """Decode one chunk per delta."""
    return decode(*map(chunk, deltas))


def details(*pieces: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the merged reasoning details of a stream with one piece per chunk."""
    found = [part for part in said(*({"reasoning_details": [p]} for p in pieces)) if isinstance(part, Details)]
    assert len(found) == 1
    return [dict(item.raw) for item in found[0].items]


# --- text ---


def test_text_pieces_are_parts() -> None:
    """Each non-empty piece of content is a part; empty and null content is none."""
    assert said({"content": "Hel"}, {"content": ""}, {"content": None}, {}, {"content": "lo"}) == [
        TextDelta("Hel"),
        TextDelta("lo"),
    ]


def test_whitespace_is_text() -> None:
    """A delta of white space is kept (PS-09)."""
    assert said({"content": " "}, {"reasoning": "\n"}) == [TextDelta(" "), ReasoningDelta("\n", "reasoning")]


def test_content_as_a_list() -> None:
    """Mistral's magistral sends a list of thinking and text parts; other parts are left out."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm. "}, {"type": "text", "text": "Yes."}]}
    content = [thinking, {"type": "text", "text": "Answer"}, {"type": "unknown"}, "x", None]
    assert said({"content": content}) == [ReasoningDelta("Hm. Yes."), TextDelta("Answer")]


def test_thinking_as_a_plain_string() -> None:
    """A thinking part may contain its text directly; an empty one is skipped."""
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "thinking", "thinking": []}]
    assert said({"content": content}) == [ReasoningDelta("Hm.")]


def test_refusal() -> None:
    """The refusal field gives a separate part; null gives none."""
    assert said({"refusal": "No.", "content": ""}, {"refusal": None}) == [RefusalDelta("No.")]


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
    """Hosts that send one choice leave its index out, or null."""
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
def test_shapes_that_say_nothing(value: Any) -> None:
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


# --- reasoning ---


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_by_either_name(field: str) -> None:
    """Reasoning text has two field names; the part states which (quirk B10)."""
    assert said({field: "Hm."}) == [ReasoningDelta("Hm.", field)]


def test_reasoning_as_an_object() -> None:
    """Some hosts wrap reasoning in an object (PS-09)."""
    assert said({"reasoning": {"content": "Hm."}}, {"reasoning": {"text": "So."}}) == [
        ReasoningDelta("Hm.", "reasoning"),
        ReasoningDelta("So.", "reasoning"),
    ]


def test_reasoning_in_several_fields_counts_once() -> None:
    """The same text in up to three fields of one delta is shown once; the details still go back (quirk B10)."""
    detail = {"type": "reasoning.text", "text": "Hm.", "index": 0}
    parts = said({"reasoning": "Hm.", "reasoning_content": "Hm.", "reasoning_details": [detail]})
    assert parts[0] == ReasoningDelta("Hm.", "reasoning")
    assert [type(part) for part in parts] == [ReasoningDelta, Details]


def test_an_empty_field_yields_to_the_next() -> None:
    """An empty or null `reasoning` beside a full `reasoning_content` hides nothing."""
    assert said({"reasoning": "", "reasoning_content": "Hm."}, {"reasoning": None, "reasoning_content": "So."}) == [
        ReasoningDelta("Hm.", "reasoning_content"),
        ReasoningDelta("So.", "reasoning_content"),
    ]


def test_reasoning_only_in_details() -> None:
    """Text and summary of details are shown where no plain field is."""
    parts = said(
        {"reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.summary", "summary": "b"}]}
    )
    assert parts[0] == ReasoningDelta("ab")


def test_encrypted_details_are_hidden_reasoning() -> None:
    """Encrypted reasoning gives a part without text (quirk B12)."""
    assert said({"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz"}]})[0] == HiddenReasoning()


def test_empty_details_say_nothing() -> None:
    """Empty and null `reasoning_details` give no part."""
    assert said({"reasoning_details": [], "reasoning": None, "content": "a"}, {"reasoning_details": None}) == [
        TextDelta("a")
    ]


def test_text_details_merge_by_type_and_index() -> None:
    """Pieces of one index become one item, its text in order (quirk B3)."""
    merged = details(
        {"type": "reasoning.text", "text": "The ", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "user", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "Next", "index": 1},
    )
    assert merged == [
        {"type": "reasoning.text", "text": "The user", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "Next", "index": 1},
    ]


def test_the_last_delta_with_only_a_signature_joins_its_text() -> None:
    """Anthropic's signature comes alone, at the end; nulls and blanks beside it erase nothing (quirk B3)."""
    merged = details(
        {"type": "reasoning.text", "text": "Hm", "signature": None, "index": 0},
        {"type": "reasoning.text", "text": ".", "index": 0},
        {"type": "reasoning.text", "text": None, "signature": "EqQB", "index": 0},
    )
    assert merged == [{"type": "reasoning.text", "text": "Hm.", "signature": "EqQB", "index": 0}]


def test_summary_and_encrypted_of_one_index_stay_two() -> None:
    """OpenAI's summary and its encrypted twin share an index, not a type."""
    merged = details(
        {"type": "reasoning.summary", "summary": "**A", "index": 0},
        {"type": "reasoning.summary", "summary": "**", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0},
    )
    assert merged == [
        {"type": "reasoning.summary", "summary": "**A**", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "index": 0},
    ]


def test_two_encrypted_items_with_other_ids_at_one_index_stay_two() -> None:
    """Gemini signs each of several calls at index 0 under the call's id; with one id, or none, two data are two too."""
    for ids in (("tool_a", "tool_b"), ("tool_a", "tool_a"), (None, None)):
        pieces = [{"type": "reasoning.encrypted", "data": f"d{n}", "id": i, "index": 0} for n, i in enumerate(ids)]
        assert details(*pieces) == pieces


def test_a_late_id_and_format_join_their_item() -> None:
    """Later fields are added to an item; its keys stay in order of arrival."""
    merged = details(
        {"type": "reasoning.text", "text": "a", "index": 0},
        {"type": "reasoning.text", "id": "x", "text": "b", "index": 0},
    )
    assert json.dumps(merged) == json.dumps([{"type": "reasoning.text", "text": "ab", "index": 0, "id": "x"}])


def test_details_without_an_index_merge_by_type() -> None:
    """Gemini 2.5 sends details without an index."""
    assert details({"type": "reasoning.text", "text": "a"}, {"type": "reasoning.text", "text": "b"}) == [
        {"type": "reasoning.text", "text": "ab"}
    ]


def test_unknown_details_and_fields_are_kept() -> None:
    """Unknown types and fields are sent back unchanged."""
    strange = {"type": "reasoning.future", "payload": {"a": [1, None, 1.0]}, "index": 7, "z": None}
    assert json.dumps(details(strange)) == json.dumps([strange])


def test_details_come_once_also_without_done() -> None:
    """Details are one part, at [DONE] or at the end of the bytes, never both."""
    piece = chunk({"reasoning_details": [{"type": "reasoning.text", "text": "a"}]})
    for stream in ([piece, b"data: [DONE]\n\n"], [piece], [piece, b"data: [DONE]\n\n", b"data: [DONE]\n\n"]):
        assert sum(isinstance(part, Details) for part in decode(*stream)) == 1


# --- calls ---


def test_call_deltas_keep_what_is_absent_absent() -> None:
    """Null and missing index, id, name and arguments are None; empty id and name too (quirks A2, A4, A5)."""
    whole = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    empty = {"index": 1, "id": "", "type": "", "function": {"name": "", "arguments": "{"}}
    nulls = {"index": None, "id": None, "type": None, "function": {"name": None, "arguments": None}}
    assert said(*({"tool_calls": [call]} for call in (whole, empty, nulls, {}, {"function": None}))) == [
        CallDelta(0, "c", "f", ""),
        CallDelta(1, None, None, "{"),
        CallDelta(),
        CallDelta(),
        CallDelta(),
    ]


def test_an_integer_id_is_text() -> None:
    """One host sends ids as numbers, zero among them; true is no id (quirk A4)."""
    calls = [{"id": 7, "function": {}}, {"id": 0, "function": {}}, {"id": True, "function": {}}]
    assert [part.id for part in said(*({"tool_calls": [c]} for c in calls)) if isinstance(part, CallDelta)] == [
        "7",
        "0",
        None,
    ]


@pytest.mark.parametrize("index", [-1, 0, 5])
def test_any_integer_is_an_index(index: int) -> None:
    """Z.ai numbers its calls -1; zero is not absent."""
    assert said({"tool_calls": [{"index": index}]}) == [CallDelta(index)]


@pytest.mark.parametrize("index", ["0", True, 1.5, [], {}])
def test_what_is_no_integer_is_no_index(index: object) -> None:
    """An index of another type counts as absent."""
    assert said({"tool_calls": [{"index": index}]}) == [CallDelta()]


def test_arguments_as_an_object() -> None:
    """Ollama and some proxies send the object itself, with whatever numbers are in it."""
    parts = said({"tool_calls": [{"function": {"name": "f", "arguments": {"q": "é", "n": 2}}}]})
    assert parts == [CallDelta(name="f", arguments='{"q":"é","n":2}')]
    assert said({"tool_calls": [{"function": {"arguments": 3}}]}) == [CallDelta()]


def test_several_calls_in_one_delta_know_their_places() -> None:
    """Mistral lists whole calls in one delta; an entry alone has no place."""
    two = said({"tool_calls": [{"id": "a"}, {"id": "b"}]})
    assert [part.position for part in two if isinstance(part, CallDelta)] == [0, 1]


def test_legacy_function_call() -> None:
    """The API before tools maps to one call (quirk A19)."""
    assert said({"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}}) == [
        CallDelta(0, None, "f", "{"),
        CallDelta(0, None, None, "}"),
    ]


# --- how it ends, who answered, what it cost ---


def test_finish_in_all_its_places() -> None:
    """Each stop reason is merged with the earlier ones; empty and null ones are skipped."""
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
def test_a_reason_that_is_no_text_is_one_all_the_same(value: Any, word: str | None) -> None:
    """An unreadable stop reason is kept as its JSON, so that it counts as unknown and not as none (A20)."""
    kept = word or '{"type":"refusal"}'
    assert decode(chunk({}, finish_reason=value)) == [finish_of(kept)]
    assert decode(chunk({}, finish_reason="stop", native_finish_reason=value)) == [finish_of("stop", kept)]


def test_who_answers_is_told_once_and_when_it_changes() -> None:
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


FULL = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "cost": 0.25,
    "completion_tokens_details": {"reasoning_tokens": 3},
    "prompt_tokens_details": {"cached_tokens": 4},
}


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
def test_usage_wherever_it_stands(value: dict[str, Any]) -> None:
    """Tokens and cost are read from every place that hosts put them in, and kept raw."""
    report = usage_of(value)
    usage = report.usage
    assert (usage.input, usage.output, usage.reasoning, usage.cached, usage.cost) == (10, 5, 3, 4, 0.25)
    assert report.raw == FULL


def test_usage_with_holes() -> None:
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


# --- errors ---


def fault_of(parts: list[StreamPart]) -> Fault:
    """Return the one fault among the parts."""
    [fault] = [part for part in parts if isinstance(part, Fault)]
    return fault


def test_error_1_a_chunk_without_choices() -> None:
    """Shape 1: a top-level error alone, without [DONE]; earlier text stays."""
    error = {"code": 502, "message": "Provider disconnected"}
    parts = decode(chunk({"content": "Half"}), frame({"id": "gen-1", "error": error}))
    assert parts[0] == TextDelta("Half")
    assert fault_of(parts).error.code is Code.UPSTREAM_ERROR
    assert fault_of(parts).raw == error
    assert not any(isinstance(part, EndOfStream) for part in parts)


def test_error_2_beside_choices_and_followed_by_usage() -> None:
    """Shape 2: a top-level error with `finish_reason: error`; the usage behind it still counts."""
    broken = {
        "error": {"code": 429, "message": "slow down"},
        "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
    }
    parts = decode(frame(broken), frame({"choices": [], "usage": FULL}))
    assert fault_of(parts).error.code is Code.RATE_LIMIT
    assert [type(part) for part in parts] == [Finish, Fault, UsageReport]


def test_error_3_inside_a_choice_of_a_whole_body() -> None:
    """Shape 3: `choices[0].error` in a body of HTTP 200."""
    body = {"choices": [{"message": {"content": ""}, "error": {"code": 502, "message": "x"}, "finish_reason": "error"}]}
    assert fault_of(parts_of_body(json.dumps(body).encode())).error.code is Code.UPSTREAM_ERROR


def test_error_4_a_body_of_http_200() -> None:
    """Shape 4: a top-level error as the whole body."""
    body = json.dumps(
        {"error": {"code": 402, "message": "Insufficient credits"}, "user_id": "user_2abcdefghijk"}
    ).encode()
    fault = fault_of(parts_of_body(body))
    assert fault.error.code is Code.UPSTREAM_CREDITS
    assert fault.error.status == 402


def test_error_under_an_event_line() -> None:
    """Groq names the event `error`: its object is an error even without the key, and the next frame is not."""
    inside = (
        b'event: error\ndata: {"error":{"message":"m","type":"invalid_request_error","code":"tool_use_failed"}}\n\n'
    )
    assert fault_of(decode(inside)).error.code is Code.UPSTREAM_REJECTED
    bare = b'event: error\ndata: {"message":"over capacity"}\n\n' + chunk({"content": "x"})
    parts = decode(bare)
    assert "over capacity" in fault_of(parts).error.message
    assert parts[-1] == TextDelta("x")


@pytest.mark.parametrize("error", ["Something broke", {"message": "m"}, ["odd"], 500])
def test_an_error_of_any_type_is_an_error(error: object) -> None:
    """Strings, objects without a code and other types are errors too (quirk E1)."""
    assert fault_of(decode(frame({"error": error}))).raw == error


def test_text_and_error_in_one_chunk() -> None:
    """The content of a chunk is emitted before its error."""
    parts = decode(frame({"choices": [{"delta": {"content": "x"}}], "error": {"message": "m"}}))
    assert [type(part) for part in parts] == [TextDelta, Fault]


# --- frames ---


def test_keep_alives_as_data_are_nothing() -> None:
    """`data: : keepalive` and empty data are no JSON and no fault (quirk E4)."""
    assert decode(b"data: : keepalive\n\ndata:\n\ndata: : OPENROUTER PROCESSING\n\ndata:  \n\n") == []


def test_glued_frames() -> None:
    """Of two glued frames, the first one cut, the second is decoded and the loss is reported (quirk E10)."""
    whole = json.dumps({"choices": [{"index": 0, "delta": {"content": "b"}}]}).encode()
    glued = b'data: {"choices":[{"index":0,"delta":{"conte' + b"data: " + whole + b"\n\n"
    assert decode(glued) == [Unreadable(len(glued) - len(b"data: \n\n")), TextDelta("b")]


def test_an_unreadable_frame_is_left_out_and_told() -> None:
    """A frame that is not JSON loses only that frame."""
    assert decode(chunk({"content": "a"}), b"data: {oops\n\n", chunk({"content": "b"})) == [
        TextDelta("a"),
        Unreadable(5),
        TextDelta("b"),
    ]


def test_many_unreadable_frames_are_a_fault() -> None:
    """More than five unreadable frames are a protocol error."""
    parts = decode(*[b"data: <html>\n\n"] * 6)
    assert sum(isinstance(part, Fault) for part in decode(*[b"data: <html>\n\n"] * 5)) == 0
    assert fault_of(parts).error.code is Code.UPSTREAM_PROTOCOL


def test_a_frame_too_deep_is_unreadable() -> None:
    """Thousands of nested brackets are rejected (quirk G6)."""
    assert decode(b"data: " + b"[" * 5000 + b"]" * 5000 + b"\n\n") == [Unreadable(10_000)]


def test_strings_that_strict_parsers_refuse() -> None:
    """A lone surrogate, NaN or a raw control character costs a character, not the frame."""
    assert decode(b'data: {"choices":[{"delta":{"content":"a\\ud83db"}}]}\n\n') == [TextDelta("a\ufffdb")]
    assert decode(b'data: {"choices":[{"delta":{"content":"a\tb"}}],"x":NaN}\n\n') == [TextDelta("a\tb")]
    assert decode(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n') == [TextDelta("\ufffd")]


def test_an_emoji_in_two_escapes_is_one() -> None:
    """A proper pair of surrogate escapes is its character."""
    assert decode(b'data: {"choices":[{"delta":{"content":"\\ud83d\\udea6"}}]}\n\n') == [TextDelta("🚦")]


# --- whole bodies ---


def test_a_whole_body_reads_like_a_stream() -> None:
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
def test_a_body_that_is_no_object(body: bytes) -> None:
    """A body that is not a JSON object raises ValueError."""
    with pytest.raises(ValueError, match=r".*"):
        parts_of_body(body)
