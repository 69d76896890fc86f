"""Runs over a real database: what clients see before it is on disk, and what happens during an outage."""

import asyncio

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Done
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run, new_run_id
from signalbox.store.runs import flush, journal
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import BOTH, Disk, until
from tests.unit.runs.stored_runs import BLOCK, Subscriber, TextLoop, ended_loop, start

pytestmark = pytest.mark.anyio


DATABASES = BOTH


async def test_no_event_is_shown_before_the_runs_row_is_on_disk(disk: Disk, store: JournalStore) -> None:
    """The model may answer already, but subscribers see nothing until the numbers are reserved."""
    manager = RunManager(store)
    text_loop, run_id = TextLoop(), new_run_id()
    disk.hold()
    starting = asyncio.create_task(start(manager, text_loop, run_id))
    await disk.asked.wait()
    text_loop.step(5)
    await until(lambda: text_loop.said == 5)
    subscriber = Subscriber(manager, disk, run_id)
    for _ in range(20):
        await asyncio.sleep(0)
    assert (subscriber.seen, starting.done(), disk.rows("SELECT id FROM runs")) == ([], False, [])
    disk.release()
    await starting
    text_loop.end()
    assert (await subscriber.end(), subscriber.ahead) == ([1, 2, 3, 4, 5, 6], [])


async def test_the_ending_is_on_disk_before_it_is_shown(disk: Disk, store: JournalStore) -> None:
    """A client that has seen `done` finds it after a crash; text may be ahead of the disk, the ending may not."""
    manager = RunManager(store)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    subscriber = Subscriber(manager, disk, run.id)
    disk.hold()
    text_loop.step()
    await until(lambda: subscriber.seen == [1])
    text_loop.end()
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
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    subscriber = Subscriber(manager, disk, run.id)
    disk.failing = Code.STORE_UNAVAILABLE
    text_loop.step()
    await until(lambda: subscriber.seen == [1])
    text_loop.end()
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
    text_loop = TextLoop(words=3)
    run = await start(manager, text_loop)
    subscriber = Subscriber(manager, disk, run.id)
    for step in range(1, 41):
        text_loop.step()
        await until(lambda step=step: run.seq == 3 * step and run.journal.durable == run.seq)
        assert disk.reserved(run.id) >= run.seq + BLOCK // 2
        await until(lambda step=step: len(subscriber.seen) == 3 * step)
    text_loop.end()
    assert await subscriber.end() == list(range(1, 122))
    assert subscriber.ahead == []


async def test_recovery_continues_above_all_seen_numbers(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a blocked disk, subscribers see only the reserved block, and recovery begins above it."""
    monkeypatch.setattr(flush, "BLOCK", BLOCK)
    manager = RunManager(store)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    subscriber = Subscriber(manager, disk, run.id)
    text_loop.step(3)
    await until(lambda: run.journal.durable == 3)
    disk.hold()
    text_loop.step(30)
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
    talks = [TextLoop(), TextLoop()]
    runs = [await start(manager, text_loop) for text_loop in talks]
    subscribers = [Subscriber(manager, disk, run.id) for run in runs]
    disk.failing = Code.STORE_UNAVAILABLE
    for text_loop in talks:
        text_loop.step(4)
    await until(lambda: not store.is_healthy)
    with pytest.raises(RequestError) as refused:
        await start(manager, TextLoop())
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
    await (await start(manager, ended_loop())).wait()


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
        await asyncio.wait_for(start(manager, TextLoop(), "r"), 5)
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert over[0].done is not None
    assert (over[0].done.status, over[0].done.code) == ("error", "STORE_UNAVAILABLE")
    assert (manager._live, manager._undurable, store._runs) == ({}, {}, {})
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 10.0)
    disk.failing = None
    disk.release()
    await until(lambda: store.is_healthy)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    assert disk.rows("SELECT id FROM runs") == [(run.id,)]
    text_loop.end()
    await run.wait()
