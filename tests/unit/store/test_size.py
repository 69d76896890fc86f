"""The size of a journal: events on disk, and events that wait for a failing disk."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.events import Content, Stamped
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import Disk, opened, until

pytestmark = pytest.mark.anyio

KB = 1024


def large(seq: int) -> list[Stamped]:
    """Make an event of a kilobyte."""
    return [Stamped(seq, 0, Content("x" * KB))]


@pytest.fixture
async def full(store: JournalStore) -> list[str]:
    """Return a list that receives the runs of more than ten kilobytes."""
    full: list[str] = []
    store.max_bytes, store.on_full = 10 * KB, full.append
    await opened(store, "a", "b")
    return full


async def test_events_on_disk_count(disk: Disk, store: JournalStore, full: list[str]) -> None:
    """The size of each run is that of its rows in bytes."""
    for seq in range(1, 10):
        store.append("a", large(seq))
        store.append("b", large(seq))
        await store.flush()
    assert full == []
    store.append("a", large(10))
    await store.flush()
    assert full == ["a"]
    assert disk.rows("SELECT sum(length(frames)) > ? FROM journal WHERE run_id = 'a'", 10 * KB) == [(1,)]


async def test_events_that_wait_for_a_failing_disk_count(disk: Disk, store: JournalStore, full: list[str]) -> None:
    """Events in memory count once, however often the write is tried."""
    store.append("a", large(1))
    await store.flush()
    disk.failing = Code.STORE_UNAVAILABLE
    for seq in range(2, 9):
        store.append("a", large(seq))
        tries = disk.refused
        await until(lambda tries=tries: disk.refused >= tries + 3)
    assert full == []
    store.append("a", large(9))
    store.append("a", large(10))
    await until(lambda: bool(full))
    disk.failing = None
    await store.flush()
    assert set(full) == {"a"}
    assert [s.seq for s in await store.read_events("a", 0)] == [*range(1, 11)]


async def test_events_count_once_after_an_outage(disk: Disk, store: JournalStore, full: list[str]) -> None:
    """After the outage, events count as stored and no longer as waiting."""
    disk.failing = Code.STORE_UNAVAILABLE
    for seq in range(1, 7):
        store.append("b", large(seq))
    await until(lambda: disk.refused >= 2)
    disk.failing = None
    await store.flush()
    store.append("b", large(7))
    await store.flush()
    assert full == []
