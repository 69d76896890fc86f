"""Rejected requests: tool choices, response formats, tool schemas, parameters."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.requests import FAMILIES, ask
from tests.unit.simulator.rules.rejection import QUESTION, accepted, post, rejection

FORCED = [{"tool_choice": "required"}, {"tool_choice": {"type": "function", "function": {"name": "calculate"}}}]


def offering(schema: dict[str, Any], **function: Any) -> list[dict[str, Any]]:
    """Return one tool with this schema."""
    return [{"type": "function", "function": {"name": "look", "description": "", "parameters": schema, **function}}]


def holding(**properties: Any) -> dict[str, Any]:
    """Return an object schema with these properties."""
    return {"type": "object", "properties": properties}


def test_xai_rejects_a_response_format_with_tools(client: httpx.Client) -> None:
    """A response_format is rejected together with tools, and accepted without."""
    format_ = {"response_format": {"type": "json_object"}}
    assert "response_format" in rejection(client, ask("x-ai/sim", QUESTION) | format_)
    assert post(client, ask("x-ai/sim", QUESTION, tools=[]) | format_).status_code == 200


def test_claude_rejects_forced_calls_while_it_thinks(client: httpx.Client) -> None:
    """A forced call and thinking are rejected together; each alone is accepted (B6)."""
    forced = {"tool_choice": "required"}
    thinking = {"reasoning": {"effort": "low"}}
    assert "Thinking" in rejection(client, ask("anthropic/sim", QUESTION) | forced | thinking)
    assert post(client, ask("anthropic/sim", QUESTION) | forced).status_code == 200
    assert post(client, ask("anthropic/sim", QUESTION) | thinking).status_code == 200


@pytest.mark.parametrize("forced", FORCED)
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("deepseek/sim", "Thinking mode does not support this tool_choice"),
        ("qwen/sim", "does not support being set to required or object in thinking mode"),
    ],
)
def test_models_that_think_by_default_reject_forced_calls(
    client: httpx.Client, model: str, words: str, forced: dict[str, Any]
) -> None:
    """They accept a forced call only if thinking is turned off (quirk B6)."""
    assert words in rejection(client, ask(model, QUESTION) | forced)
    accepted(client, ask(model, QUESTION, reasoning={"effort": "none"}) | forced)
    accepted(client, ask(model, QUESTION, tool_choice="auto"))
    accepted(client, ask("deepseek/deepseek-chat", QUESTION) | forced)


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
@pytest.mark.parametrize("model", ["anthropic/claude-opus-4.7", "anthropic/claude-opus-4.8", "anthropic/claude-opus-5"])
def test_newer_claudes_reject_sampling_parameters(client: httpx.Client, model: str, name: str) -> None:
    """Even default values are rejected (quirk C5); older models accept them."""
    assert f"`{name}` is deprecated for this model" in rejection(client, ask(model, "Hello!") | {name: 1})
    accepted(client, ask(model, "Hello!"))
    accepted(client, ask("anthropic/sim", "Hello!") | {name: 1})
    accepted(client, ask("anthropic/claude-opus-4.6", "Hello!") | {name: 1})


@pytest.mark.parametrize("kind", ["json_object", "json_schema"])
def test_gemini_rejects_json_mode_with_tools(client: httpx.Client, kind: str) -> None:
    """JSON mode is rejected together with tools (quirk C9); plain text is accepted."""
    format_ = {"response_format": {"type": kind}}
    assert "response mime type" in rejection(client, ask("google/sim", QUESTION) | format_)
    accepted(client, ask("google/sim", QUESTION, tools=[]) | format_)
    accepted(client, ask("google/sim", QUESTION) | {"response_format": {"type": "text"}})
    accepted(client, ask("openai/sim", QUESTION) | format_)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({**holding(), "$schema": "x"}, "$schema"),
        ({**holding(), "additionalProperties": False}, "additionalProperties"),
        (holding(n={"type": "integer", "exclusiveMinimum": 0}), "exclusiveMinimum"),
        (holding(n={"type": "array", "items": {"type": "string", "const": "a"}}), "const"),
        (holding(n={"oneOf": [{"type": "string"}]}), "oneOf"),
        (holding(n={"$ref": "#/a"}), "$ref"),
        (holding(n={"type": "array", "items": {"type": "string"}, "uniqueItems": True}), "uniqueItems"),
        (holding(n={"type": "integer", "enum": [1, 2]}), "TYPE_STRING"),
        (holding(n={"type": "string", "format": "uri"}), "only 'enum' and 'date-time' are supported for STRING"),
    ],
)
def test_gemini_rejects_unknown_keywords(client: httpx.Client, schema: dict[str, Any], words: str) -> None:
    """An unknown keyword at any depth is rejected with Google's message; other families accept it (quirk C10)."""
    said = rejection(client, ask("google/sim", "Hello!", tools=offering(schema))).replace('\\"', '"')
    assert words in said
    assert 'Unknown name "' in said or words == "TYPE_STRING" or "supported for" in words
    accepted(client, ask("openai/sim", "Hello!", tools=offering(schema)))


def test_gemini_accepts_known_keywords(client: httpx.Client) -> None:
    """Types, descriptions, required keys and string enums are accepted, and properties named like keywords."""
    named = holding(const={"type": "string", "enum": ["a", "b"], "description": "A."})
    accepted(client, ask("google/sim", "Hello!", tools=offering({**named, "required": ["const"]})))


@pytest.mark.parametrize("family", FAMILIES)
def test_only_openai_accepts_strict(client: httpx.Client, family: str) -> None:
    """Other families reject `strict: true`, but not false (quirk C11)."""
    closed = {**holding(n={"type": "string"}), "required": ["n"], "additionalProperties": False}
    body = ask(f"{family}/sim", "Hello!", tools=offering(closed, strict=True))
    if family == "openai":
        accepted(client, body)
    else:
        assert "strict: Extra inputs are not permitted" in rejection(client, body)
    accepted(client, ask(f"{family}/sim", "Hello!", tools=offering(holding(), strict=False)))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({**holding(n={"type": "string"}), "required": ["n"]}, "'additionalProperties' is required"),
        ({**holding(n={"type": "string"}), "additionalProperties": False}, "Missing 'n'"),
        ({**holding(n=holding()), "required": ["n"], "additionalProperties": False}, "'additionalProperties'"),
    ],
)
def test_strict_schemas(client: httpx.Client, schema: dict[str, Any], words: str) -> None:
    """A strict schema has no optional and no additional properties, at any depth (quirk C11)."""
    assert words in rejection(client, ask("openai/sim", "Hello!", tools=offering(schema, strict=True)))


@pytest.mark.parametrize("parallel", [True, False])
def test_o4_mini_rejects_parallel_tool_calls(client: httpx.Client, parallel: bool) -> None:
    """The parameter is rejected and not listed (quirk C12)."""
    body = ask("openai/o4-mini", "Hello!")
    assert "Unsupported parameter" in rejection(client, body | {"parallel_tool_calls": parallel})
    accepted(client, body)
    accepted(client, ask("openai/sim", "Hello!") | {"parallel_tool_calls": parallel})
