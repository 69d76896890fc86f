"""Chunks of chat completions, and their decoding."""

import json
from typing import Any

from signalbox.core.parts import (
    Details,
    StreamPart,
)
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


def decoded(*deltas: dict[str, Any]) -> list[StreamPart]:
    """Decode one chunk per delta."""
    return decode(*map(chunk, deltas))


def details_of(*pieces: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the merged reasoning details_of of a stream with one piece per chunk."""
    found = [part for part in decoded(*({"reasoning_details": [p]} for p in pieces)) if isinstance(part, Details)]
    assert len(found) == 1
    return [dict(item.raw) for item in found[0].items]


FULL = {
    "prompt_tokens": 10,
    "completion_tokens": 5,
    "cost": 0.25,
    "completion_tokens_details": {"reasoning_tokens": 3},
    "prompt_tokens_details": {"cached_tokens": 4},
}
