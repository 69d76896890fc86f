"""What models accept: reasoning, sampling, and which of the listed models answer in a conversation."""

import json
from typing import Any

import pytest
from signalbox.core.messages import UserMessage
from signalbox.core.params import Params, Reasoning
from signalbox.core.parts import Request
from signalbox.wire.dialects import DIALECTS

RESPONSES = DIALECTS["openai-responses"]
HIGH = Reasoning(effort="high")


def body(model: str, **params: Any) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(RESPONSES.body_of(Request(model, (UserMessage("Hi"),), params=Params(**params)), stream=True))


@pytest.mark.parametrize("model", ["gpt-4.1", "openai/gpt-4o-mini", "gpt-3.5-turbo", "chatgpt-4o-latest", "gpt-5-chat"])
def test_models_without_reasoning_are_not_asked_for_it(model: str) -> None:
    """OpenAI rejects an effort, and the request for encrypted reasoning, for these models."""
    sent = body(model, reasoning=HIGH, temperature=0.5)
    assert "include" not in sent
    assert "reasoning" not in sent
    assert sent["temperature"] == 0.5


@pytest.mark.parametrize(
    "model", ["gpt-5.4-nano", "o3", "grok-4", "openai.gpt-5.6-luna", "gpt-oss-120b", "my-deployment"]
)
def test_other_models_are_asked_for_encrypted_reasoning(model: str) -> None:
    """A server that does not know the wish ignores it."""
    sent = body(model, reasoning=HIGH)
    assert sent["include"] == ["reasoning.encrypted_content"]
    assert sent["reasoning"] == {"effort": "high", "summary": "auto"}


@pytest.mark.parametrize(
    ("model", "reasoning", "is_sent"),
    [
        ("o3", None, False),
        ("openai/o4-mini", None, False),
        ("gpt-5", None, False),
        ("gpt-5-mini-2025-08-07", None, False),
        ("gpt-5-chat-latest", None, True),
        ("gpt-5.4", None, True),
        ("gpt-5.4", Reasoning(effort="none"), True),
        ("gpt-5.4", Reasoning(enabled=False), True),
        ("gpt-5.4", HIGH, False),
        ("openai.gpt-5.6-luna", HIGH, False),
        ("gpt-6-astra", HIGH, False),
        ("grok-4", HIGH, True),
        ("gpt-oss-120b", HIGH, True),
    ],
)
def test_sampling(model: str, reasoning: Reasoning | None, is_sent: bool) -> None:
    """OpenAI's models reject a temperature while they reason."""
    sent = body(model, reasoning=reasoning, temperature=0.5, top_p=0.5, logprobs=True, top_logprobs=1)
    assert [name in sent for name in ("temperature", "top_p", "top_logprobs")] == [is_sent] * 3
    assert ("message.output_text.logprobs" in sent.get("include", [])) is is_sent


@pytest.mark.parametrize(
    ("model", "accepted", "rejected", "badges"),
    [
        ("gpt-5", {"reasoning", "max_tokens", "format"}, {"temperature", "top_p", "seed"}, ("reasoning", "tools")),
        ("gpt-5.4", {"reasoning", "temperature"}, {"stop", "top_k"}, ("reasoning", "tools")),
        ("gpt-4.1", {"temperature", "logprobs"}, {"reasoning", "logit_bias"}, ("tools",)),
    ],
)
def test_facts_of_openais_models(model: str, accepted: set[str], rejected: set[str], badges: tuple[str, ...]) -> None:
    """OpenAI lists only ids, so the id says which parameters a model accepts."""
    (entry,) = RESPONSES.models.read({"object": "list", "data": [{"id": model, "owned_by": "openai"}, {"id": ""}]})
    facts = RESPONSES.facts_of(entry)
    assert facts is not None
    parameters = facts.abilities.parameters
    assert parameters is not None
    assert accepted <= parameters
    assert not rejected & parameters
    assert (facts.badges, facts.owned_by, facts.hidden) == (badges, "openai", False)


@pytest.mark.parametrize(
    "model",
    [
        *("text-embedding-3-large", "whisper-1", "tts-1-hd", "dall-e-3", "gpt-image-1", "sora-2", "gpt-realtime"),
        *("gpt-4o-realtime-preview", "gpt-4o-mini-tts", "gpt-4o-transcribe", "gpt-3.5-turbo-instruct", "babbage-002"),
    ],
)
def test_models_that_do_not_chat_are_hidden(model: str) -> None:
    """A hidden model can be requested by its name and is not offered."""
    facts = RESPONSES.facts_of({"id": model})
    assert facts is not None
    assert facts.hidden


def test_models_of_other_servers() -> None:
    """Other servers decide what their models accept, or list it."""
    grok = RESPONSES.facts_of({"id": "grok-4", "owned_by": "xai"})
    assert grok is not None
    assert grok.abilities.parameters is None
    routed = RESPONSES.facts_of({"id": "openai/gpt-5", "supported_parameters": ["tools", "seed"]})
    assert routed is not None
    assert routed.abilities.parameters == {"tools", "seed"}
    assert RESPONSES.facts_of({"id": "x" * 300}) is None
