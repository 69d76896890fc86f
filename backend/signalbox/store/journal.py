"""Runs on disk: their events, figures and histories, written behind the streams by one grouped commit after another."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import structlog
from sqlalchemy import ColumnElement, Connection, func, select

from signalbox.core.errors import Code, StoreError
from signalbox.core.events import Stamped
from signalbox.core.messages import Message
from signalbox.core.ports import OnDurable
from signalbox.core.records import RunRecord
from signalbox.store.database import Database
from signalbox.store.rows import COLUMNS, record_of
from signalbox.store.tables import JOURNAL, RUNS
from signalbox.store.writing import OpenRun, Taken, journal_of, put

_log = structlog.get_logger()

# With the commit itself this keeps a watcher at most 100 ms ahead of the disk.
FLUSH_SECONDS = 0.05
_RETRY_SECONDS = 1.0
# A disk that does not answer must not keep a caller waiting for ever.
_SILENT_SECONDS = 10.0
_ROWS_PER_READ = 200


class JournalStore:
    """A RunStore in a database. `is_well` is false from a write that failed to the next one that did not."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._runs: dict[str, OpenRun] = {}
        self._dirty: dict[str, OpenRun] = {}
        self._due, self._urgent = asyncio.Event(), asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._worker: asyncio.Task[None] | None = None
        self.is_well = True

    # --- what a stream calls: nothing here waits ---------------------------------------------------------------

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Add events at the end of a run's journal."""
        if (run := self._runs.get(run_id)) is not None:
            run.append(batch)
            self._touch(run)

    def remember(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Add what the run's history grew by; the events up to `seq` are told by it."""
        if (run := self._runs.get(run_id)) is not None:
            run.remember(seq, messages)
            self._touch(run)

    def note(self, run_id: str, record: Callable[[], RunRecord]) -> None:
        """Keep a run's figures as they are at the next flush; of a run that was closed, too."""
        run = self._runs.get(run_id) or self._dirty.get(run_id) or OpenRun(run_id, _nobody, wanted=0)
        run.record = record
        self._touch(run)

    def drop(self, run_id: str) -> None:
        """Take no more of a run, and forget what of it is not on disk yet."""
        self._runs.pop(run_id, None)
        self._dirty.pop(run_id, None)

    def _touch(self, run: OpenRun) -> None:
        self._dirty[run.id] = run
        self._wake()

    # --- what may wait -----------------------------------------------------------------------------------------

    async def open(self, record: RunRecord, durable: OnDurable) -> None:
        """Keep a new run, with its first numbers reserved; raises StoreError."""
        run = OpenRun(record.id, durable, opening=record)
        self._runs[run.id] = run
        self._touch(run)
        with suppress(StoreError):  # another run of the same flush may have failed: `is_kept` tells
            await self.flush()
        if not run.is_kept:
            self.drop(run.id)
            raise StoreError(Code.STORE_UNAVAILABLE)

    def resume(self, record: RunRecord) -> None:
        """Take events of a run again that is on disk; they must be above all that any client may have seen of it."""
        reserved = record.reserved
        self._runs[record.id] = OpenRun(record.id, _nobody, seq=reserved, reserved=reserved, wanted=reserved)

    def close(self, run_id: str) -> None:
        """Take no more events of a run; what it handed over is still written."""
        self._runs.pop(run_id, None)

    async def flush(self) -> None:
        """Wait until all that was handed over before is on disk; raises StoreError, also when the disk is silent."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._urgent.set()
        self._wake()
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                await future
        except TimeoutError:
            raise StoreError(Code.STORE_UNAVAILABLE) from None

    async def aclose(self) -> None:
        """Write what is left and stop writing."""
        try:
            await self.flush()
        except StoreError:
            _log.error("journal.lost", runs=len(self._dirty))
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    # --- the writer --------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        self._due.set()
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="journal")

    async def _work(self) -> None:
        while True:
            await self._due.wait()
            await self._gather()
            await self._write()
            if not self.is_well:
                await asyncio.sleep(_RETRY_SECONDS)

    async def _gather(self) -> None:
        """Let some events come together, unless somebody waits for them."""
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._urgent.wait()
        except TimeoutError:
            pass
        self._due.clear()
        self._urgent.clear()

    async def _write(self) -> None:
        dirty, self._dirty = self._dirty, {}
        waiting, self._waiting = self._waiting, []
        taken = [(run, run.take()) for run in dirty.values()]
        try:
            await self._put(taken)
        except StoreError as error:
            self._failed(waiting, error)
        else:
            self.is_well = True
            for future in waiting:
                if not future.done():
                    future.set_result(None)

    async def _put(self, taken: list[tuple[OpenRun, Taken]]) -> None:
        """Write all together; where one of them is at fault it must not keep the others from the disk."""
        if not taken:
            return
        try:
            await self._database.write(lambda connection: put(connection, [of_one for _, of_one in taken]))
        except StoreError as error:
            if len(taken) > 1:
                await self._put_each(taken)
            elif error.code is Code.INTERNAL:
                self._refused(*taken[0])
            else:
                self._give_back(*taken[0])
                raise
        else:
            for run, of_one in taken:
                run.is_kept = True
                run.reserved = max(run.reserved, of_one.reserved)
                run.durable(of_one.seq, run.reserved)

    async def _put_each(self, taken: list[tuple[OpenRun, Taken]]) -> None:
        failure: StoreError | None = None
        for one in taken:
            try:
                await self._put([one])
            except StoreError as error:
                failure = error
        if failure is not None:
            raise failure

    def _give_back(self, run: OpenRun, taken: Taken) -> None:
        if run.id in self._runs or taken.opening is None:
            run.give_back(taken)
            self._dirty[run.id] = run
            self._due.set()

    def _refused(self, run: OpenRun, taken: Taken) -> None:
        """Let go of a run whose rows cannot be written ever: its conversation was deleted meanwhile."""
        _log.error("journal.refused", run_id=run.id)
        self.drop(run.id)
        run.durable(taken.seq, run.reserved)

    def _failed(self, waiting: list[asyncio.Future[None]], error: StoreError) -> None:
        if self.is_well:
            _log.error("journal.unwritten", runs=len(self._dirty))
        self.is_well = False
        for future in waiting:
            if not future.done():
                future.set_exception(StoreError(error.code))

    # --- reading -----------------------------------------------------------------------------------------------

    async def read(self, run_id: str, after: int) -> list[Stamped]:
        """Return the next events with seq > after; none when there are no more."""
        return await self._database.read(lambda connection: journal_of(connection, run_id, after, _ROWS_PER_READ))

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        found = await self._select(RUNS.c.id == run_id, limit=1)
        return found[0] if found else None

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        found = await self._select(RUNS.c.key == key, limit=1)
        return found[0] if found else None

    async def recent(self, limit: int) -> list[RunRecord]:
        """Return the newest runs first."""
        return await self._select(limit=limit)

    async def unfinished(self) -> list[RunRecord]:
        """Return the runs that have no ending; `seq` is then what the journal really holds."""
        return await self._database.read(_unfinished)

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return the runs ended since then (epoch seconds) whose cost is not known yet."""
        return await self._select(RUNS.c.cost_estimated, RUNS.c.ended >= since)

    async def _select(self, *where: ColumnElement[bool], limit: int | None = None) -> list[RunRecord]:
        asked = select(*COLUMNS).where(*where).order_by(RUNS.c.started.desc()).limit(limit)
        return await self._database.read(lambda c: [record_of(row) for row in c.execute(asked).mappings()])


def _nobody(seq: int, reserved: int) -> None:
    """Nobody watches a run that is over."""


def _unfinished(connection: Connection) -> list[RunRecord]:
    last = select(func.coalesce(func.max(JOURNAL.c.last_seq), 0)).where(JOURNAL.c.run_id == RUNS.c.id)
    asked = select(*COLUMNS, last.scalar_subquery().label("last")).where(RUNS.c.status.is_(None))
    return [replace(record_of(row), seq=row["last"]) for row in connection.execute(asked).mappings()]
