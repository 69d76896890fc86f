"""Writes an answer of the simulated model in the words of the Messages API."""

import hashlib
from typing import Any

import orjson

from ...completion import Completion
from ...json_values import as_object
from ..endpoint import Asked
from ..prompt_cache import CacheUse, PromptCache
from ..wire import Wire
from .accents import Content, Situation, Stop, accent_of
from .errors import error_body, request_id
from .models import simulated_id
from .stream import event, frames
from .thinking import thinking_block
from .usage import cache_use
from .versions import version_of

_STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def write(completion: Completion, asked: Asked, cache: PromptCache) -> Wire:
    """Encode an answer, streamed and whole."""
    model = str(asked.body["model"])
    content = _content(completion, asked, model)
    used = cache_use(asked.body, cache)
    message = _message(completion, model, content, _usage(completion, used))
    streamed = frames(message, content, completion.family)
    error = error_body("overloaded_error", "Overloaded")
    return Wire(
        frames=streamed,
        whole=orjson.dumps(message),
        finish=len(streamed) - 2,
        end=len(streamed) - 1,
        error=[event("error", error)],
        error_body=orjson.dumps(error_body("rate_limit_error", "This request would exceed the rate limit.")),
        malformed=b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"ty\n\n',
        headers={"request-id": request_id(completion.id), "anthropic-organization-id": "org-simulated"},
    )


def _content(completion: Completion, asked: Asked, model: str) -> Content:
    turn = completion.limited.turn
    signer = simulated_id(model)
    blocks: list[dict[str, Any]] = []
    if completion.reasoning:
        display = as_object(asked.body.get("thinking")).get("display")
        omitted = display == "omitted" or (display is None and version_of(model).omits_thinking)
        blocks.append(thinking_block(signer, completion.reasoning, omitted=omitted))
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    blocks += [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": _input(call.arguments),
            "caller": {"type": "direct"},
        }
        for call in completion.calls
    ]
    arguments = {call.id: call.arguments for call in completion.calls}
    content = Content(blocks, _stop(completion), arguments)
    accent = accent_of(model)
    if accent is None:
        return content
    continues = asked.body["messages"][-1]["role"] == "assistant"
    return accent(content, Situation(signer, completion.reasoning, continues))


def _input(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call; the body of a truncated call has an empty object."""
    try:
        return as_object(orjson.loads(arguments))
    except orjson.JSONDecodeError:
        return {}


def _stop(completion: Completion) -> Stop:
    limited = completion.limited
    if limited.turn.refusal:
        return Stop("refusal", details={"type": "refusal", "category": None, "explanation": limited.turn.refusal})
    if completion.finish == "content_filter":
        return Stop("refusal", details={"type": "refusal", "category": "cyber", "explanation": None})
    if limited.stopped_by:
        return Stop("stop_sequence", limited.stopped_by)
    return Stop(_STOP_REASONS["length" if limited.hit_cap else completion.finish])


def _usage(completion: Completion, used: CacheUse) -> dict[str, Any]:
    thought = completion.usage["completion_tokens_details"]["reasoning_tokens"]
    return {
        "input_tokens": used.rest,
        "cache_creation_input_tokens": used.written,
        "cache_read_input_tokens": used.read,
        "cache_creation": {"ephemeral_5m_input_tokens": used.written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": completion.usage["completion_tokens"],
        "output_tokens_details": {"thinking_tokens": thought},
        "service_tier": "standard",
        "inference_geo": "global",
    }


def _message(completion: Completion, model: str, content: Content, usage: dict[str, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(completion.id.encode()).hexdigest()[:22]
    return {
        "model": model,
        "id": f"msg_01{digest}",
        "type": "message",
        "role": "assistant",
        "content": content.blocks,
        "stop_reason": content.stop.reason,
        "stop_sequence": content.stop.sequence,
        "stop_details": content.stop.details,
        "usage": usage,
    }
