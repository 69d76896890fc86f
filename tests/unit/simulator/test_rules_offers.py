"""What may stand beside tools, and in them."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.refusing import QUESTION, post, refusal, taken
from tests.unit.simulator.requests import FAMILIES, ask

FORCED = [{"tool_choice": "required"}, {"tool_choice": {"type": "function", "function": {"name": "calculate"}}}]


def offering(schema: dict[str, Any], **function: Any) -> list[dict[str, Any]]:
    """Offer one tool with this schema."""
    return [{"type": "function", "function": {"name": "look", "description": "", "parameters": schema, **function}}]


def holding(**properties: Any) -> dict[str, Any]:
    """Write an object's schema."""
    return {"type": "object", "properties": properties}


def test_xai_takes_no_json_beside_tools(client: httpx.Client) -> None:
    """A response_format beside tools is refused; without tools it is taken."""
    format_ = {"response_format": {"type": "json_object"}}
    assert "response_format" in refusal(client, ask("x-ai/sim", QUESTION) | format_)
    assert post(client, ask("x-ai/sim", QUESTION, tools=[]) | format_).status_code == 200


def test_claude_is_not_forced_while_it_thinks(client: httpx.Client) -> None:
    """A forced call and thinking go together nowhere; each alone does (B6)."""
    forced = {"tool_choice": "required"}
    thinking = {"reasoning": {"effort": "low"}}
    assert "Thinking" in refusal(client, ask("anthropic/sim", QUESTION) | forced | thinking)
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
def test_open_thinkers_are_not_forced(client: httpx.Client, model: str, words: str, forced: dict[str, Any]) -> None:
    """They think unless told not to, and then nothing can be forced (quirk B6)."""
    assert words in refusal(client, ask(model, QUESTION) | forced)
    taken(client, ask(model, QUESTION, reasoning={"effort": "none"}) | forced)
    taken(client, ask(model, QUESTION, tool_choice="auto"))
    taken(client, ask("deepseek/deepseek-chat", QUESTION) | forced)


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
@pytest.mark.parametrize("model", ["anthropic/claude-opus-4.7", "anthropic/claude-opus-4.8", "anthropic/claude-opus-5"])
def test_newer_claudes_take_no_sampling(client: httpx.Client, model: str, name: str) -> None:
    """Not even a default is taken (quirk C5); older Claudes take it."""
    assert f"`{name}` is deprecated for this model" in refusal(client, ask(model, "Hello!") | {name: 1})
    taken(client, ask(model, "Hello!"))
    taken(client, ask("anthropic/sim", "Hello!") | {name: 1})
    taken(client, ask("anthropic/claude-opus-4.6", "Hello!") | {name: 1})


@pytest.mark.parametrize("kind", ["json_object", "json_schema"])
def test_gemini_takes_no_json_beside_tools(client: httpx.Client, kind: str) -> None:
    """Functions or JSON (quirk C9); plain text beside tools is taken."""
    format_ = {"response_format": {"type": kind}}
    assert "response mime type" in refusal(client, ask("google/sim", QUESTION) | format_)
    taken(client, ask("google/sim", QUESTION, tools=[]) | format_)
    taken(client, ask("google/sim", QUESTION) | {"response_format": {"type": "text"}})
    taken(client, ask("openai/sim", QUESTION) | format_)


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
def test_gemini_knows_few_keywords(client: httpx.Client, schema: dict[str, Any], words: str) -> None:
    """One keyword too many, however deep, aborts the request in Google's words; others take it (quirk C10)."""
    said = refusal(client, ask("google/sim", "Hello!", tools=offering(schema))).replace('\\"', '"')
    assert words in said
    assert 'Unknown name "' in said or words == "TYPE_STRING" or "supported for" in words
    taken(client, ask("openai/sim", "Hello!", tools=offering(schema)))


def test_gemini_takes_the_safe_subset(client: httpx.Client) -> None:
    """Types, descriptions, required keys and enums of strings pass, and a property may be named like a keyword."""
    named = holding(const={"type": "string", "enum": ["a", "b"], "description": "A."})
    taken(client, ask("google/sim", "Hello!", tools=offering({**named, "required": ["const"]})))


@pytest.mark.parametrize("family", FAMILIES)
def test_only_openai_knows_strict(client: httpx.Client, family: str) -> None:
    """`strict: true` is refused elsewhere; false is nothing (quirk C11)."""
    closed = {**holding(n={"type": "string"}), "required": ["n"], "additionalProperties": False}
    body = ask(f"{family}/sim", "Hello!", tools=offering(closed, strict=True))
    if family == "openai":
        taken(client, body)
    else:
        assert "strict: Extra inputs are not permitted" in refusal(client, body)
    taken(client, ask(f"{family}/sim", "Hello!", tools=offering(holding(), strict=False)))


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({**holding(n={"type": "string"}), "required": ["n"]}, "'additionalProperties' is required"),
        ({**holding(n={"type": "string"}), "additionalProperties": False}, "Missing 'n'"),
        ({**holding(n=holding()), "required": ["n"], "additionalProperties": False}, "'additionalProperties'"),
    ],
)
def test_strict_is_closed(client: httpx.Client, schema: dict[str, Any], words: str) -> None:
    """Strict schemas allow nothing more and leave nothing out, however deep (quirk C11)."""
    assert words in refusal(client, ask("openai/sim", "Hello!", tools=offering(schema, strict=True)))


@pytest.mark.parametrize("parallel", [True, False])
def test_o4_mini_is_told_nothing_of_parallel_calls(client: httpx.Client, parallel: bool) -> None:
    """The parameter itself is refused, and not listed (quirk C12)."""
    body = ask("openai/o4-mini", "Hello!")
    assert "Unsupported parameter" in refusal(client, body | {"parallel_tool_calls": parallel})
    taken(client, body)
    taken(client, ask("openai/sim", "Hello!") | {"parallel_tool_calls": parallel})
