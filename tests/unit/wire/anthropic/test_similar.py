"""The fast path gives the same parts as the slow path, whatever the pieces, the padding and the reads."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.parts import CallDelta, NativeTurn, ReasoningDelta, StreamPart, TextDelta
from signalbox.wire.anthropic.decoder import MessageStreamDecoder
from signalbox.wire.anthropic.similar import similar_to

from tests.unit.wire.anthropic.messages_events import decode, delta, ending, frame, start, stop

PIECES = st.lists(st.text() | st.sampled_from(['"}}', "\\", '"', "\n\n", "\u2028", "é", "😀", '{"a":']), max_size=30)


def padded(event: dict[str, Any], spaces: int) -> bytes:
    """Write an event as Anthropic does: compact, in its order of fields, with spaces before the last brace."""
    data = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
    return f"event: {event['type']}\ndata: {data[:-1]}{' ' * spaces}}}\n\n".encode()


def stream_of(kind: str, delta_kind: str, field: str, pieces: list[str]) -> bytes:
    """Write a block with these pieces, and a second block with the same ones."""
    events: list[dict[str, Any]] = []
    for index in (0, 1):
        events += [start(index, kind), *(delta(index, delta_kind, **{field: piece}) for piece in pieces), stop(index)]
    return b"".join(padded(event, at % 7) for at, event in enumerate([*events, *ending("end_turn")]))


def in_reads(data: bytes, cut: Callable[[bytes], list[bytes]]) -> list[StreamPart]:
    """Decode reads that `cut` makes of a stream."""
    decoder = MessageStreamDecoder()
    return [*(part for read in cut(data) for part in decoder.feed(read)), *decoder.close()]


def one_by_one(data: bytes) -> list[bytes]:
    """Cut a stream into its events."""
    return [event + b"\n\n" for event in data.split(b"\n\n") if event]


@given(
    st.sampled_from(
        [
            ("text", "text_delta", "text"),
            ("thinking", "thinking_delta", "thinking"),
            ("tool_use", "input_json_delta", "partial_json"),
            ("server_tool_use", "input_json_delta", "partial_json"),
        ]
    ),
    PIECES,
    st.integers(1, 400),
)
def test_all_reads_give_the_same_parts(names: tuple[str, str, str], pieces: list[str], size: int) -> None:
    """A stream decodes equally byte by byte, event by event, whole, and in reads of one size."""
    data = stream_of(*names, pieces)
    slow = decode(data, 1)
    assert decode(data) == slow
    assert decode(data, size) == slow
    assert in_reads(data, one_by_one) == slow
    written = "".join(part.text for part in slow if isinstance(part, TextDelta | ReasoningDelta))
    arguments = "".join(part.arguments or "" for part in slow if isinstance(part, CallDelta))
    expected = "".join(pieces) * 2
    assert (written, arguments) == (
        expected if names[0] in ("text", "thinking") else "",
        expected if names[0] == "tool_use" else "",
    )


@pytest.mark.parametrize(
    "piece",
    [
        b'"\\ud83d"',
        b'"a" , "b"',
        b'"a\nb"',
        b"5",
        b'"a"}',
        b'"a","p":"x"',
        b'"a","text":"b"',
        b'"a","x":{"y":1',
        b'"\xff"',
    ],
)
def test_frames_that_only_look_similar(piece: bytes) -> None:
    """Halves of surrogates, raw line ends and further fields take the slow path, in reads of every kind."""
    whole = padded(delta(0, "text_delta", text=""), 0)
    before = whole.removesuffix(b'""}}\n\n')
    good = before + b'"ok"}}\n\n'
    data = frame(start(0, "text", text="")) + good * 3 + before + piece + b"}}\n\n" + good * 3
    slow = decode(data, 1)
    assert decode(data) == slow
    assert in_reads(data, one_by_one) == slow
    assert [part for part in slow if part == TextDelta("ok")] == [TextDelta("ok")] * 6


def test_other_events_end_a_run() -> None:
    """A ping, another block and the end are decoded between runs; nothing follows the end."""
    run = [delta(0, "text_delta", text="a")] * 3
    events = [start(0, "text", text=""), *run, {"type": "ping"}, *run, stop(0), *run, *ending("end_turn"), *run]
    data = b"".join(map(frame, events))
    parts = decode(data)
    assert decode(data, 1) == parts
    assert parts.count(TextDelta("a")) == 9
    assert [len(part.native.items) for part in parts if isinstance(part, NativeTurn)] == [2]


def test_only_pieces_have_a_pattern() -> None:
    """Signatures, sources and events in another order of fields have none."""
    for event in (delta(0, "signature_delta", signature="x"), delta(0, "citations_delta", citation={}), stop(0)):
        assert similar_to(None, json.dumps(event).encode()) is None
    assert similar_to(None, json.dumps(delta(0, "text_delta", text="x")).encode()) is not None


def test_a_large_frame_is_noticed() -> None:
    """A read that completes a large frame says so, also if further events follow in it."""
    data = frame(start(0, "web_search_tool_result", content="x" * 40_000)) + frame(stop(0)) * 2
    decoder = MessageStreamDecoder()
    decoder.feed(data[:30_000])
    decoder.feed(data[30_000:])
    assert decoder.is_large
