"""Fast validation of tool arguments with a msgspec type that is made once from the schema.

jsonschema walks a schema in Python on every call, which was 6 % of a tool run's steps. It still validates arguments
that the fast path does not accept, and writes all error messages.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, defstruct

from signalbox.core.messages import JsonObject, JsonValue

# Schemas with other keywords, and properties of other types, are validated by jsonschema only.
_UNDERSTOOD = frozenset({"type", "properties", "required", "additionalProperties"})
_UNDERSTOOD_OF_PROPERTY = frozenset({"type", "enum", "description"})
_UNDERSTOOD_OF_LIST = frozenset({"type", "items", "description"})
# Argument names that providers accept; msgspec rejects some others.
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# 1.0 is an integer in JSON Schema but not in msgspec, so jsonschema decides.
_TYPES: dict[JsonValue, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


def shape_of(schema: JsonObject) -> type[Struct] | None:
    """Return a type that accepts only arguments that match the schema, None if there is no such type.

    Equal schemas share one type: each run of a program passes its tools again.
    """
    return _shape_of(json.dumps(schema))


@lru_cache(maxsize=1_000)
def _shape_of(text: str) -> type[Struct] | None:
    schema: JsonObject = json.loads(text)
    properties, required = schema.get("properties"), schema.get("required", [])
    if schema.keys() - _UNDERSTOOD or schema.get("type") != "object":
        return None
    if schema.get("additionalProperties", False) is not False:  # unknown arguments are rejected by default (0008)
        return None
    if (
        not isinstance(properties, dict)
        or not isinstance(required, list)
        or set(map(str, required)) - properties.keys()
    ):
        return None
    fields: list[tuple[str, Any, Any] | tuple[str, Any]] = []
    names: dict[str, str] = {}  # an argument's name may not be a Python identifier
    for index, (name, property_schema) in enumerate(properties.items()):
        kind = _type_of(property_schema)
        if kind is None or not _NAME.fullmatch(name):
            return None
        names[field := f"argument_{index}"] = name
        fields.append((field, kind) if name in required else (field, kind | UnsetType, UNSET))
    return defstruct("Arguments", fields, rename=names, forbid_unknown_fields=True, kw_only=True)


def surely_fit(arguments: Mapping[str, JsonValue], shape: type[Struct] | None) -> bool:
    """Return whether arguments are known to match; otherwise jsonschema decides."""
    if shape is None:
        return False
    try:
        convert(arguments, shape)
    except (ValidationError, UnicodeError):  # a lone surrogate in a name
        return False
    return True


def _type_of(schema: JsonValue) -> Any:
    """Return the type of a property's values, None if there is no such type."""
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "array" and "items" in schema and not schema.keys() - _UNDERSTOOD_OF_LIST:
        kind = _type_of(schema["items"])
        return None if kind is None else list[kind]
    if schema.keys() - _UNDERSTOOD_OF_PROPERTY:
        return None
    choices = schema.get("enum")
    if choices is None:
        return _TYPES.get(str(schema.get("type")))
    if schema.get("type") != "string" or not isinstance(choices, list) or not choices:
        return None
    return Literal[*choices] if all(isinstance(choice, str) for choice in choices) else None
