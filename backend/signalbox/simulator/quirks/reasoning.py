"""Section B: reasoning that is bound to a host, refused, spent, told twice, or left in the answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..accents import ACCENTS, Accent, Maker
from ..faults.steps import answer, asking, is_first, one, search, topic
from ..http.errors import Refused
from ..http.incoming import Incoming, slug
from ..model.answer import rounds
from ..model.next_turn import decide
from ..model.turns import Turn
from ..rules.words import host_says
from ..shapes import as_object
from ..signatures import seal
from ..spoken import Spoken
from .quirk import Chunk, Quirk, Shape, Stream, Whole, altered, choice, delta, first_step, letters

THOUGHT = "The question can be looked up, so I look it up first. I choose the words of the search from the question. "
IN_WORDS = "I go on from what the tools returned, as it was told to me in words."


def two_steps(incoming: Incoming, accent: Accent) -> Turn:
    """Search once in each of two steps."""
    done = rounds(incoming)
    if incoming.told and not done:
        return Turn(IN_WORDS, THOUGHT)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    return asking(incoming, search(incoming, f"{topic(incoming)} {done + 1}"))


# ---- B2, B4: details that only one host takes, or none


def _flipped(incoming: Incoming) -> Incoming:
    """Route every step to the other host unless the request pins one (quirk B2)."""
    hosts = ACCENTS[incoming.family].providers
    if incoming.provider_order or len(hosts) < 2:
        return incoming
    routed = {**as_object(incoming.body.get("provider")), "order": [slug(hosts[1 - rounds(incoming) % 2])]}
    return replace(incoming, body={**incoming.body, "provider": routed})


def _gone(incoming: Incoming) -> Refused | None:
    """Let the pinned host be down as soon as it is pinned (quirk B2)."""
    pinned = as_object(incoming.body.get("provider")).get("allow_fallbacks") is False
    if not pinned or not rounds(incoming):
        return None
    name = ACCENTS[incoming.family].provider(incoming.provider_order)
    return Refused(503, "Provider returned error", metadata={"provider_name": name, "raw": "simulated: host is down"})


_REFUSALS = {
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "google": "Corrupted thought signature.",
}
_SEALED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."


def _refuses_details(incoming: Incoming) -> Refused | None:
    """Refuse all details that come back, right or not (quirk B4)."""
    if not any(message.get("reasoning_details") for message in incoming.messages):
        return None
    return host_says(incoming, _REFUSALS.get(incoming.family, _SEALED), "invalid_encrypted_content")


def _then_words(incoming: Incoming, accent: Accent) -> Turn:
    """Search first, then answer from the results; also where they came back in words, as another first step."""
    if incoming.told and not rounds(incoming):
        return Turn(IN_WORDS, THOUGHT)
    return first_step(one)(incoming, accent)


# ---- B3, B12: what the details hold


def _thinks(incoming: Incoming, spoken: Spoken) -> Spoken:
    """Think even where the request has no reasoning: words, words, and then the signature alone (quirk B3)."""
    reasoning = spoken.reasoning or THOUGHT
    maker = Maker(incoming.plain_model, spoken.provider)
    return replace(spoken, reasoning=reasoning, details=tuple(spoken.accent.make_details(reasoning, [], maker)))


def _only_sealed(incoming: Incoming, spoken: Spoken) -> Spoken:
    """Hide the words of the reasoning and send its seal (quirk B12)."""
    details = [detail for detail in spoken.details if detail["type"] == "reasoning.encrypted"]
    own = {"type": "reasoning.encrypted", "data": seal("b12", spoken.id), "format": "unknown", "index": 0}
    return replace(spoken, reasoning="", details=tuple(details or [own]))


# ---- B8: length, and nothing said


def _spent(incoming: Incoming, accent: Accent) -> Turn:
    """Spend all tokens on reasoning until there is more room, or less effort."""
    if incoming.roomier or rounds(incoming):
        return decide(incoming, accent)
    return Turn("", THOUGHT * 6, finish="length")


def _bills_all(incoming: Incoming, spoken: Spoken) -> Spoken:
    """Bill as many tokens as may be for reasoning where nothing else was said."""
    if spoken.cut.turn.finish != "length":
        return spoken
    most = incoming.max_tokens or 1000
    counted = {**spoken.usage["completion_tokens_details"], "reasoning_tokens": most}
    total = spoken.usage["prompt_tokens"] + most
    usage = {**spoken.usage, "completion_tokens": most, "total_tokens": total, "completion_tokens_details": counted}
    return replace(_thinks(incoming, spoken), usage=usage)


def _always_spent(incoming: Incoming, accent: Accent) -> Turn:
    return Turn("", THOUGHT * 6, finish="length")


# ---- B10: the same reasoning in several fields


def _content_too(spoken: Spoken, chunks: list[Chunk]) -> list[Chunk]:
    return [altered(chunk, reasoning_content=text) if (text := _thought(chunk)) else chunk for chunk in chunks]


def _content_only(spoken: Spoken, chunks: list[Chunk]) -> list[Chunk]:
    return [_bare(made) for made in _content_too(spoken, chunks)]


def _thought(chunk: Chunk) -> str:
    return delta(chunk).get("reasoning") or ""


def _bare(chunk: Chunk) -> Chunk:
    for name in ("reasoning", "reasoning_details"):
        delta(chunk).pop(name, None)
    return chunk


def _whole(*left_out: str) -> Whole:
    def whole(spoken: Spoken, body: Chunk) -> Chunk:
        message: dict[str, Any] = choice(body)["message"]
        message["reasoning_content"] = message.get("reasoning")
        for name in left_out:
            message.pop(name, None)
        return body

    return whole


# ---- B11: reasoning in the answer

Tagged = Callable[[str, str], str]
TAGS: dict[str, Tagged] = {
    "b11": lambda thought, text: f"<think>\n{thought}\n</think>\n\n{text}",
    "b11-open": lambda thought, text: f"<think>\n{thought}\n\n{text}",
    "b11-close": lambda thought, text: f"{thought}\n</think>\n\n{text}",
    "b11-split": lambda thought, text: f"<think>\n{thought}\n</think>\n\n{text}",
    "b11-stray": lambda _, text: f"{text}\n</think>" if text else text,
    "b11-literal": lambda thought, text: f"<think>\nI close with `</think>`. {thought}\n</think>\n\n{text}",
    "b11-quoted": lambda _, text: f"Some models write `<think>` and `</think>` themselves.\n\n{text}",
}


def _tagged(tags: Tagged) -> Shape:
    """Think inside the answer, in tags, in the step that searches as well as in the answer."""

    def turn(incoming: Incoming, accent: Accent) -> Turn:
        said = first_step(one)(incoming, accent)
        return replace(said, text=tags(said.reasoning or THOUGHT, said.text), reasoning="")

    return turn


def _reasoning_only(incoming: Incoming, accent: Accent) -> Turn:
    return Turn("", answer(incoming).reasoning) if not is_first(incoming) else asking(incoming, *one(incoming))


_LETTERS: dict[str, Stream] = {"b11-split": letters}
QUIRKS: dict[str, Quirk] = {
    "b01": Quirk(turn=two_steps),
    "b02": Quirk(turn=two_steps, hear=_flipped),
    "b02-gone": Quirk(turn=_then_words, hear=_flipped, refuse=_gone),
    "b03": Quirk(turn=two_steps, speak=_thinks),
    "b04": Quirk(turn=_then_words, refuse=_refuses_details, lenient=True),
    "b08": Quirk(turn=_spent, speak=_bills_all),
    "b08-always": Quirk(turn=_always_spent, speak=_bills_all),
    "b10": Quirk(speak=_thinks),
    "b10-three": Quirk(speak=_thinks, stream=_content_too, whole=_whole()),
    "b10-content": Quirk(
        speak=_thinks, stream=_content_only, whole=_whole("reasoning", "reasoning_details"), lenient=True
    ),
    **{name: Quirk(turn=_tagged(tags), stream=_LETTERS.get(name), lenient=True) for name, tags in TAGS.items()},
    "b12": Quirk(speak=_only_sealed, lenient=True),
    "b14": Quirk(turn=_reasoning_only, speak=_thinks),
}
