"""Streams of the Responses API, written by hand, for its tests."""

import json
from typing import Any

from signalbox.core.parts import StreamPart
from signalbox.wire.openai_responses.decoder import ResponseDecoder


def event(name: str, **fields: Any) -> bytes:
    """Return the frame of one event."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n".encode()


def added(item: dict[str, Any], at: int = 0) -> bytes:
    """Return the event that begins an output item."""
    return event("response.output_item.added", output_index=at, item=item)


def done(item: dict[str, Any], at: int = 0) -> bytes:
    """Return the event that ends an output item."""
    return event("response.output_item.done", output_index=at, item=item)


def delta(kind: str, piece: str, at: int = 0, **fields: Any) -> bytes:
    """Return an event with a piece."""
    return event(f"response.{kind}.delta", output_index=at, delta=piece, **fields)


def ended(status: str = "completed", **fields: Any) -> bytes:
    """Return the event that ends a response."""
    return event(f"response.{status}", response={"status": status, **fields})


def decoded(*frames: bytes) -> list[StreamPart]:
    """Decode the frames of one whole stream."""
    decoder = ResponseDecoder()
    return [*decoder.feed(b"".join(frames)), *decoder.close()]


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a message item."""
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts)}


def text(words: str, *annotations: dict[str, Any]) -> dict[str, Any]:
    """Return the text of a message."""
    return {"type": "output_text", "text": words, "annotations": list(annotations)}


def call(arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    """Return the item of a call."""
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "search",
        "arguments": arguments,
    } | fields
