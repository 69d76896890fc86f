"""Runs on disk: their events, figures and histories, written behind the streams by one grouped commit after another."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Stamped
from signalbox.core.messages import Message
from signalbox.core.ports import OnDurable
from signalbox.core.records import Figures, RunRecord
from signalbox.store.database import Database
from signalbox.store.runs.flush import OpenRun, Taken
from signalbox.store.runs.leases import LeaseLost, Sharing, renew, take_over, unfinished
from signalbox.store.runs.stored_runs import StoredRuns
from signalbox.store.runs.write_buffer import Said, Unfiled, file_left, has_left, write_flush

_log = structlog.get_logger()

# With a commit of up to 20 ms this keeps a watcher at most 100 ms ahead of the disk.
FLUSH_SECONDS = 0.08
_RETRY_SECONDS = 1.0
_SILENT_SECONDS = 10.0  # the longest that a caller waits for a disk that does not respond


class JournalStore(StoredRuns):
    """A RunStore in a database.

    `is_well` is false from a write that failed, or that a caller waited for in vain, to the next one that went through.
    `on_full` is told of a run whose journal has more than `most_bytes`, on disk or waiting for it.
    """

    def __init__(self, database: Database, sharing: Sharing | None = None) -> None:
        super().__init__(database)
        self._sharing = sharing
        self._runs: dict[str, OpenRun] = {}
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._is_time = False
        self._waiting: list[tuple[str | None, asyncio.Future[None]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._writing: frozenset[str] = frozenset()
        self._unfiled = Unfiled()
        self._files_later = False  # until what a crash has left is filed; never where other workers read along
        self._stale: set[str] = set()
        self._is_closed = False
        self.is_healthy = True
        self.max_bytes: float = math.inf
        self.on_full: Callable[[str], None] = _no_limit

    # --- what a stream calls: nothing here waits ---------------------------------------------------------------

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Add events at the end of a run's journal."""
        if batch and (run := self._runs.get(run_id)) is not None:
            run.seq = batch[-1].seq
            if run.is_dropped:
                self._tell(run, run.seq)
                return
            run.events += batch
            if not self._files_later:
                self._touch(run)
            elif (said := self._unfiled.said.get(run_id)) is not None:
                said += batch
            else:
                self._unfiled.begin(run, batch)
                self._set_timer()

    def append_turns(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Add what the run's history grew by; the events up to `seq` are told by it."""
        if (run := self._runs.get(run_id)) is not None:
            run.remember(seq, messages)
            self._touch(run)

    def save_figures(self, run_id: str, figures: Callable[[], Figures]) -> None:
        """Keep a run's figures as they are at the next flush; of a run that was closed, too."""
        run = self._runs.get(run_id) or self._unfiled.find(run_id)
        run = run or OpenRun(run_id, wanted=0)
        if not run.is_dropped:
            run.figures = figures
            self._touch(run)

    def discard(self, run_id: str) -> None:
        """Take no more of a run, and forget what of it is not on disk yet.

        Tasks that wait for its events to be on disk are woken: there is nothing to wait for.
        """
        for run in (self._runs.get(run_id), self._unfiled.drop(run_id)):
            if run is not None and not run.is_dropped:
                run.drop()
                self._tell(run, run.seq)

    def _touch(self, run: OpenRun) -> None:
        if not run.is_dropped and self._unfiled.due.get(run.id) is not run:
            self._unfiled.due[run.id] = run
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._time_is_up)

    def _tell(self, run: OpenRun, seq: int) -> None:
        """Tell how far a run is filed; what that breaks must not keep other runs from it."""
        try:
            run.on_durable(seq, max(run.reserved, seq) if run.is_dropped else run.reserved)
        except Exception as error:  # noqa: BLE001 - it is told, and the writer goes on
            _log.error("journal.untold", run_id=run.id, error=type(error).__name__)

    # --- what may wait -----------------------------------------------------------------------------------------

    def open(self, record: RunRecord, durable: OnDurable) -> Awaitable[None]:
        """Keep a new run, with its first numbers reserved; what is returned waits for that, and raises StoreError."""
        run = OpenRun(record.id, durable, opening=record, is_answer=record.conversation_id is not None)
        self._runs[run.id] = run
        self._touch(run)
        return self._opened(run, None if self._is_closed else self._asked_for(run.id))

    async def _opened(self, run: OpenRun, written: asyncio.Future[None] | None) -> None:
        if written is not None:
            with suppress(StoreError):  # another run of the same flush may have failed: `is_kept` tells
                await self._patiently(written)
        if not run.is_kept:
            self.discard(run.id)
            raise StoreError(Code.STORE_UNAVAILABLE)

    def resume(self, record: RunRecord) -> None:
        """Take events of a run again that is on disk; numbered above every event that a client may have seen."""
        run = OpenRun(record.id, is_answer=record.conversation_id is not None, is_leased=True)
        run.seq = run.reserved = run.wanted = record.reserved
        self._runs[run.id] = run

    def close(self, run_id: str) -> None:
        """Take no more events of a run; what it handed over is still written."""
        self._runs.pop(run_id, None)

    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything handed over so far is on disk, of this run or of all.

        Raises StoreError, also when the disk is silent.
        """
        if self._is_closed:
            raise StoreError(Code.STORE_UNAVAILABLE)
        await self._patiently(self._asked_for(run_id))

    def _asked_for(self, run_id: str | None) -> asyncio.Future[None]:
        """Have it written; the future is told."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((run_id, future))
        self._wake()
        return future

    async def _patiently(self, written: asyncio.Future[None]) -> None:
        silence = written.get_loop().call_later(_SILENT_SECONDS, self._give_up, written)
        try:
            await written
        finally:
            silence.cancel()

    def _give_up(self, future: asyncio.Future[None]) -> None:
        if not future.done():
            future.set_exception(StoreError(Code.STORE_UNAVAILABLE))
            self._unwell()
            self._wake()  # to look after it, also where the write has come through just now

    async def aclose(self) -> None:
        """Write what is left and stop writing."""
        try:
            await self.flush()
        except StoreError:
            _log.error("journal.lost", runs=len(self._unfiled.run_ids))
        self._is_closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    # --- the writer --------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        self._due.set()
        if self._worker is None and not self._is_closed:
            self._worker = asyncio.create_task(self._work(), name="journal")

    def _time_is_up(self) -> None:
        self._timer, self._is_time = None, True
        self._wake()

    async def _work(self) -> None:
        while True:
            if self.is_healthy:
                await self._due.wait()
            else:  # also where there is nothing to write: this is how the journal notices that the disk is back
                await asyncio.sleep(_RETRY_SECONDS)
                self._is_time = True
            self._due.clear()
            await self._write()

    async def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        asked = [run_id for run_id, _ in waiting]
        is_time, self._is_time = self._is_time or None in asked, False
        taken = self._unfiled.take_due(asked, is_time=is_time)
        self._writing = frozenset(run.id for run, _ in taken)
        latest = self._unfiled.take_said(self._writing, is_time=is_time)
        failed: StoreError | None = None
        try:
            await self._put(taken, latest)
            self.is_healthy = True
        except StoreError as error:
            self._unwell()
            failed = error
        except Exception as error:  # noqa: BLE001 - an internal error: waiting callers get it, and the writer goes on
            _log.error("journal.broke", error=type(error).__name__)
            failed = StoreError(Code.INTERNAL)
        finally:
            self._writing = frozenset()
        for future in [future for _, future in waiting if not future.done()]:
            future.set_exception(StoreError(failed.code)) if failed else future.set_result(None)

    async def _put(self, taken: list[tuple[OpenRun, Taken]], latest: Said) -> None:
        """Write all together; where one of them is at fault it must not keep the others from the disk."""
        stale = frozenset(self._stale)
        if not (taken or latest.said or latest.needed_from or stale) and self.is_healthy:
            return
        try:
            await self._database.write(write_flush, [of_one for _, of_one in taken], stale, self._sharing, latest)
        except LeaseLost as lost:
            await self._put_rest(taken, lost.run_ids)
        except StoreError as error:
            self._again(latest)
            if error.code is not Code.INTERNAL:
                self._give_back(taken)
                raise
            await self._put_each(taken, latest)
        except Exception:  # noqa: BLE001 - a value that cannot be written: which run it is of comes out one by one
            self._again(latest)
            await self._put_each(taken, latest)
        else:
            self._stale -= stale
            for run, of_one in taken:
                self._kept(run, of_one)
            self._unfiled.written(latest, [run for run, _ in taken])
            if self._unfiled.due:
                self._set_timer()

    def _again(self, latest: Said) -> None:
        self._unfiled.file_soon(latest)
        self._set_timer()

    async def _put_rest(self, taken: list[tuple[OpenRun, Taken]], lost: frozenset[str]) -> None:
        for run in [run for run, _ in taken if run.id in lost]:
            self._lose(run)
        await self._put([one for one in taken if one[0].id not in lost], Said())

    def _lose(self, run: OpenRun) -> None:
        """Let go of a run that another worker has taken over: what it says from here on is not kept."""
        if self._sharing is None or run.is_dropped:
            return
        _log.error("journal.lease_lost", run_id=run.id)
        self._sharing.on_lost(run.id)
        run.drop()
        self.discard(run.id)

    async def renew(self) -> None:
        """Say for all runs of this worker that it lives; let go of those that were taken over. Raises StoreError."""
        if self._sharing is None:
            return
        before = self._leased()
        renewed = await self._database.write(renew, self._sharing)
        for run_id in (before & self._leased()) - renewed - self._writing:
            self._lose(self._runs[run_id])

    def _leased(self) -> frozenset[str]:
        return frozenset(run.id for run in self._runs.values() if run.is_leased and not run.is_dropped)

    async def _put_each(self, taken: list[tuple[OpenRun, Taken]], latest: Said) -> None:
        if len(taken) == 1 and not latest.said:
            self._refused(taken[0][0])
        else:
            for place, one in enumerate(taken):
                try:
                    await self._put([one], Said())
                except StoreError:
                    self._give_back(taken[place + 1 :])
                    raise
        if taken:  # the caller that deleted something waits until the rows are gone
            await self._put([], self._unfiled.take_said((), is_time=False))

    def _kept(self, run: OpenRun, taken: Taken) -> None:
        run.kept(taken)
        self._weigh(run)
        if not run.is_dropped:
            self._tell(run, taken.seq)
        elif taken.opening is not None:  # the request was rejected already, so this row must go
            self._stale.add(run.id)
            self._due.set()

    def _give_back(self, taken: list[tuple[OpenRun, Taken]]) -> None:
        for run, of_one in taken:
            if not run.is_dropped:
                run.give_back(of_one)
                self._weigh(run)
                newer = self._unfiled.due.get(run.id, run)  # of a closed run: figures that have come meanwhile
                run.figures = newer.figures or run.figures
                self._unfiled.due[run.id] = run

    def _weigh(self, run: OpenRun) -> None:
        if run.size + run.waiting_size > self.max_bytes:
            self.on_full(run.id)

    def _refused(self, run: OpenRun) -> None:
        """Let go of a run whose rows cannot be written ever: its conversation was deleted meanwhile."""
        _log.error("journal.refused", run_id=run.id)
        run.drop()
        self._unfiled.drop(run.id)
        self._tell(run, run.seq)

    def _unwell(self) -> None:
        if self.is_healthy:
            _log.error("journal.unwritten", runs=len(self._unfiled.run_ids))
        self.is_healthy = False

    # --- what is there -----------------------------------------------------------------------------------------

    async def _flush_before_read(self, run_id: str | None = None) -> None:
        """Have what was handed over of a run, or of any, on disk before it is read there, unless the disk is ill."""
        behind = self._unfiled.run_ids | self._writing
        if self.is_healthy and (behind if run_id is None else run_id in behind):
            with suppress(StoreError):  # then what is told is as old as the disk
                await self.flush(run_id)

    async def claim_unfinished(self) -> list[RunRecord]:
        """Take over the runs without an ending and without a live worker; `seq` is what the journal really holds.

        Where no other worker shares the database, what a crash left in `latest` is filed first and used from then on.
        """
        if not self._database.is_shared and not self._files_later:
            if await self._database.read(has_left):
                await self._database.write(file_left)
            self._files_later = True
        if self._sharing is None:
            return await self._database.read(unfinished)
        return await self._database.write(take_over, self._sharing, frozenset(self._runs))


def _no_limit(run_id: str) -> None:
    """Let a journal become as large as it will."""
