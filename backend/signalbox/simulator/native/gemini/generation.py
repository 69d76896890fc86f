"""Checks `generationConfig`, and returns it as the settings of a chat completion."""

from typing import Any

from ...json_values import as_list, as_object
from .errors import invalid, wrong_type
from .fields import field, names_only, snake
from .model_ids import is_gemini_3

_CONFIG = (
    "stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount "
    "maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs "
    "enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution"
)
_LEVELS = ("THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH")
_RANGES = {"temperature": (0.0, 2.0), "topP": (0.0, 1.0)}
_LARGEST = 2**31 - 1
_WHERE = "generation_config"


def neutral_settings(model: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the settings; raises GeminiError."""
    names_only(config, _CONFIG, _WHERE)
    settings: dict[str, Any] = {}
    for name, (low, high) in _RANGES.items():
        value = _number(config, name)
        if value is not None and not low <= value <= high:
            path = f"GenerateContentRequest.{_WHERE}.{snake(name)}"
            raise invalid(f"* {path}: {snake(name)} must be in the range [{low}, {high}].\n")
    limit = _number(config, "maxOutputTokens")
    if limit is not None:
        if not isinstance(limit, int) or limit > _LARGEST:
            raise wrong_type(f"{_WHERE}.max_output_tokens", "TYPE_INT32", limit)
        if limit <= 0:
            raise invalid("max_output_tokens must be positive.")
        settings["max_tokens"] = limit
    stops = as_list(field(config, "stopSequences"))
    if len(stops) > 5:
        raise invalid(f"* GenerateContentRequest.{_WHERE}.stop_sequences: at most 5 stop sequences are allowed.\n")
    settings |= {"stop": stops} if stops else {}
    modalities = [str(one).lower() for one in as_list(field(config, "responseModalities"))]
    settings |= {"modalities": modalities} if modalities else {}
    return {**settings, **_format(config), **_reasoning(model, config)}


def _number(config: dict[str, Any], name: str) -> float | None:
    value = field(config, name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        kind = "TYPE_INT32" if name == "maxOutputTokens" else "TYPE_FLOAT"
        raise wrong_type(f"{_WHERE}.{snake(name)}", kind, value)
    return value


def _format(config: dict[str, Any]) -> dict[str, Any]:
    kind = field(config, "responseMimeType") or "text/plain"
    if kind not in ("text/plain", "application/json", "text/x.enum"):
        path = f"GenerateContentRequest.{_WHERE}.response_mime_type"
        raise invalid(f"* {path}: allowed mimetypes are `text/plain`, `application/json` and `text/x.enum`.\n")
    schema = field(config, "responseSchema") or field(config, "responseJsonSchema")
    if schema and kind == "text/plain":
        raise invalid(f"{_WHERE}.response_schema is only supported with response_mime_type `application/json`.")
    if kind != "application/json":
        return {}
    if not schema:
        return {"response_format": {"type": "json_object"}}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


def _reasoning(model: str, config: dict[str, Any]) -> dict[str, Any]:
    thinking = as_object(field(config, "thinkingConfig"))
    names_only(thinking, "includeThoughts thinkingBudget thinkingLevel", f"{_WHERE}.thinking_config")
    budget, level = field(thinking, "thinkingBudget"), field(thinking, "thinkingLevel")
    if budget is not None and level is not None:
        raise invalid("You can only set only one of thinking budget and thinking level.")
    if level is not None:
        if not is_gemini_3(model):
            raise invalid("Thinking level is not supported for this model.")
        if str(level).upper() not in _LEVELS:
            kind = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
            raise wrong_type(f"{_WHERE}.thinking_config.thinking_level", kind, level)
    if budget == 0:
        if "-pro" in model:
            raise invalid("Budget 0 is invalid. This model only works in thinking mode.")
        return {"reasoning": {"effort": "none"}}
    # Without `includeThoughts` the model thinks, but does not show it.
    return {"reasoning": {"enabled": True}} if field(thinking, "includeThoughts") is True else {}
