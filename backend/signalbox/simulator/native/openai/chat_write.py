"""Writes an answer of the simulated model as OpenAI's chat completions, which do not show the reasoning."""

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

from ...completion import Completion
from ...families.chunking import json_tokens, streamed
from ...json_values import as_object, as_objects
from ...logprobs import choice_logprobs
from ..endpoint import Asked
from ..prompt_cache import Block, PromptCache
from ..wire import Wire
from .errors import error_fields
from .models import snapshot_of
from .response import cached_tokens, is_cut_off
from .stream import padding
from .write import LIMIT, OVERLOADED, headers

_DONE = b"data: [DONE]\n\n"
_CUT_CALLS = streamed(json_tokens)


def write(completion: Completion, asked: Asked, cache: PromptCache) -> Wire:
    """Encode an answer, streamed and whole."""
    usage = _usage(completion, asked.body, cache)
    options = as_object(asked.body.get("stream_options"))
    with_usage = options.get("include_usage") is True
    obfuscated = options.get("include_obfuscation") is not False
    head = _head(completion, asked.body, "chat.completion.chunk")
    frames = [
        _frame(_chunk(head, completion, delta, with_usage=with_usage), obfuscated=obfuscated)
        for delta in _deltas(completion)
    ]
    finish = len(frames)
    frames.append(_frame(_chunk(head, completion, {}, _finish(completion), with_usage=with_usage), obfuscated=False))
    if with_usage:
        frames.append(_frame({**head, "choices": [], "usage": usage}, obfuscated=False))
    frames.append(_DONE)
    return Wire(
        frames=frames,
        whole=orjson.dumps(_body(completion, asked.body, usage)),
        finish=finish,
        end=len(frames) - 1,
        error=[_frame({"error": error_fields("server_error", None, OVERLOADED)}, obfuscated=False)],
        error_body=orjson.dumps({"error": error_fields("requests", "rate_limit_exceeded", LIMIT)}),
        malformed=b'data: {"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"content":"half\n\n',
        headers=headers(completion),
    )


def _head(completion: Completion, body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{hashlib.sha256(completion.id.encode()).hexdigest()[:29]}",
        "object": kind,
        "created": completion.created,
        "model": snapshot_of(str(body["model"])),
        "service_tier": "default",
        "system_fingerprint": "fp_simulated",
    }


def _deltas(completion: Completion) -> Iterator[dict[str, Any]]:
    """Return the deltas: the role, then the text, the refusal and the calls in pieces."""
    turn = completion.limited.turn
    is_call = bool(completion.calls) and not turn.text
    yield {"role": "assistant", "content": None if is_call else "", "refusal": None}
    yield from ({"content": text} for text in completion.family.cut_text(turn.text))
    yield from ({"refusal": text} for text in completion.family.cut_text(turn.refusal))
    yield from ({"tool_calls": calls} for calls in _CUT_CALLS(completion.calls))


def _chunk(
    head: dict[str, Any], completion: Completion, delta: dict[str, Any], finish: str | None = None, *, with_usage: bool
) -> dict[str, Any]:
    text, refusal = delta.get("content") or "", delta.get("refusal") or ""
    logprobs = choice_logprobs(text, refusal, completion.logprobs)
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
    return {**head, "choices": [choice], **({"usage": None} if with_usage else {})}


def _frame(chunk: dict[str, Any], *, obfuscated: bool) -> bytes:
    text = orjson.dumps(chunk)
    if obfuscated:
        text = orjson.dumps({**chunk, "obfuscation": padding(text.decode())})
    return b"data: " + text + b"\n\n"


def _finish(completion: Completion) -> str:
    return "length" if is_cut_off(completion) else completion.finish


def _body(completion: Completion, body: dict[str, Any], usage: dict[str, Any]) -> dict[str, Any]:
    turn = completion.limited.turn
    message: dict[str, Any] = {
        "role": "assistant",
        "content": turn.text or (None if completion.calls or turn.refusal else ""),
        "refusal": turn.refusal or None,
        "annotations": [],
    }
    if completion.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in completion.calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": choice_logprobs(turn.text, turn.refusal, completion.logprobs),
        "finish_reason": _finish(completion),
    }
    return {**_head(completion, body, "chat.completion"), "choices": [choice], "usage": usage}


def _usage(completion: Completion, body: dict[str, Any], cache: PromptCache) -> dict[str, Any]:
    used = completion.usage
    blocks = [Block(orjson.dumps(part), breakpoint=True) for part in [body.get("tools"), *as_objects(body["messages"])]]
    cached = cached_tokens(cache.use(str(body["model"]), blocks), used["prompt_tokens"])
    return {
        "prompt_tokens": used["prompt_tokens"],
        "completion_tokens": used["completion_tokens"],
        "total_tokens": used["total_tokens"],
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": used["completion_tokens_details"]["reasoning_tokens"],
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
