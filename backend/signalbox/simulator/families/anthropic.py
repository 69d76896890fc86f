"""anthropic: large pieces, the signature in a last delta without text, `toolu_` ids, `""` for empty arguments."""

from collections.abc import Sequence

from ..signatures import sign
from .chunking import groups, halves, ids, streamed
from .family import Detail, Family, Origin

FORMAT = "anthropic-claude-v1"


def _details(reasoning: str, call_ids: Sequence[str], origin: Origin) -> list[Detail]:
    if not reasoning:
        return []
    signature = "E" + sign("anthropic", FORMAT, origin.model, reasoning, size=192)
    return [{"type": "reasoning.text", "text": reasoning, "format": FORMAT, "index": 0, "signature": signature}]


FAMILY = Family(
    name="anthropic",
    providers=("Anthropic", "Amazon Bedrock", "Google Vertex"),
    native={"stop": "stop", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"},
    make_id=ids("toolu_01", 22),
    cut_calls=streamed(halves, blank=True, blank_only=True),
    cut_text=groups(5),
    cut_reasoning=groups(9),
    make_details=_details,
    reasons_by_default=False,
    preamble=True,
    compact_arguments=False,
    finish_extra={"reasoning": None},
    usage_without_choice=True,
    final_extra={"service_tier": "default"},
)
