"""A RunStore in memory, for tests of the layers above and to measure the cost of the disk."""

from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from msgspec.structs import replace

from signalbox.core.events import Stamped
from signalbox.core.messages import Message
from signalbox.core.ports import OnDurable
from signalbox.core.records import ALL_RUNS, Figures, RunFilter, RunRecord

# All sequence numbers: nothing outlives the process, so none needs to be reserved.
_ALL = 2**53


@dataclass(slots=True)
class _StoredRun:
    record: RunRecord
    durable: OnDurable
    events: list[Stamped] = field(default_factory=list[Stamped])
    turns: list[tuple[int, Message]] = field(default_factory=list[tuple[int, Message]])


class MemoryStore:
    """A RunStore with one list of events per run, ordered by seq."""

    is_healthy = True

    def __init__(self) -> None:
        self._runs: dict[str, _StoredRun] = {}
        self._dropped: dict[str, OnDurable] = {}

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Append events to a run's journal."""
        if not batch:
            return
        if (kept := self._runs.get(run_id)) is not None:
            kept.events.extend(batch)
            kept.durable(batch[-1].seq, _ALL)
        elif (dropped := self._dropped.get(run_id)) is not None:
            dropped(batch[-1].seq, _ALL)

    def append_turns(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Append turns to a run's history."""
        if (kept := self._runs.get(run_id)) is not None:
            kept.turns.extend((seq, message) for message in messages)

    def save_figures(self, run_id: str, figures: Callable[[], Figures]) -> None:
        """Save a run's figures."""
        if (kept := self._runs.get(run_id)) is not None:
            kept.record = kept.record.with_figures(figures())

    def discard(self, run_id: str) -> None:
        """Delete a run; later events still count as durable, so that no subscriber waits for them."""
        if (kept := self._runs.pop(run_id, None)) is not None:
            self._dropped[run_id] = kept.durable

    def close(self, run_id: str) -> None:
        """Accept no more events of a run."""
        self._dropped.pop(run_id, None)

    def resume(self, record: RunRecord) -> None:
        """Nothing to do: runs stay open."""

    async def open(self, record: RunRecord, durable: OnDurable) -> None:
        """Insert a new run."""
        self._runs[record.id] = _StoredRun(replace(record, reserved=_ALL), durable)
        durable(0, _ALL)

    async def flush(self, run_id: str | None = None) -> None:
        """Nothing to do: there is no disk."""

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        """Return all events with seq > after."""
        kept = self._runs.get(run_id)
        return kept.events[bisect_right(kept.events, after, key=_seq) :] if kept else []

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        kept = self._runs.get(run_id)
        return kept.record if kept else None

    async def is_over(self, run_id: str) -> bool:
        """Return whether a run has ended or is unknown."""
        kept = self._runs.get(run_id)
        return kept is None or kept.record.is_over

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        return next((record for record in self._records() if record.key == key), None)

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, wanted: RunFilter = ALL_RUNS
    ) -> list[RunRecord]:
        """Return the runs that match, newest first, that started before this time and run."""
        records = sorted(filter(wanted.matches, self._records()), key=_age, reverse=True)
        return [record for record in records if before is None or _age(record) < before][:limit]

    async def delete(self, run_id: str) -> None:
        """Delete a run."""
        self.discard(run_id)

    async def erase_deleted(self) -> None:
        """Nothing to do: there is no disk."""

    @asynccontextmanager
    async def locked(self, name: str) -> AsyncGenerator[None, None]:
        """Take no lock: there are no other workers."""
        yield

    async def claim_unfinished(self) -> list[RunRecord]:
        """Return nothing: no run outlives its process."""
        return []

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return nothing: no run outlives its process."""
        return []

    def _records(self) -> list[RunRecord]:
        return [kept.record for kept in self._runs.values()]


def _seq(stamped: Stamped) -> int:
    return stamped.seq


def _age(record: RunRecord) -> tuple[float, str]:
    return record.started, record.id
