"""Runs over a real database: what clients see before it is on disk, and what happens during an outage."""

import asyncio
import gc
from contextlib import aclosing

import pytest
from signalbox.chat.loops.progress import Progress
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import AnyEvent, Content, Done
from signalbox.core.invariants import first_fault
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.core.ports import Emit
from signalbox.runs.billing import Settlements
from signalbox.runs.journal import Journal
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run, StartOptions, new_run_id
from signalbox.store.runs import flush, journal
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import BOTH, Disk, until
from tests.support.loop_runs import context_for

pytestmark = pytest.mark.anyio
DATABASES = BOTH
BLOCK = 8


class Talk:
    """A loop that emits this many words a step, as often as the test says, and then ends."""

    def __init__(self, words: int = 1) -> None:
        self.words, self.said = words, 0
        self._go = asyncio.Semaphore(0)
        self.is_over = False

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        while True:
            await self._go.acquire()
            if self.is_over:
                return
            self.said += self.words
            emit([Content("w ") for _ in range(self.words)])

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            self._go.release()

    def end(self) -> None:
        self.is_over = True
        self._go.release()


async def start(manager: RunManager, talk: Talk, run_id: str | None = None) -> Run:
    """Start a run that outlives its subscribers."""
    context = context_for()
    context.run_id = run_id or new_run_id()
    return await manager.start(context, Progress(), talk, StartOptions(continues_after_disconnect=True))


class Subscriber:
    """Reads a run to its end; records what it saw, and what was reserved on disk then."""

    def __init__(self, manager: RunManager, disk: Disk, run_id: str, after: int = 0) -> None:
        self.seen: list[int] = []
        self.events: list[AnyEvent] = []
        self.ahead: list[int] = []
        self._ask = (manager, disk, run_id, after)
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        manager, disk, run_id, after = self._ask
        async with aclosing(manager.subscribe(run_id, after)) as batches:
            async for batch in batches:
                if batch[-1].seq > disk.reserved(run_id):
                    self.ahead.append(batch[-1].seq)
                self.seen += [stamped.seq for stamped in batch]
                self.events += [stamped.event for stamped in batch]

    async def end(self) -> list[int]:
        await asyncio.wait_for(self.task, 10)
        assert first_fault(self.events) is None
        return self.seen


async def test_no_event_is_shown_before_the_runs_row_is_on_disk(disk: Disk, store: JournalStore) -> None:
    """The model may answer already, but subscribers see nothing until the numbers are reserved."""
    manager = RunManager(store)
    talk, run_id = Talk(), new_run_id()
    disk.hold()
    starting = asyncio.create_task(start(manager, talk, run_id))
    await disk.asked.wait()
    talk.step(5)
    await until(lambda: talk.said == 5)
    subscriber = Subscriber(manager, disk, run_id)
    for _ in range(20):
        await asyncio.sleep(0)
    assert (subscriber.seen, starting.done(), disk.rows("SELECT id FROM runs")) == ([], False, [])
    disk.release()
    await starting
    talk.end()
    assert (await subscriber.end(), subscriber.ahead) == ([1, 2, 3, 4, 5, 6], [])


async def test_the_ending_is_on_disk_before_it_is_shown(disk: Disk, store: JournalStore) -> None:
    """A client that has seen `done` finds it after a crash; text may be ahead of the disk, the ending may not."""
    manager = RunManager(store)
    talk = Talk()
    run = await start(manager, talk)
    subscriber = Subscriber(manager, disk, run.id)
    disk.hold()
    talk.step()
    await until(lambda: subscriber.seen == [1])
    talk.end()
    await until(lambda: run.is_over)
    for _ in range(50):
        await asyncio.sleep(0)
    assert (subscriber.seen, subscriber.task.done()) == ([1], False)
    disk.release()
    assert await subscriber.end() == [1, 2]
    assert disk.rows("SELECT status FROM runs") == [("complete",)]


async def test_an_outage_does_not_delay_the_ending(disk: Disk, store: JournalStore) -> None:
    """The stream continues to its end although nothing can be written."""
    manager = RunManager(store)
    talk = Talk()
    run = await start(manager, talk)
    subscriber = Subscriber(manager, disk, run.id)
    disk.failing = Code.STORE_UNAVAILABLE
    talk.step()
    await until(lambda: subscriber.seen == [1])
    talk.end()
    assert await subscriber.end() == [1, 2]
    disk.failing = None
    await store.flush()
    assert disk.rows("SELECT status FROM runs") == [("complete",)]


async def test_no_subscriber_is_ahead_of_the_reserved_numbers(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With small blocks, each block is on disk before one of its numbers is shown."""
    monkeypatch.setattr(flush, "BLOCK", BLOCK)
    manager = RunManager(store)
    talk = Talk(words=3)
    run = await start(manager, talk)
    subscriber = Subscriber(manager, disk, run.id)
    for step in range(1, 41):
        talk.step()
        await until(lambda step=step: run.seq == 3 * step and run.journal.durable == run.seq)
        assert disk.reserved(run.id) >= run.seq + BLOCK // 2
        await until(lambda step=step: len(subscriber.seen) == 3 * step)
    talk.end()
    assert await subscriber.end() == list(range(1, 122))
    assert subscriber.ahead == []


async def test_recovery_continues_above_all_seen_numbers(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a blocked disk, subscribers see only the reserved block, and recovery begins above it."""
    monkeypatch.setattr(flush, "BLOCK", BLOCK)
    manager = RunManager(store)
    talk = Talk()
    run = await start(manager, talk)
    subscriber = Subscriber(manager, disk, run.id)
    talk.step(3)
    await until(lambda: run.journal.durable == 3)
    disk.hold()
    talk.step(30)
    await until(lambda: run.seq == 33)
    await until(lambda: len(subscriber.seen) == BLOCK)
    assert (disk.reserved(run.id), disk.seqs(run.id)[-1][1]) == (BLOCK, 3)

    after_the_crash = disk.again()
    survivor = JournalStore(after_the_crash)
    revived = RunManager(survivor)
    await revived.recover()
    told = [stamped async for batch in revived.subscribe(run.id, BLOCK) for stamped in batch]
    assert [s.seq for s in told] == [BLOCK + 1, BLOCK + 2]
    done = told[-1].event
    assert isinstance(done, Done)
    assert (done.status, done.code) == ("interrupted", "SERVER_CRASH")
    assert [s.seq for s in await revived.events(run.id)] == [1, 2, 3, BLOCK + 1, BLOCK + 2]
    await survivor.aclose()
    await after_the_crash.aclose()
    subscriber.task.cancel()
    await asyncio.gather(subscriber.task, return_exceptions=True)
    store.discard(run.id)  # that process is dead
    run.stop()
    await run.wait()


async def test_streams_continue_during_an_outage(disk: Disk, store: JournalStore) -> None:
    """New runs get 503; active ones reach their end, and are written once the disk works."""
    over: list[Run] = []
    manager = RunManager(store, on_over=over.append)
    talks = [Talk(), Talk()]
    runs = [await start(manager, talk) for talk in talks]
    subscribers = [Subscriber(manager, disk, run.id) for run in runs]
    disk.failing = Code.STORE_UNAVAILABLE
    for talk in talks:
        talk.step(4)
    await until(lambda: not store.is_healthy)
    with pytest.raises(RequestError) as refused:
        await start(manager, Talk())
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert (over, len(manager._live)) == ([], 2), "it is refused before a model is asked"
    talks[0].end()
    assert await subscribers[0].end() == [1, 2, 3, 4, 5]
    assert (list(manager._undurable), disk.seqs(runs[0].id)) == ([runs[0].id], [])
    late = Subscriber(manager, disk, runs[0].id, after=2)
    assert await late.end() == [3, 4, 5]
    disk.failing = None
    await until(lambda: not manager._undurable)
    assert (await manager.find(runs[0].id)).status == "complete"
    assert [s.seq for s in await manager.events(runs[0].id)] == [1, 2, 3, 4, 5]
    talks[1].end()
    assert await subscribers[1].end() == [1, 2, 3, 4, 5]
    await (await start(manager, _ended())).wait()


def _ended() -> Talk:
    talk = Talk()
    talk.step()
    talk.end()
    return talk


@pytest.mark.parametrize("how", ["fails", "is silent"])
async def test_a_run_that_cannot_be_stored_is_ended(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Its caller gets 503 in time, its loop is closed, its slot is released, and it is never found."""
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 0.05)
    over: list[Run] = []
    manager = RunManager(store, max_active=1, on_over=over.append)
    if how == "fails":
        disk.failing = Code.STORE_UNAVAILABLE
    else:
        disk.hold()
    with pytest.raises(RequestError) as refused:
        await asyncio.wait_for(start(manager, Talk(), "r"), 5)
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert over[0].done is not None
    assert over[0].done.status == "cancelled"
    assert (manager._live, manager._undurable, store._runs) == ({}, {}, {})
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 10.0)
    disk.failing = None
    disk.release()
    await until(lambda: store.is_healthy)
    talk = Talk()
    run = await start(manager, talk)
    assert disk.rows("SELECT id FROM runs") == [(run.id,)]
    talk.end()
    await run.wait()


async def test_a_run_whose_row_was_deleted_ends_normally(disk: Disk, store: JournalStore) -> None:
    """Its conversation was deleted meanwhile: subscribers read to the end, and nothing stays in memory."""
    manager = RunManager(store)
    talk = Talk()
    run = await start(manager, talk)
    seen: list[int] = []

    async def watch() -> None:
        async for batch in manager.subscribe(run.id):
            seen.extend(stamped.seq for stamped in batch)

    watching = asyncio.create_task(watch())
    talk.step()
    await until(lambda: run.journal.durable == 1)
    await disk.write(lambda connection: connection.exec_driver_sql("DELETE FROM runs"))
    talk.step(3)
    await until(lambda: run.journal.durable == 4)
    talk.step(2)
    await until(lambda: run.seq == 6)
    talk.end()
    await asyncio.wait_for(watching, 5)
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert (manager._live, manager._undurable, store._runs) == ({}, {}, {})


@pytest.mark.parametrize("when", ["it runs", "it is over"])
async def test_a_dropped_run_leaves_nothing_in_memory(disk: Disk, store: JournalStore, when: str) -> None:
    """If its conversation is deleted during an outage, the unwritten events are dropped."""
    manager = RunManager(store)
    talk = Talk()
    run = await start(manager, talk)
    disk.failing = Code.STORE_UNAVAILABLE
    talk.step()
    if when == "it runs":
        await until(lambda: run.seq == 1)
        store.discard(run.id)
        talk.step()
        await until(lambda: run.seq == 2)
    talk.end()
    await run.wait()
    if when == "it is over":
        assert list(manager._undurable) == [run.id]
        store.discard(run.id)
    assert (manager._live, manager._undurable, store._runs) == ({}, {}, {})
    disk.failing = None
    await until(lambda: store.is_healthy)
    await store.flush()
    assert disk.seqs(run.id) == []


async def test_a_written_run_leaves_nothing_in_memory(disk: Disk, store: JournalStore) -> None:
    """Neither the manager nor the store keeps a finished run."""
    manager = RunManager(store)
    before = _runs_in_memory()
    for _ in range(20):
        await _watched(manager)
    await until(lambda: not manager._undurable)
    await store.flush()
    assert (manager._live, manager._undurable, store._runs, store._buffer.run_ids) == ({}, {}, {}, set())
    assert _runs_in_memory() <= before + 1  # the loop may hold the last one for a moment


async def _watched(manager: RunManager) -> None:
    run = await start(manager, _ended())
    async for _batch in manager.subscribe(run.id):
        pass
    await run.wait()


def _runs_in_memory() -> int:
    gc.collect()
    return sum(isinstance(one, Run) for one in gc.get_objects())


async def test_closing_writes_the_endings(disk: Disk, store: JournalStore) -> None:
    """Runs end first, then the journal is flushed, so clients read the ending after a restart."""
    manager = RunManager(store)
    runs = [await start(manager, Talk()) for _ in range(3)]
    await manager.aclose()
    await store.aclose()
    kept = JournalStore(disk)
    for run in runs:
        record = await kept.find(run.id)
        assert record is not None
        assert (record.status, record.code, record.seq) == ("interrupted", "SERVER_SHUTDOWN", 2)
        assert len(await kept.read_events(run.id, 0)) == 2
    assert await kept.claim_unfinished() == []


async def test_a_settlement_does_not_hold_the_events(disk: Disk, store: JournalStore) -> None:
    """While a bill is awaited, the run's events are released; the bill is still stored."""
    asked, told = asyncio.Event(), asyncio.Event()

    class Bills:
        async def bill(self, generation_id: str) -> Bill:
            asked.set()
            await told.wait()
            return Bill(Usage(input=7, output=5, cost=0.5))

    async def no_wait(seconds: float) -> None:
        """Return at once."""

    settlements = Settlements(Bills(), sleep=no_wait)
    manager = RunManager(store, settlements=settlements)
    talk, progress, context = Talk(), Progress(), context_for()
    attempt = progress.begin_attempt(Request("openai/sim", ()), 1, final=False)
    attempt.finish(Completion(served=Served("gen-1")), 1.0, None)
    run = await manager.start(context, progress, talk)
    talk.step()
    talk.end()
    await run.wait()
    await asked.wait()
    await store.flush()
    await until(lambda: manager.live(context.run_id) is None)
    del run
    gc.collect()
    assert not [one for one in gc.get_objects() if type(one) is Journal and one.run_id == context.run_id]
    told.set()
    await settlements.wait()
    record = await manager.find(context.run_id)
    assert record.usage is not None
    assert (record.usage.cost, record.status, record.settled_at is not None) == (0.5, "error", True)
