"""Runs leave nothing in memory once they are written, dropped or deleted."""

import asyncio
import gc

import pytest
from signalbox.chat.loops.progress import Progress
from signalbox.core.codes import Code
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.runs.billing import Settlements
from signalbox.runs.journal import Journal
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import Disk, until
from tests.support.loop_runs import context_for
from tests.unit.runs.stored_runs import TextLoop, ended_loop, start

pytestmark = pytest.mark.anyio


async def test_a_run_whose_row_was_deleted_ends_normally(disk: Disk, store: JournalStore) -> None:
    """Its conversation was deleted meanwhile: subscribers read to the end, and nothing stays in memory."""
    manager = RunManager(store)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    seen: list[int] = []

    async def watch() -> None:
        async for batch in manager.subscribe(run.id):
            seen.extend(stamped.seq for stamped in batch)

    watching = asyncio.create_task(watch())
    text_loop.step()
    await until(lambda: run.journal.durable == 1)
    await disk.write(lambda connection: connection.exec_driver_sql("DELETE FROM runs"))
    text_loop.step(3)
    await until(lambda: run.journal.durable == 4)
    text_loop.step(2)
    await until(lambda: run.seq == 6)
    text_loop.end()
    await asyncio.wait_for(watching, 5)
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert (manager._live, manager._undurable, store._runs) == ({}, {}, {})


@pytest.mark.parametrize("when", ["it runs", "it is over"])
async def test_a_dropped_run_leaves_nothing_in_memory(disk: Disk, store: JournalStore, when: str) -> None:
    """If its conversation is deleted during an outage, the unwritten events are dropped."""
    manager = RunManager(store)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    disk.failing = Code.STORE_UNAVAILABLE
    text_loop.step()
    if when == "it runs":
        await until(lambda: run.seq == 1)
        store.discard(run.id)
        text_loop.step()
        await until(lambda: run.seq == 2)
    text_loop.end()
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
    run = await start(manager, ended_loop())
    async for _batch in manager.subscribe(run.id):
        pass
    await run.wait()


def _runs_in_memory() -> int:
    gc.collect()
    return sum(isinstance(one, Run) for one in gc.get_objects())


async def test_closing_writes_the_endings(disk: Disk, store: JournalStore) -> None:
    """Runs end first, then the journal is flushed, so clients read the ending after a restart."""
    manager = RunManager(store)
    runs = [await start(manager, TextLoop()) for _ in range(3)]
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
        async def bill(self, generation_id: str, upstream: str) -> Bill:
            asked.set()
            await told.wait()
            return Bill(Usage(input=7, output=5, cost=0.5))

    async def no_wait(seconds: float) -> None:
        """Return at once."""

    settlements = Settlements(Bills(), sleep=no_wait)
    manager = RunManager(store, settlements=settlements)
    text_loop, progress, context = TextLoop(), Progress(), context_for()
    attempt = progress.begin_attempt(Request("openai/sim", ()), 1, final=False)
    attempt.finish(Completion(served=Served("gen-1")), 1.0, None)
    run = await manager.start(context, progress, text_loop)
    text_loop.step()
    text_loop.end()
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
