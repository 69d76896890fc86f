"""Two workers in one process: each handles runs of the other, even if notifications are lost."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest
from signalbox.chat.loops.progress import Progress
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import AnyEvent, Content, Done, Stamped
from signalbox.core.ports import Emit
from signalbox.core.records import Figures
from signalbox.runs import cluster
from signalbox.runs.cluster import Cluster
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run, StartOptions, new_run_id
from signalbox.store.runs.in_memory import MemoryStore

from tests.support.disk import until
from tests.support.loop_runs import context_for

pytestmark = pytest.mark.anyio
LEASE = 15.0


@dataclass
class Air:
    """Delivers notifications to all workers; a silent one loses them. `now` is the clock of all workers."""

    now: float = 100.0
    is_silent: bool = False
    ears: list[Callable[[str], None]] = field(default_factory=list[Callable[[str], None]])
    lines: list[str] = field(default_factory=list[str])

    async def notify(self, *words: str) -> None:
        self.lines += words
        if not self.is_silent:
            for line in words:
                for ear in self.ears:
                    ear(line)


class SharedStore(MemoryStore):
    """The store of both workers; it notifies followers of each write, as a flush does."""

    def __init__(self, air: Air) -> None:
        super().__init__()
        self.air = air
        self.watched: list[dict[str, dict[str, float]]] = []

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        super().append(run_id, batch)
        self._tell(run_id)

    def save_figures(self, run_id: str, figures: Callable[[], Figures]) -> None:
        super().save_figures(run_id, figures)
        self._tell(run_id)

    def _tell(self, run_id: str) -> None:
        if not self.air.is_silent and any(run_id in watched for watched in self.watched):
            for ear in self.air.ears:
                ear(f"news {run_id}")


class TextLoop:
    """A loop that emits text when the test says so."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        while (word := await self.words.get()) is not None:
            emit([Content(word)])


async def nothing() -> None:
    """Do nothing."""


def worker(name: str, air: Air, store: SharedStore) -> RunManager:
    """Create a worker of the cluster."""
    manager = RunManager(store)
    manager.cluster = Cluster(name, LEASE, store, air, manager, nothing, manager.end_orphans, lambda: air.now)
    air.ears.append(manager.cluster.handle_notification)
    store.watched.append(manager.cluster.remote_subscribers)
    return manager


@dataclass
class Two:
    """Two workers, and a run in the first."""

    air: Air
    home: RunManager
    other: RunManager
    text_loop: TextLoop
    run: Run


async def two(*, is_detached: bool = True) -> Two:
    """Start two workers and a run."""
    air = Air()
    store = SharedStore(air)
    home, other = worker("a", air, store), worker("b", air, store)
    text_loop, context = TextLoop(), context_for()
    context.run_id = new_run_id()
    return Two(
        air,
        home,
        other,
        text_loop,
        await home.start(context, Progress(), text_loop, StartOptions(continues_after_disconnect=is_detached)),
    )


async def received_by(manager: RunManager, run_id: str, into: list[AnyEvent], after: int = 0) -> None:
    """Follow a run to its end."""
    async with aclosing(manager.subscribe(run_id, after)) as batches:
        async for batch in batches:
            into += [stamped.event for stamped in batch]


async def test_a_run_is_followed_from_another_worker() -> None:
    """Each piece arrives when it is emitted, and the ending with it; afterwards the other worker is no subscriber."""
    both, received = await two(), list[AnyEvent]()
    following = asyncio.create_task(received_by(both.other, both.run.id, received))
    for word in ("One ", "two ", "three."):
        both.text_loop.words.put_nowait(word)
        await until(lambda word=word: received[-1:] == [Content(word)])
    both.text_loop.words.put_nowait(None)
    await following
    assert received[:3] == [Content("One "), Content("two "), Content("three.")]
    assert isinstance(received[3], Done)
    assert both.home.cluster is not None
    assert both.home.cluster.remote_subscribers == {}


async def test_a_run_is_followed_without_notifications(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers also poll, so they need no notification."""
    monkeypatch.setattr(cluster, "POLL_SECONDS", 0.001)
    both, received = await two(), list[AnyEvent]()
    both.air.is_silent = True
    following = asyncio.create_task(received_by(both.other, both.run.id, received))
    both.text_loop.words.put_nowait("One.")
    await until(lambda: len(received) == 1)
    both.text_loop.words.put_nowait(None)
    await following
    assert isinstance(received[-1], Done)


async def test_a_run_is_stopped_from_another_worker() -> None:
    """The call returns when the run is over, and reports that it ended the run; a second one does not."""
    both = await two()
    both.text_loop.words.put_nowait("One.")
    record, was_stopped = await both.other.stop(both.run.id)
    assert (record.status, was_stopped) == ("cancelled", True)
    assert await both.other.stop(both.run.id) == (record, False)


async def test_a_stop_without_a_response_fails_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """After two lease times the caller gets an error; the stop was repeated until then."""
    monkeypatch.setattr(cluster, "POLL_SECONDS", 0.0)
    both = await two()
    both.air.is_silent = True
    stopping = asyncio.create_task(both.other.stop(both.run.id))
    await until(lambda: both.air.lines.count(f"stop {both.run.id}") > 3)
    assert not stopping.done()
    both.air.now += 2 * LEASE
    with pytest.raises(RequestError) as refused:
        await stopping
    assert refused.value.code is Code.WORKER_SILENT
    assert not both.run.is_over


async def test_a_run_continues_while_another_worker_follows_it() -> None:
    """Its local subscriber leaves first; the run ends when the last one has left, in whichever worker."""
    both, here, there = await two(is_detached=False), list[AnyEvent](), list[AnyEvent]()
    own = asyncio.create_task(received_by(both.home, both.run.id, here))
    both.text_loop.words.put_nowait("One ")
    await until(lambda: len(here) == 1)
    following = asyncio.create_task(received_by(both.other, both.run.id, there))
    await until(lambda: both.run.subscribers == 2)
    own.cancel()
    await asyncio.wait({own})
    both.text_loop.words.put_nowait("two ")
    await until(lambda: len(there) == 2)
    following.cancel()
    await both.run.wait()
    assert both.run.done is not None
    assert both.run.done.status == "cancelled"


async def test_a_subscriber_that_leaves_after_its_first_read_ends_the_run() -> None:
    """It leaves before its worker has announced it, and still was the last subscriber."""
    both = await two(is_detached=False)
    both.text_loop.words.put_nowait("One ")
    await until(lambda: both.run.seq == 1)
    async with aclosing(both.other.subscribe(both.run.id)) as batches:
        assert [stamped.event for stamped in await anext(batches)] == [Content("One ")]
    await asyncio.wait_for(both.run.wait(), 10)
    assert both.run.done is not None
    assert both.run.done.status == "cancelled"


async def test_a_replay_at_another_worker_announces_nothing() -> None:
    """A finished run has no subscribers."""
    both, received = await two(), list[AnyEvent]()
    both.text_loop.words.put_nowait(None)
    await both.run.wait()
    await until(lambda: both.home.live(both.run.id) is None)
    await received_by(both.other, both.run.id, received)
    assert both.air.lines == []


async def test_followers_of_a_dead_worker_expire() -> None:
    """A worker that stops renewing its subscription no longer counts, and the run ends."""
    both = await two(is_detached=False)
    mine = both.home.cluster
    assert mine is not None
    mine.handle_notification(f"watch {both.run.id} dead")
    assert both.run.subscribers == 1
    both.air.now += cluster._EXPIRY_SECONDS + 1
    beating = asyncio.create_task(mine.send_heartbeats())
    await both.run.wait()
    beating.cancel()
    assert both.run.subscribers == 0


async def test_a_poll_at_another_worker_extends_a_run_without_subscribers() -> None:
    """The timer that would end the run is reset."""
    both = await two()
    before = both.run.detached_timer
    async with aclosing(both.other.read_available(both.run.id)) as batches:
        assert [batch async for batch in batches] == []
    await until(lambda: both.run.detached_timer is not before)
    assert before is not None
    assert before.cancelled()


@pytest.mark.parametrize("line", ["", "news", "watch", "stop", "stop unknown", "leave x y", "poll x", "hymn a b c"])
async def test_unknown_notifications_are_ignored(line: str) -> None:
    """A later version may send others, and a run may live in another worker."""
    both = await two()
    assert both.home.cluster is not None
    both.home.cluster.handle_notification(line)
    assert both.home.live(both.run.id) is both.run
    assert both.home.cluster.remote_subscribers == {}


ILL_FROM, ILL_TO, END = 160.0, 190.0, 220.0


class Beats:
    """Counts renewals and takeovers; a renewal fails while the database is unavailable."""

    def __init__(self, air: Air) -> None:
        self.air = air
        self.looked: list[float] = []

    async def renew(self) -> None:
        if ILL_FROM <= self.air.now < ILL_TO:
            raise StoreError(Code.STORE_UNAVAILABLE)

    async def end_orphans(self) -> None:
        self.looked.append(self.air.now)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)  # what the heartbeat has begun continues meanwhile
        self.air.now += seconds
        if self.air.now > END:
            raise asyncio.CancelledError


async def test_runs_are_taken_over_only_after_a_lease_of_health() -> None:
    """After a start, and after each outage, a whole lease passes before runs are taken over."""
    beats = await beaten(Beats(Air()))
    assert beats.looked[0] == 100 + LEASE
    assert [at for at in beats.looked if at < ILL_FROM][1:]
    assert next(at for at in beats.looked if at >= ILL_FROM) >= ILL_TO + LEASE


class Busy(Beats):
    """A takeover that never ends; renewals are counted."""

    renewed = 0

    async def renew(self) -> None:
        self.renewed += 1

    async def end_orphans(self) -> None:
        await super().end_orphans()
        await asyncio.Event().wait()


async def test_a_long_takeover_does_not_stop_the_heartbeat() -> None:
    """Leases are renewed during a takeover, and only one takeover runs at a time."""
    beats = await beaten(Busy(Air()))
    assert len(beats.looked) == 1
    assert beats.renewed > 10


class Slow(Beats):
    """A database that sometimes stalls: renewals of all workers arrive late."""

    async def renew(self) -> None:
        if int(self.air.now) % 2:
            self.air.now += LEASE


async def test_a_stall_also_delays_the_takeover() -> None:
    """A worker whose own renewal was late cannot know which workers are dead."""
    beats = await beaten(Slow(Air()))
    assert beats.looked == []


async def beaten(beats: Beats) -> Any:
    """Run the heartbeat of a worker to the end of the script."""
    air, store = beats.air, SharedStore(beats.air)
    manager = RunManager(store)
    peers_ = Cluster("a", LEASE, store, air, manager, beats.renew, beats.end_orphans, lambda: air.now, beats.sleep)
    with pytest.raises(asyncio.CancelledError):
        await peers_.send_heartbeats()
    return beats
