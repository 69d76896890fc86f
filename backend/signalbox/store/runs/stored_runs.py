"""Runs as a database holds them: read one by one, by what they answer to, and in lists; and deleted."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager

from sqlalchemy import delete

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord, Statuses
from signalbox.store.database import Database
from signalbox.store.runs.reader import find_run, find_run_by_key, is_run_over, journal_of, recent_runs, unsettled_runs
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
        """Take no more of a run."""

    @abstractmethod
    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything handed over is on disk."""

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        """Return the next events with seq > after; none when there are no more."""
        return await self._database.read(journal_of, run_id, after, _ROWS_PER_READ)

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        await self._flush_before_read(run_id)
        return await self._database.read(find_run, run_id)

    async def is_over(self, run_id: str) -> bool:
        """Whether a run's ending is kept; so it is of a run that is not there (any more)."""
        return await self._database.read(is_run_over, run_id)

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        return await self._database.read(find_run_by_key, key)

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, owner: str | None = None, statuses: Statuses = ()
    ) -> list[RunRecord]:
        """Return the newest runs first, of those that began before this time and run; without what was asked."""
        await self._flush_before_read()
        return await self._database.read(recent_runs, limit, before, owner, statuses)

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return the runs ended since then (epoch seconds) whose cost is not known yet."""
        return await self._database.read(unsettled_runs, since)

    async def delete(self, run_id: str) -> None:
        """Delete a run and everything stored about it, so that nothing of it is left on disk."""
        self.discard(run_id)
        await self._database.write(lambda connection: connection.execute(delete(RUNS).where(RUNS.c.id == run_id)))
        await self.erase_deleted()

    async def erase_deleted(self) -> None:
        """Leave nothing of what was deleted: a row of the latest may hold it, until everything in it is filed."""
        await self.flush()
        await self._database.erase_deleted()

    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold a name against all other workers."""
        return self._database.locked(name)
