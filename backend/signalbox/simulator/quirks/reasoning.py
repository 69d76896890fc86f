"""Reasoning that is bound to a provider, rejected, repeated, left in the answer, or uses all tokens (B)."""

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
IN_WORDS = "I go on from what the tools returned, which came as text."


def two_steps(incoming: Incoming, family: Family) -> Turn:
    """Search once in each of two steps."""
    done = rounds(incoming)
    if incoming.has_text_results and not done:
        return Turn(IN_WORDS, THOUGHT)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    return asking(incoming, search(incoming, f"{topic(incoming)} {done + 1}"))


# ---- B2, B4: details that only one provider accepts, or none


def _alternating_provider(incoming: Incoming) -> Incoming:
    """Change the provider with every step, unless the request names one (quirk B2)."""
    providers = FAMILIES[incoming.family].providers
    if incoming.provider_order or len(providers) < 2:
        return incoming
    routed = {**as_object(incoming.body.get("provider")), "order": [slug(providers[1 - rounds(incoming) % 2])]}
    return replace(incoming, body={**incoming.body, "provider": routed})


def _gone(incoming: Incoming) -> Rejected | None:
    """Reject a request with results that allows only one provider (quirk B2)."""
    pinned = as_object(incoming.body.get("provider")).get("allow_fallbacks") is False
    if not pinned or not rounds(incoming):
        return None
    name = FAMILIES[incoming.family].provider(incoming.provider_order)
    return Rejected(
        503, "Provider returned error", metadata={"provider_name": name, "raw": "simulated: provider is down"}
    )


_MESSAGES = {
    "anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "google": "Corrupted thought signature.",
}
_UNVERIFIED = "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed."


def _reject_details(incoming: Incoming) -> Rejected | None:
    """Reject all reasoning details, even correct ones (quirk B4)."""
    if not any(message.get("reasoning_details") for message in incoming.messages):
        return None
    return provider_error(incoming, _MESSAGES.get(incoming.family, _UNVERIFIED), "invalid_encrypted_content")


def _search_then_answer(incoming: Incoming, family: Family) -> Turn:
    """Search, then answer from the results, even if they are sent as text."""
    if incoming.has_text_results and not rounds(incoming):
        return Turn(IN_WORDS, THOUGHT)
    return first_step(one_search)(incoming, family)


# ---- B3, B12: the contents of details


def _thinks(incoming: Incoming, completion: Completion) -> Completion:
    """Reason even if the request has no reasoning; the signature comes alone, after the text (quirk B3)."""
    reasoning = completion.reasoning or THOUGHT
    origin = Origin(incoming.plain_model, completion.provider)
    return replace(
        completion, reasoning=reasoning, details=tuple(completion.family.make_details(reasoning, [], origin))
    )


def _only_encrypted(incoming: Incoming, completion: Completion) -> Completion:
    """Send only the encrypted reasoning (quirk B12)."""
    details = [detail for detail in completion.details if detail["type"] == "reasoning.encrypted"]
    own = {"type": "reasoning.encrypted", "data": sign("b12", completion.id), "format": "unknown", "index": 0}
    return replace(completion, reasoning="", details=tuple(details or [own]))


# ---- B8: all tokens are spent on reasoning


def _spent(incoming: Incoming, family: Family) -> Turn:
    """Only reason, until max_tokens is larger or the effort lower."""
    if incoming.has_raised_limit or rounds(incoming):
        return decide(incoming, family)
    return Turn("", THOUGHT * 6, finish="length")


def _report_all_tokens(incoming: Incoming, completion: Completion) -> Completion:
    """Report max_tokens as reasoning tokens of an answer that is only reasoning."""
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


def _add_reasoning_content(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    return [altered(chunk, reasoning_content=text) if (text := _thought(chunk)) else chunk for chunk in chunks]


def _only_reasoning_content(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    return [_without_reasoning(made) for made in _add_reasoning_content(completion, chunks)]


def _thought(chunk: Chunk) -> str:
    return delta(chunk).get("reasoning") or ""


def _without_reasoning(chunk: Chunk) -> Chunk:
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
    """Write the reasoning into the text, between tags, in every step."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        made = first_step(one_search)(incoming, family)
        return replace(made, text=tags(made.reasoning or THOUGHT, made.text), reasoning="")

    return turn


def _reasoning_only(incoming: Incoming, family: Family) -> Turn:
    return Turn("", answer(incoming).reasoning) if not is_first(incoming) else asking(incoming, *one_search(incoming))


_LETTERS: dict[str, ChangeStream] = {"b11-split": letter_by_letter}
QUIRKS: dict[str, Quirk] = {
    "b01": Quirk(turn=two_steps),
    "b02": Quirk(turn=two_steps, request=_alternating_provider),
    "b02-gone": Quirk(turn=_search_then_answer, request=_alternating_provider, reject=_gone),
    "b03": Quirk(turn=two_steps, completion=_thinks),
    "b04": Quirk(turn=_search_then_answer, reject=_reject_details, lenient=True),
    "b08": Quirk(turn=_spent, completion=_report_all_tokens),
    "b08-always": Quirk(turn=_always_spent, completion=_report_all_tokens),
    "b10": Quirk(completion=_thinks),
    "b10-three": Quirk(completion=_thinks, stream=_add_reasoning_content, whole=_whole()),
    "b10-content": Quirk(
        completion=_thinks, stream=_only_reasoning_content, whole=_whole("reasoning", "reasoning_details"), lenient=True
    ),
    **{name: Quirk(turn=_tagged(tags), stream=_LETTERS.get(name), lenient=True) for name, tags in TAGS.items()},
    "b12": Quirk(completion=_only_encrypted, lenient=True),
    "b14": Quirk(turn=_reasoning_only, completion=_thinks),
}
