"""A live run's journal: a bounded tail in memory, the rest on disk, and watchers who see every event exactly once."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Done, Stamped
from signalbox.runs import journal as module
from signalbox.runs.journal import Cursor, Journal
from signalbox.store.runs.in_memory import MemoryStore

pytestmark = pytest.mark.anyio

KEPT = 4
PAGE = 3


class Slow(MemoryStore):
    """A disk that writes when the test says so and reads a few events at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.disk: list[Stamped] = []
        self.coming: list[Stamped] = []
        self.reads = 0

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        self.coming += batch

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        self.reads += 1
        await asyncio.sleep(0)  # the journal goes on meanwhile
        return self.disk[after : after + PAGE]


@dataclass
class Stage:
    """A journal over such a disk, and what each watcher has seen."""

    store: Slow = field(default_factory=Slow)
    said: int = 0
    seen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Open it, with nothing reserved."""
        self.journal = Journal("r", self.store)

    def say(self, count: int) -> None:
        self.journal.append([Content(str(n)) for n in range(self.said + 1, self.said + count + 1)])
        self.said += count

    def write(self, count: int | None = None, reserve: int = 0) -> None:
        """Take so many of the coming events to the disk (all), and reserve so many numbers behind them."""
        count = len(self.store.coming) if count is None else count
        self.store.disk += self.store.coming[:count]
        del self.store.coming[:count]
        durable = len(self.store.disk)
        self.journal.mark_durable(durable, max(self.journal.reserved, durable + reserve))

    def held(self) -> int:
        return len(self.journal._tail)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a tail of a few events, so that short runs outgrow it."""
    monkeypatch.setattr(module, "_IN_MEMORY", KEPT)


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
def test_every_watcher_sees_every_event_once(moves: list[tuple[str, int]], reserved: int) -> None:
    """Whatever the interleaving of saying, writing, reserving, joining anywhere, cuts and resumes."""
    module._IN_MEMORY = KEPT
    asyncio.run(_play(moves, reserved))


class Watcher:
    """Follows a journal from a cursor; after a cut it goes on behind what it has seen.

    Every other one takes two of three batches where they are told, and refuses the third.
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
    watchers: list[Watcher] = []
    for move, number in moves:
        match move:
            case "say":
                stage.say(number)
            case "write":
                stage.write(number)
            case "reserve":
                stage.journal.mark_durable(stage.journal.durable, stage.journal.reserved + number)
            case "watch":
                watchers.append(Watcher(stage, number))
            case "cut" if watchers:
                await watchers[number % len(watchers)].cut()
            case _:
                for _ in range(number):
                    await asyncio.sleep(0)
    stage.say(1)
    stage.write()
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(asyncio.gather(*(watcher.task for watcher in watchers)), 5)
    for watcher in watchers:
        assert watcher.seen == list(range(watcher.after + 1, stage.said + 1))


async def test_a_long_run_keeps_a_bounded_tail() -> None:
    """Of twenty thousand events memory holds what the disk has not, and a little."""
    stage = Stage()
    most = 0
    for _ in range(2000):
        stage.say(10)
        stage.write()
        most = max(most, stage.held())
    assert most <= 2 * KEPT + 10
    stage.say(500)  # the disk is held: nothing of this can be let go
    assert stage.held() >= 500
    stage.write(100)
    assert 400 <= stage.held() <= 400 + 2 * KEPT + 10
    seen = [stamped.seq async for batch in _all(stage) for stamped in batch]
    assert seen == list(range(1, stage.said + 1))


async def _all(stage: Stage):
    stage.write()
    stage.journal.is_over = True
    async for batch in stage.journal.follow(0):
        yield batch


async def test_a_watcher_is_woken_by_what_lets_him_see_more() -> None:
    """By an event, where its number is reserved; else by the reservation; by the end."""
    stage = Stage()
    watching = asyncio.create_task(_seen(stage))
    await asyncio.sleep(0)
    stage.say(2)
    await asyncio.sleep(0)
    assert stage.seen == []
    stage.journal.mark_durable(0, 5)
    await _turns()
    assert stage.seen == [1, 2]
    stage.say(2)
    await _turns()
    assert stage.seen == [1, 2, 3, 4]
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(watching, 5)


async def _seen(stage: Stage) -> None:
    async for batch in stage.journal.follow(0):
        stage.seen += [stamped.seq for stamped in batch]


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_keeps_up_costs_no_read() -> None:
    """Only a watcher behind the tail is served from the disk."""
    stage = Stage()
    stage.write(reserve=10_000)
    after = 0
    for _ in range(100):
        stage.say(3)
        after = (await stage.journal.next_events(after))[-1].seq
        stage.write()
    assert (after, stage.store.reads) == (300, 0)
    assert [s.seq for s in await stage.journal.next_events(0)] == [1, 2, 3]
    assert stage.store.reads == 1


async def test_an_event_costs_the_same_however_long_the_run() -> None:
    """What is moved in memory per event does not grow: the tail is cut seldom and then by more than what stays."""
    stage = Stage()
    moved: list[int] = []
    for length in (1_000, 10_000):
        stage, before, moves = Stage(), 0, 0
        for _ in range(length):
            stage.say(1)
            stage.write()
            if stage.held() <= before:
                moves += stage.held()
            before = stage.held()
        moved.append(moves // (length // 1_000))
    assert moved[1] <= moved[0] * 1.1
    assert moved[0] <= 1_000


async def test_what_was_deleted_keeps_no_watcher_waiting() -> None:
    """The rows of a live run are gone from the disk: who was behind goes on with what is left, to the end."""
    stage = Stage()
    for _ in range(10):
        stage.say(5)
        stage.write()
    stage.store.disk.clear()
    stage.journal.is_over = True
    seen = [stamped.seq async for batch in stage.journal.follow(3) for stamped in batch]
    assert seen == list(range(stage.journal._first, 51))


async def test_what_the_store_does_not_take_has_not_happened() -> None:
    """An append that breaks leaves no number used and nothing shown."""
    stage = Stage()
    stage.write(reserve=10)

    def breaks(run_id: str, batch: list[Stamped]) -> None:
        raise OSError

    stage.store.append = breaks  # type: ignore[method-assign]
    with pytest.raises(OSError, match=r"^$"):
        stage.say(2)
    del stage.store.append
    assert (stage.journal.seq, await stage.journal.next_events(0)) == (0, [])
    stage.say(1)
    assert [s.seq for s in await stage.journal.next_events(0)] == [1]


class Ill(Slow):
    """A disk that refuses its first reads."""

    refusals = 3
    code = Code.STORE_UNAVAILABLE

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        if self.refusals:
            self.refusals -= 1
            raise StoreError(self.code)
        return await super().read_events(run_id, after)


def far_behind(store: Ill) -> Stage:
    """Make a run that is over, of which only the newest events are in memory."""
    stage = Stage(store)
    stage.say(20)
    stage.write()
    stage.journal.is_over = True
    assert stage.held() < 20
    return stage


async def test_a_slow_watcher_waits_for_a_disk_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """What he has not read yet lies there: breaking his stream would not help him, and he loses nothing."""
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.0)
    stage = far_behind(Ill())
    seen = [stamped.seq async for batch in stage.journal.follow(0) for stamped in batch]
    assert seen == [*range(1, 21)]
    assert stage.store.reads > 1


async def test_a_row_that_cannot_be_read_ever_is_not_waited_for() -> None:
    """The watcher is told at once."""
    store = Ill()
    store.code = Code.INTERNAL
    with pytest.raises(StoreError):
        [batch async for batch in far_behind(store).journal.follow(0)]


# --- told where it is made --------------------------------------------------------------------------------------------


async def told_at_once(stage: Stage, takes: bool = True) -> tuple[list[int], list[int], "asyncio.Task[None]", Cursor]:
    """Follow a journal with `try_emit`; return what was told at once, what was yielded, the task, and its cursor."""
    at_once: list[int] = []
    yielded: list[int] = []

    def try_emit(batch: list[Stamped]) -> bool:
        if takes:
            at_once.extend(stamped.seq for stamped in batch)
        return takes

    cursor = Cursor(0, try_emit)

    async def follow() -> None:
        async for batch in stage.journal.read_from(cursor):
            yielded.extend(stamped.seq for stamped in batch)

    task = asyncio.create_task(follow())
    await asyncio.sleep(0)
    return at_once, yielded, task, cursor


async def test_news_are_told_without_waking_a_task() -> None:
    """What a watcher takes at once is told before `append` returns, and is not yielded; his cursor goes along."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, cursor = await told_at_once(stage)
    stage.say(2)
    stage.say(1)
    assert (at_once, cursor.after) == ([1, 2, 3], 3)
    await asyncio.sleep(0)
    assert yielded == []
    task.cancel()


async def test_news_that_are_refused_are_yielded() -> None:
    """Nothing is lost, nothing doubled, when a watcher cannot take it."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, _ = await told_at_once(stage, takes=False)
    stage.say(2)
    for _ in range(3):
        await asyncio.sleep(0)
    assert (at_once, yielded) == ([], [1, 2])
    task.cancel()


async def test_an_ending_is_never_told_at_once() -> None:
    """It waits for the disk, like every ending."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, _ = await told_at_once(stage)
    stage.say(1)
    stage.journal.append([Done(done=True, status="complete")])
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(task, 30)
    assert (at_once, yielded) == ([1], [2])


async def test_nothing_is_told_at_once_of_what_is_not_reserved() -> None:
    """A number that a crash could give out again is shown to nobody."""
    stage = Stage()
    stage.write(reserve=1)
    at_once, yielded, task, _ = await told_at_once(stage)
    stage.say(3)
    assert at_once == [1]
    stage.write(reserve=100)
    assert at_once == [1, 2, 3]
    assert yielded == []
    task.cancel()


async def test_a_lost_run_tells_nothing_at_once_any_more() -> None:
    """The worker that has taken it over tells the rest, behind the cursor."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, _, task, cursor = await told_at_once(stage)
    stage.say(2)
    stage.journal.release()
    await asyncio.wait_for(task, 30)
    assert (at_once, cursor.after) == ([1, 2], 2)


async def test_who_has_left_is_told_nothing() -> None:
    """He is forgotten as he leaves; the others are told as before."""
    stage = Stage()
    stage.write(reserve=100)
    gone, _, leaving, _ = await told_at_once(stage)
    there, _, staying, _ = await told_at_once(stage)
    stage.say(1)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    stage.say(1)
    assert (gone, there) == ([1], [1, 2])
    assert len(stage.journal._waiting) == 1
    staying.cancel()


async def test_who_leaves_while_he_is_woken_harms_nobody() -> None:
    """His task is cancelled, and has not noticed yet; then it was woken already."""
    stage = Stage()
    stage.write(reserve=100)
    _, _, leaving, _ = await told_at_once(stage)
    there, _, staying, _ = await told_at_once(stage)
    leaving.cancel()
    stage.journal.wake()
    stage.say(1)
    await asyncio.gather(leaving, return_exceptions=True)
    _, _, woken, _ = await told_at_once(stage, takes=False)
    stage.say(1)
    woken.cancel()
    await asyncio.gather(woken, return_exceptions=True)
    stage.say(1)
    assert there == [1, 2, 3]
    staying.cancel()


def test_an_event_bears_the_time_it_was_told_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole milliseconds since 1970, alone and among others."""
    monkeypatch.setattr(module, "time", lambda: 1_763_000_000.1239)
    journal = Journal("run", MemoryStore())
    journal.append([Content("a")])
    journal.append([Content("b"), Content("c")])
    assert [stamped.at for stamped in journal._tail] == [1_763_000_000_123] * 3
