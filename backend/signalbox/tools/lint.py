"""What every tool must keep to, so that no host refuses a request for it (quirks C10, C16)."""

import re
from collections.abc import Iterator

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool

# One keyword beside these and Gemini refuses the whole request.
SAFE_KEYWORDS = frozenset({"type", "description", "properties", "required", "items", "enum"})
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,63}")


def fault_of(tool: Tool) -> str | None:
    """Return what is wrong with a tool, None when it can be offered to every host."""
    spec = tool.spec
    if not _NAME.fullmatch(spec.name):
        return f"its name {spec.name[:70]!r} is not a letter followed by at most 63 letters, digits and underscores"
    if not spec.description.strip():
        return "it has no description"
    if not spec.timeout > 0:
        return "its timeout is not a positive number of seconds"
    return schema_fault(spec.parameters)


def schema_fault(schema: JsonObject) -> str | None:
    """Return what is wrong with the schema of a tool's arguments."""
    from jsonschema import Draft202012Validator  # a start without tools of other packages does not wait for it
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return "its parameters are no valid JSON Schema"
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        return "its parameters are not an object with properties"
    for path, one in _schemas(schema, "parameters"):
        if unsafe := sorted(one.keys() - SAFE_KEYWORDS):
            return f"{path} uses {unsafe[0]}, which some hosts refuse; the safe keywords are {_listed(SAFE_KEYWORDS)}"
        if not isinstance(one.get("type"), str):
            return f"{path} needs one type"
        choices = one.get("enum", [])
        if not isinstance(choices, list) or not all(isinstance(choice, str) for choice in choices):
            return f"{path} may only enumerate strings"
    return None


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words))


def _schemas(schema: JsonObject, path: str) -> Iterator[tuple[str, JsonObject]]:
    yield path, schema
    inner: list[tuple[str, JsonValue]] = [(f"{path}.items", schema.get("items"))]
    if isinstance(properties := schema.get("properties"), dict):
        inner += [(f"{path}.{name}", one) for name, one in properties.items()]
    for place, one in inner:
        if isinstance(one, dict):
            yield from _schemas(one, place)


def safe_name(text: str) -> str:
    """Return a name that a tool may have, made from any text."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", text)[:64]
    return name if _NAME.fullmatch(name) else f"tool_{name}"[:64]
