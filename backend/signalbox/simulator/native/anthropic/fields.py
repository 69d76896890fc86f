"""The fields of a request and of its tools; the API rejects every other one."""

import re
from typing import Any, cast

from ...json_values import as_object
from .errors import invalid

_FIELDS = (
    "model messages max_tokens system metadata stop_sequences stream temperature top_k top_p tools tool_choice "
    "thinking service_tier container context_management mcp_servers output_config output_format cache_control "
    "inference_geo speed diagnostics"
)
FIELDS = frozenset(_FIELDS.split())
_FIELDS_OF_TOOLS = (
    "type name description input_schema cache_control strict defer_loading allowed_callers input_examples "
    "eager_input_streaming"
)
_TOOL_FIELDS = frozenset(_FIELDS_OF_TOOLS.split())
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_CLOSED = "For 'object' type, 'additionalProperties' must be explicitly set to false"


def check_tools(tools: object) -> None:
    """Check the offered tools: client tools by their fields, tools of the API itself by nothing but their name."""
    if tools is None:
        return
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid array")
    names: list[str] = []
    for at, tool in enumerate(cast(list[Any], tools)):
        fields = as_object(tool)
        if fields.get("type", "custom") == "custom":
            _check_tool(fields, f"tools.{at}.custom")
        names.append(str(fields.get("name")))
    if len(set(names)) < len(names):
        raise invalid("tools: Tool names must be unique.")


def _check_tool(tool: dict[str, Any], where: str) -> None:
    for name in ("name", "input_schema"):
        if name not in tool:
            raise invalid(f"{where}.{name}: Field required")
    unknown = sorted(set(tool) - _TOOL_FIELDS)
    if unknown:
        raise invalid(f"{where}.{unknown[0]}: Extra inputs are not permitted")
    if not isinstance(tool["name"], str) or not _NAME.fullmatch(tool["name"]):
        raise invalid(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(tool["input_schema"], dict):
        raise invalid(f"{where}.input_schema: Input should be an object")
    schema = as_object(cast(object, tool["input_schema"]))
    kind = schema.get("type")
    if kind is None:
        raise invalid(f"{where}.input_schema.type: Field required")
    if kind != "object":
        raise invalid(f"{where}.input_schema.type: Input should be 'object'")
    if any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        raise invalid(f"{where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")
    if tool.get("strict") is True:
        check_closed(schema, where)


def check_closed(schema: object, where: str) -> None:
    """Check that a schema of strict tools or outputs allows no properties that it does not name."""
    if isinstance(schema, list):
        for part in cast(list[Any], schema):
            check_closed(part, where)
        return
    fields = as_object(schema)
    if fields.get("type") == "object" and fields.get("additionalProperties") is not False:
        raise invalid(f"{where}: {_CLOSED}")
    for key, part in fields.items():
        if key in ("properties", "$defs"):
            for inner in as_object(part).values():
                check_closed(inner, where)
        elif key in ("items", "anyOf", "allOf"):
            check_closed(part, where)
