"""All runs: start, watch, stop, find; those of this process as they are, all others as they were kept."""

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
from signalbox.core.records import RunRecord, Statuses
from signalbox.runs.attempts_codec import progress_of
from signalbox.runs.billing import Settlements
from signalbox.runs.cluster import Cluster
from signalbox.runs.journal import Cursor, decline, read_all
from signalbox.runs.named_locks import NameLocks
from signalbox.runs.recovery import CRASHED, ignore, recover
from signalbox.runs.run import DETACHED, SHUT_DOWN, STOPPED, Run, StartOptions, new_run

_log = structlog.get_logger()

# A host forgets its generations in time; a bill that is older than this stays an estimate.
_BILL_SECONDS = 24 * 3600.0
# A polled run lives at least this long between two polls, whatever its time limit without readers is.
_BETWEEN_POLLS = 30.0
_RUN_ID = re.compile(r"[0-9a-f]{32}")
_NO_RUN_ID = "There is no run with that id: a run id has 32 hex digits."
_NOT_ASKED = StartOptions()


@dataclass(slots=True)
class RunManager:
    """Holds the live runs, and finds all others in the store.

    `most_bytes` limits the events of one run. A detached run without a subscriber is stopped after `detached_seconds`,
    any other that never had one after `unwatched_seconds`.
    """

    store: RunStore
    max_active: int = 1000
    max_bytes: float = inf
    detached_seconds: float = 300.0
    unsubscribed_seconds: float = 30.0
    on_start: Callable[[Run], None] = ignore
    on_over: Callable[[Run], None] = ignore
    on_recovered: Callable[[RunRecord], None] = ignore
    settlements: Settlements | None = None
    cluster: Cluster | None = None
    _live: dict[str, Run] = field(default_factory=dict[str, Run])
    _unwritten: dict[str, Run] = field(default_factory=dict[str, Run])
    names: NameLocks = field(default_factory=NameLocks)
    is_draining: bool = False  # the process was told to stop
    is_closing: bool = False  # no more runs are taken

    # --- start -------------------------------------------------------------------------------------------------

    async def recover(self) -> None:
        """End what a crash has cut, and ask for the bills that are still open; raises StoreError."""
        while await recover(self.store, self.on_recovered):
            pass  # some at a time
        for record in await self.store.unsettled(time() - _BILL_SECONDS):
            self._settle_kept(record)

    async def end_orphans(self) -> None:
        """End the runs of workers that are dead, and ask for their bills; raises StoreError."""
        while ended := await recover(self.store, self.on_recovered):
            for record in ended:
                self._settle_kept(record)

    async def start(
        self, context: ConversationContext, progress: Progress, loop: Loop, options: StartOptions = _NOT_ASKED
    ) -> Run:
        """Start a run, and return once it is on disk: subscribers see nothing before. The request is sent meanwhile.

        Raises RequestError while too many runs are active or the server is stopping, and where the store fails.
        """
        self._check_room()
        context.recorded = partial(self.store.flush, context.run_id)
        run = new_run(context, progress, self.store, options)
        self._live[run.id] = run
        # Handed over before the run's first step, so that the disk is at it while the model is asked.
        kept = self.store.open(run.opening, partial(self._written, run))
        self.on_start(run)
        run.start(loop, self._over, self.max_bytes)
        self._detach_later(run, at_least=self.unsubscribed_seconds)
        try:
            await kept
        except StoreError as error:
            run.stop()
            await run.wait()
            self._unwritten.pop(run.id, None)
            raise RequestError(error.code) from None
        return run

    def _check_room(self) -> None:
        if self.is_closing:
            raise RequestError(Code.SHUTTING_DOWN)
        if len(self._live) >= self.max_active:
            raise RequestError(Code.TOO_MANY_RUNS)
        if not self.store.is_healthy:
            raise RequestError(Code.STORE_UNAVAILABLE)

    @asynccontextmanager
    async def hold_key(self, key: str) -> AsyncGenerator[RunRecord | None, None]:
        """Hold an Idempotency-Key, and tell which run it has started already; concurrent requests with it wait."""
        async with self.names.hold(f"key {key}", self.store):
            yield await self.store.find_by_key(key)

    # --- find --------------------------------------------------------------------------------------------------

    def live(self, run_id: str) -> Run | None:
        """Return a run of this process that is under way, or not wholly on disk yet."""
        return self._live.get(run_id) or self._unwritten.get(run_id)

    def is_running(self, run_id: str) -> bool:
        """Whether a run without an ending on disk goes on, here or in another worker."""
        run = self.live(run_id)
        return self.cluster is not None if run is None else not run.is_over

    async def find(self, run_id: str) -> RunRecord:
        """Return what is known of a run; raises RequestError UNKNOWN_RUN."""
        run = self.live(run_id)
        record = run.record() if run is not None else await self.store.find(run_id)
        if record is None:
            raise RequestError(Code.UNKNOWN_RUN, "" if _RUN_ID.fullmatch(run_id) else _NO_RUN_ID)
        return record

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, owner: str | None = None, statuses: Statuses = ()
    ) -> list[RunRecord]:
        """Return the newest runs first, those under way among them, with their figures of now.

        `before` is the start (epoch seconds) and id of a run; those that began before it follow. Those of one owner,
        and of these statuses (None: under way); of all where none is named.
        """
        kept = await self.store.recent(limit, before, owner, statuses)
        return [run.record() if (run := self.live(record.id)) is not None else record for record in kept]

    async def events(self, run_id: str) -> list[Stamped]:
        """Return every event of a run so far."""
        run = self.live(run_id)
        return await read_all(run.journal.read if run is not None else partial(self.store.read_events, run_id))

    # --- watch -------------------------------------------------------------------------------------------------

    def subscribe(
        self, run: str | Run, after: int = 0, try_emit: TryEmit[list[Stamped]] = decline
    ) -> AsyncGenerator[list[Stamped], None]:
        """Yield a run's events after a cursor, to its end. Leaving a live run early counts: see `_left`.

        Batches of a live run that `try_emit` accepts are not yielded. A caller that has just started the run passes the
        run itself: a short one may be over by now, and one in five was read back from disk.
        """
        run_id, live = (run, self.live(run)) if isinstance(run, str) else (run.id, run)
        return self._watched(live, run_id, Cursor(after, try_emit))

    async def _watched(self, run: Run | None, run_id: str, cursor: Cursor) -> AsyncGenerator[list[Stamped], None]:
        if run is not None:
            self._joined(run)
            try:
                async for batch in run.journal.go_on(cursor):
                    yield batch
            finally:
                self._left(run)
            if not run.journal.is_lost:
                return
        elsewhere = self.cluster.follow(run_id, cursor.after) if self.cluster else self._replay(run_id, cursor.after)
        async with aclosing(elsewhere) as batches:
            async for batch in batches:
                yield batch

    async def read_available(self, run_id: str, after: int = 0) -> AsyncGenerator[list[Stamped], None]:
        """Yield the events after a cursor. A poll does not count as a subscriber.

        The end of a poll ends no run; a poll extends the time of a run without subscribers.
        """
        run = self.live(run_id)
        if run is not None:
            self._polled(run)
        elif self.cluster is not None:
            self.cluster.poll(run_id)
        async for batch in run.journal.so_far(after) if run is not None else self._replay(run_id, after):
            yield batch

    async def _replay(self, run_id: str, after: int) -> AsyncGenerator[list[Stamped], None]:
        while batch := await self.store.read_events(run_id, after):
            after = batch[-1].seq
            yield batch
            if type(batch[-1].event) is Done:
                return  # nothing follows, so the disk need not be read

    def _joined(self, run: Run) -> None:
        run.subscribers += 1
        if run.detached_timer is not None:
            run.detached_timer.cancel()
            run.detached_timer = None

    def _left(self, run: Run) -> None:
        """When the last watcher has gone a run ends, or goes on for its time."""
        run.subscribers -= 1
        if run.is_over or run.subscribers > 0:
            return
        if run.options.continues_after_disconnect:
            self._detach_later(run)
        else:
            run.stop(STOPPED)

    def _polled(self, run: Run) -> None:
        if run.detached_timer is not None and not run.is_over:
            run.detached_timer.cancel()
            self._detach_later(run, at_least=_BETWEEN_POLLS)

    def _detach_later(self, run: Run, at_least: float = 0.0) -> None:
        goes_on = run.options.continues_after_disconnect
        seconds, why = (self.detached_seconds, DETACHED) if goes_on else (self.unsubscribed_seconds, STOPPED)
        run.detached_timer = asyncio.get_running_loop().call_later(max(seconds, at_least), run.stop, why)

    # --- end ---------------------------------------------------------------------------------------------------

    async def stop(self, run_id: str) -> tuple[RunRecord, bool]:
        """Stop a run; return it as it ended, and whether it was this that ended it. Raises RequestError UNKNOWN_RUN.

        It returns once the ending is on disk, so a crash does not change what the client was told.
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
        with suppress(StoreError):  # the run is over all the same
            await self.store.flush(run_id)
        return run.record(), True

    def too_large(self, run_id: str) -> None:
        """End a run whose journal has become too large; what it said is kept."""
        if (run := self._live.get(run_id)) is not None:
            run.stop(TOO_LARGE)

    async def delete(self, run_id: str) -> None:
        """Stop a run where it is under way, and delete everything stored about it; raises RequestError.

        An answer in a conversation goes with its conversation: what was said behind it would hang in the air.
        """
        record = await self.find(run_id)
        if record.conversation_id is not None:
            raise RequestError(Code.RUN_IN_CONVERSATION)
        await self.stop(run_id)
        await self.store.delete(run_id)
        self._unwritten.pop(run_id, None)

    def _over(self, run: Run) -> None:
        self._live.pop(run.id, None)  # before anything that may fail: every ending releases the slot (quirk F7)
        if not run.journal.is_lost:
            self._unwritten[run.id] = run
        if run.detached_timer is not None:
            run.detached_timer.cancel()
        run.context.messages.clear()  # what is remembered of a run is its journal and its figures
        for follow in (self._settle, self._forget_written, self.on_over):
            try:
                follow(run)
            except Exception as error:  # noqa: BLE001 - one of them that breaks keeps none of the others
                _log.error("run.after", run_id=run.id, error=type(error).__name__)

    def _written(self, run: Run, seq: int, reserved: int) -> None:
        run.journal.written(seq, reserved)
        self._forget_written(run)

    def _forget_written(self, run: Run) -> None:
        """Let go of a run once all of it is on disk."""
        if run.is_written and run.id not in self._live:
            self._unwritten.pop(run.id, None)
            self.store.close(run.id)
            if self.cluster is not None:
                self.cluster.forget(run.id)

    def _settle(self, run: Run) -> None:
        if self.settlements is not None and not self.is_closing:
            self.settlements.begin_over(self.store, run.id, run.figures(), run.progress)

    def _settle_kept(self, record: RunRecord) -> None:
        progress = progress_of(record)
        # Of a damaged row what is left would pass for the whole bill.
        if self.settlements is not None and not progress.is_short:
            self.settlements.begin_over(self.store, record.id, record, progress)

    # --- as other workers see it (runs/cluster.py: Home) -----------------------------------------------------------

    def add_remote_subscriber(self, run_id: str) -> bool:
        """Count another worker's watchers as one; tell whether the run is here."""
        run = self._live.get(run_id)
        if run is not None:
            self._joined(run)
        return run is not None

    def remove_remote_subscriber(self, run_id: str) -> None:
        """Count them no more."""
        if (run := self._live.get(run_id)) is not None:
            self._left(run)

    def extend_polled(self, run_id: str) -> None:
        """Extend the time of a run without subscribers."""
        if (run := self._live.get(run_id)) is not None:
            self._polled(run)

    def stop_local(self, run_id: str) -> None:
        """Stop a run."""
        if (run := self._live.get(run_id)) is not None:
            run.stop()

    def release_lost(self, run_id: str) -> None:
        """Let go of a run that another worker has ended: its subscribers continue with the stored ending."""
        run = self._live.pop(run_id, None) or self._unwritten.pop(run_id, None)
        if run is not None:
            run.journal.lose()
            run.stop(CRASHED)

    # --- the end of the process ----------------------------------------------------------------------------------

    @property
    def active_count(self) -> int:
        """How many runs live in this process."""
        return len(self._live)

    async def wait_until_idle(self) -> None:
        """Wait until the runs that are under way now are over."""
        await asyncio.gather(*(run.wait() for run in self._live.values()))

    async def aclose(self) -> None:
        """Stop taking runs, end those under way honestly, and wait for them; bills that are open stay so."""
        self.is_closing = True
        if self.settlements is not None:
            await self.settlements.aclose()
        live = list(self._live.values())
        for run in live:
            run.stop(SHUT_DOWN)
        await asyncio.gather(*(run.wait() for run in live))
