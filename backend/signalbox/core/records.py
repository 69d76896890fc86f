"""A run's stored record, without its events: the request, progress, cost and ending."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias, cast

from msgspec import Struct, structs

from signalbox.core.events import Flag, LoopName, Status
from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage

ORIGIN = "origin"
V1 = "v1.1"
"""The protocol of runs that were stored before protocols had names."""

Statuses: TypeAlias = Collection[Status | None]
"""A filter by status: None is an active run, an empty collection matches every run."""


class Figures(Struct, frozen=True, kw_only=True):
    """The fields that change during a run; `seq` is the last event on disk, times are epoch seconds.

    `tools` are the names of the tools that it called. `first_token_ms` are the milliseconds from its start to the
    model's first part, as in `done`; None if no part arrived.
    `estimate` is what the run's budget counts, with estimates of what was not reported; it is not stored.

    They are separate from the rest of the record because even a short run saves them several times.
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
    tools: tuple[str, ...] = ()
    first_token_ms: int | None = None
    estimate: float | None = None

    @property
    def cost(self) -> float | None:
        """The cost in USD as far as known, None if nothing is known."""
        return self.usage.cost if self.usage else None

    @property
    def answered(self) -> str | None:
        """The model of the request's `models` that gave the last answer, None if the requested model did."""
        own = (attempt for attempt in reversed(self.attempts) if not attempt.get("tool_call"))
        served = next((attempt for attempt in own if attempt.get("served_model") or attempt.get("provider")), None)
        model = served.get("fallback_model") if served is not None else None
        return model if isinstance(model, str) else None

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status is not None


class RunRecord(Figures, frozen=True):
    """One stored run; times are epoch seconds, `status` is None while it is active.

    `owner` is the id of the API token that started it, empty without tokens, and `group` the owner's group then.
    `request` is redacted, for the trace; `question` is complete, so that the run can be shown and repeated.
    `parent_id` is the message that it answers.
    `key` is the client's Idempotency-Key and `digest` the hash of the body sent with it. `protocol` names the client's
    row in `app/protocols.py`. `echo` is what its encoder needs of the request, and the `origin`. `reserved` is the
    highest sequence number that a client may have seen.
    """

    id: str
    model: str
    loop: LoopName
    owner: str = ""
    group: str = ""
    flag: Flag | None = None
    simulated: bool = False
    conversation_id: str | None = None
    parent_id: str | None = None
    key: str | None = None
    digest: str | None = None
    request: JsonObject = {}
    question: JsonObject = {}
    protocol: str = V1
    echo: JsonObject = {}
    started: float = 0.0
    reserved: int = 0

    @property
    def provider(self) -> str | None:
        """The provider of the loop's last attempt that names one, or None."""
        named = (attempt.get("provider") for attempt in reversed(self.attempts) if not attempt.get("tool_call"))
        return next((name for name in named if isinstance(name, str)), None)

    @property
    def upstream(self) -> str | None:
        """The upstream of the loop's last attempt, None if no file configures several."""
        named = (attempt.get("upstream") for attempt in reversed(self.attempts) if not attempt.get("tool_call"))
        return next((name for name in named if isinstance(name, str)), None)

    @property
    def origin(self) -> Mapping[str, str]:
        """The `request_id`, `trace_id`, `traceparent` and `upstream` of its start, for logs and traces after a crash.

        A value that is unknown is missing.
        """
        return cast("Mapping[str, str]", self.echo.get(ORIGIN, {}))

    @property
    def column(self) -> int | None:
        """The column among answers compared side by side, None if it is not part of a comparison."""
        column = self.question.get("column")
        return column if isinstance(column, int) else None

    @property
    def continues(self) -> str | None:
        """The id of the run whose answer it continues, None if it answers a message."""
        return self.parent_id if self.question.get("continue") is True else None

    def with_figures(self, figures: Figures) -> "RunRecord":
        """Return a copy with these figures."""
        return structs.replace(self, **{name: getattr(figures, name) for name in Figures.__struct_fields__})


def first_token_ms_of(attempts: Sequence[JsonObject], started: float) -> int | None:
    """Return the milliseconds from the start to the first part of a run's attempts."""
    parts = (attempt.get("first_part") for attempt in attempts if not attempt.get("tool_call"))
    first = next((part for part in parts if isinstance(part, int | float)), None)
    return None if first is None else max(0, round((first - started) * 1000))


class RunFilter(Struct, frozen=True, kw_only=True):
    """Selects runs. A run matches if it has one of the values of every field; an empty field matches all runs.

    `models` are those that answered.

    `since` and `until` (exclusive) limit the start, in epoch seconds. `text` is case-folded, and is searched only in
    conversations of `reader`.
    """

    owners: Collection[str] = ()
    statuses: Statuses = ()
    codes: Collection[str] = ()
    models: Collection[str] = ()
    loops: Collection[str] = ()
    protocols: Collection[str] = ()
    tools: Collection[str] = ()
    since: float | None = None
    until: float | None = None
    text: str = ""
    reader: str = ""

    def matches(self, record: RunRecord) -> bool:
        """Return whether a run matches, apart from the text."""
        fields = (
            (record.owner, self.owners),
            (record.status, self.statuses),
            (record.code, self.codes),
            (record.answered or record.model, self.models),
            (record.loop, self.loops),
            (record.protocol, self.protocols),
        )
        if any(wanted and value not in wanted for value, wanted in fields):
            return False
        if self.tools and not set(self.tools) & set(record.tools):
            return False
        is_late_enough = self.since is None or record.started >= self.since
        return is_late_enough and (self.until is None or record.started < self.until)


ALL_RUNS = RunFilter()
