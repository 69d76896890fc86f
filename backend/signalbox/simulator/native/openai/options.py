"""Checks the parameters of a request beside its input: sampling, reasoning, tools and the format of the text."""

from typing import Any, cast

import orjson

from ...json_values import as_list, as_object
from ...rules.body_shape import is_name
from .errors import invalid, missing, unknown_parameter, unsupported, wrong_type, wrong_value
from .models import Abilities

_FIELDS = (
    "background context_management conversation include input instructions max_output_tokens max_tool_calls metadata "
    "model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention "
    "reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools "
    "top_logprobs top_p truncation user"
)
FIELDS = frozenset(_FIELDS.split())
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
SUMMARIES = ("auto", "concise", "detailed")
ENCRYPTED = "reasoning.encrypted_content"
FEWEST_TOKENS = 16
_TOOL_TYPES = (
    "function custom web_search web_search_preview file_search code_interpreter image_generation mcp local_shell "
    "shell apply_patch tool_search computer computer_use_preview namespace"
)
_BOOLEANS = ("stream", "store", "parallel_tool_calls", "background")
_RANGES = {"temperature": (0, 2), "top_p": (0, 1)}


def reasons(body: dict[str, Any], abilities: Abilities) -> bool:
    """Return whether the model reasons about a request."""
    effort = as_object(body.get("reasoning")).get("effort")
    return abilities.reasons and (abilities.reasons_by_default if effort is None else effort != "none")


def check_options(body: dict[str, Any], abilities: Abilities) -> None:
    """Reject parameters that the API or the model does not accept."""
    for name in body:
        if name not in FIELDS:
            raise unknown_parameter(name)
    for name in _BOOLEANS:
        if not isinstance(body.get(name), bool | None):
            raise wrong_type(name, "a boolean", body[name])
    _check_limit(body)
    _check_sampling(body, abilities)
    _check_reasoning(body, abilities)
    _check_tools(body)
    _check_choice(body)
    _check_format(body)
    if body.get("previous_response_id") is not None:
        text = f"Previous response with id '{body['previous_response_id']}' not found."
        raise invalid(text, "previous_response_id", "previous_response_not_found")


def _check_limit(body: dict[str, Any]) -> None:
    limit: object = body.get("max_output_tokens")
    if limit is None:
        return
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise wrong_type("max_output_tokens", "an integer", limit)
    if limit < FEWEST_TOKENS:
        text = (
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {FEWEST_TOKENS}, but got "
            f"{limit} instead."
        )
        raise invalid(text, "max_output_tokens", "integer_below_min_value")


def _check_sampling(body: dict[str, Any], abilities: Abilities) -> None:
    for name, (low, high) in _RANGES.items():
        value: object = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type(name, "a decimal", value)
        if not low <= value <= high:
            side, short, bound = ("above maximum", "above_max", f"<= {high}")
            if value < low:
                side, short, bound = ("below minimum", "below_min", f">= {low}")
            text = f"Invalid '{name}': decimal {side} value. Expected a value {bound}, but got {value} instead."
            raise invalid(text, name, f"decimal_{short}_value")
        needless = abilities.needs_no_reasoning_for_sampling and reasons(body, abilities)
        if not abilities.may_set_sampling or needless:
            raise unsupported(name)


def _check_reasoning(body: dict[str, Any], abilities: Abilities) -> None:
    wanted = as_object(body.get("reasoning"))
    for name in ("effort", "summary"):
        if wanted.get(name) is not None and not abilities.reasons:
            raise unsupported(f"reasoning.{name}")
    if wanted.get("effort") not in (None, *EFFORTS):
        raise wrong_value("reasoning.effort", wanted["effort"], *EFFORTS)
    if wanted.get("summary") not in (None, *SUMMARIES):
        raise wrong_value("reasoning.summary", wanted["summary"], *SUMMARIES)
    if ENCRYPTED in as_list(body.get("include")) and not abilities.reasons:
        raise invalid("Encrypted content is not supported with this model.", "include")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise wrong_type("tools", "an array of objects", tools)
    for at, tool in enumerate(cast(list[Any], tools)):
        fields = as_object(tool)
        if "type" not in fields:
            raise missing(f"tools[{at}].type")
        supported = _TOOL_TYPES.split()
        if fields["type"] not in supported:
            raise wrong_value(f"tools[{at}].type", fields["type"], *supported)
        if fields["type"] == "function":
            _check_function(fields, f"tools[{at}]")


def _check_function(tool: dict[str, Any], path: str) -> None:
    if "name" not in tool:
        raise missing(f"{path}.name")
    if not is_name(tool["name"]):
        text = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern "
        raise invalid(f"{text}'^[a-zA-Z0-9_-]+$'.", f"{path}.name", "invalid_value")
    if "parameters" not in tool:
        raise missing(f"{path}.parameters")
    problem = problem_of_strict(tool["parameters"]) if tool.get("strict") is True else None
    if problem:
        text = f"Invalid schema for function '{tool['name']}': In context=(), {problem}"
        raise invalid(text, f"{path}.parameters", "invalid_function_parameters")


def problem_of_strict(schema: object) -> str | None:
    """Return why a schema cannot be strict (quirk C11), None if it can."""
    fields = as_object(schema)
    if fields.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    missed = [name for name in as_object(fields.get("properties")) if name not in as_list(fields.get("required"))]
    if missed:
        key = "'required' is required to be supplied and to be an array including every key in properties."
        return f"{key} Missing '{missed[0]}'."
    return None


def _check_choice(body: dict[str, Any]) -> None:
    choice = body.get("tool_choice")
    if choice is None or choice in ("auto", "none"):
        return
    tools = [as_object(tool) for tool in as_list(body.get("tools"))]
    if isinstance(choice, str):
        if choice != "required":
            raise wrong_value("tool_choice", choice, "none", "auto", "required")
        if not tools:
            text = "Tool choice 'required' must be specified with 'tools' parameter."
            raise invalid(text, "tool_choice")
        return
    fields = as_object(choice)
    if fields.get("type") == "function":
        if "name" not in fields:
            raise missing("tool_choice.name")
        if all(tool.get("name") != fields["name"] for tool in tools):
            raise invalid("Tool choice 'function' not found in 'tools' parameter.", "tool_choice")


def _check_format(body: dict[str, Any]) -> None:
    wanted = as_object(as_object(body.get("text")).get("format")) or {"type": "text"}
    if "type" not in wanted:
        raise missing("text.format.type")
    match wanted["type"]:
        case "text":
            return
        case "json_object":
            if b"json" not in orjson.dumps([body["input"], body.get("instructions")]).lower():
                text = (
                    "Response input messages must contain the word 'json' in some form to use 'text.format' of type "
                    "'json_object'."
                )
                raise invalid(text, "input")
        case "json_schema":
            for name in ("name", "schema"):
                if name not in wanted:
                    raise missing(f"text.format.{name}")
            problem = problem_of_strict(wanted["schema"]) if wanted.get("strict") is True else None
            if problem:
                text = f"Invalid schema for response_format '{wanted['name']}': In context=(), {problem}"
                raise invalid(text, "text.format.schema", "invalid_json_schema")
        case other:
            raise wrong_value("text.format.type", other, "json_object", "json_schema", "text")
