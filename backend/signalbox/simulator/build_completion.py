"""Builds the completion of a request: turn, limits, ids, signatures and usage."""

import time
from dataclasses import replace
from random import Random
from typing import Any

import orjson

from .catalog import price_of, row_of
from .completion import Completion, assign_ids, usage_of
from .families import FAMILIES, Family, Origin
from .faults.scripted import fault_of, turn_of
from .http.incoming import Incoming
from .limits import apply_limits
from .model.turns import Turn
from .quirks import quirk_of


def build_completion(incoming: Incoming, served: int) -> Completion:
    """Return the completion of a request; `served` counts the requests, so that equal ones get different ids."""
    rng = Random(orjson.dumps([served, incoming.body]))  # noqa: S311 - ids that only have to differ
    family = FAMILIES[incoming.family]
    provider = family.provider(incoming.provider_order)
    turn = _without_unwanted_reasoning(incoming, family, turn_of(incoming, family))
    limited = apply_limits(
        turn,
        incoming.max_tokens,
        incoming.stops,
        compact=family.compact_arguments,
        family=family.name,
    )
    calls = assign_ids(family, limited.turn.calls, incoming, rng)
    fault = fault_of(incoming.model)
    if fault and fault.name == "same-id":
        calls = tuple(replace(call, id="call_0") for call in calls)
    quirk = quirk_of(incoming.model, incoming.attempt)
    # A quirk may remove or change the ids of its calls, so its signatures name no call.
    signed_ids = [] if quirk else [call.id for call in calls]
    reasoning = limited.turn.reasoning
    written = limited.turn.text + limited.turn.refusal + "".join(call.name + call.arguments for call in calls)
    created = int(time.time())
    completion = Completion(
        id=f"gen-{created}-{''.join(rng.choices('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789', k=20))}",
        created=created,
        model=incoming.model,
        provider=provider,
        family=family,
        limited=limited,
        reasoning=reasoning,
        calls=calls,
        details=tuple(family.make_details(reasoning, signed_ids, Origin(incoming.plain_model, provider))),
        usage=usage_of(incoming, reasoning, written, price_of(incoming.model)),
        logprobs=incoming.logprobs if "logprobs" in row_of(incoming.model).parameters else None,
        attempt=incoming.attempt,
    )
    return quirk.completion(incoming, completion) if quirk and quirk.completion else completion


def _without_unwanted_reasoning(incoming: Incoming, family: Family, turn: Turn) -> Turn:
    """Remove the reasoning unless the request asks for it or the family reasons by default."""
    requested = incoming.reasoning == "visible"
    reasons = requested or (incoming.reasoning == "unset" and family.reasons_by_default)
    return turn if reasons else replace(turn, reasoning="")


def generation_entry(completion: Completion, incoming: Incoming) -> dict[str, Any]:
    """Return the /generation entry of a completion."""
    usage = completion.usage
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
        "id": completion.id,
        "api_type": "completions",
        "model": completion.model,
        "provider_name": completion.provider,
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(completion.created)),
        "data_region": "global",
        "origin": "",
        "streamed": incoming.stream,
        "cancelled": False,
        "finish_reason": completion.finish,
        "native_finish_reason": completion.native,
        "generation_time": 100,
        "latency": 10,
        "is_byok": False,
    }
