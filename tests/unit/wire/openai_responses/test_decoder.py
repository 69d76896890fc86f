"""Decoding the events of a response: text, reasoning, refusals, sources and images."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.chat.answer.response import parse_completion_response
from signalbox.core.messages import Native
from signalbox.core.parts import (
    Citation,
    HiddenReasoning,
    ImageDelta,
    NativeTurn,
    Omitted,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    TokenLogprobs,
    Unreadable,
)
from signalbox.wire.openai_responses.decoder import NAME, ResponseDecoder, parts_of_body

from tests.unit.wire.openai_responses.events import added, decoded, delta, done, ended, event, message, text

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
VISIBLE = (TextDelta, RefusalDelta, ReasoningDelta, HiddenReasoning, Citation, ImageDelta, Omitted, TokenLogprobs)


def visible(*frames: bytes) -> list[StreamPart]:
    """Return the parts without those that every complete stream ends with."""
    return [part for part in decoded(*frames) if isinstance(part, VISIBLE)]


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("output_text", TextDelta("Hel")),
        ("refusal", RefusalDelta("Hel")),
        ("reasoning_summary_text", ReasoningDelta("Hel")),
        ("reasoning_text", ReasoningDelta("Hel")),
        ("reasoning_summary", ReasoningDelta("Hel")),
        ("reasoning", ReasoningDelta("Hel")),
    ],
)
def test_pieces_are_parts(kind: str, part: StreamPart) -> None:
    """Each kind of piece is a part; an empty one is none."""
    assert visible(delta(kind, "Hel"), delta(kind, "")) == [part]


def test_the_finished_text_is_not_repeated() -> None:
    """After pieces, the events with the whole text add nothing, even if the text differs."""
    whole = text("Hello!")
    frames = (
        added(message()),
        delta("output_text", "Hello"),
        event("response.output_text.done", output_index=0, content_index=0, text="Hello!"),
        event("response.content_part.done", output_index=0, content_index=0, part=whole),
        done(message(whole)),
        ended(output=[message(whole)]),
    )
    assert visible(*frames) == [TextDelta("Hello")]


@pytest.mark.parametrize(
    "frames",
    [
        (event("response.output_text.done", output_index=0, content_index=0, text="Hi"), done(message(text("Hi")))),
        (done(message(text("Hi"))),),
        (ended(output=[message(text("Hi"))]),),
    ],
    ids=["text", "item", "response"],
)
def test_text_without_pieces_is_taken_from_what_has_it_first(frames: tuple[bytes, ...]) -> None:
    """A server that sends no pieces sends the text in one of the later events."""
    assert visible(*frames) == [TextDelta("Hi")]


def test_reasoning_without_pieces() -> None:
    """Summaries and texts of a finished item are emitted; an item that has neither is hidden reasoning."""
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "S"}], "content": [{"text": "R"}]}
    assert visible(done(item)) == [ReasoningDelta("S"), ReasoningDelta("R")]
    assert visible(done({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"})) == [HiddenReasoning()]
    assert visible(done({"type": "reasoning", "summary": []})) == []


def test_each_summary_has_its_place() -> None:
    """The second summary of an item is another text, although the first one was streamed."""
    item = {"type": "reasoning", "summary": [{"text": "One"}, {"text": "Two"}]}
    assert visible(delta("reasoning_summary_text", "One", summary_index=0), done(item)) == [
        ReasoningDelta("One"),
        ReasoningDelta("Two"),
    ]


def test_a_source_is_cited_once_with_its_place_in_the_answer() -> None:
    """The API counts offsets from the start of the message's text; an earlier message moves them."""
    source = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 1, "end_index": 3}
    frames = (
        delta("output_text", "Four", 0),
        delta("output_text", "cited", 1),
        event("response.output_text.annotation.added", output_index=1, content_index=0, annotation=source),
        done(message(text("cited", source)), 1),
    )
    assert visible(*frames)[2:] == [Citation("https://a.example", "A", "", 5, 7)]


def test_a_file_as_a_source_is_left_out() -> None:
    """A file that was searched has no address; the answer says once that a source is missing."""
    file = {"type": "file_citation", "file_id": "file-1", "filename": "a.txt", "index": 3}
    parts = visible(done(message(text("Hi", file, {**file, "index": 9}))))
    assert [type(part) for part in parts] == [TextDelta, Omitted]


def test_images_are_parts() -> None:
    """A generated image is base64, and its data determines the type; code has images as URLs."""
    image = {"type": "image_generation_call", "result": PNG, "output_format": "webp"}
    assert visible(done(image)) == [ImageDelta(f"data:image/png;base64,{PNG}")]
    plots: list[dict[str, Any]] = [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://a.example/p.png"}]
    assert visible(done({"type": "code_interpreter_call", "outputs": plots})) == [ImageDelta("https://a.example/p.png")]


def test_log_probabilities_precede_their_text() -> None:
    """Log probabilities are passed on as they are; an empty list is none."""
    logprobs = [{"token": "Hi", "logprob": -0.1, "top_logprobs": []}]
    assert visible(delta("output_text", "Hi", logprobs=logprobs), delta("output_text", "!", logprobs=[])) == [
        TokenLogprobs(tuple(logprobs)),
        TextDelta("Hi"),
        TextDelta("!"),
    ]


def test_the_items_are_kept_in_order_and_unchanged() -> None:
    """All items are kept, also those of unknown types, with their keys in order."""
    items: list[dict[str, Any]] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"id": "ws_1", "type": "web_search_call", "action": {"type": "search"}, "status": "completed"},
        {"type": "later_than_us", "data": {"b": 1, "a": [1.5, None]}},
        message(text("Hi")),
    ]
    parts = decoded(*(done(item, at) for at, item in enumerate(items)), ended(output=[{"type": "other"}]))
    (native,) = [part for part in parts if isinstance(part, NativeTurn)]
    assert native == NativeTurn(Native(NAME, tuple(items)))
    assert json.dumps(native.native.items) == json.dumps(items)


def test_unknown_events_are_skipped() -> None:
    """Keep-alives, progress of tools and events of later versions cost nothing that follows."""
    frames = (
        event("keepalive", sequence_number=2),
        event("response.web_search_call.searching", item_id="ws_1", output_index=0),
        event("response.code_interpreter_call_code.delta", output_index=0, delta="print()"),
        event("response.later.delta", output_index=0, delta={"b": 1}),
        b"data: [1, 2]\n\n",
        delta("output_text", "Hi"),
    )
    assert visible(*frames) == [TextDelta("Hi")]


def test_frames_without_an_event_line() -> None:
    """OpenRouter sends only `data:`; a type that only `event:` has is read as well."""
    assert visible(b'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}\n\n') == [
        TextDelta("Hi")
    ]
    assert visible(b'event: response.output_text.delta\ndata: {"output_index":0,"delta":"Hi"}\n\n') == [TextDelta("Hi")]


def test_invalid_json_is_reported() -> None:
    """A frame that is not JSON is left out."""
    assert decoded(b"data: {\n\n", delta("output_text", "Hi"))[:2] == [Unreadable(1), TextDelta("Hi")]


def test_what_served_is_emitted_when_it_changes() -> None:
    """The id and the model come with the first event; the headers may know the id already."""
    start = {"id": "resp_1", "model": "gpt-5"}
    first = event("response.created", response=start), event("response.in_progress", response=start)
    assert decoded(*first, ended(**start, output=[]))[:1] == [Served("resp_1", "gpt-5")]
    decoder = ResponseDecoder(Served("from-headers"))
    assert decoder.feed(b"".join(first)) == [Served("from-headers", "gpt-5")]


def test_a_whole_response_decodes_like_its_stream() -> None:
    """The same items give the same answer, streamed or not."""
    items = [{"type": "reasoning", "summary": [{"text": "Hm."}]}, message(text("Hi"))]
    response = {"id": "resp_1", "model": "gpt-5", "status": "completed", "output": items, "usage": {"input_tokens": 3}}
    streamed = decoded(
        delta("reasoning_summary_text", "Hm."),
        done(items[0]),
        delta("output_text", "Hi", 1),
        done(items[1], 1),
        ended(**response),
    )
    whole = parse_completion_response(parts_of_body(json.dumps(response).encode()))
    assert whole == parse_completion_response(streamed)


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"{"])
def test_a_body_that_is_no_object(body: bytes) -> None:
    """Only an object is a response."""
    with pytest.raises(ValueError):  # noqa: PT011 - orjson words some of the messages
        parts_of_body(body)


_NAMES = [
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_text.annotation.added",
    "response.function_call_arguments.delta",
    "response.reasoning_summary_text.delta",
    "response.refusal.done",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
]
_KINDS = ["message", "reasoning", "function_call", "image_generation_call", "code_interpreter_call", "output_text"]
_KEYS = [
    *("type", "item", "response", "output", "content", "summary", "annotations", "text", "delta", "output_index"),
    *("content_index", "call_id", "name", "arguments", "error", "usage", "status", "incomplete_details", "reason"),
    *("result", "outputs", "url", "logprobs", "encrypted_content", "input_tokens", "start_index"),
]
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(_NAMES + _KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=20,
)
_EVENTS = st.builds(
    lambda fields, name: {**fields, "type": name},
    st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=8),
    st.sampled_from(_NAMES),
)


@given(st.lists(_EVENTS, max_size=6), st.integers(1, 40))
def test_any_json_decodes_in_any_split(values: list[dict[str, Any]], size: int) -> None:
    """No JSON makes the decoder fail, and the size of the reads changes nothing."""
    stream = b"".join(f"data: {json.dumps(value)}\n\n".encode() for value in values)
    decoder = ResponseDecoder()
    parts = [part for at in range(0, len(stream), size) for part in decoder.feed(stream[at : at + size])]
    assert repr([*parts, *decoder.close()]) == repr(decoded(stream))
    for value in values:
        parts_of_body(json.dumps(value).encode())
