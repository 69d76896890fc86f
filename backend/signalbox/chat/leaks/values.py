"""Converts argument values that a dialect writes as plain text to the types of the tool's schema."""

from dataclasses import dataclass
from typing import cast

from signalbox.chat.calls.arguments import leading_value
from signalbox.core.messages import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class Value:
    """One argument; `is_text` is whether the dialect marks it as text, None if it does not say."""

    name: str
    text: str
    is_text: bool | None = None


def typed(value: Value, schema: JsonObject) -> JsonValue:
    """Return the value with the type that the schema requires; a value that cannot be converted stays text.

    `5` stays text if the schema says string, or if the type is unknown.
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
