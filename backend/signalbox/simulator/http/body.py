"""Encodes a completion as one JSON body, for requests without `stream`."""

from collections.abc import Callable
from typing import Any

import orjson

from ..completion import Completion
from ..logprobs import choice_logprobs
from ..model.drawing import image_part
from .stream import head

KEEP_ALIVE = b"\n         \n"
Change = Callable[[Completion, dict[str, Any]], dict[str, Any]]


def message(completion: Completion) -> dict[str, Any]:
    """Return the assistant message of the body."""
    turn = completion.limited.turn
    fields: dict[str, Any] = {
        "role": "assistant",
        "content": turn.text or (None if completion.calls and completion.family.newer else ""),
        "refusal": turn.refusal or None,
        "reasoning": completion.reasoning or None,
    }
    if completion.calls:
        fields["tool_calls"] = [
            {
                "type": "function",
                "index": call.position,
                "id": call.id,
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in completion.calls
        ]
    if turn.images:
        fields["images"] = [*map(image_part, turn.images)]
    if completion.details:
        fields["reasoning_details"] = list(completion.details)
    return fields


def body(completion: Completion) -> dict[str, Any]:
    """Return the JSON body."""
    turn = completion.limited.turn
    choice = {
        "index": 0,
        "logprobs": choice_logprobs(turn.text, turn.refusal, completion.logprobs),
        "finish_reason": completion.finish,
        "native_finish_reason": completion.native,
        "message": message(completion),
    }
    head_fields = head(completion, "chat.completion")
    return {**head_fields, "system_fingerprint": None, "choices": [choice], "usage": completion.usage}


def body_writes(completion: Completion, change: Change | None = None) -> list[bytes]:
    """Return the network writes: white space, which OpenRouter sends while it waits, then the JSON."""
    content = change(completion, body(completion)) if change else body(completion)
    return [KEEP_ALIVE] * completion.family.comments[0] + [orjson.dumps(content)]
