"""Checks the shape of each input item, as the Responses API does."""

from collections.abc import Callable
from typing import Any, cast

import orjson

from ...json_values import as_object
from ...rules.body_shape import is_name
from .errors import invalid, missing, unknown_parameter, wrong_type, wrong_value
from .ids import PREFIXES

Item = dict[str, Any]
_FIELDS = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "namespace", "caller"),
    "function_call_output": ("type", "call_id", "output", "id", "status", "caller"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content", "status"),
    "item_reference": ("type", "id"),
    "web_search_call": ("type", "id", "status", "action"),
    "unheard_of": ("type", "id", "value"),  # the item of `sim-unknown`
}
_ROLES = ("assistant", "system", "developer", "user")
_INPUT_PARTS = ("input_text", "input_image", "input_file")
_OUTPUT_PARTS = ("output_text", "refusal")
LONGEST_CALL_ID = 64


def input_items(body: dict[str, Any]) -> list[Item]:
    """Return the input as items with a type; a string is the message of a user."""
    given = body["input"]
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return [{"type": "message", **item} if "role" in item else item for item in cast(list[Item], given)]


def check_input(body: dict[str, Any]) -> None:
    """Reject an input of the wrong shape."""
    given: object = body.get("input")
    if given is None:
        text = "Missing required parameter: one of 'input', 'previous_response_id', 'prompt' or 'conversation'."
        raise invalid(text, "input", "missing_required_parameter")
    if isinstance(given, str):
        return
    if not isinstance(given, list):
        raise wrong_type("input", "one of a string or array of objects", given)
    for at, item in enumerate(cast(list[Any], given)):
        if not isinstance(item, dict):
            raise wrong_type(f"input[{at}]", "an object", item)
    for at, item in enumerate(input_items(body)):
        _check_item(item, f"input[{at}]")


def _check_item(item: Item, path: str) -> None:
    kind = str(item.get("type", ""))
    if not kind:
        raise missing(f"{path}.type")
    if kind not in _FIELDS:
        raise wrong_value(path, kind, *_FIELDS)
    for name in item:
        if name not in _FIELDS[kind]:
            raise unknown_parameter(f"{path}.{name}")
    _check_id(item, kind, path)
    if kind in _CHECKS:
        _CHECKS[kind](item, path)


def _check_id(item: Item, kind: str, path: str) -> None:
    given: object = item.get("id")
    if given is None:
        return
    if not isinstance(given, str):
        raise wrong_type(f"{path}.id", "a string", given)
    prefix = PREFIXES.get(kind)
    if prefix and not given.startswith(prefix):
        text = f"Invalid '{path}.id': '{given}'. Expected an ID that begins with '{prefix}'."
        raise invalid(text, f"{path}.id", "invalid_value")


def _message(item: Item, path: str) -> None:
    if item.get("role") not in _ROLES:
        raise wrong_value(f"{path}.role", item.get("role"), *_ROLES)
    if "content" not in item:
        raise missing(f"{path}.content")
    kinds = _OUTPUT_PARTS if item["role"] == "assistant" else _INPUT_PARTS
    _check_parts(item["content"], f"{path}.content", kinds)


def _check_parts(content: object, path: str, kinds: tuple[str, ...]) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong_type(path, "one of an array of objects or string", content)
    for at, part in enumerate(cast(list[Any], content)):
        fields = as_object(part)
        if fields.get("type") not in kinds:
            raise wrong_value(f"{path}[{at}]", fields.get("type"), *kinds)
        name = {"output_text": "text", "input_text": "text", "refusal": "refusal"}.get(fields["type"])
        if name and not isinstance(fields.get(name), str):
            raise missing(f"{path}[{at}].{name}")


def _call(item: Item, path: str) -> None:
    for name in ("call_id", "name", "arguments"):
        _check_string(item, name, path)
    if not is_name(item["name"]):
        text = f"Invalid '{path}.name': string does not match pattern. Expected a string that matches the pattern "
        raise invalid(f"{text}'^[a-zA-Z0-9_-]+$'.", f"{path}.name", "invalid_value")
    _check_call_id(item, path)
    try:
        orjson.loads(item["arguments"])
    except orjson.JSONDecodeError as error:
        text = f"Invalid '{path}.arguments': the string is not valid JSON."
        raise invalid(text, f"{path}.arguments", "invalid_value") from error


def _result(item: Item, path: str) -> None:
    _check_string(item, "call_id", path)
    _check_call_id(item, path)
    if "output" not in item:
        raise missing(f"{path}.output")
    _check_parts(item["output"], f"{path}.output", _INPUT_PARTS)


def _reasoning(item: Item, path: str) -> None:
    if not isinstance(item.get("summary"), list):
        raise missing(f"{path}.summary")
    for at, part in enumerate(item["summary"]):
        if as_object(part).get("type") != "summary_text":
            raise wrong_value(f"{path}.summary[{at}]", as_object(part).get("type"), "summary_text")
    if not isinstance(item.get("encrypted_content"), str | None):
        raise wrong_type(f"{path}.encrypted_content", "a string", item["encrypted_content"])


def _check_string(item: Item, name: str, path: str) -> None:
    if name not in item:
        raise missing(f"{path}.{name}")
    if not isinstance(item[name], str):
        raise wrong_type(f"{path}.{name}", "a string", item[name])


def _check_call_id(item: Item, path: str) -> None:
    """A call id has at most 64 characters (quirk A16)."""
    size = len(item["call_id"])
    if size == 0:
        text = f"Invalid '{path}.call_id': empty string. Expected a string with minimum length 1, but got an empty "
        raise invalid(f"{text}string instead.", f"{path}.call_id", "empty_string")
    if size > LONGEST_CALL_ID:
        text = (
            f"Invalid '{path}.call_id': string too long. Expected a string with maximum length {LONGEST_CALL_ID}, but "
            f"got a string with length {size} instead."
        )
        raise invalid(text, f"{path}.call_id", "string_above_max_length")


_CHECKS: dict[str, Callable[[Item, str], None]] = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _result,
    "reasoning": _reasoning,
}
