"""Runs on disk: events, figures and histories, written asynchronously in group commits."""

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
from signalbox.store.runs.flush import OpenRun, PendingWrite
from signalbox.store.runs.flush_meter import FlushMeter
from signalbox.store.runs.leases import LeaseLost, Sharing, renew, take_over, unfinished
from signalbox.store.runs.stored_runs import StoredRuns
from signalbox.store.runs.write_buffer import BufferRow, WriteBuffer, has_leftovers, journal_leftovers, write_flush

_log = structlog.get_logger()

# With a commit of up to 20 ms, subscribers are at most 100 ms ahead of the disk.
FLUSH_SECONDS = 0.08
_RETRY_SECONDS = 1.0
_TIMEOUT_SECONDS = 10.0  # how long a caller waits for a disk that does not respond


class JournalStore(StoredRuns):
    """A RunStore in a database.

    `is_healthy` is false from a write that failed or timed out to the next one that succeeds. `on_full` is called for a
    run whose journal, on disk and waiting, exceeds `max_bytes`.
    """

    def __init__(self, database: Database, sharing: Sharing | None = None) -> None:
        super().__init__(database)
        self._sharing = sharing
        self._runs: dict[str, OpenRun] = {}
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._is_time = self._is_closed = False
        self._waiting: list[tuple[str | None, asyncio.Future[None]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._writing: frozenset[str] = frozenset()
        self._buffer = WriteBuffer()
        self._is_buffering = False  # set once a crash's leftovers are journalled; never with several workers
        self._stale: set[str] = set()
        self.is_healthy = True
        self.max_bytes: float = math.inf
        self.on_full: Callable[[str], None] = lambda _: None
        self.meter = FlushMeter()

    # --- called by streams: nothing here waits -------------------------------------------------------------------

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Append events to a run's journal."""
        if batch and (run := self._runs.get(run_id)) is not None:
            run.seq = batch[-1].seq
            if run.is_discarded:
                self._report_durable(run, run.seq)
                return
            run.events += batch
            if not self._is_buffering:
                self._mark_due(run)
            elif (said := self._buffer.next_row.get(run_id)) is not None:
                said += batch
            else:
                self._buffer.add(run, batch)
                self._set_timer()

    def append_turns(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Append turns to a run's history; they cover the events up to `seq`."""
        if (run := self._runs.get(run_id)) is not None:
            run.append_turns(seq, messages)
            self._mark_due(run)

    def save_figures(self, run_id: str, figures: Callable[[], Figures]) -> None:
        """Save a run's figures with the next flush, also of a closed run."""
        run = self._runs.get(run_id) or self._buffer.find(run_id)
        run = run or OpenRun(run_id, wanted=0)
        if not run.is_discarded:
            run.figures = figures
            self._mark_due(run)

    def discard(self, run_id: str) -> None:
        """Accept nothing more of a run, and discard what is not on disk yet.

        Its events count as durable from now on, so that no subscriber waits for them.
        """
        for run in (self._runs.get(run_id), self._buffer.discard(run_id)):
            if run is not None and not run.is_discarded:
                run.discard()
                self._report_durable(run, run.seq)

    def _mark_due(self, run: OpenRun) -> None:
        if not run.is_discarded and self._buffer.due.get(run.id) is not run:
            self._buffer.due[run.id] = run
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._on_timer)
            self.meter.queued()

    def _report_durable(self, run: OpenRun, seq: int) -> None:
        """Call a run's `on_durable`; an exception must not affect other runs."""
        try:
            run.on_durable(seq, max(run.reserved, seq) if run.is_discarded else run.reserved)
        except Exception as error:  # noqa: BLE001 - logged; the writer continues
            _log.error("journal.callback_failed", run_id=run.id, error=type(error).__name__)

    # --- called by runs: may wait --------------------------------------------------------------------------------

    def open(self, record: RunRecord, durable: OnDurable) -> Awaitable[None]:
        """Insert a new run and reserve its first numbers; the result waits for that and raises StoreError."""
        run = OpenRun(record.id, durable, opening=record, is_answer=record.conversation_id is not None)
        self._runs[run.id] = run
        self._mark_due(run)
        return self._wait_inserted(run, None if self._is_closed else self._request_flush(run.id))

    async def _wait_inserted(self, run: OpenRun, written: asyncio.Future[None] | None) -> None:
        if written is not None:
            with suppress(StoreError):  # another run of the same flush may have failed: see `is_stored`
                await self._wait_flushed(written)
        if not run.is_stored:
            self.discard(run.id)
            raise StoreError(Code.STORE_UNAVAILABLE)

    def resume(self, record: RunRecord) -> None:
        """Accept events again for a run on disk; they must be numbered above its reserved numbers."""
        run = OpenRun(record.id, is_answer=record.conversation_id is not None, is_leased=True)
        run.seq = run.reserved = run.wanted = record.reserved
        self._runs[run.id] = run

    def close(self, run_id: str) -> None:
        """Accept no more events of a run; queued ones are still written."""
        self._runs.pop(run_id, None)

    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything queued so far is on disk, for one run or for all.

        Raises StoreError, also if the disk does not respond.
        """
        if self._is_closed:
            raise StoreError(Code.STORE_UNAVAILABLE)
        await self._wait_flushed(self._request_flush(run_id))

    def _request_flush(self, run_id: str | None) -> asyncio.Future[None]:
        """Return a future that is done after the next flush of one run or of all."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((run_id, future))
        self._wake()
        return future

    async def _wait_flushed(self, written: asyncio.Future[None]) -> None:
        silence = written.get_loop().call_later(_TIMEOUT_SECONDS, self._fail_silent, written)
        try:
            await written
        finally:
            silence.cancel()

    def _fail_silent(self, future: asyncio.Future[None]) -> None:
        if not future.done():
            future.set_exception(StoreError(Code.STORE_UNAVAILABLE))
            self._mark_unhealthy()
            self._wake()  # so that the writer checks the disk

    async def aclose(self) -> None:
        """Write what is queued, then stop the writer."""
        try:
            await self.flush()
        except StoreError:
            _log.error("journal.events_lost", runs=len(self._buffer.run_ids))
        self._is_closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    # --- the writer ----------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        self._due.set()
        if self._worker is None and not self._is_closed:
            self._worker = asyncio.create_task(self._work(), name="journal")

    def _on_timer(self) -> None:
        self._timer, self._is_time = None, True
        self._wake()

    async def _work(self) -> None:
        while True:
            if self.is_healthy:
                await self._due.wait()
            else:  # also if nothing is queued: an empty flush notices that the disk works again
                await asyncio.sleep(_RETRY_SECONDS)
                self._is_time = True
            self._due.clear()
            await self._write()

    async def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        asked = [run_id for run_id, _ in waiting]
        is_time, self._is_time = self._is_time or None in asked, False
        taken = self._buffer.take_due(asked, is_time=is_time)
        self._writing = frozenset(run.id for run, _ in taken)
        latest = self._buffer.take_row(self._writing, is_time=is_time)
        failed: StoreError | None = None
        self.meter.begin(is_time=is_time)
        try:
            await self._write_batch(taken, latest)
            self.is_healthy = True
            self.meter.succeed(is_empty=not (taken or latest.events))
        except StoreError as error:
            self._mark_unhealthy()
            failed = error
        except Exception as error:  # noqa: BLE001 - an internal error: waiting callers get it, and the writer continues
            _log.error("journal.internal_error", error=type(error).__name__)
            failed = StoreError(Code.INTERNAL)
        finally:
            self._writing = frozenset()
        for future in [future for _, future in waiting if not future.done()]:
            future.set_exception(StoreError(failed.code)) if failed else future.set_result(None)

    async def _write_batch(self, taken: list[tuple[OpenRun, PendingWrite]], latest: BufferRow) -> None:
        """Write all runs in one transaction; if it fails because of one run, write them one by one."""
        stale = frozenset(self._stale)
        if not (taken or latest.events or latest.needed_from or stale) and self.is_healthy:
            return
        try:
            await self._database.write(write_flush, [of_one for _, of_one in taken], stale, self._sharing, latest)
        except LeaseLost as lost:
            await self._write_without(taken, lost.run_ids)
        except StoreError as error:
            self._journal_row_soon(latest)
            if error.code is not Code.INTERNAL:
                self._give_back(taken)
                raise
            await self._write_each(taken, latest)
        except Exception:  # noqa: BLE001 - a value cannot be written: writing one by one finds its run
            self._journal_row_soon(latest)
            await self._write_each(taken, latest)
        else:
            self._stale -= stale
            for run, of_one in taken:
                self._on_written(run, of_one)
            self._buffer.mark_written(latest, [run for run, _ in taken])
            if self._buffer.due:
                self._set_timer()

    def _journal_row_soon(self, latest: BufferRow) -> None:
        self._buffer.journal_soon(latest)
        self._set_timer()

    async def _write_without(self, taken: list[tuple[OpenRun, PendingWrite]], lost: frozenset[str]) -> None:
        for run in [run for run, _ in taken if run.id in lost]:
            self._release_lost(run)
        await self._write_batch([one for one in taken if one[0].id not in lost], BufferRow())

    def _release_lost(self, run: OpenRun) -> None:
        """Release a run that another worker has taken over: its further events are discarded."""
        if self._sharing is None or run.is_discarded:
            return
        _log.error("journal.lease_lost", run_id=run.id)
        self._sharing.on_lost(run.id)
        run.discard()
        self.discard(run.id)

    async def renew(self) -> None:
        """Renew the leases of this worker, and release runs that were taken over; raises StoreError."""
        if self._sharing is None:
            return
        before = self._leased()
        renewed = await self._database.write(renew, self._sharing)
        for run_id in (before & self._leased()) - renewed - self._writing:
            self._release_lost(self._runs[run_id])

    def _leased(self) -> frozenset[str]:
        return frozenset(run.id for run in self._runs.values() if run.is_leased and not run.is_discarded)

    async def _write_each(self, taken: list[tuple[OpenRun, PendingWrite]], latest: BufferRow) -> None:
        if len(taken) == 1 and not latest.events:
            self._discard_rejected(taken[0][0])
        else:
            for place, one in enumerate(taken):
                try:
                    await self._write_batch([one], BufferRow())
                except StoreError:
                    self._give_back(taken[place + 1 :])
                    raise
        if taken:  # a caller that deletes waits until the rows are gone
            await self._write_batch([], self._buffer.take_row((), is_time=False))

    def _on_written(self, run: OpenRun, taken: PendingWrite) -> None:
        run.mark_written(taken)
        self._check_size(run)
        if not run.is_discarded:
            self._report_durable(run, taken.seq)
        elif taken.opening is not None:  # the request was already rejected, so its row must be deleted
            self._stale.add(run.id)
            self._due.set()

    def _give_back(self, taken: list[tuple[OpenRun, PendingWrite]]) -> None:
        for run, of_one in taken:
            if not run.is_discarded:
                run.restore(of_one)
                self._check_size(run)
                newer = self._buffer.due.get(run.id, run)  # figures of a closed run may have arrived meanwhile
                run.figures = newer.figures or run.figures
                self._buffer.due[run.id] = run

    def _check_size(self, run: OpenRun) -> None:
        if run.size + run.waiting_size > self.max_bytes:
            self.on_full(run.id)

    def _discard_rejected(self, run: OpenRun) -> None:
        """Discard a run whose rows can never be written, because its conversation was deleted."""
        _log.error("journal.discarded", run_id=run.id)
        run.discard()
        self._buffer.discard(run.id)
        self._report_durable(run, run.seq)

    def _mark_unhealthy(self) -> None:
        if self.is_healthy:
            _log.error("journal.write_failed", runs=len(self._buffer.run_ids))
        self.is_healthy = False

    # --- reading -------------------------------------------------------------------------------------------------

    async def _flush_before_read(self, run_id: str | None = None) -> None:
        """Flush one run or all before a read, unless the disk is failing."""
        behind = self._buffer.run_ids | self._writing
        if self.is_healthy and (behind if run_id is None else run_id in behind):
            with suppress(StoreError):  # then the read returns what is on disk
                await self.flush(run_id)

    async def claim_unfinished(self) -> list[RunRecord]:
        """Claim the unfinished runs that have no live worker; `seq` is the last one in the journal.

        Without other workers, rows that a crash left in `latest` are journalled first; then the write buffer is used.
        """
        if not self._database.is_shared and not self._is_buffering:
            if await self._database.read(has_leftovers):
                await self._database.write(journal_leftovers)
            self._is_buffering = True
        if self._sharing is None:
            return await self._database.read(unfinished)
        return await self._database.write(take_over, self._sharing, frozenset(self._runs))
