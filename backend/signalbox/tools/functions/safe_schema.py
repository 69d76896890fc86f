"""Rewrites a generated JSON Schema with the keywords that every provider accepts (quirk C10).

What the other keywords say becomes part of the descriptions: models read both, and the values are checked when the
arguments are converted.
"""

from collections.abc import Iterable, Iterator, Mapping

import orjson
from msgspec import UNSET, UnsetType

from signalbox.core.messages import JsonObject, JsonValue

_LIMITS = {
    "minimum": "At least {}.",
    "exclusiveMinimum": "More than {}.",
    "maximum": "At most {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "minLength": "At least {} characters.",
    "maxLength": "At most {} characters.",
    "minItems": "At least {} items.",
    "maxItems": "At most {} items.",
    "minProperties": "At least {} entries.",
    "maxProperties": "At most {} entries.",
    "pattern": "Matches {}.",
    "format": "Format: {}.",
    "default": "Default: {}.",
}
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def safe_schema(schema: Mapping[str, JsonValue], defaults: Mapping[str, JsonValue | UnsetType] = {}) -> JsonObject:
    """Return the schema without references; `defaults` are those of its properties, which it may lack."""
    named = schema.get("$defs")
    definitions = named if isinstance(named, dict) else {}
    safe = _safe(dict(schema), definitions, ())
    properties = safe.get("properties")
    for name, default in defaults.items():
        if isinstance(properties, dict) and isinstance(one := properties.get(name), dict) and default is not UNSET:
            _add(one, [_LIMITS["default"].format(_shown(default))])
    return safe


def _safe(schema: JsonObject, definitions: JsonObject, inside: tuple[str, ...]) -> JsonObject:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        found = definitions.get(name)
        if name in inside or not isinstance(found, dict):  # a type that contains itself: the conversion checks the rest
            schema = {"type": "object", **{key: value for key, value in schema.items() if key != "$ref"}}
        else:
            inside = (*inside, name)
            schema = {**found, **{key: value for key, value in schema.items() if key not in ("$ref", "$defs")}}
            if "$ref" in found:
                schema["$ref"] = found["$ref"]
                return _safe(schema, definitions, inside)
    alternatives = _objects(schema.get("anyOf") or schema.get("oneOf"))
    others = [one for one in alternatives if one.get("type") != "null"]
    if len(others) == 1:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "default")}
        safe = _safe({**others[0], **rest}, definitions, inside)
        return {**safe, "type": [safe["type"], "null"]} if len(alternatives) > 1 and "type" in safe else safe
    safe: JsonObject = {}
    if others:
        safe["anyOf"] = [_safe(one, definitions, inside) for one in others]
    safe |= _typed(schema)
    if isinstance(properties := schema.get("properties"), dict):
        safe |= _properties(properties, schema.get("required"), definitions, inside)
    if isinstance(items := schema.get("items"), dict):
        safe["items"] = _safe(items, definitions, inside)
    if isinstance(description := schema.get("description"), str):
        safe["description"] = description
    _add(safe, _notes(schema))
    return safe


def _properties(
    properties: JsonObject, required: JsonValue, definitions: JsonObject, inside: tuple[str, ...]
) -> JsonObject:
    """Return the properties; null is left out of the types of those that may be missing."""
    needed = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    safe: JsonObject = {}
    for name, one in properties.items():
        made = _safe(one, definitions, inside) if isinstance(one, dict) else {}
        kinds = made.get("type")
        if isinstance(kinds, list) and name not in needed:
            made["type"] = kinds[0]
        safe[name] = made
    return {"properties": safe, "required": [*needed]}


def _typed(schema: JsonObject) -> JsonObject:
    """Return type and enumeration; only strings may be enumerated."""
    kind = schema.get("type")
    choices = schema.get("enum") if "enum" in schema else [schema["const"]] if "const" in schema else None
    if not isinstance(choices, list) or not choices:
        return {"type": kind} if kind is not None else {}
    if all(isinstance(choice, str) for choice in choices):
        return {"type": "string", "enum": choices}
    kinds = {_TYPES.get(type(choice)) for choice in choices}
    return {"type": kinds.pop()} if len(kinds) == 1 else {}


def _notes(schema: JsonObject) -> Iterator[str]:
    choices = schema.get("enum")
    if isinstance(choices, list) and not all(isinstance(choice, str) for choice in choices):
        yield f"One of: {', '.join(map(_shown, choices))}."
    for keyword, words in _LIMITS.items():
        if (value := schema.get(keyword)) is not None and value != []:
            yield words.format(_shown(value))


def _add(schema: JsonObject, notes: Iterable[str]) -> None:
    """Append sentences to the description."""
    description = schema.get("description")
    parts = [description] if isinstance(description, str) and description else []
    if parts and not parts[0].endswith((".", "!", "?")):
        parts[0] += "."
    if whole := " ".join([*parts, *notes]):
        schema["description"] = whole


def _shown(value: JsonValue) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
