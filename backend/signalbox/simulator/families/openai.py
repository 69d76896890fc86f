"""openai: summaries in tokens, encrypted reasoning with an `rs_` id, native `completed`, calls in header and pieces."""

from ..signatures import sign, signed_id
from .chunking import ids, json_tokens, streamed, summary_details, tokens
from .family import Family

FORMAT = "openai-responses-v1"

FAMILY = Family(
    name="openai",
    providers=("OpenAI", "Azure"),
    native={"stop": "completed", "tool_calls": "completed", "length": "max_output_tokens", "content_filter": "stop"},
    make_id=ids("call_", 24),
    cut_calls=streamed(json_tokens, blank=True),
    cut_text=tokens,
    cut_reasoning=tokens,
    make_details=summary_details(
        FORMAT,
        lambda reasoning: "rs_" + signed_id("openai", reasoning).replace("-", ""),
        lambda model, reasoning: (
            "gAAAAAB" + sign("openai", FORMAT, model, reasoning, size=160).replace("+", "-").replace("/", "_")
        ),
    ),
    opening={"content": ""},
    comments=(1, 2),
    final_extra={"service_tier": "default"},
)
