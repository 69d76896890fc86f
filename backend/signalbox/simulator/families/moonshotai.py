"""moonshotai: ids `functions.<name>:<n>` numbered through the conversation, everything in tokens, text before calls."""

from random import Random

from .chunking import json_tokens, plain_details, streamed, tokens
from .family import Family


def _make_id(rng: Random, name: str, number: int) -> str:
    return f"functions.{name}:{number}"


FAMILY = Family(
    name="moonshotai",
    providers=("Moonshot AI", "Chutes"),
    native={"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"},
    make_id=_make_id,
    cut_calls=streamed(json_tokens),
    cut_text=tokens,
    cut_reasoning=tokens,
    make_details=plain_details,
    preamble=True,
    compact_arguments=False,
    finish_extra={"reasoning": None},
)
