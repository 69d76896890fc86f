"""A completion in a family's format: call ids, arguments, signed reasoning, usage."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import orjson

from .catalog import Price
from .families import Detail, Family, WireCall
from .http.incoming import Incoming, calls_of
from .limits import LimitedTurn
from .model.turns import Call


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion before it is encoded."""

    id: str
    created: int
    model: str
    provider: str
    family: Family
    limited: LimitedTurn
    reasoning: str
    calls: tuple[WireCall, ...]
    details: tuple[Detail, ...]
    usage: dict[str, Any]
    logprobs: int | None = None
    """How many alternatives each token of the text has with its log probability; None if these are not asked for."""
    attempt: int = 1
    """The number of this attempt."""

    @property
    def finish(self) -> str:
        """Return the finish_reason; OpenAI's truncated calls have `tool_calls` (all 5 recordings)."""
        return self.limited.turn.finish_reason

    @property
    def native(self) -> str:
        """Return the native finish reason."""
        return self.family.native["length" if self.limited.hit_cap else self.finish]


def assign_ids(family: Family, calls: Sequence[Call], incoming: Incoming, rng: Random) -> tuple[WireCall, ...]:
    """Return the calls with ids; numbers in ids continue through the conversation (Kimi)."""
    before = sum(len(calls_of(message)) for message in incoming.messages)
    return tuple(
        WireCall(
            at,
            family.make_id(rng, call.name, before + at),
            call.name,
            call.written(compact=family.compact_arguments),
        )
        for at, call in enumerate(calls)
    )


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: four characters per token."""
    return (len(text) + 3) // 4


def usage_of(incoming: Incoming, reasoning: str, written: str, price: Price) -> dict[str, Any]:
    """Return the usage object of OpenRouter's last chunk."""
    prompt = estimate_tokens(orjson.dumps([incoming.body.get("messages"), incoming.body.get("tools")]).decode())
    thought = estimate_tokens(reasoning)
    completion = thought + estimate_tokens(written)
    paid_prompt, paid_completion = price.prompt * prompt, price.completion * completion
    total = paid_prompt + paid_completion
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cost": _money(total),
        "is_byok": False,
        "prompt_tokens_details": {
            "cached_tokens": 0,
            "cache_write_tokens": 0,
            "audio_tokens": 0,
            "video_tokens": 0,
        },
        "cost_details": {
            "upstream_inference_cost": _money(total),
            "upstream_inference_prompt_cost": _money(paid_prompt),
            "upstream_inference_completions_cost": _money(paid_completion),
        },
        "completion_tokens_details": {"reasoning_tokens": thought, "image_tokens": 0, "audio_tokens": 0},
    }


def _money(amount: Decimal) -> float:
    return float(round(amount, 12))
