"""The other workers of a shared database: whose runs live where, what is heard of them, who ends those of the dead."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import Done, Stamped
from signalbox.core.ports import RunStore
from signalbox.core.records import RunRecord

Value = TypeVar("Value")

_log = structlog.get_logger()

# A notification may be lost, so waiting tasks also poll at this interval.
POLL_SECONDS = 0.5
# Followers of a run renew their sign; one that stops renewing has gone.
SAY_AGAIN_SECONDS = 5.0
_GONE_SECONDS = 3 * SAY_AGAIN_SECONDS
_BEATS_PER_LEASE = 5


class Notifier(Protocol):
    """Calls lines of words to all workers; raises StoreError."""

    async def notify(self, *words: str) -> None:
        """Call."""
        ...


class LocalRuns(Protocol):
    """The runs of this worker, as the other workers see them: all of these do nothing for a run that is not here."""

    def add_remote_subscriber(self, run_id: str) -> bool:
        """Another worker follows a run; tell whether it is here."""
        ...

    def remove_remote_subscriber(self, run_id: str) -> None:
        """Another worker follows it no more."""
        ...

    def extend_polled(self, run_id: str) -> None:
        """Another worker was asked for what there is of a run."""
        ...

    def stop_local(self, run_id: str) -> None:
        """Stop a run."""
        ...


@dataclass(slots=True)
class Cluster:
    """Speaks with the other workers. `me` is this worker's name, `lease_seconds` how long its word for its runs holds.

    `renew` renews the leases and raises StoreError; `end_orphans` takes over runs of the dead and ends them. `clock`
    is monotonic.
    """

    me: str
    lease_seconds: float
    store: RunStore
    notifier: Notifier
    local: LocalRuns
    renew: Callable[[], Awaitable[None]]
    end_orphans: Callable[[], Awaitable[object]]
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    remote_subscribers: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    _waiting: defaultdict[str, set[asyncio.Event]] = field(default_factory=lambda: defaultdict(set))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    # --- what this worker asks of others -------------------------------------------------------------------------

    async def follow(self, run_id: str, after: int) -> AsyncGenerator[list[Stamped], None]:
        """Yield the events of a run that lives elsewhere behind a cursor, to its end; it waits for a database."""
        with self._waiting_for(run_id) as news:
            said: float | None = None
            is_over = False
            try:
                while True:
                    news.clear()
                    while batch := await _at_last(partial(self.store.read_events, run_id, after)):
                        after = batch[-1].seq
                        yield batch
                        if isinstance(batch[-1].event, Done):
                            return
                    if is_over:
                        return
                    if said is None or self.clock() - said > SAY_AGAIN_SECONDS:
                        self._notify_later(f"watch {run_id} {self.me}")
                        said = self.clock()
                    if not await _came(news):  # it was deleted, or its end came without a word: then read once more
                        is_over = await _at_last(partial(self.store.is_over, run_id))
            finally:
                if said is not None and len(self._waiting[run_id]) == 1:
                    self._notify_later(f"leave {run_id} {self.me}")

    async def stop(self, run_id: str) -> RunRecord:
        """Have a run stopped where it lives, and return it as it ended; raises StoreError, RequestError WORKER_SILENT.

        A run whose worker is dead is ended as soon as that is noticed.
        """
        with self._waiting_for(run_id) as news:
            until = self.clock() + 2 * self.lease_seconds
            while self.clock() < until:
                news.clear()
                # Together, so that they are heard in this order: who watches is told of the end at once.
                await self.notifier.notify(f"watch {run_id} {self.me}", f"stop {run_id}")
                await _came(news)
                record = await self._found(run_id)
                if record.is_over:
                    return record
        raise RequestError(Code.WORKER_SILENT)

    def poll(self, run_id: str) -> None:
        """Tell the worker of a run that it was polled."""
        self._notify_later(f"poll {run_id}")

    async def _found(self, run_id: str) -> RunRecord:
        record = await self.store.find(run_id)
        if record is None:
            raise RequestError(Code.UNKNOWN_RUN)
        return record

    @contextmanager
    def _waiting_for(self, run_id: str) -> Generator[asyncio.Event, None, None]:
        news = asyncio.Event()
        self._waiting[run_id].add(news)
        try:
            yield news
        finally:
            self._waiting[run_id].discard(news)
            if not self._waiting[run_id]:
                del self._waiting[run_id]

    def _notify_later(self, words: str) -> None:
        """Call without waiting; a call that is lost is made again, or replaced by looking."""

        async def call() -> None:
            with suppress(StoreError):
                await self.notifier.notify(words)

        task = asyncio.create_task(call(), name="call")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- what others ask of this worker --------------------------------------------------------------------------

    def handle_notification(self, line: str) -> None:
        """Do what a line of words says; one that is not known is a later version's."""
        match line.split():
            case ["news", *run_ids]:
                for run_id in run_ids:
                    for news in self._waiting.get(run_id, ()):
                        news.set()
            case ["watch", run_id, worker] if worker != self.me:
                self._watched_by(run_id, worker)
            case ["leave", run_id, worker]:
                self._left_by(run_id, worker)
            case ["poll", run_id]:
                self.local.extend_polled(run_id)
            case ["stop", run_id]:
                self.local.stop_local(run_id)
            case _:
                pass

    def _watched_by(self, run_id: str, worker: str) -> None:
        known = self.remote_subscribers.get(run_id)
        if known is None:
            if not self.local.add_remote_subscriber(run_id):
                return
            known = self.remote_subscribers[run_id] = {}
        known[worker] = self.clock() + _GONE_SECONDS

    def _left_by(self, run_id: str, worker: str) -> None:
        workers = self.remote_subscribers.get(run_id, {})
        if workers.pop(worker, None) is not None and not workers:
            del self.remote_subscribers[run_id]
            self.local.remove_remote_subscriber(run_id)

    def forget(self, run_id: str) -> None:
        """Drop all subscribers of a run that is over."""
        self.remote_subscribers.pop(run_id, None)

    # --- the beat --------------------------------------------------------------------------------------------------

    async def send_heartbeats(self) -> None:
        """Renew the leases and end the runs of the dead, until this is cancelled.

        The two do not wait for each other: there may be many dead runs, and who ends them must not be taken for dead.
        After an outage or a stall of the database all leases have expired: no worker counts as dead before it had the
        time of a lease to renew its own.
        """
        every = self.lease_seconds / _BEATS_PER_LEASE
        well_since: float | None = None
        ending: asyncio.Future[object] | None = None
        try:
            while True:
                began = self.clock()
                is_renewed = await self._renewed()
                is_well = is_renewed and self.clock() - began < every
                well_since = None if not is_well else began if well_since is None else well_since
                if well_since is not None and began - well_since >= self.lease_seconds and _is_over(ending):
                    ending = asyncio.ensure_future(self.end_orphans())
                self._let_go_of_the_gone()
                await self.sleep(every)
        finally:
            if ending is not None:
                ending.cancel()

    async def _renewed(self) -> bool:
        try:
            await self.renew()
        except StoreError:
            return False
        except Exception as error:  # noqa: BLE001 - a worker without a beat would be taken for dead
            _log.error("peers.beat", error=type(error).__name__)
            return False
        return True

    def _let_go_of_the_gone(self) -> None:
        now = self.clock()
        gone = [
            (run, worker)
            for run, those in self.remote_subscribers.items()
            for worker, until in those.items()
            if until < now
        ]
        for run_id, worker in gone:
            self._left_by(run_id, worker)


def _is_over(ending: "asyncio.Future[object] | None") -> bool:
    """Whether the runs of the dead can be looked for again; what went wrong the last time is told."""
    if ending is None or not ending.done():
        return ending is None
    error = None if ending.cancelled() else ending.exception()
    if error is not None and not isinstance(error, StoreError):
        _log.error("peers.beat", error=type(error).__name__)
    return True


async def _at_last(ask: Callable[[], Awaitable[Value]]) -> Value:
    """Ask the database until it answers: a stream that has begun is not broken off because it is away."""
    while True:
        try:
            return await ask()
        except StoreError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
        await asyncio.sleep(POLL_SECONDS)


async def _came(news: asyncio.Event) -> bool:
    """Wait for news; tell whether they came before it is time to look without."""
    with suppress(TimeoutError):
        async with asyncio.timeout(POLL_SECONDS):
            await news.wait()
    return news.is_set()
