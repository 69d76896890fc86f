"""Encodes a turn as one JSON body, for requests without `stream`."""

from collections.abc import Callable
from typing import Any

import orjson

from ..model.drawing import image_part
from ..spoken import Spoken
from .stream import head

KEEP_ALIVE = b"\n         \n"
Change = Callable[[Spoken, dict[str, Any]], dict[str, Any]]


def message(spoken: Spoken) -> dict[str, Any]:
    """Return the assistant message of the body."""
    turn = spoken.cut.turn
    said: dict[str, Any] = {
        "role": "assistant",
        "content": turn.text or (None if spoken.calls and spoken.accent.newer else ""),
        "refusal": turn.refusal or None,
        "reasoning": spoken.reasoning or None,
    }
    if spoken.calls:
        said["tool_calls"] = [
            {
                "type": "function",
                "index": call.position,
                "id": call.id,
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in spoken.calls
        ]
    if turn.images:
        said["images"] = [*map(image_part, turn.images)]
    if spoken.details:
        said["reasoning_details"] = list(spoken.details)
    return said


def body(spoken: Spoken) -> dict[str, Any]:
    """Return the whole body."""
    choice = {
        "index": 0,
        "logprobs": None,
        "finish_reason": spoken.finish,
        "native_finish_reason": spoken.native,
        "message": message(spoken),
    }
    head_fields = head(spoken, "chat.completion")
    return {**head_fields, "system_fingerprint": None, "choices": [choice], "usage": spoken.usage}


def written(spoken: Spoken, change: Change | None = None) -> list[bytes]:
    """Return the network writes: white space while waiting, as OpenRouter sends, then the JSON."""
    told = change(spoken, body(spoken)) if change else body(spoken)
    return [KEEP_ALIVE] * spoken.accent.comments[0] + [orjson.dumps(told)]
