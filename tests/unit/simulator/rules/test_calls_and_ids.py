"""Rejected requests: body shape, calls with their results, call ids."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.requests import FAMILIES, ask, result
from tests.unit.simulator.rules.rejection import accepted, assistant_text, call, rejection


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, "models"),
        ({"model": 7, "messages": [{"role": "user", "content": "hi"}]}, "No models provided"),
        ({"model": "openai/sim"}, "messages"),
        ({"model": "openai/sim", "messages": []}, "messages"),
        ({"model": "openai/sim", "messages": ["hi"]}, "messages[0]"),
        ({"model": "openai/sim", "messages": [{"role": "robot", "content": "hi"}]}, "role"),
        ({"model": "openai/sim", "messages": [{"role": "user", "content": 7}]}, "content"),
        ({"model": "openai/sim", "messages": [{"role": "user"}]}, "content"),
        ({"model": "openai/sim", "messages": [{"role": "tool", "content": "2"}]}, "tool_call_id"),
        ({"model": "openai/sim", "messages": [{"role": "user", "content": "x"}], "tools": {}}, "tools"),
        (ask("openai/sim", "x", tools=[{"type": "function", "function": {"name": "a b"}}]), "tools[0]"),
        (ask("openai/sim", "x", {"role": "assistant", "tool_calls": [{"id": 1}]}), "tool_calls[0]"),
        (ask("unknown/sim", "x"), "unknown/sim is not a valid model ID"),
        (ask("sim", "x"), "sim is not a valid model ID"),
        (ask("openai/sim", "x", tools=None, tool_choice="none"), "tool_choice"),
        (ask("openai/sim", "x", tools=None, parallel_tool_calls=False), "parallel_tool_calls"),
        (ask("openai/sim", "x", reasoning={"effort": "low", "max_tokens": 9}), "Only one of"),
        (["not", "an", "object"], "object"),
    ],
)
def test_body_shape(client: httpx.Client, body: dict[str, Any], word: str) -> None:
    """A body of the wrong shape is rejected, and the error names the fault."""
    assert word in rejection(client, body)


def test_body_must_be_json(client: httpx.Client) -> None:
    """A body that is not JSON is a 400."""
    assert client.post("/chat/completions", content=b'{"model": NaN}').status_code == 400


@pytest.mark.parametrize(
    "messages",
    [
        ["a", result("abcdefghi", "2")],
        ["a", call("abcdefghi")],
        ["a", call("abcdefghi"), "b"],
        ["a", call("abcdefghi"), result("abcdefghX", "2")],
        ["a", call("abcdefghi"), result("abcdefghi", "2"), result("abcdefghi", "2")],
        ["a", call("abcdefghi"), {"role": "assistant", "content": "so"}, result("abcdefghi", "2")],
        ["a", call("abcdefghi", '{"expression"'), result("abcdefghi", "2")],
        ["a", call("abcdefghi", "[1]"), result("abcdefghi", "2")],
    ],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_and_results_match(client: httpx.Client, family: str, messages: list[Any]) -> None:
    """Each call has valid arguments and exactly one result, directly after it."""
    off = {} if family == "google" else {"reasoning": {"effort": "none"}}
    rejection(client, ask(f"{family}/sim", *messages, **off))


@pytest.mark.parametrize(
    ("family", "call_id", "word"),
    [
        ("mistralai", "call_0123456789", "length of 9"),
        ("anthropic", "functions.calculate:0", "pattern"),
        ("openai", "x" * 41, "maximum length"),
    ],
)
def test_id_formats(client: httpx.Client, family: str, call_id: str, word: str) -> None:
    """Ids of another family are rejected if the provider requires a format (quirk A16)."""
    history = ["a", call(call_id), result(call_id, "2"), {"role": "assistant", "content": "2"}, "b"]
    assert word in rejection(client, ask(f"{family}/sim", *history))


def test_anthropic_requires_unique_ids(client: httpx.Client) -> None:
    """An id that is used twice is rejected (quirk A15)."""
    once = [call("abcdefghi"), result("abcdefghi", "2"), {"role": "assistant", "content": "2"}]
    assert "unique" in rejection(client, ask("anthropic/sim", "a", *once, "b", *once, "c"))


@pytest.mark.parametrize(
    ("family", "messages", "words"),
    [
        ("anthropic", ["a", call("abcdefghi"), "b"], "`tool_use` ids were found without `tool_result` blocks"),
        ("anthropic", ["a", result("abcdefghi", "2")], "unexpected `tool_use_id` found in `tool_result` blocks"),
        ("google", ["a", call("abcdefghi"), "b"], "number of function response parts is equal"),
        ("mistralai", ["a", call("abcdefghi"), assistant_text("b"), "c"], "Not the same number of function calls"),
        ("mistralai", ["a", result("abcdefghi", "2")], "Unexpected role 'tool' after role 'user'"),
        ("openai", ["a", call("abcdefghi"), "b"], "must be followed by tool messages"),
    ],
)
def test_messages_of_each_provider(client: httpx.Client, family: str, messages: list[Any], words: str) -> None:
    """A call without result, or a result without call, is rejected with the provider's own message (quirk D1)."""
    assert words in rejection(client, ask(f"{family}/sim", *messages, reasoning={"effort": "none"}))


@pytest.mark.parametrize("family", FAMILIES)
def test_only_gemini_requires_the_order_of_results(client: httpx.Client, family: str) -> None:
    """Gemini rejects results in another order than their calls (quirk C8)."""
    two = call("abcdefghi")
    two["tool_calls"].append({**two["tool_calls"][0], "id": "abcdefghj"})
    there, back = (
        [result("abcdefghi", "2"), result("abcdefghj", "2")],
        [result("abcdefghj", "2"), result("abcdefghi", "2")],
    )
    done = assistant_text("2 and 2")
    off = {"reasoning": {"effort": "none"}}
    accepted(client, ask(f"{family}/sim", "a", two, *there, done, "b", **off))
    body = ask(f"{family}/sim", "a", two, *back, done, "b", **off)
    if family == "google":
        assert "in the order" in rejection(client, body)
    else:
        accepted(client, body)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([{"type": "text", "text": "2"}], "expected a string"),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}], "image"),
    ],
)
def test_results_are_strings(client: httpx.Client, family: str, content: list[Any], words: str) -> None:
    """A result that is a list, with or without an image, is rejected (quirk C14)."""
    answered = {**result("abcdefghi", "2"), "content": content}
    history = ["a", call("abcdefghi"), answered, assistant_text("2"), "b"]
    model = "google/sim" if words != "image" and family == "google" else f"{family}/sim"
    status = 404 if words == "image" and family in ("deepseek", "mistralai", "moonshotai", "qwen") else 400
    assert words in rejection(client, ask(model, *history), status)


def test_only_claude_requires_tools_with_calls(client: httpx.Client) -> None:
    """Calls in the history without tools in the request are rejected (quirk C3); OpenAI accepts them."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "2"), assistant_text("2"), "b"]
    assert "toolConfig field must be defined" in rejection(client, ask("anthropic/sim", *history, tools=[]))
    accepted(client, ask("anthropic/sim", *history))
    accepted(client, ask("openai/sim", *history, tools=[]))


def test_xai_error_for_a_choice_without_tools(client: httpx.Client) -> None:
    """XAI rejects a tool_choice without tools with its own message and format (quirk C3)."""
    body = ask("x-ai/sim", "a", tools=None, tool_choice="none")
    assert '"error":"Invalid request content: A tool_choice was set' in rejection(client, body)
