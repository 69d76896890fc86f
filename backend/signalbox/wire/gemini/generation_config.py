"""Translates Params to `generationConfig`."""

import re

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.params import Params, Reasoning
from signalbox.wire.gemini.values import object_in

# The API has no such parameters; it decides about parallel calls itself (quirk C12).
UNSUPPORTED = frozenset(
    {"parallel", "min_p", "top_a", "repetition_penalty", "logit_bias", "routing", "fallbacks", "metadata"}
)
_KEYS = {
    "max_tokens": "maxOutputTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "seed": "seed",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
# Gemini 1 and 2 have a budget of thinking tokens, later ones a level.
_HAS_BUDGET = re.compile(r"gemini-[12](?:\b|\.)")
_IS_GEMINI = re.compile(r"gemini-\d")
# The budgets that Google's OpenAI-compatible API uses for these efforts.
_BUDGETS = {"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576}
_LEVELS = {"minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
_DYNAMIC = -1
# Gemini 2.5 Pro cannot switch thinking off.
_LEAST_OF_PRO = 128
# Token budgets that correspond to a level, for models without a budget.
_LEVEL_BUDGETS = ((1024, "low"), (8192, "medium"))


def has_levels(model: str) -> bool:
    """Whether a model is of Gemini 3 or later: it has thinking levels, and rejects calls without a signature."""
    return _IS_GEMINI.search(model) is not None and _HAS_BUDGET.search(model) is None


def generation_config_of(params: Params, model: str) -> JsonObject:
    """Return the set parameters under the API's names, in a fixed order."""
    config: JsonObject = {}
    for name, key in _KEYS.items():
        value: JsonValue = getattr(params, name)
        if value is not None:
            config[key] = value
    if params.stop is not None:
        config["stopSequences"] = [*params.stop]
    if params.modalities is not None:
        config["responseModalities"] = [modality.upper() for modality in params.modalities]
    if params.format is not None:
        config |= _format_of(params.format)
    if params.reasoning is not None:
        config["thinkingConfig"] = _thinking_of(params.reasoning, model)
    return config


def _format_of(wanted: JsonObject) -> JsonObject:
    """Return a response format of chat completions in the API's words; `text` is its default."""
    kind = wanted.get("type")
    if kind not in ("json_object", "json_schema"):
        return {}
    config: JsonObject = {"responseMimeType": "application/json"}
    if kind == "json_schema" and (schema := object_in(object_in(wanted, "json_schema"), "schema")):
        config["responseJsonSchema"] = schema
    return config


def _thinking_of(reasoning: Reasoning, model: str) -> JsonObject:
    """Return how much the model thinks, and whether the answer contains a summary of it."""
    is_off = reasoning.enabled is False or reasoning.effort == "none"
    config: JsonObject = {"includeThoughts": not (is_off or reasoning.exclude)}
    if has_levels(model):
        level = _level_of(reasoning, model, is_off=is_off)
        return {**config, "thinkingLevel": level} if level else config
    return {**config, "thinkingBudget": _budget_of(reasoning, model, is_off=is_off)}


def _level_of(reasoning: Reasoning, model: str, *, is_off: bool) -> str | None:
    """Return the level; thinking cannot be switched off, and only Flash models have the level `minimal`."""
    level = "minimal" if is_off else _LEVELS.get(reasoning.effort or "")
    if level is None and reasoning.max_tokens is not None:
        level = next((level for most, level in _LEVEL_BUDGETS if reasoning.max_tokens <= most), "high")
    return "low" if level == "minimal" and "flash" not in model else level


def _budget_of(reasoning: Reasoning, model: str, *, is_off: bool) -> int:
    if is_off:
        return _LEAST_OF_PRO if "pro" in model else 0
    if reasoning.max_tokens is not None:
        return reasoning.max_tokens
    return _BUDGETS.get(reasoning.effort or "", _DYNAMIC)
