"""A turn in a family's format: ids, arguments, signed reasoning, tokens and cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Any

import orjson

from .accents import Accent, Detail, WireCall
from .catalog import Price
from .http.incoming import Incoming, calls_of
from .limits import Cut
from .model.turns import Call


@dataclass(frozen=True, slots=True)
class Spoken:
    """The content of one answer, before it is encoded."""

    id: str
    created: int
    model: str
    provider: str
    accent: Accent
    cut: Cut
    reasoning: str
    calls: tuple[WireCall, ...]
    details: tuple[Detail, ...]
    usage: dict[str, Any]
    attempt: int = 1
    """The number of this attempt."""

    @property
    def finish(self) -> str:
        """Return the finish_reason; OpenAI's cut calls are called `tool_calls` (all 5 recordings of them)."""
        return self.cut.turn.finish_reason

    @property
    def native(self) -> str:
        """Return the native finish reason."""
        return self.accent.native["length" if self.cut.hit_cap else self.finish]


def mint(accent: Accent, calls: Sequence[Call], incoming: Incoming, rng: Random) -> tuple[WireCall, ...]:
    """Return the calls their ids; numbers count through the whole conversation (Kimi)."""
    before = sum(len(calls_of(message)) for message in incoming.messages)
    return tuple(
        WireCall(
            at,
            accent.make_id(rng, call.name, before + at),
            call.name,
            call.written(compact=accent.compact_arguments),
        )
        for at, call in enumerate(calls)
    )


def count(text: str) -> int:
    """Estimate the tokens: one for four characters."""
    return (len(text) + 3) // 4


def bill(incoming: Incoming, reasoning: str, written: str, price: Price) -> dict[str, Any]:
    """Write the usage object of OpenRouter's last chunk."""
    prompt = count(orjson.dumps([incoming.body.get("messages"), incoming.body.get("tools")]).decode())
    thought = count(reasoning)
    completion = thought + count(written)
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
