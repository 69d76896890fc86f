"""The journal on disk: group commits, closing, lists and reading."""

import asyncio

import pytest
from signalbox.core.errors import StoreError
from signalbox.core.records import RunFilter
from signalbox.runs.journal import read_all
from signalbox.store.runs import journal, stored_runs
from signalbox.store.runs.in_memory import MemoryStore
from signalbox.store.runs.journal import JournalStore
from structlog.testing import capture_logs

from tests.support.disk import BOTH, Disk, FileDisk, a_run, ended, opened, words

pytestmark = pytest.mark.anyio
DATABASES = BOTH
RUNS = [f"run-{number}" for number in range(20)]


# --- group commits -------------------------------------------------------------------------------------------------


async def test_many_runs_are_one_transaction_and_one_row_each(disk: Disk, store: JournalStore) -> None:
    """The events of twenty runs between two flushes take one commit, and one row per run."""
    await opened(store, *RUNS)
    assert disk.transactions == 1
    for number in range(1, 31):
        for run_id in RUNS:
            store.append(run_id, words(number, number))
    await store.flush()
    assert disk.transactions == 2
    assert [disk.seqs(run_id) for run_id in RUNS] == [[(1, 30)]] * 20
    assert await store.read_events(RUNS[7], 0) == words(1, 30)


async def test_nothing_waits_for_a_held_disk(disk: Disk, store: JournalStore) -> None:
    """Appending returns at once while a write is under way, and the next write has all new events."""
    told: list[tuple[int, int]] = []
    await opened(store, "a", told=lambda seq, reserved: told.append((seq, reserved)))
    disk.hold()
    store.append("a", words(1, 2))
    await disk.asked.wait()
    for number in range(3, 1003):
        store.append("a", words(number, number))
    assert disk.seqs("a") == []
    assert told == [(0, 1_000_000)]
    disk.release()
    await store.flush()
    assert disk.seqs("a") == [(1, 2), (3, 1002)]
    assert told == [(0, 1_000_000), (2, 1_000_000), (1002, 1_000_000)]
    assert disk.transactions == 3


async def test_a_flush_of_one_run_writes_only_that_run(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start or the flush of one run does not write the events of other runs."""
    await opened(store, "a", "b")
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 3600.0)
    for run_id in ("a", "b"):
        store.append(run_id, words(1, 2))
    await opened(store, "c")
    assert disk.rows("SELECT count(*) FROM journal") == [(0,)]
    await store.flush("a")
    assert (disk.seqs("a"), disk.seqs("b")) == ([(1, 2)], [])
    store.append("b", words(3, 3))
    await store.flush()
    assert disk.seqs("b") == [(1, 3)]


async def test_concurrent_flushes_share_a_commit(disk: Disk, store: JournalStore) -> None:
    """All runs that start or flush during a write share the next commit."""
    await opened(store, *RUNS[:10])
    disk.hold()
    first = asyncio.create_task(opened(store, "first"))
    await disk.asked.wait()
    for run_id in RUNS[:10]:
        store.append(run_id, words(1, 1))
    waiting = [asyncio.create_task(store.flush(run_id)) for run_id in RUNS[:10]]
    waiting.append(asyncio.create_task(opened(store, *RUNS[10:])))
    await asyncio.sleep(0)
    before = disk.transactions
    disk.release()
    await asyncio.gather(first, *waiting)
    assert disk.transactions == before + 2
    assert [disk.seqs(run_id) for run_id in RUNS[:10]] == [[(1, 1)]] * 10


async def test_frequent_starts_do_not_delay_other_runs(disk: Disk, store: JournalStore) -> None:
    """A run's events reach the disk although other runs start one after another, each in a separate commit."""
    await opened(store, "a")
    store.append("a", words(1, 1))
    opening = 0
    async with asyncio.timeout(30):
        while not disk.seqs("a"):
            opening += 1
            await opened(store, f"new-{opening}")
    assert disk.seqs("a") == [(1, 1)]


async def test_an_idle_store_writes_nothing(disk: Disk, store: JournalStore) -> None:
    """A flush without new events does not use the disk."""
    await store.flush()
    assert (disk.transactions, disk.asked.is_set()) == (0, False)


# --- closing -------------------------------------------------------------------------------------------------------


async def test_closing_writes_pending_events_and_ends_the_task(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing the store writes pending events; later calls do not fail the process."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 3600.0)
    before = asyncio.all_tasks()
    store = JournalStore(disk)
    await opened(store, "a")
    store.append("a", words(1, 5))
    await store.aclose()
    assert disk.seqs("a") == [(1, 5)]
    store.append("a", words(6, 6))
    store.save_figures("a", lambda: a_run("a"))
    with pytest.raises(StoreError):
        await asyncio.wait_for(store.flush(), 5)
    assert asyncio.all_tasks() == before


async def test_closing_does_not_wait_for_a_silent_disk(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing the store of a silent disk logs the loss and returns."""
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 0.01)
    before = asyncio.all_tasks()
    store = JournalStore(disk)
    disk.hold()
    store.save_figures("a", lambda: a_run("a"))
    with capture_logs() as lines:
        await asyncio.wait_for(store.aclose(), 5)
    assert "journal.events_lost" in [line["event"] for line in lines]
    assert asyncio.all_tasks() == before


async def test_figures_of_a_closed_run_are_stored(disk: Disk, store: JournalStore) -> None:
    """A cost that is settled after the end is stored; the status does not change."""
    await ended(store, "a")
    store.save_figures("a", lambda: a_run("a", settled_at=5.0, status="error", code="INTERNAL"))
    await store.flush()
    found = await store.find("a")
    assert found is not None
    assert (found.settled_at, found.status, found.code) == (5.0, "complete", None)


async def test_figures_of_an_unowned_active_run_are_discarded(disk: Disk, store: JournalStore) -> None:
    """Figures of a run that is active elsewhere are not stored."""
    await opened(store, "a")
    store.close("a")
    store.save_figures("a", lambda: a_run("a", status="complete", settled_at=5.0))
    await store.flush()
    found = await store.find("a")
    assert found is not None
    assert (found.status, found.settled_at) == (None, None)


async def test_a_list_of_runs_reads_no_question(disk: Disk, store: JournalStore) -> None:
    """Lists of runs omit questions, which may contain megabytes of images; `find` returns the question."""
    asked = {"prompt": "x" * 1000}
    record = a_run("a", question=asked, request=asked, cost_estimated=True, ended=5.0)
    await store.open(record, lambda seq, reserved: None)
    for told in (await store.recent(5), await store.claim_unfinished(), await store.unsettled(0.0)):
        assert [(one.id, one.question, one.request) for one in told] == [("a", {}, {})]
    found = await store.find("a")
    assert found is not None
    assert (found.question, found.request) == (asked, asked)


async def test_a_list_can_be_of_one_owner(disk: Disk, store: JournalStore) -> None:
    """Pages of one owner contain only that owner's runs; without an owner they contain all."""
    memory = MemoryStore()
    for at, owner in enumerate(["", "a", "b", "a", "", "a"]):
        for kept in (store, memory):
            await kept.open(a_run(f"run{at}", owner=owner, started=float(at)), lambda seq, reserved: None)
    for kept in (store, memory):
        assert [one.id for one in await kept.recent(2, wanted=RunFilter(owners=["a"]))] == ["run5", "run3"]
        assert [one.id for one in await kept.recent(2, (3.0, "run3"), RunFilter(owners=["a"]))] == ["run1"]
        assert [one.id for one in await kept.recent(9, wanted=RunFilter(owners=[""]))] == ["run4", "run0"]
        assert len(await kept.recent(9)) == 6
        assert [one.id for one in await kept.recent(9, wanted=RunFilter(statuses=["error", "complete"]))] == []
        assert len(await kept.recent(9, wanted=RunFilter(statuses=[None, "error"]))) == 6


# --- reading -------------------------------------------------------------------------------------------------------


async def test_pages_of_a_long_run_take_constant_time(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page is empty before the end, and the last one takes as many steps as the first."""
    await opened(store, "a", "b")
    for number in range(400):
        store.append("a", words(3 * number + 1, 3 * number + 3))
        store.append("b", words(number + 1, number + 1))
        await store.flush()
    monkeypatch.setattr(stored_runs, "_ROWS_PER_READ", 10)
    assert await read_all(lambda after: store.read_events("a", after)) == words(1, 1200)
    assert await store.read_events("a", 100) == words(101, 129)
    if isinstance(disk, FileDisk):  # PostgreSQL tells of no such figure
        assert await steps(disk, store, 1160) < 2 * await steps(disk, store, 20)
    assert (
        await store.read_events("a", 1200)
        == await store.read_events("a", 10**9)
        == await store.read_events("unknown", 0)
        == []
    )


async def steps(disk: FileDisk, store: JournalStore, after: int) -> int:
    """Return the number of SQLite steps of one read."""
    before = disk.steps
    assert await store.read_events("a", after)
    return disk.steps - before
