"""qwen: null id and name on every continuation, an empty first chunk, `reasoning_details: []` on text chunks."""

from random import Random

from .chunking import groups, plain_details, streamed, tokens
from .family import Delta, Family


def _make_id(rng: Random, name: str, number: int) -> str:
    return f"call_{rng.getrandbits(96):024x}"


def _fragment(position: int, piece: str) -> Delta:
    return {"id": None, "index": position, "type": "function", "function": {"name": None, "arguments": piece}}


FAMILY = Family(
    name="qwen",
    providers=("Alibaba", "Chutes"),
    native={"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"},
    make_id=_make_id,
    cut_calls=streamed(groups(1), fragment=_fragment),
    cut_text=tokens,
    cut_reasoning=tokens,
    make_details=plain_details,
    compact_arguments=False,
    newer=False,
    opening={"content": "", "reasoning": None, "reasoning_details": []},
    text_extra={"reasoning": None, "reasoning_details": []},
    finish_extra={"reasoning": None, "reasoning_details": []},
    finish_repeated=False,
    comments=(3, 0),
)
