"""google: paragraphs of reasoning, signatures that name the first call, large pieces of text, whole arguments."""

from collections.abc import Sequence
from random import Random

from ..signatures import sign
from .chunking import alphanumeric, groups, streamed, whole
from .family import Detail, Family, Origin

FORMAT = "google-gemini-v1"


def _make_id(rng: Random, name: str, number: int) -> str:
    return f"tool_{number}_{name}_{alphanumeric(rng, 20)}"


def _details(reasoning: str, call_ids: Sequence[str], origin: Origin) -> list[Detail]:
    """Sign reasoning, model and provider: another provider rejects the signature (quirk B2).

    The call id is next to the signature but not signed, so it may be renamed in both places (quirk A15).
    """
    text: list[Detail] = []
    if reasoning:
        text = [{"type": "reasoning.text", "text": reasoning, "format": FORMAT, "index": 0}]
    first = call_ids[0] if call_ids else None
    data = "Ej" + sign("google", FORMAT, origin.model, origin.provider, reasoning, size=54)
    named = {"id": first} if first else {}
    return [*text, {"type": "reasoning.encrypted", "data": data, "format": FORMAT, **named, "index": 0}]


FAMILY = Family(
    name="google",
    providers=("Google AI Studio", "Google"),
    slugs={"google-vertex": "Google"},  # Vertex calls itself "Google" in all 13 recordings of it
    native={"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
    make_id=_make_id,
    cut_calls=streamed(whole),
    cut_text=groups(14),
    cut_reasoning=groups(60),
    make_details=_details,
    text_extra={"reasoning": None, "reasoning_details": []},
    finish_extra={"reasoning": None},
    encrypted_after_text=True,
    comments=(4, 1),
)
