"""Workers that share a database: follows and stops runs of other workers, sends heartbeats, takes over runs."""

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

# A notification may get lost, so waiting tasks also poll at this interval.
POLL_SECONDS = 0.5
# A worker with subscribers renews its subscription to a run; one that stops renewing is considered gone.
RENEW_SECONDS = 5.0
_EXPIRY_SECONDS = 3 * RENEW_SECONDS
_BEATS_PER_LEASE = 5


class Notifier(Protocol):
    """Sends notifications to all workers."""

    async def notify(self, *words: str) -> None:
        """Send each line to all workers; raises StoreError."""
        ...


class LocalRuns(Protocol):
    """The runs of this worker, for other workers. All methods ignore a run that does not live here."""

    def add_remote_subscriber(self, run_id: str) -> bool:
        """Count another worker as a subscriber of a run; return whether the run lives here."""
        ...

    def remove_remote_subscriber(self, run_id: str) -> None:
        """Stop counting another worker as a subscriber of a run."""
        ...

    def extend_polled(self, run_id: str) -> None:
        """Extend the time of a run that is polled at another worker."""
        ...

    def stop_local(self, run_id: str) -> None:
        """Stop a run."""
        ...


@dataclass(slots=True)
class Cluster:
    """Communicates with the other workers. `me` is this worker's name, `lease_seconds` how long a lease is valid.

    `renew` renews this worker's leases and raises StoreError. `end_orphans` takes over runs of dead workers and ends
    them. `remote_subscribers` maps a run to the workers that follow it and when they expire. `clock` is monotonic.
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

    # --- requests to other workers -------------------------------------------------------------------------------

    async def follow(self, run_id: str, after: int) -> AsyncGenerator[list[Stamped], None]:
        """Yield the events of another worker's run after a sequence number, to its end; waits out database outages."""
        with self._news_of(run_id) as news:
            notified: float | None = None
            is_over = False
            try:
                while True:
                    news.clear()
                    while batch := await _retry_while_unavailable(partial(self.store.read_events, run_id, after)):
                        after = batch[-1].seq
                        is_over = isinstance(batch[-1].event, Done)
                        yield batch
                        if is_over:
                            return
                    if is_over:
                        return
                    if notified is None or self.clock() - notified > RENEW_SECONDS:
                        self._notify_later(f"watch {run_id} {self.me}")
                        notified = self.clock()
                    if not await _wait_for_news(news):  # deleted, or its ending was missed: read again
                        is_over = await _retry_while_unavailable(partial(self.store.is_over, run_id))
            finally:
                if not is_over and len(self._waiting[run_id]) == 1:
                    # Only a worker that was a subscriber can leave.
                    first = [f"watch {run_id} {self.me}"] if notified is None else []
                    self._notify_later(*first, f"leave {run_id} {self.me}")

    async def stop(self, run_id: str) -> RunRecord:
        """Stop another worker's run and return its final record; raises StoreError, RequestError WORKER_SILENT.

        If that worker is dead, its run is ended once its lease has expired.
        """
        with self._news_of(run_id) as news:
            until = self.clock() + 2 * self.lease_seconds
            while self.clock() < until:
                news.clear()
                # Sent together, so that they arrive in this order and the ending is announced to this worker.
                await self.notifier.notify(f"watch {run_id} {self.me}", f"stop {run_id}")
                await _wait_for_news(news)
                record = await self._find(run_id)
                if record.is_over:
                    return record
        raise RequestError(Code.WORKER_SILENT)

    def poll(self, run_id: str) -> None:
        """Notify the worker of a run that it was polled."""
        self._notify_later(f"poll {run_id}")

    async def _find(self, run_id: str) -> RunRecord:
        record = await self.store.find(run_id)
        if record is None:
            raise RequestError(Code.UNKNOWN_RUN)
        return record

    @contextmanager
    def _news_of(self, run_id: str) -> Generator[asyncio.Event, None, None]:
        news = asyncio.Event()
        self._waiting[run_id].add(news)
        try:
            yield news
        finally:
            self._waiting[run_id].discard(news)
            if not self._waiting[run_id]:
                del self._waiting[run_id]

    def _notify_later(self, *words: str) -> None:
        """Send a notification in the background; it may fail, because it is repeated or replaced by polling."""

        async def send() -> None:
            with suppress(StoreError):
                await self.notifier.notify(*words)

        task = asyncio.create_task(send(), name="notify")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- requests from other workers -----------------------------------------------------------------------------

    def handle_notification(self, line: str) -> None:
        """Handle a notification; an unknown one comes from a later version and is ignored."""
        match line.split():
            case ["news", *run_ids]:
                for run_id in run_ids:
                    for news in self._waiting.get(run_id, ()):
                        news.set()
            case ["watch", run_id, worker] if worker != self.me:
                self._add_remote(run_id, worker)
            case ["leave", run_id, worker]:
                self._remove_remote(run_id, worker)
            case ["poll", run_id]:
                self.local.extend_polled(run_id)
            case ["stop", run_id]:
                self.local.stop_local(run_id)
            case _:
                pass

    def _add_remote(self, run_id: str, worker: str) -> None:
        known = self.remote_subscribers.get(run_id)
        if known is None:
            if not self.local.add_remote_subscriber(run_id):
                return
            known = self.remote_subscribers[run_id] = {}
        known[worker] = self.clock() + _EXPIRY_SECONDS

    def _remove_remote(self, run_id: str, worker: str) -> None:
        workers = self.remote_subscribers.get(run_id, {})
        if workers.pop(worker, None) is not None and not workers:
            del self.remote_subscribers[run_id]
            self.local.remove_remote_subscriber(run_id)

    def forget(self, run_id: str) -> None:
        """Forget the remote subscribers of an ended run."""
        self.remote_subscribers.pop(run_id, None)

    # --- heartbeat -----------------------------------------------------------------------------------------------

    async def send_heartbeats(self) -> None:
        """Renew the leases and end the runs of dead workers, until cancelled.

        Ending runs does not delay the renewal: it may take long, and other workers must not consider this one dead.
        After an outage of the database all leases have expired. So runs are only taken over once the database has
        worked for the duration of a lease, in which every live worker can renew its leases.
        """
        every = self.lease_seconds / _BEATS_PER_LEASE
        healthy_since: float | None = None
        ending: asyncio.Future[object] | None = None
        try:
            while True:
                began = self.clock()
                is_renewed = await self._renewed()
                is_healthy = is_renewed and self.clock() - began < every
                healthy_since = None if not is_healthy else began if healthy_since is None else healthy_since
                if (
                    healthy_since is not None
                    and began - healthy_since >= self.lease_seconds
                    and _may_end_orphans(ending)
                ):
                    ending = asyncio.ensure_future(self.end_orphans())
                self._drop_expired_subscribers()
                await self.sleep(every)
        finally:
            if ending is not None:
                ending.cancel()

    async def _renewed(self) -> bool:
        try:
            await self.renew()
        except StoreError:
            return False
        except Exception as error:  # noqa: BLE001 - without heartbeats other workers would consider this one dead
            _log.error("cluster.heartbeat_failed", error=type(error).__name__)
            return False
        return True

    def _drop_expired_subscribers(self) -> None:
        now = self.clock()
        expired = [
            (run, worker)
            for run, workers in self.remote_subscribers.items()
            for worker, until in workers.items()
            if until < now
        ]
        for run_id, worker in expired:
            self._remove_remote(run_id, worker)


def _may_end_orphans(ending: "asyncio.Future[object] | None") -> bool:
    """Return whether the last takeover has finished; its error is logged."""
    if ending is None or not ending.done():
        return ending is None
    error = None if ending.cancelled() else ending.exception()
    if error is not None and not isinstance(error, StoreError):
        _log.error("cluster.heartbeat_failed", error=type(error).__name__)
    return True


async def _retry_while_unavailable(read: Callable[[], Awaitable[Value]]) -> Value:
    """Retry until the database answers: an outage does not break an open stream."""
    while True:
        try:
            return await read()
        except StoreError as error:
            if error.code is not Code.STORE_UNAVAILABLE:
                raise
        await asyncio.sleep(POLL_SECONDS)


async def _wait_for_news(news: asyncio.Event) -> bool:
    """Wait for a notification; return False if it is time to poll instead."""
    with suppress(TimeoutError):
        async with asyncio.timeout(POLL_SECONDS):
            await news.wait()
    return news.is_set()
