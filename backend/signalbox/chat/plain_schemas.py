"""Rewrites the JSON Schema of a client's tool with the keywords that Gemini knows; any other one is a 400 (quirk C10).

The model sees a slightly wider schema. The client validates the arguments of its tools itself.
"""

from signalbox.core.messages import JsonObject, JsonValue

# https://ai.google.dev/api/caching#Schema, as tried by the projects that quirk C10 names.
_KNOWN = frozenset(
    {
        "type", "format", "title", "description", "nullable", "default", "enum", "items", "minItems", "maxItems",
        "properties", "required", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength",
        "pattern", "example", "anyOf", "propertyOrdering",
    }
)  # fmt: skip
_FORMATS = {"string": {"enum", "date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}
_DEFINITIONS = ("$defs", "definitions")
# A schema that refers to itself has no end.
_MOST_LEVELS = 12


def plain_schema(schema: JsonObject) -> JsonObject:
    """Return the schema with known keywords only: references are resolved, `oneOf` and `const` are translated."""
    definitions = [_object(schema.get(name)) for name in _DEFINITIONS]
    return _plain(schema, {name: one for group in definitions for name, one in group.items()}, _MOST_LEVELS)


def _plain(schema: JsonObject, definitions: JsonObject, levels: int) -> JsonObject:
    if not levels:
        return {"type": "object"}
    whole = _combined(schema, definitions, levels)
    plain = {name: value for name, value in whole.items() if name in _KNOWN}
    alternatives = _list(whole.get("anyOf")) or _list(whole.get("oneOf"))
    kinds = _list(whole.get("type"))
    if kinds:
        plain.pop("type")
        named = [kind for kind in kinds if kind != "null"]
        if len(named) == 1:
            plain["type"] = named[0]
        elif named:
            alternatives = alternatives or [{"type": kind} for kind in named]
        if "null" in kinds:
            plain["nullable"] = True
    if alternatives:
        plain["anyOf"] = [_plain(_object(one), definitions, levels - 1) for one in alternatives]
    if isinstance(whole.get("const"), str):
        plain["enum"] = [whole["const"]]
    if not all(isinstance(value, str) for value in _list(plain.get("enum"))):
        del plain["enum"]
    if plain.get("format") not in _FORMATS.get(str(plain.get("type")), ()):
        plain.pop("format", None)
    if "items" in plain:
        plain["items"] = _plain(_object(plain["items"]), definitions, levels - 1)
    if "properties" in plain:
        properties = _object(plain["properties"])
        plain["properties"] = {name: _plain(_object(one), definitions, levels - 1) for name, one in properties.items()}
    return plain


def _combined(schema: JsonObject, definitions: JsonObject, levels: int) -> JsonObject:
    """Return the schema merged with what it refers to (`$ref`) and with the parts of `allOf`."""
    reference = schema.get("$ref")
    parts = [_object(part) for part in _list(schema.get("allOf"))]
    if isinstance(reference, str):
        parts.append(_object(definitions.get(reference.rpartition("/")[2])))
    merged: JsonObject = {}
    for part in [*(_combined(part, definitions, levels - 1) for part in parts if levels > 1), schema]:
        properties = {**_object(merged.get("properties")), **_object(part.get("properties"))}
        required = [*_list(merged.get("required")), *_list(part.get("required"))]
        merged = {**merged, **part}
        if properties:
            merged["properties"] = properties
        if required:
            merged["required"] = list(dict.fromkeys(map(str, required)))
    return merged


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
