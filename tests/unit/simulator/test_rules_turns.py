"""Who speaks after whom, and what each turn must say."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.refusing import QUESTION, call, post, refusal, said_before, taken
from tests.unit.simulator.requests import FAMILIES, ask, result

BEDROCK: dict[str, Any] = {"provider": {"order": ["amazon-bedrock"]}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def blank(text: str) -> list[dict[str, Any]]:
    """Write a content of one text part."""
    return [{"type": "text", "text": text}]


def test_anthropic_wants_words(client: httpx.Client) -> None:
    """An empty user message is refused (quirk C4)."""
    assert "non-empty" in refusal(client, ask("anthropic/sim", " "))


def test_mistral_refuses_user_after_tool(client: httpx.Client) -> None:
    """The host's code 3230 is in the refusal (quirk C7); other families take the same history."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "2"), "b"]
    assert "3230" in refusal(client, ask("mistralai/sim", *history))
    assert post(client, ask("qwen/sim", *history)).status_code == 200


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("content", [None, []])
def test_an_assistant_says_or_calls(client: httpx.Client, family: str, content: Any) -> None:
    """A turn without content and without calls is refused by every host (quirks B14, C4)."""
    words = "either content or tool_calls" if family == "mistralai" else "content or tool_calls must be set"
    body = ask(f"{family}/sim", "a", {"role": "assistant", "content": content}, "b")
    assert words in refusal(client, body)


@pytest.mark.parametrize(
    ("content", "word"),
    [(" ", "non-whitespace"), (blank(""), "non-empty"), (blank(" "), "non-empty")],
)
def test_claude_takes_no_blank_text(client: httpx.Client, content: Any, word: str) -> None:
    """An assistant's white space and every blank part are refused; an empty string and an empty result are not (C4)."""
    assert word in refusal(client, ask("anthropic/sim", "a", said_before(content), "b"))
    taken(client, ask("anthropic/sim", "a", said_before(""), "b"))
    history = ["a", call("abcdefghi"), result("abcdefghi", ""), said_before("2"), "b"]
    taken(client, ask("anthropic/sim", *history))


@pytest.mark.parametrize("content", ["", " ", blank(""), [{**PICTURE}, *blank(" ")]])
def test_claude_takes_no_blank_question(client: httpx.Client, content: Any) -> None:
    """A user's blank text is refused, beside a picture too; a picture alone is enough (quirk C4)."""
    refusal(client, ask("anthropic/sim", {"role": "user", "content": content}))
    taken(client, ask("anthropic/sim", {"role": "user", "content": [PICTURE]}))


def test_bedrock_takes_no_lone_space(client: httpx.Client) -> None:
    """On Bedrock a space is refused in a tool's result as well (quirk C4)."""
    history = ["a", call("abcdefghi"), result("abcdefghi", " "), said_before("2"), "b"]
    assert "non-whitespace" in refusal(client, ask("anthropic/sim", *history, **BEDROCK))
    taken(client, ask("anthropic/sim", *history))


@pytest.mark.parametrize(
    "messages",
    [[""], ["a", said_before(""), "b"], ["a", said_before(" "), "b"], ["a", said_before("b", content=blank("")), "c"]],
)
def test_kimi_takes_nothing_blank(client: httpx.Client, messages: list[Any]) -> None:
    """Kimi's hosts refuse blank texts of users and assistants (quirk C4); OpenAI's take an empty answer."""
    assert "text content is empty" in refusal(client, ask("moonshotai/sim", *messages))
    taken(client, ask("openai/sim", "a", said_before(""), "b"))


def test_mistral_takes_null_beside_calls(client: httpx.Client) -> None:
    """An empty string beside calls was refused in a recording; null is taken (quirk C4)."""
    called = call("abcdefghi")
    history = [result("abcdefghi", "2"), said_before("2"), "b"]
    assert "must have content" in refusal(client, ask("mistralai/sim", "a", {**called, "content": ""}, *history))
    taken(client, ask("mistralai/sim", "a", called, *history))


def test_claude_takes_no_prefill(client: httpx.Client) -> None:
    """A conversation that ends with the assistant's words is refused (C6)."""
    body = ask("anthropic/sim", QUESTION)
    body["messages"] = [*body["messages"], {"role": "assistant", "content": "The answer is"}]
    assert "prefill" in refusal(client, body)


def test_mistral_answers_users_and_tools_only(client: httpx.Client) -> None:
    """The assistant's own last word is refused with a code (quirk C6); OpenAI goes on from it."""
    assert "Expected last role User or Tool" in refusal(client, ask("mistralai/sim", "a", said_before("b")))
    taken(client, ask("openai/sim", "a", said_before("b")))


def test_gemini_wants_a_turn_before_a_call(client: httpx.Client) -> None:
    """A history whose first turn was cut off is refused when it begins with a call (quirk C8)."""
    system = {"role": "system", "content": "Be brief."}
    rest = [call("abcdefghi"), result("abcdefghi", "2"), said_before("2"), "b"]
    assert "function call turn comes immediately after" in refusal(client, ask("google/sim", system, *rest))
    taken(client, ask("google/sim", system, "a", *rest))
    taken(client, ask("google/sim", said_before("2"), *rest))
    taken(client, ask("openai/sim", system, *rest))
