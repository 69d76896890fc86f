"""Section B: reasoning that is bound to a host, refused, spent, told twice, or left in the answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..completion import Completion
from ..families import FAMILIES, Family, Origin
from ..faults.steps import answer, asking, is_first, one_search, search, topic
from ..http.errors import Rejected
from ..http.incoming import Incoming, slug
from ..json_values import as_object
from ..model.answer import rounds
from ..model.next_turn import decide
from ..model.turns import Turn
from ..rules.provider_errors import provider_error
from ..signatures import sign
from .quirk import (
    ChangeBody,
    ChangeStream,
    Chunk,
    MakeTurn,
    Quirk,
    altered,
    choice,
    delta,
    first_step,
    letter_by_letter,
)

THOUGHT = "The question can be looked up, so I look it up first. I choose the words of the search from the question. "
IN_WORDS = "I go on from what the tools returned, as it was told to me in words."


def two_steps(incoming: Incoming, family: Family) -> Turn:
    """Search once in each of two steps."""
    done = rounds(incoming)
    if incoming.has_text_results and not done:
        return Turn(IN_WORDS, THOUGHT)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    return asking(incoming, search(incoming, f"{topic(incoming)} {done + 1}"))


# ---- B2, B4: details that only one host takes, or none


def _flipped(incoming: Incoming) -> Incoming:
    """Route every step to the other host unless the request pins one (quirk B2)."""
    hosts = FAMILIES[incoming.family].providers
    if incoming.provider_order or len(hosts) < 2:
        return incoming
    routed = {**as_object(incoming.body.get("provider")), "order": [slug(hosts[1 - rounds(incoming) % 2])]}
    return replace(incoming, body={**incoming.body, "provider": routed})


def _gone(incoming: Incoming) -> Rejected | None:
    """Let the pinned host be down as soon as it is pinned (quirk B2)."""
    pinned = as_object(incoming.body.get("provider")).get("allow_fallbacks") is False
    if not pinned or not rounds(incoming):
        return None
    name = FAMILIES[incoming.family].provider(incoming.provider_order)
    return Rejected(
        503, "Provider returned error", metadata={"provider_name": name, "raw": "simulated: provider is down"}
    )


_REFUSALS = {
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "google": "Corrupted thought signature.",
}
_SEALED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."


def _refuses_details(incoming: Incoming) -> Rejected | None:
    """Refuse all details that come back, right or not (quirk B4)."""
    if not any(message.get("reasoning_details") for message in incoming.messages):
        return None
    return provider_error(incoming, _REFUSALS.get(incoming.family, _SEALED), "invalid_encrypted_content")


def _then_words(incoming: Incoming, family: Family) -> Turn:
    """Search first, then answer from the results; also where they came back in words, as another first step."""
    if incoming.has_text_results and not rounds(incoming):
        return Turn(IN_WORDS, THOUGHT)
    return first_step(one_search)(incoming, family)


# ---- B3, B12: what the details hold


def _thinks(incoming: Incoming, completion: Completion) -> Completion:
    """Think even where the request has no reasoning: words, words, and then the signature alone (quirk B3)."""
    reasoning = completion.reasoning or THOUGHT
    origin = Origin(incoming.plain_model, completion.provider)
    return replace(
        completion, reasoning=reasoning, details=tuple(completion.family.make_details(reasoning, [], origin))
    )


def _only_sealed(incoming: Incoming, completion: Completion) -> Completion:
    """Hide the words of the reasoning and send its seal (quirk B12)."""
    details = [detail for detail in completion.details if detail["type"] == "reasoning.encrypted"]
    own = {"type": "reasoning.encrypted", "data": sign("b12", completion.id), "format": "unknown", "index": 0}
    return replace(completion, reasoning="", details=tuple(details or [own]))


# ---- B8: length, and nothing said


def _spent(incoming: Incoming, family: Family) -> Turn:
    """Spend all tokens on reasoning until there is more room, or less effort."""
    if incoming.has_raised_limit or rounds(incoming):
        return decide(incoming, family)
    return Turn("", THOUGHT * 6, finish="length")


def _bills_all(incoming: Incoming, completion: Completion) -> Completion:
    """Bill as many tokens as may be for reasoning where nothing else was said."""
    if completion.limited.turn.finish != "length":
        return completion
    most = incoming.max_tokens or 1000
    counted = {**completion.usage["completion_tokens_details"], "reasoning_tokens": most}
    total = completion.usage["prompt_tokens"] + most
    usage = {**completion.usage, "completion_tokens": most, "total_tokens": total, "completion_tokens_details": counted}
    return replace(_thinks(incoming, completion), usage=usage)


def _always_spent(incoming: Incoming, family: Family) -> Turn:
    return Turn("", THOUGHT * 6, finish="length")


# ---- B10: the same reasoning in several fields


def _content_too(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    return [altered(chunk, reasoning_content=text) if (text := _thought(chunk)) else chunk for chunk in chunks]


def _content_only(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    return [_bare(made) for made in _content_too(completion, chunks)]


def _thought(chunk: Chunk) -> str:
    return delta(chunk).get("reasoning") or ""


def _bare(chunk: Chunk) -> Chunk:
    for name in ("reasoning", "reasoning_details"):
        delta(chunk).pop(name, None)
    return chunk


def _whole(*left_out: str) -> ChangeBody:
    def whole(completion: Completion, body: Chunk) -> Chunk:
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


def _tagged(tags: Tagged) -> MakeTurn:
    """Think inside the answer, in tags, in the step that searches as well as in the answer."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        said = first_step(one_search)(incoming, family)
        return replace(said, text=tags(said.reasoning or THOUGHT, said.text), reasoning="")

    return turn


def _reasoning_only(incoming: Incoming, family: Family) -> Turn:
    return Turn("", answer(incoming).reasoning) if not is_first(incoming) else asking(incoming, *one_search(incoming))


_LETTERS: dict[str, ChangeStream] = {"b11-split": letter_by_letter}
QUIRKS: dict[str, Quirk] = {
    "b01": Quirk(turn=two_steps),
    "b02": Quirk(turn=two_steps, request=_flipped),
    "b02-gone": Quirk(turn=_then_words, request=_flipped, reject=_gone),
    "b03": Quirk(turn=two_steps, completion=_thinks),
    "b04": Quirk(turn=_then_words, reject=_refuses_details, lenient=True),
    "b08": Quirk(turn=_spent, completion=_bills_all),
    "b08-always": Quirk(turn=_always_spent, completion=_bills_all),
    "b10": Quirk(completion=_thinks),
    "b10-three": Quirk(completion=_thinks, stream=_content_too, whole=_whole()),
    "b10-content": Quirk(
        completion=_thinks, stream=_content_only, whole=_whole("reasoning", "reasoning_details"), lenient=True
    ),
    **{name: Quirk(turn=_tagged(tags), stream=_LETTERS.get(name), lenient=True) for name, tags in TAGS.items()},
    "b12": Quirk(completion=_only_sealed, lenient=True),
    "b14": Quirk(turn=_reasoning_only, completion=_thinks),
}
