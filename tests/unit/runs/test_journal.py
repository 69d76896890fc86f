"""The journal of an active run: a bounded tail in memory, the rest on disk; subscribers see every event once."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped
from signalbox.runs import journal as module
from signalbox.runs.journal import Cursor, Journal
from signalbox.store.runs.in_memory import MemoryStore

from tests.unit.runs.staged_journal import KEPT, Slow, Stage, let_tasks_run, small_tail

pytestmark = pytest.mark.anyio
__all__ = ["small_tail"]  # applies to every test here


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 9)),
        st.tuples(st.just("write"), st.integers(0, 20)),
        st.tuples(st.just("reserve"), st.integers(1, 30)),
        st.tuples(st.just("watch"), st.integers(0, 40)),
        st.tuples(st.just("cut"), st.integers(0, 5)),
        st.tuples(st.just("run"), st.integers(1, 6)),
    ),
    max_size=40,
)


@settings(max_examples=300)
@given(MOVES, st.sampled_from([0, 1000]))
def test_every_subscriber_sees_every_event_once(moves: list[tuple[str, int]], reserved: int) -> None:
    """With any interleaving of appends, flushes, reservations, joins, cuts and resumes."""
    module._IN_MEMORY = KEPT
    asyncio.run(_play(moves, reserved))


class Subscriber:
    """Follows a journal from a cursor; after a cut it resumes after the last event that it has seen.

    Every other one accepts two of three batches through `try_emit`, and declines the third.
    """

    def __init__(self, stage: Stage, after: int) -> None:
        self.stage, self.asked, self.after = stage, after, 0
        self.takes, self.told = bool(after % 2), 0
        self.seen: list[int] = []
        self.task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        if not self.seen:  # a cursor ahead of the run gets what comes from here on
            self.after = min(self.asked, self.stage.journal.seq)
        after = self.seen[-1] if self.seen else self.asked
        async for batch in self.stage.journal.read_from(Cursor(after, self._at_once) if self.takes else Cursor(after)):
            self._see(batch)

    def _at_once(self, batch: list[Stamped]) -> bool:
        self.told += 1
        if self.told % 3 == 0:
            return False
        self._see(batch)
        return True

    def _see(self, batch: list[Stamped]) -> None:
        for stamped in batch:
            assert stamped.seq <= self.stage.journal.reserved, "shown before it was reserved"
            self.seen.append(stamped.seq)

    async def cut(self) -> None:
        if not self.task.done():
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            self.task = asyncio.create_task(self._follow())


async def _play(moves: list[tuple[str, int]], reserved: int) -> None:
    stage = Stage()
    stage.write(reserve=reserved)
    subscribers: list[Subscriber] = []
    for move, number in moves:
        match move:
            case "say":
                stage.append(number)
            case "write":
                stage.write(number)
            case "reserve":
                stage.journal.mark_durable(stage.journal.durable, stage.journal.reserved + number)
            case "watch":
                subscribers.append(Subscriber(stage, number))
            case "cut" if subscribers:
                await subscribers[number % len(subscribers)].cut()
            case _:
                for _ in range(number):
                    await asyncio.sleep(0)
    stage.append(1)
    stage.write()
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(asyncio.gather(*(subscriber.task for subscriber in subscribers)), 5)
    for subscriber in subscribers:
        assert subscriber.seen == list(range(subscriber.after + 1, stage.appended + 1))


async def test_a_long_run_keeps_a_bounded_tail() -> None:
    """Of 20,000 events, memory holds those that are not on disk, and a few more."""
    stage = Stage()
    most = 0
    for _ in range(2000):
        stage.append(10)
        stage.write()
        most = max(most, stage.held())
    assert most <= 2 * KEPT + 10
    stage.append(500)  # the disk is held: nothing of this can be let go
    assert stage.held() >= 500
    stage.write(100)
    assert 400 <= stage.held() <= 400 + 2 * KEPT + 10
    seen = [stamped.seq async for batch in _all(stage) for stamped in batch]
    assert seen == list(range(1, stage.appended + 1))


async def _all(stage: Stage):
    stage.write()
    stage.journal.is_over = True
    async for batch in stage.journal.follow(0):
        yield batch


async def test_a_subscriber_is_woken_when_events_become_readable() -> None:
    """By an event with a reserved number, otherwise by the reservation, and by the end."""
    stage = Stage()
    watching = asyncio.create_task(_seen(stage))
    await asyncio.sleep(0)
    stage.append(2)
    await asyncio.sleep(0)
    assert stage.seen == []
    stage.journal.mark_durable(0, 5)
    await let_tasks_run()
    assert stage.seen == [1, 2]
    stage.append(2)
    await let_tasks_run()
    assert stage.seen == [1, 2, 3, 4]
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(watching, 5)


async def _seen(stage: Stage) -> None:
    async for batch in stage.journal.follow(0):
        stage.seen += [stamped.seq for stamped in batch]


async def test_a_subscriber_that_keeps_up_costs_no_read() -> None:
    """Only a subscriber behind the tail is served from disk."""
    stage = Stage()
    stage.write(reserve=10_000)
    after = 0
    for _ in range(100):
        stage.append(3)
        after = (await stage.journal.next_events(after))[-1].seq
        stage.write()
    assert (after, stage.store.reads) == (300, 0)
    assert [s.seq for s in await stage.journal.next_events(0)] == [1, 2, 3]
    assert stage.store.reads == 1


async def test_the_cost_of_an_event_does_not_depend_on_the_run() -> None:
    """The tail is trimmed rarely, and then by more than what remains."""
    stage = Stage()
    moved: list[int] = []
    for length in (1_000, 10_000):
        stage, before, moves = Stage(), 0, 0
        for _ in range(length):
            stage.append(1)
            stage.write()
            if stage.held() <= before:
                moves += stage.held()
            before = stage.held()
        moved.append(moves // (length // 1_000))
    assert moved[1] <= moved[0] * 1.1
    assert moved[0] <= 1_000


async def test_deleted_events_do_not_block_a_subscriber() -> None:
    """If the rows of an active run are deleted, a lagging subscriber continues with the rest."""
    stage = Stage()
    for _ in range(10):
        stage.append(5)
        stage.write()
    stage.store.disk.clear()
    stage.journal.is_over = True
    seen = [stamped.seq async for batch in stage.journal.follow(3) for stamped in batch]
    assert seen == list(range(stage.journal._first, 51))


async def test_an_event_that_the_store_rejects_is_not_emitted() -> None:
    """A failed append uses no number and shows nothing."""
    stage = Stage()
    stage.write(reserve=10)

    def breaks(run_id: str, batch: list[Stamped]) -> None:
        raise OSError

    stage.store.append = breaks  # type: ignore[method-assign]
    with pytest.raises(OSError, match=r"^$"):
        stage.append(2)
    del stage.store.append
    assert (stage.journal.seq, await stage.journal.next_events(0)) == (0, [])
    stage.append(1)
    assert [s.seq for s in await stage.journal.next_events(0)] == [1]


class Ill(Slow):
    """A disk whose first reads fail."""

    refusals = 3
    code = Code.STORE_UNAVAILABLE

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        if self.refusals:
            self.refusals -= 1
            raise StoreError(self.code)
        return await super().read_events(run_id, after)


def far_behind(store: Ill) -> Stage:
    """Return an ended run of which only the newest events are in memory."""
    stage = Stage(store)
    stage.append(20)
    stage.write()
    stage.journal.is_over = True
    assert stage.held() < 20
    return stage


async def test_a_lagging_subscriber_waits_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its unread events are on disk, so its stream stays open, and it loses nothing."""
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.0)
    stage = far_behind(Ill())
    seen = [stamped.seq async for batch in stage.journal.follow(0) for stamped in batch]
    assert seen == [*range(1, 21)]
    assert stage.store.reads > 1


async def test_an_unreadable_row_is_reported_at_once() -> None:
    """The subscriber gets the error without a retry."""
    store = Ill()
    store.code = Code.INTERNAL
    with pytest.raises(StoreError):
        [batch async for batch in far_behind(store).journal.follow(0)]


def test_an_event_has_the_time_of_its_append(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole epoch milliseconds, alone and in a batch."""
    monkeypatch.setattr(module, "time", lambda: 1_763_000_000.1239)
    journal = Journal("run", MemoryStore())
    journal.append([Content("a")])
    journal.append([Content("b"), Content("c")])
    assert [stamped.at for stamped in journal._tail] == [1_763_000_000_123] * 3
