"""What OpenAI's models accept, by their names; OpenAI's list of models has only ids.

Models of other vendors, and deployments with names of their users, have no restrictions here: their server decides.
"""

import re

from msgspec.structs import replace

from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonObject
from signalbox.core.params import FIELDS, Reasoning
from signalbox.wire.openrouter.catalog import facts_of as listed_facts

# Bedrock calls them `openai.gpt-…`, OpenRouter `openai/gpt-…`.
_BEGIN = r"(?:^|/|^openai\.)"
# "Encrypted content is not supported with this model.", "Unsupported parameter: 'reasoning.effort' is not supported
# with this model." (microsoft/agent-framework#7483).
_PLAIN = re.compile(_BEGIN + r"(?:gpt-3|gpt-4|chatgpt-|gpt-5[\d.]*-chat)")
# These models reject a temperature: "Unsupported parameter: 'temperature' is not supported with this model."
_REASONING = re.compile(_BEGIN + r"(?:o\d|codex-|gpt-5(?![\d.]*-chat|\.\d))")
# These models accept a temperature only without reasoning (vercel/ai#10932, langchain-ai/langchain#35423).
_EITHER = re.compile(_BEGIN + r"gpt-(?:5\.\d|[6-9])")
_OPENAI = re.compile(_BEGIN + r"(?:gpt-\d|chatgpt-|o\d|codex-)")
# OpenAI lists all its models together; these do not answer in a conversation.
_NO_CHAT = re.compile(
    r"^(?:text-embedding|whisper|tts-|dall-e|sora|davinci|babbage|omni-moderation|gpt-image|chatgpt-image|gpt-audio"
    r"|gpt-realtime)|-(?:realtime|audio|transcribe|tts|instruct)\b"
)
SAMPLING = ("temperature", "top_p", "logprobs", "top_logprobs")


def reasons(model: str) -> bool:
    """Whether a model may reason."""
    return _PLAIN.search(model) is None


def samples(model: str, reasoning: Reasoning | None) -> bool:
    """Whether a model accepts a temperature, and log probabilities of its tokens, with this reasoning."""
    if _REASONING.search(model):
        return False
    wants = reasoning is not None and reasoning.enabled is not False and reasoning.effort not in (None, "none")
    return not (wants and _EITHER.search(model))


def facts_of(entry: JsonObject, unsupported: frozenset[str]) -> ModelFacts | None:
    """Return the facts of an entry; `unsupported` are parameters that the API does not have."""
    facts = listed_facts(entry)
    if facts is None or facts.supported:
        return facts
    if _NO_CHAT.search(facts.id):
        return replace(facts, hidden=True)
    if not _OPENAI.search(facts.id):
        return facts
    absent = {*unsupported, *(() if samples(facts.id, None) else SAMPLING)}
    badges = ("reasoning", "tools") if reasons(facts.id) else ("tools",)
    if not reasons(facts.id):
        absent.add("reasoning")
    abilities = replace(facts.abilities, parameters=frozenset(FIELDS) - absent)
    return replace(facts, abilities=abilities, badges=badges)
