"""Events of a streamed message, and what they decode to."""

import json
from typing import Any

from signalbox.core.parts import Fault, NativeTurn, StreamPart
from signalbox.wire.anthropic.decoder import MessageStreamDecoder


def frame(event: dict[str, Any]) -> bytes:
    """Write one event as the API does."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def start(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    """Begin a block."""
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    """Continue a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    """End a block."""
    return {"type": "content_block_stop", "index": index}


def ending(reason: str | None, **usage: Any) -> list[dict[str, Any]]:
    """End the message."""
    message = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    return [message, {"type": "message_stop"}]


def decode(data: bytes, size: int = 0) -> list[StreamPart]:
    """Decode a stream in reads of this size, or in one."""
    decoder = MessageStreamDecoder()
    step = size or max(len(data), 1)
    parts = [part for at in range(0, len(data), step) for part in decoder.feed(data[at : at + step])]
    return [*parts, *decoder.close()]


def decoded(*events: dict[str, Any]) -> list[StreamPart]:
    """Decode events without the native turn."""
    parts = decode(b"".join(map(frame, events)))
    return [part for part in parts if not isinstance(part, NativeTurn)]


def items_of(*events: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return the native items of a stream."""
    return next(part.native.items for part in decode(b"".join(map(frame, events))) if isinstance(part, NativeTurn))


def fault_of(parts: list[StreamPart]) -> Fault:
    """Return the error among the parts."""
    return next(part for part in parts if isinstance(part, Fault))
