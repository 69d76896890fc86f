"""Checks the functions that a request declares, and returns them as tools."""

from collections.abc import Iterator
from typing import Any

from ...json_values import as_list, as_object, as_objects
from .errors import invalid, unknown_field, violation, wrong_type
from .fields import field, names_only

_KEYWORDS = (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties "
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
)
_FORMATS = {"string": ("enum", "date-time"), "number": ("float", "double"), "integer": ("int32", "int64")}
_DECLARATION = "name description behavior parameters parametersJsonSchema response responseJsonSchema"
_TOOL = (
    "functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch "
    "googleMaps mcpServers"
)


def tools_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the declared functions as tools of a chat completion."""
    tools: list[dict[str, Any]] = []
    names: set[str] = set()
    for number, tool in enumerate(as_objects(body.get("tools"))):
        names_only(tool, _TOOL, f"tools[{number}]")
        for at, declared in enumerate(as_objects(field(tool, "functionDeclarations"))):
            function = _function(declared, f"tools[{number}].function_declarations[{at}]")
            if function["name"] in names:
                raise invalid(f"Duplicate function declaration found: {function['name']}")
            names.add(function["name"])
            tools.append({"type": "function", "function": function})
    return tools


def _function(declared: dict[str, Any], where: str) -> dict[str, Any]:
    names_only(declared, _DECLARATION, where)
    name = declared.get("name")
    if not isinstance(name, str) or not _is_name(name):
        raise violation(
            f"{where}.name",
            f"Invalid function name at '{where}.name'. Must start with a letter or an underscore. Must be alphameric "
            "(a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
        )
    if field(declared, "parametersJsonSchema") is not None:
        if declared.get("parameters") is not None:
            raise invalid(f"* {where}: parameters and parameters_json_schema are mutually exclusive.\n")
        schema = as_object(field(declared, "parametersJsonSchema"))
    else:
        schema = as_object(declared.get("parameters"))
        _check(schema, f"{where}.parameters")
    return {"name": name, "description": declared.get("description", ""), "parameters": _lowered(schema)}


def _is_name(name: str) -> bool:
    rest = name.replace("_", "").replace(".", "").replace(":", "").replace("-", "")
    return (
        0 < len(name) <= 64
        and (name[0].isalpha() or name[0] == "_")
        and name.isascii()
        and (rest == "" or rest.isalnum())
    )


def _check(schema: dict[str, Any], where: str) -> None:
    """Reject the keywords, enums and formats that Gemini does not know (quirk C10)."""
    for path, part in _inside(schema, where):
        unknown = sorted(name for name in part if name not in _KEYWORDS.split())
        if unknown:
            raise unknown_field(unknown[0], path)
        for at, value in enumerate(as_list(part.get("enum"))):
            if not isinstance(value, str):
                raise wrong_type(f"{path}.enum[{at}]", "TYPE_STRING", value)
        kind = str(part.get("type")).lower()
        if "format" in part and kind in _FORMATS and part["format"] not in _FORMATS[kind]:
            known = " and ".join(f"'{name}'" for name in _FORMATS[kind])
            raise invalid(f"* {path}.format: only {known} are supported for {kind.upper()} type\n")
        if kind == "array" and "items" not in part:
            raise invalid(f"* {path}.items: missing field.\n")


def _inside(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return a schema and every schema inside it, each with its path in the API's words."""
    if not schema:
        return
    yield where, schema
    for at, inner in enumerate(as_object(schema.get("properties")).values()):
        yield from _inside(as_object(inner), f"{where}.properties[{at}].value")
    yield from _inside(as_object(schema.get("items")), f"{where}.items")
    for at, inner in enumerate(as_list(schema.get("anyOf"))):
        yield from _inside(as_object(inner), f"{where}.any_of[{at}]")


def _lowered(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with JSON Schema's type names: Gemini also accepts `STRING` for `string`."""
    changed = {name: _lowered_value(name, value) for name, value in schema.items()}
    return {**changed, "type": schema["type"].lower()} if isinstance(schema.get("type"), str) else changed


def _lowered_value(name: str, value: Any) -> Any:
    if name == "properties":
        return {key: _lowered(as_object(inner)) for key, inner in as_object(value).items()}
    if name == "items":
        return _lowered(as_object(value))
    return [_lowered(as_object(inner)) for inner in as_list(value)] if name == "anyOf" else value
