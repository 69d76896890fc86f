"""Reads entries of OpenAI's list of models, which has only ids."""

import re

from msgspec.structs import replace

from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonObject
from signalbox.core.params import FIELDS
from signalbox.wire.openai_models import BEGIN, SAMPLING, reasons, samples
from signalbox.wire.openrouter.catalog import facts_of as listed_facts

_OPENAI = re.compile(BEGIN + r"(?:gpt-\d|chatgpt-|o\d|codex-)")
# OpenAI lists all its models together; these do not answer in a conversation.
_NO_CHAT = re.compile(
    r"^(?:text-embedding|whisper|tts-|dall-e|sora|davinci|babbage|omni-moderation|gpt-image|chatgpt-image|gpt-audio"
    r"|gpt-realtime)|-(?:realtime|audio|transcribe|tts|instruct)\b"
)


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
