"""Runs as clients see them in lists, with their owners for the operator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

from signalbox.app.access import Caller
from signalbox.app.deps import Services
from signalbox.app.request.owners import names_of_owners
from signalbox.core.records import RunFilter, RunRecord
from signalbox.runs.trace import Owner, RunSummary, RunTrace, summary_of

Run = TypeVar("Run", RunSummary, RunTrace)


@dataclass(frozen=True, slots=True)
class Summaries:
    """Summarizes runs. `owners` are the names of all owners for the operator, None for other clients."""

    owners: Mapping[str, str] | None

    @classmethod
    async def for_caller(cls, services: Services, caller: Caller) -> Self:
        """Return the summaries for a caller."""
        if not caller.is_operator:
            return cls(None)
        return cls(await names_of_owners(services))

    def of(self, record: RunRecord) -> RunSummary:
        """Summarize a run for a list."""
        return self.with_owner(summary_of(record), record)

    def with_owner(self, run: Run, record: RunRecord) -> Run:
        """Add the owner, for the operator; null if the run was started without an API token."""
        if self.owners is not None:
            name = self.owners.get(record.owner)
            owner: Owner | None = {"id": record.owner, "name": name} if record.owner else None
            run["owner"] = owner
        return run


@dataclass(slots=True)
class RunPages:
    """Reads the runs that match a filter page by page, newest first. A page is empty only at the end."""

    services: Services
    summaries: Summaries
    wanted: RunFilter
    before: tuple[float, str] | None = None
    is_over: bool = False

    async def next_page(self, limit: int) -> list[RunSummary]:
        """Return the next page of at most this many runs; raises StoreError."""
        shown: list[RunSummary] = []
        while not shown and not self.is_over:
            records = await self.services.runs.recent(limit + 1, self.before, self.wanted)
            self.is_over = len(records) <= limit
            page = records[:limit]
            if page:
                self.before = page[-1].started, page[-1].id
            statuses = self.wanted.statuses  # an active run may have ended since it was stored
            shown = [self.summaries.of(one) for one in page if not statuses or one.status in statuses]
        return shown
