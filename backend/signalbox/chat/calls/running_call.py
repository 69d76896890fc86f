"""One call of a run, from its announcement to its result."""

import asyncio

from msgspec import UNSET, Struct, UnsetType, structs

from signalbox.core.codes import CODES, Code
from signalbox.core.events import Call
from signalbox.core.messages import JsonObject, ToolCall, ToolMessage
from signalbox.core.tools import Category, ToolOutcome, ToolSpec, Visibility
from signalbox.wire.json_text import dumps

_MAX_RAW_ARGUMENTS = 2000
# Names a next action without the query: forbidding or quoting a query makes models repeat it (kimi-code#1518, D4).
CACHED_NOTE = "You have this already. Answer from what was found, or search for another aspect of the question."


class RunningCall(Struct):
    """One announced call. `is_new`: its result held something that the model had not seen.

    `is_handed`: the client executes it, so it gets no result here.
    `category` and `visibility` determine where it is shown; unknown tools have them too.
    """

    id: str
    name: str
    arguments: JsonObject
    step: int
    spec: ToolSpec | None
    category: Category = "other"
    visibility: Visibility = "secondary"
    upstream_id: str | None = None
    fault: ToolOutcome | None = None
    raw: str | None = None
    outcome: ToolOutcome | None = None
    task: asyncio.Task[None] | None = None
    is_new: bool = False
    cached: bool = False
    is_handed: bool = False
    previewed: dict[str, int] | UnsetType = UNSET

    def announced(self) -> Call:
        """Return the call as events announce it."""
        return Call(
            id=self.id,
            name=self.name,
            arguments=dumps(self.arguments).decode() if self.raw is None else self.raw[:_MAX_RAW_ARGUMENTS],
            category=self.category,
            visibility=self.visibility,
            previewed=self.previewed,
        )

    def message(self) -> tuple[ToolCall, ToolMessage | None]:
        """Return the call and its result for the history, where arguments are canonical JSON (quirk A8)."""
        call = ToolCall(self.id, self.name, self.arguments, self.upstream_id)
        if self.is_handed:
            return call, None
        outcome = self.outcome or ToolOutcome.failed(Code.STEP_FAILED, CODES[Code.STEP_FAILED].sentence)
        if self.cached and isinstance(outcome.result, dict):
            outcome = structs.replace(outcome, result={"note": CACHED_NOTE, **outcome.result})
        content, failed = outcome.for_model(), not outcome.success
        return call, ToolMessage(self.id, self.name, content, outcome.untrusted, is_error=failed, images=outcome.images)
