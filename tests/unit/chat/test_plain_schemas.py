"""Schemas of client tools in the keywords that Gemini knows (quirk C10)."""

from typing import Any

import pytest
from signalbox.chat.params import prepare_request_params
from signalbox.chat.plain_schemas import plain_schema
from signalbox.core.parts import ToolSchema
from signalbox.simulator.rules.tool_options import GEMINI_KEYWORDS

from tests.support.loop_runs import context_for

# What pydantic, zod and hand-written tools send.
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "Unit": {"type": "string", "enum": ["kg", "lb"], "title": "Unit"},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "additionalProperties": False},
    },
    "type": "object",
    "properties": {
        "unit": {"$ref": "#/$defs/Unit", "description": "The unit."},
        "count": {"type": ["integer", "null"], "exclusiveMinimum": 0, "format": "int32"},
        "kind": {"const": "screw"},
        "size": {"enum": [1, 2]},
        "when": {"type": "string", "format": "email"},
        "either": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "number", "uniqueItems": True}}]},
        "mixed": {"type": ["string", "number"]},
        "both": {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
        "node": {"$ref": "#/$defs/Node"},
    },
    "required": ["unit"],
    "additionalProperties": False,
}


def keywords(schema: dict[str, Any]) -> set[str]:
    """Return the keywords of a schema and of all schemas inside it."""
    inner = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", [])]
    return {*schema}.union(*(keywords(one) for one in inner if one))


def test_only_known_keywords_are_left() -> None:
    """Everything that Gemini rejects is gone, and what it can express is still there."""
    plain: dict[str, Any] = plain_schema(SCHEMA)
    assert keywords(plain) <= GEMINI_KEYWORDS
    properties = plain["properties"]
    assert properties["unit"] == {
        "type": "string", "enum": ["kg", "lb"], "title": "Unit", "description": "The unit.",
    }  # fmt: skip
    assert properties["count"] == {"type": "integer", "nullable": True, "format": "int32"}
    assert (properties["kind"], properties["size"], properties["when"]) == ({"enum": ["screw"]}, {}, {"type": "string"})
    assert properties["either"] == {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}
    assert properties["mixed"] == {"anyOf": [{"type": "string"}, {"type": "number"}]}
    assert properties["both"] == {"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}
    assert plain["required"] == ["unit"]


def test_a_plain_schema_stays_as_it_is() -> None:
    """The schemas of the built-in tools do not change."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to search for."}},
        "required": ["query"],
    }
    assert plain_schema(schema) == schema


@pytest.mark.parametrize(("model", "is_plain"), [("google/x", True), ("openai/x", False)])
def test_only_gemini_gets_plain_schemas(model: str, is_plain: bool) -> None:
    """Other families get the client's schema unchanged."""
    context = context_for(model=model)
    context.tool_schemas = (ToolSchema("price", "A price.", SCHEMA),)
    [sent] = prepare_request_params(context).tools
    assert (sent.parameters != SCHEMA) is is_plain
