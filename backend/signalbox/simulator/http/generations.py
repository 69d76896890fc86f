"""The response of /generation: the final cost of an answer, lower if it was cut off."""

import re
from typing import Any

from ..catalog import price_of

LATE_POLLS = 2
_LATE = re.compile(r"[^/]+/sim-late-bill(:[a-z]+)?")
# Providers that stop billing when a client disconnects (OpenRouter's page on stream cancellation).
STOPS_BILLING = frozenset(("OpenAI", "Azure", "Anthropic", "xAI", "DeepSeek", "Novita", "Chutes", "Moonshot AI"))


def polls_before(model: str) -> int:
    """Return how many requests for a finished generation are answered with 404 (`sim-late-bill`)."""
    return LATE_POLLS if _LATE.fullmatch(model) else 0


def settled(generation: dict[str, Any], share: float, *, early: bool) -> dict[str, Any]:
    """Return the entry of an answer of which a share was sent; `early`: the client disconnected."""
    continues = early and not (generation["streamed"] and generation["provider_name"] in STOPS_BILLING)
    entry = {**generation, "cancelled": early}
    if early:
        entry |= {"finish_reason": None, "native_finish_reason": None}
    if continues or share >= 1:
        return entry
    price = price_of(generation["model"])
    written = int(generation["native_tokens_completion"] * share)
    cost = float(round(price.prompt * generation["native_tokens_prompt"] + price.completion * written, 12))
    entry |= dict.fromkeys(("usage", "total_cost", "upstream_inference_cost"), cost)
    entry |= {"tokens_completion": written, "native_tokens_completion": written}
    return entry | {"native_tokens_reasoning": min(generation["native_tokens_reasoning"], written)}
