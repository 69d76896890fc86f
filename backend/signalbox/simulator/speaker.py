"""Turns a request into an answer: the turn, its limits, ids, signatures and cost."""

import time
from dataclasses import replace
from random import Random
from typing import Any

import orjson

from .accents import ACCENTS, Accent, Maker
from .catalog import price_of
from .faults.scripted import fault_of, turn_of
from .http.incoming import Incoming
from .limits import cut
from .model.turns import Turn
from .quirks import quirk_of
from .spoken import Spoken, bill, mint


def speak(incoming: Incoming, served: int) -> Spoken:
    """Answer a request; the same request served as the n-th one gets the same ids."""
    accent = ACCENTS[incoming.family]
    provider = accent.provider(incoming.provider_order)
    rng = Random(orjson.dumps([served, incoming.body]))  # noqa: S311 - ids that only have to differ
    turn = _audible(incoming, accent, turn_of(incoming, accent))
    done = cut(
        turn,
        incoming.max_tokens,
        incoming.stops,
        compact=accent.compact_arguments,
        family=accent.family,
    )
    calls = mint(accent, done.turn.calls, incoming, rng)
    fault = fault_of(incoming.model)
    if fault and fault.name == "same-id":
        calls = tuple(replace(call, id="call_0") for call in calls)
    quirk = quirk_of(incoming.model, incoming.attempt)
    # A quirk's calls may come without ids or with changed ones: its seals name none.
    named = [] if quirk else [call.id for call in calls]
    reasoning = done.turn.reasoning
    written = done.turn.text + done.turn.refusal + "".join(call.name + call.arguments for call in calls)
    created = int(time.time())
    spoken = Spoken(
        id=f"gen-{created}-{''.join(rng.choices('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789', k=20))}",
        created=created,
        model=incoming.model,
        provider=provider,
        accent=accent,
        cut=done,
        reasoning=reasoning,
        calls=calls,
        details=tuple(accent.make_details(reasoning, named, Maker(incoming.plain_model, provider))),
        usage=bill(incoming, reasoning, written, price_of(incoming.model)),
        attempt=incoming.attempt,
    )
    return quirk.speak(incoming, spoken) if quirk and quirk.speak else spoken


def _audible(incoming: Incoming, accent: Accent, turn: Turn) -> Turn:
    """Drop the reasoning if the family does not reason by default, or was told not to."""
    asked = incoming.reasoning == "visible"
    reasons = asked or (incoming.reasoning == "unset" and accent.reasons_by_default)
    return turn if reasons else replace(turn, reasoning="")


def generation(spoken: Spoken, incoming: Incoming) -> dict[str, Any]:
    """Return the /generation entry of an answer."""
    usage = spoken.usage
    counted = {
        "tokens_prompt": usage["prompt_tokens"],
        "tokens_completion": usage["completion_tokens"],
        "native_tokens_prompt": usage["prompt_tokens"],
        "native_tokens_completion": usage["completion_tokens"],
        "native_tokens_reasoning": usage["completion_tokens_details"]["reasoning_tokens"],
        "native_tokens_cached": 0,
        "usage": usage["cost"],
        "total_cost": usage["cost"],
        "upstream_inference_cost": usage["cost"],
    }
    unknown = (
        "app_id cache_discount external_user http_referer moderation_latency native_tokens_completion_images "
        "num_fetches num_input_audio_prompt num_media_completion num_media_prompt num_search_results preset_id "
        "provider_responses router service_tier upstream_id user_agent web_search_engine workspace_id"
    )
    return {
        **dict.fromkeys(unknown.split()),
        **counted,
        "id": spoken.id,
        "api_type": "completions",
        "model": spoken.model,
        "provider_name": spoken.provider,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(spoken.created)),
        "data_region": "global",
        "origin": "",
        "streamed": incoming.stream,
        "cancelled": False,
        "finish_reason": spoken.finish,
        "native_finish_reason": spoken.native,
        "generation_time": 100,
        "latency": 10,
        "is_byok": False,
    }
