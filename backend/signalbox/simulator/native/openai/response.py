"""The `response` object, with its fields in the recorded order (gpt-5.4, July 2026)."""

from dataclasses import dataclass
from typing import Any

import orjson

from ...completion import Completion
from ...faults.scripted import fault_of
from ...json_values import as_object, as_objects
from ..prompt_cache import Block, CacheUse, PromptCache
from .items import input_items
from .models import abilities_of, snapshot_of
from .options import problem_of_strict, reasons

_CACHED_UNIT = 128
_NO_TOKENS = {
    "input_tokens": 0,
    "input_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"image_tokens": 0, "text_tokens": 0},
    "total_tokens": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a response ends."""

    status: str = "completed"
    reason: str | None = None
    """Why it is incomplete."""
    error: dict[str, Any] | None = None


def end_of(completion: Completion) -> End:
    """Return how an answer ends."""
    if is_cut_off(completion):
        return End(status="incomplete", reason="max_output_tokens")
    if completion.finish == "content_filter":
        return End(status="incomplete", reason="content_filter")
    return End()


def is_cut_off(completion: Completion) -> bool:
    """Return whether the limit of tokens ended an answer; for a truncated call, only OpenRouter says `tool_calls`."""
    fault = fault_of(completion.model)
    is_truncated_call = fault is not None and fault.name == "length-tool" and bool(completion.calls)
    return completion.limited.hit_cap or completion.finish == "length" or is_truncated_call


def cached_tokens(used: CacheUse, prompt: int) -> int:
    """Return the tokens of a prompt that were cached, which OpenAI counts in steps."""
    return min(used.read // _CACHED_UNIT * _CACHED_UNIT, prompt)


def response_id(number: str) -> str:
    """Return the id of a response."""
    return f"resp_{number}{number[::-1]}{number}"


@dataclass(frozen=True, slots=True)
class Echo:
    """The parts of a response that repeat the request."""

    id: str
    created: int
    body: dict[str, Any]

    def response(self, end: End, output: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
        """Return the response, in progress if its status says so."""
        body, is_open = self.body, end.status == "in_progress"
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": end.status,
            "background": False,
            "completed_at": self.created if end.status == "completed" else None,
            "error": end.error,
            "frequency_penalty": 0.0,
            "incomplete_details": {"reason": end.reason} if end.reason else None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "max_tool_calls": body.get("max_tool_calls"),
            "model": snapshot_of(str(body["model"])),
            "moderation": None,
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
            "presence_penalty": 0.0,
            "previous_response_id": None,
            "prompt_cache_key": body.get("prompt_cache_key"),
            "prompt_cache_retention": body.get("prompt_cache_retention") or "24h",
            "reasoning": self._reasoning(),
            "safety_identifier": body.get("safety_identifier"),
            "service_tier": "auto" if is_open else "default",
            "store": body.get("store") is not False,
            "temperature": _number(body.get("temperature"), 1.0),
            "text": _text(body),
            "tool_choice": body.get("tool_choice") or "auto",
            "tool_usage": {"image_gen": _NO_TOKENS, "web_search": {"num_requests": 0}},
            "tools": [_tool(tool) for tool in as_objects(body.get("tools"))],
            "top_logprobs": body.get("top_logprobs") or 0,
            "top_p": _number(body.get("top_p"), 0.98),
            "truncation": body.get("truncation") or "disabled",
            "usage": usage,
            "user": body.get("user"),
            "metadata": body.get("metadata") or {},
        }

    def _reasoning(self) -> dict[str, Any]:
        wanted = as_object(self.body.get("reasoning"))
        abilities = abilities_of(str(self.body["model"]))
        default = ("medium" if reasons(self.body, abilities) else "none") if abilities.reasons else None
        summary = wanted.get("summary")
        return {
            "context": "current_turn" if abilities.reasons else None,
            "effort": wanted.get("effort") or default,
            "mode": "standard",
            "summary": "detailed" if summary == "auto" else summary,
        }


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _text(body: dict[str, Any]) -> dict[str, Any]:
    wanted = as_object(body.get("text"))
    form = as_object(wanted.get("format")) or {"type": "text"}
    if form["type"] == "json_schema":
        keys = ("type", "description", "name", "schema", "strict")
        form = {key: form.get(key, False if key == "strict" else None) for key in keys}
    return {"format": form, "verbosity": wanted.get("verbosity") or "medium"}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool as the API repeats it: functions are strict unless their schema or the request forbids it."""
    if tool["type"] != "function":
        return tool
    strict = tool.get("strict")
    return {
        "type": "function",
        "description": tool.get("description"),
        "name": tool["name"],
        "output_schema": None,
        "parameters": tool["parameters"],
        "strict": problem_of_strict(tool["parameters"]) is None if strict is None else strict,
    }


def usage_of(completion: Completion, body: dict[str, Any], cache: PromptCache) -> dict[str, Any]:
    """Return the tokens of an answer; long prefixes that were sent before are cached."""
    used = completion.usage
    prompt, written = used["prompt_tokens"], used["completion_tokens"]
    cached = cached_tokens(cache.use(str(body["model"]), _blocks(body)), prompt)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": cached},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": used["completion_tokens_details"]["reasoning_tokens"]},
        "total_tokens": prompt + written,
    }


def _blocks(body: dict[str, Any]) -> list[Block]:
    """Return the prompt in the order of the cache; the cache stores each prefix."""
    before = {"tools": body.get("tools"), "instructions": body.get("instructions")}
    return [Block(orjson.dumps(part), breakpoint=True) for part in [before, *input_items(body)]]
