"""Builds Gemini's responses, and decodes them as one stream."""

import json
from typing import Any

from signalbox.chat.answer.response import parse_completion_response
from signalbox.core.parts import Completion, StreamPart
from signalbox.wire.gemini.decoder import GeminiStreamDecoder


def frame(value: object) -> bytes:
    """Write one frame with the line ends that Google sends."""
    return b"data: " + json.dumps(value).encode() + b"\r\n\r\n"


def response(*parts: dict[str, Any], finish: str | None = None, **other: Any) -> dict[str, Any]:
    """Build a response with one candidate."""
    candidate: dict[str, Any] = {"content": {"parts": [*parts], "role": "model"}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **other}


def decode(*values: object) -> list[StreamPart]:
    """Decode a stream of these JSON values."""
    decoder = GeminiStreamDecoder()
    return [*(part for value in values for part in decoder.feed(frame(value))), *decoder.close()]


def completed(*values: object) -> Completion:
    """Combine the parts of a stream."""
    return parse_completion_response(decode(*values))
