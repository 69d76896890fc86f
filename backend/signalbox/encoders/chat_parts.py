"""What streamed and whole chat completions have in common: finish reasons, usage, reasoning, images."""

from collections.abc import Sequence
from typing import cast

from msgspec import UNSET

from signalbox.core.events import Done, Logprobs, UsageTotals, Warning
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.encoders.encoder import reached_cost_limit

_FINISH_REASONS = {"complete": "stop", "cancelled": "stop", "length": "length", "content_filter": "content_filter"}


def finish_reason_of(done: Done) -> str | None:
    """Return OpenAI's word for the end of a run, None for a run that failed."""
    if done.status == "complete" and done.handed is not UNSET:
        return "tool_calls"
    if reached_cost_limit(done):
        return "length"
    return _FINISH_REASONS.get(done.status)


def ending_of(done: Done) -> JsonObject:
    """Return why the answer ended: OpenAI's word, and ours if the answer is not complete.

    OpenAI has no word for an answer that was stopped. Without ours, it would look like a complete one.
    """
    ending: JsonObject = {"finish_reason": finish_reason_of(done)}
    if done.status != "complete":
        ending["native_finish_reason"] = done.code.lower() if done.code is not UNSET else done.status
    return ending


def warnings_of(warnings: list[Warning]) -> JsonObject:
    """Return the warnings of a run as a field that clients of OpenAI ignore; none if there are none."""
    if not warnings:
        return {}
    return {"warnings": [{"code": _code_of(warning), "message": warning.message} for warning in warnings]}


def _code_of(warning: Warning) -> str | None:
    return None if warning.code is UNSET else warning.code


def usage_of(done: Done) -> JsonObject | None:
    """Return tokens and cost (USD), None if no upstream was asked.

    `cost_estimated`: an attempt did not report its usage, so tokens and cost are those of the others, and may be 0.
    """
    if done.usage is UNSET and done.cost_estimated is UNSET:
        return None
    total = done.usage if done.usage is not UNSET else UsageTotals(0, 0)
    usage: JsonObject = {
        "prompt_tokens": total.input,
        "completion_tokens": total.output,
        "total_tokens": total.input + total.output,
        "prompt_tokens_details": {"cached_tokens": _count(total.cached)},
        "completion_tokens_details": {"reasoning_tokens": _count(total.reasoning)},
    }
    if done.cost is not UNSET:
        usage["cost"] = done.cost
    if done.cost_estimated is not UNSET:
        usage["cost_estimated"] = True
    return usage


def _count(tokens: object) -> int:
    return 0 if tokens is UNSET else cast(int, tokens)


def joined_logprobs(events: Sequence[Logprobs]) -> Logprobs:
    """Return the log probabilities of adjacent texts as one event."""
    return Logprobs(
        [token for event in events for token in event.tokens],
        [token for event in events for token in event.refusal_tokens],
    )


def logprobs_of(event: Logprobs) -> JsonObject:
    """Return log probabilities in OpenAI's shape; there are none where a list is missing."""
    return {"content": event.tokens or None, "refusal": event.refusal_tokens or None}


def reasoning_details_of(text: str) -> list[JsonValue]:
    """Return reasoning as OpenRouter's details; without signatures, which are stored with the run."""
    return [{"type": "reasoning.text", "text": text, "format": "unknown", "index": 0}]


def image_of(url: str) -> JsonValue:
    """Return an image of the answer in OpenRouter's shape."""
    return {"type": "image_url", "image_url": {"url": url}}
