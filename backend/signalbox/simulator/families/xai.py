"""x-ai: summaries in tokens, encrypted reasoning, call ids of eight digits, whole arguments after an empty piece."""

from random import Random

from ..signatures import sign, signed_id
from .chunking import streamed, summary_details, tokens, whole
from .family import Family

FORMAT = "xai-responses-v1"


def _make_id(rng: Random, name: str, number: int) -> str:
    return f"call_{rng.randrange(10**7, 10**8)}"


FAMILY = Family(
    name="x-ai",
    providers=("xAI",),
    native={"stop": "completed", "tool_calls": "completed", "length": "max_output_tokens", "content_filter": "stop"},
    make_id=_make_id,
    cut_calls=streamed(whole, blank=True),
    cut_text=tokens,
    cut_reasoning=tokens,
    make_details=summary_details(
        FORMAT,
        lambda reasoning: "rs_" + signed_id("x-ai", reasoning),
        lambda model, reasoning: sign("x-ai", FORMAT, model, reasoning, size=240),
    ),
    finish_extra={"reasoning": None},
    comments=(3, 0),
    final_extra={"service_tier": "default"},
)
