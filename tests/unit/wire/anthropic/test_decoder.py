"""Decoding streamed and whole messages: blocks, stop reasons, usage, sources and origin."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.parts import (
    CallDelta,
    Citation,
    EndOfStream,
    Finish,
    FinishReason,
    HiddenReasoning,
    NativeTurn,
    Omitted,
    ReasoningDelta,
    RefusalDelta,
    Served,
    TextDelta,
    Usage,
    UsageReport,
)
from signalbox.wire.anthropic.decoder import parts_of_body

from tests.unit.wire.anthropic.messages_events import decode, decoded, delta, ending, frame, items_of, start, stop

END = EndOfStream()
CALL = [
    start(0, "thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="Hm"),
    delta(0, "thinking_delta", thinking="."),
    delta(0, "signature_delta", signature="c2ln"),
    stop(0),
    start(1, "text", text=""),
    delta(1, "text_delta", text="Wait."),
    stop(1),
    start(2, "tool_use", id="toolu_1", name="f", input={}, caller={"type": "direct"}),
    delta(2, "input_json_delta", partial_json=""),
    delta(2, "input_json_delta", partial_json='{"a": '),
    delta(2, "input_json_delta", partial_json="1}"),
    stop(2),
]


def test_a_turn_with_thinking_and_a_call() -> None:
    """Thinking, text and the pieces of a call become parts; the blocks are kept in order, with their signature."""
    assert decoded(*CALL, *ending("tool_use")) == [
        ReasoningDelta("Hm"),
        ReasoningDelta("."),
        TextDelta("Wait."),
        CallDelta(2, "toolu_1", "f", ""),
        CallDelta(2, arguments='{"a": '),
        CallDelta(2, arguments="1}"),
        Finish(FinishReason.TOOL_CALLS, "tool_use"),
        END,
    ]
    assert items_of(*CALL, *ending("tool_use")) == (
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Wait."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"}},
    )


@pytest.mark.parametrize("size", range(1, 90))
def test_any_split(size: int) -> None:
    """Reads of every size give the same parts."""
    data = b"".join(map(frame, [*CALL, *ending("tool_use", output_tokens=3)]))
    assert decode(data, size) == decode(data)


def test_hidden_reasoning() -> None:
    """Redacted thinking, and thinking of which the API sends only the signature, are hidden reasoning."""
    events = [
        start(0, "redacted_thinking", data="abc"),
        stop(0),
        start(1, "thinking", thinking="", signature=""),
        delta(1, "signature_delta", signature="c2ln"),
        stop(1),
    ]
    assert decoded(*events, *ending("end_turn"))[:2] == [HiddenReasoning(), HiddenReasoning()]
    assert items_of(*events) == (
        {"type": "redacted_thinking", "data": "abc"},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
    )


def test_tools_of_the_server_are_no_calls() -> None:
    """Tools that the API executes, and their results, are kept for the next request; nothing is executed here."""
    events = [
        start(0, "server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query":"x"}'),
        stop(0),
        start(1, "web_search_tool_result", tool_use_id="s", content=[{"encrypted_content": "e="}]),
        stop(1),
        start(2, "hologram", data={"x": 1}),
        delta(2, "hologram_delta", caption="a"),
        delta(2, "hologram_delta", caption="b", angle=90),
        stop(2),
    ]
    assert decoded(*events, *ending("end_turn")) == [Finish(FinishReason.STOP, "end_turn"), END]
    assert items_of(*events) == (
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": "e="}]},
        {"type": "hologram", "data": {"x": 1}, "angle": 90, "caption": "ab"},
    )


def test_sources() -> None:
    """A source with an address names the text of its block; a source without one is reported as left out."""
    page = {"type": "web_search_result_location", "url": "https://a.example/", "title": "A", "cited_text": "c"}
    document = {"type": "char_location", "document_title": "D", "cited_text": "c"}
    events = [
        start(0, "text", text=""),
        delta(0, "text_delta", text="So: "),
        stop(0),
        start(1, "text", text="", citations=[]),
        delta(1, "citations_delta", citation=page),
        delta(1, "text_delta", text="it is."),
        delta(1, "citations_delta", citation=document),
        stop(1),
    ]
    parts = decoded(*events, *ending("end_turn"))
    assert parts[:3] == [TextDelta("So: "), TextDelta("it is."), Citation("https://a.example/", "A", "c", 4, 10)]
    assert isinstance(parts[3], Omitted)
    assert items_of(*events)[1] == {"type": "text", "text": "it is.", "citations": [page, document]}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("pause_turn", FinishReason.PAUSED),
        ("compaction", FinishReason.PAUSED),
        ("refusal", FinishReason.WITHHELD),
        ("something_new", FinishReason.UNKNOWN),
    ],
)
def test_stop_reasons(word: str, reason: FinishReason) -> None:
    """Each stop reason has its own meaning; an unknown one is UNKNOWN."""
    assert decoded(*ending(word)) == [Finish(reason, word), END]


def test_why_a_model_refuses() -> None:
    """The explanation of a refusal is the refusal's text."""
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    event = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}
    assert decoded(event) == [RefusalDelta("Not this."), Finish(FinishReason.WITHHELD, "refusal")]


def test_usage_is_cumulative() -> None:
    """Later counts replace earlier ones, absent and null ones do not; the input includes the cache."""
    first = {"input_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 3, "output_tokens": 1}
    message = {"id": "msg_1", "model": "claude-x", "usage": first}
    later = {"input_tokens": None, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}
    parts = decoded({"type": "message_start", "message": message}, *ending("end_turn", **later))
    assert parts[0] == Served("msg_1", "claude-x")
    reports = [part for part in parts if isinstance(part, UsageReport)]
    assert [report.usage for report in reports] == [
        Usage(input=28, output=1, cached=20, cache_written=3),
        Usage(input=28, output=9, reasoning=4, cached=20, cache_written=3),
    ]
    assert reports[-1].raw == {**first, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}


def test_another_model_continues() -> None:
    """A `fallback` block names the model that continues the answer."""
    message = {"id": "msg_1", "model": "claude-a"}
    fallback = start(0, "fallback", **{"from": {"model": "claude-a"}, "to": {"model": "claude-b"}})
    parts = decoded({"type": "message_start", "message": message}, fallback)
    assert parts == [Served("msg_1", "claude-a"), Served("msg_1", "claude-b")]


def test_arguments_in_the_first_event() -> None:
    """Arguments that are complete in the first event are emitted when the block ends, unless deltas contain them."""
    whole = start(0, "tool_use", id="a", name="f", input={"a": 1})
    assert decoded(whole, stop(0)) == [CallDelta(0, "a", "f", ""), CallDelta(0, arguments='{"a":1}')]
    piece = delta(0, "input_json_delta", partial_json='{"a":1}')
    assert decoded(whole, piece, stop(0)) == [CallDelta(0, "a", "f", ""), CallDelta(0, arguments='{"a":1}')]
    assert decoded(whole) == [CallDelta(0, "a", "f", ""), CallDelta(0, arguments='{"a":1}')]


def test_blocks_without_a_beginning_or_with_one_index() -> None:
    """A delta without its block opens one, and a block at an index in use is a new one."""
    events = [
        delta(0, "thinking_delta", thinking="Hm"),
        start(0, "text", text="A"),
        start(0, "tool_use", id="a", name="f", input={}),
        start(0, "tool_use", id="b", name="f", input={}),
        delta(0, "input_json_delta", partial_json="{}"),
        delta(7, "citations_delta", citation={}),
    ]
    assert decoded(*events) == [
        ReasoningDelta("Hm"),
        TextDelta("A"),
        CallDelta(2, "a", "f", ""),
        CallDelta(3, "b", "f", ""),
        CallDelta(3, arguments="{}"),
    ]
    assert [item["type"] for item in items_of(*events)] == ["thinking", "text", "tool_use", "tool_use"]


def test_nothing_follows_the_end() -> None:
    """What proxies send after `message_stop` is skipped; a stream may end with `[DONE]` only."""
    data = b"".join(map(frame, ending("end_turn")))
    more = frame({"type": "ping", "cost": "0"}) + b"data: [DONE]\n\n"
    assert decode(data + more) == decode(data)
    assert decode(b"data: [DONE]\n\n") == [END]


def test_a_whole_body_decodes_like_a_stream() -> None:
    """A body gives the parts of the stream with the same blocks."""
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Wait."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    ]
    body = {"id": "msg_1", "type": "message", "model": "m", "content": content, "stop_reason": "tool_use"}
    *parts, native, end = parts_of_body(json.dumps({**body, "usage": {"input_tokens": 2, "output_tokens": 3}}).encode())
    assert parts == [
        Served("msg_1", "m"),
        ReasoningDelta("Hm."),
        TextDelta("Wait."),
        CallDelta(2, "toolu_1", "f", ""),
        CallDelta(2, arguments='{"a":1}'),
        Finish(FinishReason.TOOL_CALLS, "tool_use"),
        UsageReport(Usage(2, 3), {"input_tokens": 2, "output_tokens": 3}),
    ]
    assert isinstance(native, NativeTurn)
    assert list(native.native.items) == content
    assert end == END


@pytest.mark.parametrize("body", [b"[]", b"x", b""])
def test_what_is_no_message(body: bytes) -> None:
    """A body that is not a JSON object is a ValueError."""
    with pytest.raises(ValueError, match=r"."):
        parts_of_body(body)


KINDS = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "error")
NAMES = (
    *(
        "type",
        "index",
        "content_block",
        "delta",
        "message",
        "usage",
        "error",
        "content",
        "text",
        "thinking",
        "citation",
    ),
    *("partial_json", "signature", "input", "stop_reason", "stop_details", "id", "name", "to", "url", "citations"),
)
BLOCKS = (
    "text",
    "thinking",
    "tool_use",
    "server_tool_use",
    "fallback",
    "text_delta",
    "input_json_delta",
    "citations_delta",
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from(BLOCKS) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), VALUES)), max_size=8))
def test_no_json_raises(events: list[tuple[str, dict[str, Any]]]) -> None:
    """Any JSON decodes without an exception, streamed and as a body, and its blocks can be written as JSON."""
    data = b"".join(frame({**fields, "type": kind}) for kind, fields in events)
    for part in decode(data):
        if isinstance(part, NativeTurn):
            json.dumps(part.native.items)
    for _, fields in events:
        parts_of_body(json.dumps(fields).encode())
