"""Checks tools, so that no provider rejects a request because of one (quirks C10, C16)."""

import re
from collections.abc import Iterator
from typing import cast, get_args

import orjson

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Category, Tool, ToolSpec, Visibility

# Gemini rejects the whole request for any other keyword.
SAFE_KEYWORDS = frozenset({"type", "description", "properties", "required", "items", "enum"})
_LONGEST_TIMEOUT = 3_600
_LONGEST_REASON = 500
_LONGEST_TITLE, _LONGEST_SUMMARY = 60, 200
_FLAGS = ("eager", "side_effects", "untrusted", "own_failures", "shows_table", "on_request", "needs_workspace")
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,63}")


def fault_of(tool: Tool) -> str | None:
    """Return what is wrong with a tool, None if every provider accepts it.

    Types are checked too, because a plugin may not use a type checker.
    """
    spec, reason = tool.spec, cast(object, tool.unavailable)
    if not isinstance(cast(object, spec), ToolSpec):
        return "its spec is not a ToolSpec"
    if not isinstance(cast(object, spec.name), str) or not _NAME.fullmatch(spec.name):
        return f"its name {spec.name!r:.70} is not a letter followed by at most 63 letters, digits and underscores"
    if not callable(tool.run):
        return "its run is not a function"
    if reason is not None and (not isinstance(reason, str) or not 0 < len(reason) <= _LONGEST_REASON):
        return f"the reason why it is unavailable is not a text of at most {_LONGEST_REASON} characters"
    return spec_fault(spec) or schema_fault(spec.parameters)


def spec_fault(spec: ToolSpec) -> str | None:
    """Return what is wrong with a spec apart from its name and schema."""
    if not isinstance(cast(object, spec.description), str) or not spec.description.strip():
        return "it has no description"
    return _words_fault(spec) or _metadata_fault(spec)


def is_tool_name(text: str) -> bool:
    """Return whether every provider accepts this name of a tool."""
    return _NAME.fullmatch(text) is not None


def _words_fault(spec: ToolSpec) -> str | None:
    """Return what is wrong with the title and summary, which the page shows unchanged."""
    for field, text, most in (("title", spec.title, _LONGEST_TITLE), ("summary", spec.summary, _LONGEST_SUMMARY)):
        if not isinstance(cast(object, text), str) or len(text) > most or not all(map(str.isprintable, text)):
            return f"its {field} is not one line of at most {most} characters"
    return None


def _metadata_fault(spec: ToolSpec) -> str | None:
    timeout = cast(object, spec.timeout)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= _LONGEST_TIMEOUT:
        return f"its timeout is not a positive number of seconds, at most {_LONGEST_TIMEOUT:,}"
    if spec.category not in get_args(Category):
        return f"its category is not one of {', '.join(get_args(Category))}"
    if spec.visibility not in get_args(Visibility):
        return f"its visibility is not one of {', '.join(get_args(Visibility))}"
    for flag in _FLAGS:
        if not isinstance(getattr(spec, flag), bool):
            return f"its {flag} is neither True nor False"
    if spec.search_key is not None and not callable(spec.search_key):
        return "its search_key is not a function"
    properties = spec.parameters.get("properties") if isinstance(cast(object, spec.parameters), dict) else None
    if spec.url_argument is not None and (not isinstance(properties, dict) or spec.url_argument not in properties):
        return "its url_argument is none of its arguments"
    return None


def schema_fault(schema: JsonObject) -> str | None:
    """Return what is wrong with the schema of a tool's arguments."""
    from jsonschema import Draft202012Validator  # imported late: a start without plugins does not need it
    from jsonschema.exceptions import SchemaError

    try:
        orjson.dumps(schema)
    except TypeError:
        return "its parameters are not JSON"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return "its parameters are not a valid JSON Schema"
    if not isinstance(cast(object, schema), dict) or (
        schema.get("type") != "object" or not isinstance(schema.get("properties"), dict)
    ):
        return "its parameters are not an object with properties"
    for path, one in _schemas(schema, "parameters"):
        if unsafe := sorted(one.keys() - SAFE_KEYWORDS):
            return (
                f"{path} uses {unsafe[0]}, which some providers reject; the safe keywords are {_listed(SAFE_KEYWORDS)}"
            )
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
    """Return a valid tool name made from any text."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", text)[:64]
    return name if _NAME.fullmatch(name) else f"tool_{name}"[:64]
