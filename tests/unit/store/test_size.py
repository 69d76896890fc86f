"""How large a journal has become: what is on disk counts, and what waits for a disk that is ill."""

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
async def told(store: JournalStore) -> list[str]:
    """Remember which runs are too large, of ten kilobytes."""
    full: list[str] = []
    store.max_bytes, store.on_full = 10 * KB, full.append
    await opened(store, "a", "b")
    return full


async def test_what_is_on_disk_counts(disk: Disk, store: JournalStore, told: list[str]) -> None:
    """Each run by itself, in the bytes that its rows take."""
    for seq in range(1, 10):
        store.append("a", large(seq))
        store.append("b", large(seq))
        await store.flush()
    assert told == []
    store.append("a", large(10))
    await store.flush()
    assert told == ["a"]
    assert disk.rows("SELECT sum(length(frames)) > ? FROM journal WHERE run_id = 'a'", 10 * KB) == [(1,)]


async def test_what_waits_for_an_ill_disk_counts(disk: Disk, store: JournalStore, told: list[str]) -> None:
    """It is in memory, however often the disk is tried, and counts once."""
    store.append("a", large(1))
    await store.flush()
    disk.failing = Code.STORE_UNAVAILABLE
    for seq in range(2, 9):
        store.append("a", large(seq))
        tries = disk.refused
        await until(lambda tries=tries: disk.refused >= tries + 3)
    assert told == []
    store.append("a", large(9))
    store.append("a", large(10))
    await until(lambda: bool(told))
    disk.failing = None
    await store.flush()
    assert set(told) == {"a"}
    assert [s.seq for s in await store.read_events("a", 0)] == [*range(1, 11)]


async def test_what_has_waited_counts_once(disk: Disk, store: JournalStore, told: list[str]) -> None:
    """Back on the disk it is part of what is there, and waits no more."""
    disk.failing = Code.STORE_UNAVAILABLE
    for seq in range(1, 7):
        store.append("b", large(seq))
    await until(lambda: disk.refused >= 2)
    disk.failing = None
    await store.flush()
    store.append("b", large(7))
    await store.flush()
    assert told == []
