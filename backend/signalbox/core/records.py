"""What is kept of a run beside its events: who asked for what, how far it came, what it cost, how it ended."""

from collections.abc import Collection
from typing import TypeAlias

from msgspec import Struct, structs

from signalbox.core.events import Flag, LoopName, Status
from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage

Statuses: TypeAlias = Collection[Status | None]
"""Which runs are looked for: None stands for those under way; none at all for any."""


class Figures(Struct, frozen=True, kw_only=True):
    """What changes while a run goes on; `seq` is the last number on disk, `ended` in epoch seconds.

    They stand apart from the rest of a record because they are kept several times in a short run.
    """

    ended: float | None = None
    status: Status | None = None
    code: str | None = None
    steps: int = 0
    attempts: tuple[JsonObject, ...] = ()
    usage: Usage | None = None
    cost_estimated: bool = False
    settled_at: float | None = None
    seq: int = 0

    @property
    def cost(self) -> float | None:
        """What it cost in USD, as far as known."""
        return self.usage.cost if self.usage else None

    @property
    def is_over(self) -> bool:
        """Whether its ending is known."""
        return self.status is not None


class RunRecord(Figures, frozen=True):
    """One run as it is kept; `owner` is the API token that asked, empty without one.

    Times are epoch seconds; `status` is None while it runs.

    `request` is what the trace shows, without texts; `question` is what was asked, whole, so that the run can be shown
    and asked again. `parent_id` is the message that it answers in its conversation. `key` is the caller's
    Idempotency-Key and `digest` the hash of the body that came with it. `reserved` is the highest number that any
    client may have seen.
    """

    id: str
    model: str
    loop: LoopName
    owner: str = ""
    flag: Flag | None = None
    simulated: bool = False
    conversation_id: str | None = None
    parent_id: str | None = None
    key: str | None = None
    digest: str | None = None
    request: JsonObject = {}
    question: JsonObject = {}
    started: float = 0.0
    reserved: int = 0

    @property
    def first_token_ms(self) -> int | None:
        """Milliseconds from its start to the model's first part, as `done` has them; None where none came."""
        parts = (attempt.get("first_part") for attempt in self.attempts)
        first = next((part for part in parts if isinstance(part, int | float)), None)
        return None if first is None else max(0, round((first - self.started) * 1000))

    @property
    def provider(self) -> str | None:
        """The provider that answered last, None where none was named."""
        named = (attempt.get("provider") for attempt in reversed(self.attempts))
        return next((name for name in named if isinstance(name, str)), None)

    @property
    def column(self) -> int | None:
        """Its place among answers compared side by side, None where it is not compared."""
        column = self.question.get("column")
        return column if isinstance(column, int) else None

    @property
    def continues(self) -> str | None:
        """The run whose answer it continues, None where it answers a message."""
        return self.parent_id if self.question.get("continue") is True else None

    def with_figures(self, figures: Figures) -> "RunRecord":
        """Return it with how far the run has come."""
        return structs.replace(self, **{name: getattr(figures, name) for name in Figures.__struct_fields__})
