"""Decoding errors inside a stream, and frames that cannot be decoded."""

import json

import pytest
from signalbox.core.codes import Code
from signalbox.core.parts import (
    EndOfStream,
    Fault,
    Finish,
    StreamPart,
    TextDelta,
    Unreadable,
    UsageReport,
)
from signalbox.wire.openrouter.decoder import parts_of_body

from tests.unit.wire.openrouter.chat_chunks import FULL, chunk, decode, frame


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
    """Shape 2: a top-level error with `finish_reason: error`; the usage after it still counts."""
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


def test_keep_alives_as_data_are_ignored() -> None:
    """`data: : keepalive` and empty data are neither JSON nor an error (quirk E4)."""
    assert decode(b"data: : keepalive\n\ndata:\n\ndata: : OPENROUTER PROCESSING\n\ndata:  \n\n") == []


def test_frames_joined_into_one() -> None:
    """Of two frames joined into one, the first one cut, the second is decoded and the loss is reported (quirk E10)."""
    whole = json.dumps({"choices": [{"index": 0, "delta": {"content": "b"}}]}).encode()
    glued = b'data: {"choices":[{"index":0,"delta":{"conte' + b"data: " + whole + b"\n\n"
    assert decode(glued) == [Unreadable(len(glued) - len(b"data: \n\n")), TextDelta("b")]


def test_an_unreadable_frame_is_left_out_and_reported() -> None:
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


def test_strings_that_strict_parsers_reject() -> None:
    """A lone surrogate, NaN or a raw control character costs a character, not the frame."""
    assert decode(b'data: {"choices":[{"delta":{"content":"a\\ud83db"}}]}\n\n') == [TextDelta("a\ufffdb")]
    assert decode(b'data: {"choices":[{"delta":{"content":"a\tb"}}],"x":NaN}\n\n') == [TextDelta("a\tb")]
    assert decode(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n') == [TextDelta("\ufffd")]


def test_an_emoji_in_two_escapes_is_joined() -> None:
    """A proper pair of surrogate escapes is its character."""
    assert decode(b'data: {"choices":[{"delta":{"content":"\\ud83d\\udea6"}}]}\n\n') == [TextDelta("🚦")]
