"""Reading and deleting runs in a database."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager

from sqlalchemy import delete

from signalbox.core.events import Stamped
from signalbox.core.records import ALL_RUNS, RunFilter, RunRecord
from signalbox.store.database import Database
from signalbox.store.runs.reader import find_run, find_run_by_key, is_run_over, journal_of, unsettled_runs
from signalbox.store.runs.run_list import recent_runs
from signalbox.store.tables import RUNS

_ROWS_PER_READ = 200


class StoredRuns(ABC):
    """The part of a RunStore that reads and deletes; a store that writes flushes before each read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    async def _flush_before_read(self, run_id: str | None = None) -> None: ...

    @abstractmethod
    def discard(self, run_id: str) -> None:
        """Accept nothing more of a run."""

    @abstractmethod
    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything queued is on disk."""

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        """Return the next events with seq > after; an empty list at the end."""
        return await self._database.read(journal_of, run_id, after, _ROWS_PER_READ)

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        await self._flush_before_read(run_id)
        return await self._database.read(find_run, run_id)

    async def is_over(self, run_id: str) -> bool:
        """Return whether a run's ending is stored; true for an unknown or deleted run."""
        return await self._database.read(is_run_over, run_id)

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        return await self._database.read(find_run_by_key, key)

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, wanted: RunFilter = ALL_RUNS
    ) -> list[RunRecord]:
        """Return the matching runs, newest first, that started before this time and run; without their questions."""
        await self._flush_before_read()
        return await self._database.read(recent_runs, limit, before, wanted)

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return the runs that ended since then (epoch seconds) and whose cost is still an estimate."""
        return await self._database.read(unsettled_runs, since)

    async def delete(self, run_id: str) -> None:
        """Delete a run and everything stored about it, and erase it from the disk. What it cost stays counted."""
        await self._flush_before_read(run_id)
        self.discard(run_id)
        await self._database.write(lambda connection: connection.execute(delete(RUNS).where(RUNS.c.id == run_id)))
        await self.erase_deleted()

    async def erase_deleted(self) -> None:
        """Erase deleted runs from the disk; the flush removes them from the write buffer, too."""
        await self.flush()
        await self._database.erase_deleted()

    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold a named lock among all workers."""
        return self._database.locked(name)
