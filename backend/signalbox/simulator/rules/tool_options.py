"""Rules of tool choices, response formats, tool schemas and parameters (quirks B6, C5, C9 to C12)."""

import re
from collections.abc import Iterator
from typing import Any

from ..catalog import row_of
from ..http.incoming import Incoming
from ..json_values import as_list, as_object, as_objects
from .provider_errors import Rule, provider_error

# The keywords of Gemini's schema object; any other one makes the request fail (quirk C10).
_KEYWORDS = (
    "type format title description nullable default enum items minItems maxItems properties required minProperties "
    "maxProperties minimum maximum minLength maxLength pattern example anyOf propertyOrdering"
)
GEMINI_KEYWORDS = frozenset(_KEYWORDS.split())
GEMINI_FORMATS = {
    "string": ("enum", "date-time"),
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
}
_NO_SAMPLING = re.compile(r"claude-opus-4[.-]([7-9]|\d\d)\b|claude-(opus|sonnet|haiku|fable)-[5-9]")


def thinks(incoming: Incoming, *, by_default: bool) -> bool:
    """Return whether the model reasons in this request; `by_default`: it reasons unless the request turns that off."""
    settings = as_object(incoming.body.get("reasoning"))
    effort = settings.get("effort", incoming.body.get("reasoning_effort"))
    if not row_of(incoming.model).reasons or incoming.reasoning == "off":
        return False
    requested = (
        effort or settings.get("max_tokens") or settings.get("enabled") or incoming.body.get("include_reasoning")
    )
    return bool(requested) or by_default


def no_forced_call_while_thinking(text: str, *, by_default: bool = False) -> Rule:
    """Return the rule that no call is forced while the model reasons (quirk B6)."""

    def rule(incoming: Incoming) -> None:
        forced = incoming.tools and incoming.tool_choice not in ("auto", "none")
        if forced and thinks(incoming, by_default=by_default):
            raise provider_error(incoming, text)

    return rule


def no_json_beside_tools(incoming: Incoming) -> None:
    """XAI accepts tools or a response_format, not both (seed-systems PS-12)."""
    if incoming.tools and incoming.body.get("response_format"):
        raise provider_error(incoming, "response_format is not supported together with tools for this model.")


def no_json_mime_beside_tools(incoming: Incoming) -> None:
    """Gemini accepts tools or JSON mode, not both (quirk C9)."""
    wanted = as_object(incoming.body.get("response_format")).get("type")
    if incoming.tools and wanted in ("json_object", "json_schema"):
        raise provider_error(incoming, "Function calling with a response mime type: 'application/json' is unsupported")


def no_sampling(incoming: Incoming) -> None:
    """Claude Opus 4.7 and later accept no temperature, top_p or top_k (quirk C5)."""
    if not _NO_SAMPLING.search(incoming.model):
        return
    for name in ("temperature", "top_p", "top_k"):
        if name in incoming.body:
            raise provider_error(incoming, f"`{name}` is deprecated for this model.")


def no_parallel_parameter(incoming: Incoming) -> None:
    """o4-mini rejects `parallel_tool_calls` (quirk C12)."""
    if incoming.plain_model == "openai/o4-mini" and "parallel_tool_calls" in incoming.body:
        text = "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."
        raise provider_error(incoming, text, "unsupported_parameter")


def no_strict(incoming: Incoming) -> None:
    """Only OpenAI's providers know `strict` (quirk C11)."""
    for at, tool in enumerate(as_objects(incoming.body.get("tools"))):
        if as_object(tool.get("function")).get("strict") is True:
            raise provider_error(incoming, f"tools.{at}.function.strict: Extra inputs are not permitted")


def strict_schemas_are_closed(incoming: Incoming) -> None:
    """With `strict`, OpenAI accepts no optional and no additional properties (quirk C11)."""
    for tool in as_objects(incoming.body.get("tools")):
        function = as_object(tool.get("function"))
        if function.get("strict") is not True:
            continue
        text = f"Invalid schema for function '{function['name']}': In context=(), "
        for schema in _schemas(as_object(function.get("parameters"))):
            names = set(as_object(schema.get("properties")))
            if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
                raise provider_error(
                    incoming, text + "'additionalProperties' is required to be supplied and to be false."
                )
            missing = sorted(names - set(as_list(schema.get("required"))))
            if missing:
                every = "'required' is required to be supplied and to be an array including every key in properties. "
                raise provider_error(incoming, f"{text}{every}Missing '{missing[0]}'.")


def gemini_schema(incoming: Incoming) -> None:
    """Gemini rejects schemas with keywords or formats that it does not know (quirk C10)."""
    for at, tool in enumerate(as_objects(incoming.body.get("tools"))):
        where = f"tools[0].function_declarations[{at}].parameters"
        for schema in _schemas(as_object(as_object(tool.get("function")).get("parameters"))):
            unknown = sorted(set(schema) - GEMINI_KEYWORDS)
            if unknown:
                text = f"Invalid JSON payload received. Unknown name \"{unknown[0]}\" at '{where}': Cannot find field."
                raise provider_error(incoming, text)
            if not all(isinstance(value, str) for value in as_list(schema.get("enum"))):
                raise provider_error(incoming, f"Invalid value at '{where}.enum[0]' (TYPE_STRING)")
            kind = str(schema.get("type")).lower()
            if "format" in schema and schema["format"] not in GEMINI_FORMATS.get(kind, ()):
                known = " and ".join(f"'{name}'" for name in GEMINI_FORMATS.get(kind, ()))
                raise provider_error(incoming, f"{where}.format: only {known} are supported for {kind.upper()} type")


def _schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a schema and every schema inside it."""
    if not schema:
        return
    yield schema
    inner = [*as_object(schema.get("properties")).values(), schema.get("items"), *as_list(schema.get("anyOf"))]
    for part in inner:
        yield from _schemas(as_object(part))
