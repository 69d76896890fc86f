"""The response of /generation: 404 while an answer is being sent, then its cost, lower for a cut answer."""

import re
from typing import Any

from ..catalog import price_of

LATE_POLLS = 2
_LATE = re.compile(r"[^/]+/sim-late-bill(:[a-z]+)?")
# Where a client that leaves a stream also ends the billing (OpenRouter's page on stream cancellation); others go on.
STOPS_BILLING = frozenset(("OpenAI", "Azure", "Anthropic", "xAI", "DeepSeek", "Novita", "Chutes", "Moonshot AI"))


def polls_before(model: str) -> int:
    """Return how many requests for a finished generation are answered with 404 (`sim-late-bill`)."""
    return LATE_POLLS if _LATE.fullmatch(model) else 0


def settled(generation: dict[str, Any], share: float, *, early: bool) -> dict[str, Any]:
    """Return the entry of a partly sent answer; `early`: because the client disconnected."""
    goes_on = early and not (generation["streamed"] and generation["provider_name"] in STOPS_BILLING)
    told = {**generation, "cancelled": early}
    if early:
        told |= {"finish_reason": None, "native_finish_reason": None}
    if goes_on or share >= 1:
        return told
    price = price_of(generation["model"])
    written = int(generation["native_tokens_completion"] * share)
    cost = float(round(price.prompt * generation["native_tokens_prompt"] + price.completion * written, 12))
    told |= dict.fromkeys(("usage", "total_cost", "upstream_inference_cost"), cost)
    told |= {"tokens_completion": written, "native_tokens_completion": written}
    return told | {"native_tokens_reasoning": min(generation["native_tokens_reasoning"], written)}
