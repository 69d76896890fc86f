"""deepseek: plain reasoning in tokens, calls in header and pieces, OpenAI's finish reasons."""

from .chunking import ids, json_tokens, plain_details, streamed, tokens
from .family import Family

FAMILY = Family(
    name="deepseek",
    providers=("DeepSeek", "Novita"),
    native={"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"},
    make_id=ids("call_00_", 24),
    cut_calls=streamed(json_tokens),
    cut_text=tokens,
    cut_reasoning=tokens,
    make_details=plain_details,
    compact_arguments=False,
    comments=(2, 0),
    burst=2,
)
