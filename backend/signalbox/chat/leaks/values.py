"""Argument values that a dialect writes as plain text, turned into what the tool's schema asks for."""

from dataclasses import dataclass
from typing import cast

from signalbox.chat.calls.arguments import leading_value
from signalbox.core.messages import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Value:
    """One argument; `is_text` is the dialect's own word on it, None when it says nothing."""

    name: str
    text: str
    is_text: bool | None = None


def typed(value: Value, schema: JsonObject) -> JsonValue:
    """Return the value as the schema wants it; a text that is nothing else stays a text.

    `5` is a text where the schema says string, or where nothing says anything.
    """
    if value.is_text:
        return value.text
    parsed = _parsed(value.text)
    if value.is_text is False:
        return value.text if parsed is None else parsed[0]
    wanted = _types(schema, value.name)
    if parsed is None or "string" in wanted or not wanted & _types_of(parsed[0]):
        return value.text
    return parsed[0]


def _parsed(text: str) -> tuple[JsonValue] | None:
    stripped = text.strip()
    word = stripped.lower()
    found = leading_value(word if word in ("true", "false") else stripped)
    return (found[0],) if found and not found[1] else None


def _types(schema: JsonObject, name: str) -> set[str]:
    """Return the types that a schema allows for one property."""
    properties = schema.get("properties")
    wanted = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(wanted, dict):
        return set()
    choices = wanted.get("anyOf") or wanted.get("oneOf")
    found: set[str] = set()
    for choice in [wanted, *choices] if isinstance(choices, list) else [wanted]:
        kind = choice.get("type") if isinstance(choice, dict) else None
        found.update(cast(list[str], kind) if isinstance(kind, list) else [str(kind)] if kind else [])
    return found


def _types_of(value: JsonValue) -> set[str]:
    match value:
        case bool():
            return {"boolean"}
        case int():
            return {"integer", "number"}
        case float():
            return {"number", "integer"} if value.is_integer() else {"number"}
        case str():
            return {"string"}
        case list():
            return {"array"}
        case dict():
            return {"object"}
        case None:
            return {"null"}
