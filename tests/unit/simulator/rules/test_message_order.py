"""Rejected requests: order of roles, and blank texts."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.requests import FAMILIES, ask, result
from tests.unit.simulator.rules.rejection import QUESTION, accepted, assistant_text, call, post, rejection

BEDROCK: dict[str, Any] = {"provider": {"order": ["amazon-bedrock"]}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def blank(text: str) -> list[dict[str, Any]]:
    """Return a content of one text part."""
    return [{"type": "text", "text": text}]


def test_anthropic_rejects_empty_user_messages(client: httpx.Client) -> None:
    """An empty user message is rejected (quirk C4)."""
    assert "non-empty" in rejection(client, ask("anthropic/sim", " "))


def test_mistral_rejects_a_user_message_after_a_result(client: httpx.Client) -> None:
    """The error has code 3230 (quirk C7); other families accept the history."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "2"), "b"]
    assert "3230" in rejection(client, ask("mistralai/sim", *history))
    assert post(client, ask("qwen/sim", *history)).status_code == 200


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("content", [None, []])
def test_assistant_messages_need_content_or_calls(client: httpx.Client, family: str, content: Any) -> None:
    """Every family rejects an assistant message without both (quirks B14, C4)."""
    words = "either content or tool_calls" if family == "mistralai" else "content or tool_calls must be set"
    body = ask(f"{family}/sim", "a", {"role": "assistant", "content": content}, "b")
    assert words in rejection(client, body)


@pytest.mark.parametrize(
    ("content", "word"),
    [(" ", "non-whitespace"), (blank(""), "non-empty"), (blank(" "), "non-empty")],
)
def test_claude_rejects_blank_texts(client: httpx.Client, content: Any, word: str) -> None:
    """White space of an assistant and blank parts are rejected; an empty string and an empty result are not (C4)."""
    assert word in rejection(client, ask("anthropic/sim", "a", assistant_text(content), "b"))
    accepted(client, ask("anthropic/sim", "a", assistant_text(""), "b"))
    history = ["a", call("abcdefghi"), result("abcdefghi", ""), assistant_text("2"), "b"]
    accepted(client, ask("anthropic/sim", *history))


@pytest.mark.parametrize("content", ["", " ", blank(""), [{**PICTURE}, *blank(" ")]])
def test_claude_rejects_blank_questions(client: httpx.Client, content: Any) -> None:
    """A blank text is rejected, even with an image; an image alone is accepted (quirk C4)."""
    rejection(client, ask("anthropic/sim", {"role": "user", "content": content}))
    accepted(client, ask("anthropic/sim", {"role": "user", "content": [PICTURE]}))


def test_bedrock_rejects_white_space(client: httpx.Client) -> None:
    """Bedrock rejects white space in tool results too (quirk C4)."""
    history = ["a", call("abcdefghi"), result("abcdefghi", " "), assistant_text("2"), "b"]
    assert "non-whitespace" in rejection(client, ask("anthropic/sim", *history, **BEDROCK))
    accepted(client, ask("anthropic/sim", *history))


@pytest.mark.parametrize(
    "messages",
    [
        [""],
        ["a", assistant_text(""), "b"],
        ["a", assistant_text(" "), "b"],
        ["a", assistant_text("b", content=blank("")), "c"],
    ],
)
def test_kimi_rejects_blank_texts(client: httpx.Client, messages: list[Any]) -> None:
    """Blank texts of users and assistants are rejected (quirk C4); OpenAI accepts an empty answer."""
    assert "text content is empty" in rejection(client, ask("moonshotai/sim", *messages))
    accepted(client, ask("openai/sim", "a", assistant_text(""), "b"))


def test_mistral_rejects_empty_strings_with_calls(client: httpx.Client) -> None:
    """An empty string together with calls is rejected; null is accepted (quirk C4)."""
    called = call("abcdefghi")
    history = [result("abcdefghi", "2"), assistant_text("2"), "b"]
    assert "must have content" in rejection(client, ask("mistralai/sim", "a", {**called, "content": ""}, *history))
    accepted(client, ask("mistralai/sim", "a", called, *history))


def test_claude_rejects_prefill(client: httpx.Client) -> None:
    """A conversation that ends with an assistant message is rejected (C6)."""
    body = ask("anthropic/sim", QUESTION)
    body["messages"] = [*body["messages"], {"role": "assistant", "content": "The answer is"}]
    assert "prefill" in rejection(client, body)


def test_mistral_rejects_a_last_assistant_message(client: httpx.Client) -> None:
    """The error has a code (quirk C6); OpenAI accepts the conversation."""
    assert "Expected last role User or Tool" in rejection(client, ask("mistralai/sim", "a", assistant_text("b")))
    accepted(client, ask("openai/sim", "a", assistant_text("b")))


def test_gemini_rejects_a_history_that_begins_with_a_call(client: httpx.Client) -> None:
    """A truncated history may begin with a call (quirk C8)."""
    system = {"role": "system", "content": "Be brief."}
    rest = [call("abcdefghi"), result("abcdefghi", "2"), assistant_text("2"), "b"]
    assert "function call turn comes immediately after" in rejection(client, ask("google/sim", system, *rest))
    accepted(client, ask("google/sim", system, "a", *rest))
    accepted(client, ask("google/sim", assistant_text("2"), *rest))
    accepted(client, ask("openai/sim", system, *rest))
