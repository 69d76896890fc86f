"""Rules of the shape of a request body, which OpenRouter checks before it chooses a provider."""

import re
from collections.abc import Callable
from typing import Any, cast

from ..http.errors import Rejected
from ..http.incoming import Message, calls_of
from ..json_values import as_list, as_object

ROLES = ("system", "developer", "user", "assistant", "tool")
_RANGES = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "min_p": (0, 1),
    "top_a": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "repetition_penalty": (0, 2),
}


def check_body(body: Any) -> dict[str, Any]:
    """Return the body if it has the shape of a chat request, else raise Rejected."""
    if not isinstance(body, dict):
        raise Rejected(400, "Request body must be a JSON object")
    fields = cast(dict[str, Any], body)
    for rule in SHAPE_RULES:
        rule(fields)
    return fields


def model_is_named(body: dict[str, Any]) -> None:
    """The request has a model, or fallback models."""
    model = body.get("model", next(iter(as_list(body.get("models"))), None))
    if not isinstance(model, str) or not model:
        raise Rejected(400, "No models provided")


def messages_are_messages(body: dict[str, Any]) -> None:
    """The messages are objects with a known role and a valid type of content."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Rejected(400, 'Input required: specify "prompt" or "messages"')
    for at, message in enumerate(cast(list[Any], messages)):
        if not isinstance(message, dict) or cast(Message, message).get("role") not in ROLES:
            raise Rejected(400, f"Invalid input: messages[{at}].role")
        fields = cast(Message, message)
        if not isinstance(fields.get("content"), str | list | None):
            raise Rejected(400, f"Invalid input: messages[{at}].content")
        if fields["role"] in ("user", "system", "tool") and fields.get("content") is None:
            raise Rejected(400, f"Invalid input: messages[{at}].content is required")


def tools_are_functions(body: dict[str, Any]) -> None:
    """Every function has a valid name, and its schema is an object (quirk C16)."""
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise Rejected(400, "Invalid input: tools")
    for at, tool in enumerate(cast(list[Any], tools)):
        if not isinstance(tool, dict) or not isinstance(cast(dict[str, Any], tool).get("type"), str):
            raise Rejected(400, f"Invalid input: tools[{at}].type")
        function = cast(dict[str, Any], tool).get("function")
        if cast(dict[str, Any], tool)["type"] == "function" and not _is_function(function):
            raise Rejected(400, f"Invalid input: tools[{at}].function")


def _is_function(function: Any) -> bool:
    fields = as_object(function)
    named = is_name(fields.get("name"))
    return named and isinstance(function, dict) and isinstance(fields.get("parameters", {}), dict)


def is_name(name: object) -> bool:
    """Return whether providers accept a tool name (quirk C16)."""
    return isinstance(name, str) and re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) is not None


def calls_are_calls(body: dict[str, Any]) -> None:
    """Id, name and arguments of a call are strings, and a tool message has a call id."""
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool" and not isinstance(message.get("tool_call_id"), str):
            raise Rejected(400, f"Invalid input: messages[{at}].tool_call_id")
        for number, call in enumerate(calls_of(message)):
            function = as_object(call.get("function"))
            fields = (call.get("id"), function.get("name"), function.get("arguments"))
            if not all(isinstance(field, str) for field in fields) or not is_name(fields[1]):
                raise Rejected(400, f"Invalid input: messages[{at}].tool_calls[{number}]")


def numbers_are_in_range(body: dict[str, Any]) -> None:
    """The sampling parameters are numbers in the ranges of OpenRouter's documentation."""
    for name, (low, high) in _RANGES.items():
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise Rejected(400, f"Invalid input: {name} must be a number from {low} to {high}")


SHAPE_RULES: tuple[Callable[[dict[str, Any]], None], ...] = (
    model_is_named,
    messages_are_messages,
    tools_are_functions,
    calls_are_calls,
    numbers_are_in_range,
)
