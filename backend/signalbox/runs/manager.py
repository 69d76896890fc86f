"""Starts, finds, streams, stops and deletes runs: active ones of this process, all others from the store."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import time

import structlog

from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.driver import TOO_LARGE
from signalbox.chat.loops.progress import Progress
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import Done, Stamped
from signalbox.core.ports import Loop, RunStore, TryEmit
from signalbox.core.records import ALL_RUNS, RunFilter, RunRecord
from signalbox.runs.attempts_codec import progress_of
from signalbox.runs.billing import Settlements
from signalbox.runs.cluster import Cluster
from signalbox.runs.journal import Cursor, decline, read_all
from signalbox.runs.named_locks import NameLocks
from signalbox.runs.recovery import CRASHED, no_op, recover
from signalbox.runs.run import DETACHED, SHUT_DOWN, STOPPED, Run, StartOptions, new_run, not_stored

_log = structlog.get_logger()

# Providers delete generations after a while; the cost of an older run stays an estimate.
_BILL_SECONDS = 24 * 3600.0
# A run that is polled lives at least this long between two polls, even if its limit without subscribers is shorter.
_POLL_GRACE_SECONDS = 30.0
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_NO_RUN_ID = "There is no run with that id: a run id has 32 hex digits."
_DEFAULT_OPTIONS = StartOptions()


@dataclass(slots=True)
class RunManager:
    """Holds the active runs of this process; all others are in the store.

    `max_bytes` limits the events of one run. A detached run is stopped after `detached_seconds` without a subscriber,
    any other run after `unsubscribed_seconds` if no subscriber ever connects.
    """

    store: RunStore
    max_active: int = 1000
    max_bytes: float = inf
    detached_seconds: float = 300.0
    unsubscribed_seconds: float = 30.0
    on_start: Callable[[Run], None] = no_op
    on_over: Callable[[Run], None] = no_op
    on_recovered: Callable[[RunRecord], None] = no_op
    settlements: Settlements | None = None
    cluster: Cluster | None = None
    _live: dict[str, Run] = field(default_factory=dict[str, Run])
    _undurable: dict[str, Run] = field(default_factory=dict[str, Run])
    names: NameLocks = field(default_factory=NameLocks)
    is_draining: bool = False  # the process received a signal to stop
    is_closing: bool = False  # new runs are rejected

    # --- start ---------------------------------------------------------------------------------------------------

    async def recover(self) -> None:
        """End the runs that a crash interrupted, and fetch the costs that are still open; raises StoreError."""
        while await recover(self.store, self.on_recovered):
            pass  # one batch at a time
        for record in await self.store.unsettled(time() - _BILL_SECONDS):
            self._settle_record(record)

    async def end_orphans(self) -> None:
        """End the runs of dead workers, and fetch their costs; raises StoreError."""
        while ended := await recover(self.store, self.on_recovered):
            for record in ended:
                self._settle_record(record)

    async def start(
        self, context: ConversationContext, progress: Progress, loop: Loop, options: StartOptions = _DEFAULT_OPTIONS
    ) -> Run:
        """Start a run and return it once it is on disk. No event is emitted before that; the request is sent meanwhile.

        Raises RequestError if too many runs are active, the server is stopping or the store fails.
        """
        self._check_capacity()
        context.flush = partial(self.store.flush, context.run_id)
        run = new_run(context, progress, self.store, options)
        self._live[run.id] = run
        self.on_start(run)
        run.keep_origin()
        # Queued before the run's first step, so that the disk writes while the request is sent.
        opened = self.store.open(run.opening, partial(self._on_durable, run))
        run.start(loop, self._on_run_ended, self.max_bytes)
        self._stop_later(run, at_least=self.unsubscribed_seconds)
        try:
            await opened
        except StoreError as error:
            run.stop(not_stored(error))
            await run.wait()
            self._undurable.pop(run.id, None)
            raise RequestError(error.code) from None
        return run

    def _check_capacity(self) -> None:
        if self.is_closing:
            raise RequestError(Code.SHUTTING_DOWN)
        if len(self._live) >= self.max_active:
            raise RequestError(Code.TOO_MANY_RUNS)
        if not self.store.is_healthy:
            raise RequestError(Code.STORE_UNAVAILABLE)

    @asynccontextmanager
    async def hold_key(self, key: str) -> AsyncGenerator[RunRecord | None, None]:
        """Lock an Idempotency-Key and yield the run that it already started; concurrent requests with it wait."""
        async with self.names.hold(f"key {key}", self.store):
            yield await self.store.find_by_key(key)

    # --- find ----------------------------------------------------------------------------------------------------

    def live(self, run_id: str) -> Run | None:
        """Return a run of this process that is active or not completely on disk yet."""
        return self._live.get(run_id) or self._undurable.get(run_id)

    def is_running(self, run_id: str) -> bool:
        """Return whether a run without an ending on disk is active, here or in another worker."""
        run = self.live(run_id)
        return self.cluster is not None if run is None else not run.is_over

    async def find(self, run_id: str) -> RunRecord:
        """Return the current record of a run; raises RequestError UNKNOWN_RUN."""
        run = self.live(run_id)
        record = run.record() if run is not None else await self.store.find(run_id)
        if record is None:
            raise RequestError(Code.UNKNOWN_RUN, "" if _RUN_ID.fullmatch(run_id) else _NO_RUN_ID)
        return record

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, wanted: RunFilter = ALL_RUNS
    ) -> list[RunRecord]:
        """Return the runs that match, newest first; active ones with their current figures.

        `before` is the start (epoch seconds) and id of a run; only older runs are returned.
        """
        stored = await self.store.recent(limit, before, wanted)
        return [run.record() if (run := self.live(record.id)) is not None else record for record in stored]

    async def events(self, run_id: str) -> list[Stamped]:
        """Return every event of a run so far."""
        run = self.live(run_id)
        return await read_all(run.journal.next_events if run is not None else partial(self.store.read_events, run_id))

    # --- subscribe -----------------------------------------------------------------------------------------------

    def subscribe(
        self, run: str | Run, after: int = 0, try_emit: TryEmit[list[Stamped]] = decline
    ) -> AsyncGenerator[list[Stamped], None]:
        """Yield a run's events after a sequence number, to its end. Closing the generator early ends a subscription.

        Batches that `try_emit` accepts are not yielded. A caller that has just started the run passes the run itself:
        a short one may be finished by now, and looking it up by id would read it back from disk.
        """
        run_id, live = (run, self.live(run)) if isinstance(run, str) else (run.id, run)
        return self._subscribed(live, run_id, Cursor(after, try_emit))

    async def _subscribed(self, run: Run | None, run_id: str, cursor: Cursor) -> AsyncGenerator[list[Stamped], None]:
        if run is not None:
            self._add_subscriber(run)
            try:
                async for batch in run.journal.read_from(cursor):
                    yield batch
            finally:
                self._remove_subscriber(run)
            if not run.journal.is_lost:
                return
        elsewhere = self.cluster.follow(run_id, cursor.after) if self.cluster else self._replay(run_id, cursor.after)
        async with aclosing(elsewhere) as batches:
            async for batch in batches:
                yield batch

    async def read_available(self, run_id: str, after: int = 0) -> AsyncGenerator[list[Stamped], None]:
        """Yield the events after a sequence number that exist now; a poll, not a subscription.

        It stops no run when it ends, but extends the time of a run without subscribers.
        """
        run = self.live(run_id)
        if run is not None:
            self._extend(run)
        elif self.cluster is not None:
            self.cluster.poll(run_id)
        async for batch in run.journal.read_available(after) if run is not None else self._replay(run_id, after):
            yield batch

    async def _replay(self, run_id: str, after: int) -> AsyncGenerator[list[Stamped], None]:
        while batch := await self.store.read_events(run_id, after):
            after = batch[-1].seq
            yield batch
            if type(batch[-1].event) is Done:
                return  # nothing follows `done`; saves a read

    def _add_subscriber(self, run: Run) -> None:
        run.subscribers += 1
        run.was_read = True
        run.cancel_timer()

    def _remove_subscriber(self, run: Run) -> None:
        """Stop a run when its last subscriber leaves, at once or, if it is detached, after its time limit."""
        run.subscribers -= 1
        if run.is_over or run.subscribers > 0:
            return
        if run.options.continues_after_disconnect:
            self._stop_later(run)
        else:
            run.stop(STOPPED)

    def _extend(self, run: Run) -> None:
        run.was_read = True
        if run.detached_timer is not None and not run.is_over:
            run.cancel_timer()
            self._stop_later(run, at_least=_POLL_GRACE_SECONDS)

    def _stop_later(self, run: Run, at_least: float = 0.0) -> None:
        is_detached = run.options.continues_after_disconnect
        seconds, why = (self.detached_seconds, DETACHED) if is_detached else (self.unsubscribed_seconds, STOPPED)
        run.detached_timer = asyncio.get_running_loop().call_later(max(seconds, at_least), run.stop, why)

    # --- end -----------------------------------------------------------------------------------------------------

    async def stop(self, run_id: str) -> tuple[RunRecord, bool]:
        """Stop a run; return its final record and whether this call ended it. Raises RequestError UNKNOWN_RUN.

        It returns once the ending is on disk, so that a crash cannot change the answer to the client.
        """
        run = self.live(run_id)
        if run is None or run.is_over:
            record = await self.find(run_id)
            if record.is_over or self.cluster is None:
                return record, False
            record = await self.cluster.stop(run_id)
            return record, record.status == "cancelled"
        run.stop()
        await run.wait()
        with suppress(StoreError):  # the run has ended anyway
            await self.store.flush(run_id)
        return run.record(), True

    def stop_too_large(self, run_id: str) -> None:
        """Stop a run whose journal has become too large; its events so far stay."""
        if (run := self._live.get(run_id)) is not None:
            run.stop(TOO_LARGE)

    async def delete(self, run_id: str) -> None:
        """Stop a run if it is active, and delete everything stored about it; raises RequestError.

        A run in a conversation can only be deleted with the conversation, because later messages follow it.
        """
        record = await self.find(run_id)
        if record.conversation_id is not None:
            raise RequestError(Code.RUN_IN_CONVERSATION)
        await self.stop(run_id)
        await self.store.delete(run_id)
        self._undurable.pop(run_id, None)

    def _on_run_ended(self, run: Run) -> None:
        self._live.pop(run.id, None)  # first, so that every ending releases the slot (quirk F7)
        if not run.journal.is_lost:
            self._undurable[run.id] = run
        run.cancel_timer()
        run.context.messages.clear()  # frees memory: only the journal and the figures are needed now
        for follow in (self._settle, self._release_if_durable, self.on_over):
            try:
                follow(run)
            except Exception as error:  # noqa: BLE001 - one failing step must not prevent the others
                _log.error("run.cleanup_failed", run_id=run.id, error=type(error).__name__)

    def _on_durable(self, run: Run, seq: int, reserved: int) -> None:
        run.journal.mark_durable(seq, reserved)
        self._release_if_durable(run)

    def _release_if_durable(self, run: Run) -> None:
        """Remove a finished run from memory once all of it is on disk."""
        if run.is_durable and run.id not in self._live:
            self._undurable.pop(run.id, None)
            self.store.close(run.id)
            if self.cluster is not None:
                self.cluster.forget(run.id)

    def _settle(self, run: Run) -> None:
        if self.settlements is not None and not self.is_closing:
            self.settlements.begin_for_ended(self.store, run.id, run.figures(), run.progress)

    def _settle_record(self, record: RunRecord) -> None:
        progress = progress_of(record)
        # If attempts of a damaged row are missing, the cost of the rest would look like the total.
        if self.settlements is not None and not progress.lacks_attempts:
            self.settlements.begin_for_ended(self.store, record.id, record, progress)

    # --- for other workers (runs/cluster.py: LocalRuns) ----------------------------------------------------------

    def add_remote_subscriber(self, run_id: str) -> bool:
        """Count the subscribers of another worker as one; return whether the run lives here."""
        run = self._live.get(run_id)
        if run is not None:
            self._add_subscriber(run)
        return run is not None

    def remove_remote_subscriber(self, run_id: str) -> None:
        """Remove the subscriber that stands for another worker."""
        if (run := self._live.get(run_id)) is not None:
            self._remove_subscriber(run)

    def extend_polled(self, run_id: str) -> None:
        """Extend the time of a run without subscribers."""
        if (run := self._live.get(run_id)) is not None:
            self._extend(run)

    def stop_local(self, run_id: str) -> None:
        """Stop a run if it lives here."""
        if (run := self._live.get(run_id)) is not None:
            run.stop()

    def release_lost(self, run_id: str) -> None:
        """Release a run that another worker has ended: its subscribers continue with the stored ending."""
        run = self._live.pop(run_id, None) or self._undurable.pop(run_id, None)
        if run is not None:
            run.journal.release()
            run.stop(CRASHED)

    # --- the end of the process ----------------------------------------------------------------------------------

    @property
    def active_count(self) -> int:
        """How many runs are active in this process."""
        return len(self._live)

    async def wait_until_idle(self) -> None:
        """Wait until all runs that are active now have ended."""
        await asyncio.gather(*(run.wait() for run in self._live.values()))

    async def aclose(self) -> None:
        """Reject new runs, end the active ones as interrupted and wait for them; open costs stay estimates."""
        self.is_closing = True
        if self.settlements is not None:
            await self.settlements.aclose()
        live = list(self._live.values())
        for run in live:
            run.stop(SHUT_DOWN)
        await asyncio.gather(*(run.wait() for run in live))
