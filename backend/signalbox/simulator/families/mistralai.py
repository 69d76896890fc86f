"""mistralai: ids of nine letters and digits, all calls complete in one delta that also has the finish reason."""

from .chunking import all_at_once, groups, ids, plain_details
from .family import Family

FAMILY = Family(
    name="mistralai",
    providers=("Mistral",),
    native={"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"},
    make_id=ids("", 9),
    cut_calls=all_at_once,
    cut_text=groups(3),
    cut_reasoning=groups(3),
    make_details=plain_details,
    reasons_by_default=False,
    compact_arguments=False,
    newer=False,
    opening={"content": ""},
    finish_repeated=False,
    finish_on_calls=True,
    burst=3,
)
