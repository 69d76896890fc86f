"""The store in memory: append, read behind a cursor, drop."""

import pytest
from signalbox.core.events import Content, Stamped
from signalbox.core.records import RunRecord
from signalbox.store.runs.in_memory import MemoryStore

pytestmark = pytest.mark.anyio


def stamped(*seqs: int) -> list[Stamped]:
    """Make events with these numbers."""
    return [Stamped(seq, 0, Content(str(seq))) for seq in seqs]


async def opened(store: MemoryStore, run_id: str = "r") -> list[int]:
    """Open a run; return what it is told to be durable, as it grows."""
    told: list[int] = []
    await store.open(RunRecord(run_id, "openai/sim", "v2"), lambda seq, reserved: told.append(seq))
    return told


async def test_read_behind_a_cursor() -> None:
    """Everything after the number is returned, in order, whether the number itself exists or not."""
    store = MemoryStore()
    told = await opened(store)
    store.append("r", stamped(1, 2))
    store.append("r", stamped(5, 9))
    assert await store.read_events("r", 0) == stamped(1, 2, 5, 9)
    assert await store.read_events("r", 2) == await store.read_events("r", 4) == stamped(5, 9)
    assert await store.read_events("r", 9) == await store.read_events("r", 100) == []
    assert await store.read_events("r", -1) == stamped(1, 2, 5, 9)
    assert told == [0, 2, 9]


async def test_runs_are_apart() -> None:
    """One run's events are never another's, and an unknown run has none."""
    store = MemoryStore()
    await opened(store, "a")
    await opened(store, "b")
    store.append("a", stamped(1))
    store.append("b", stamped(2))
    store.append("c", stamped(3))
    assert [await store.read_events(run_id, 0) for run_id in "abc"] == [stamped(1), stamped(2), []]


async def test_what_was_read_is_the_readers() -> None:
    """Later events do not appear in a list that was handed out."""
    store = MemoryStore()
    await opened(store)
    store.append("r", stamped(1))
    read = await store.read_events("r", 0)
    store.append("r", stamped(2))
    assert read == stamped(1)


async def test_drop() -> None:
    """A dropped run is gone, what it still says is nobody's, and dropping it twice is no error."""
    store = MemoryStore()
    told = await opened(store)
    store.append("r", stamped(1))
    store.discard("r")
    store.discard("r")
    store.append("r", stamped(2))
    assert (await store.read_events("r", 0), await store.find("r"), told) == ([], None, [0, 1, 2])
    store.close("r")
    store.append("r", stamped(3))
    assert told == [0, 1, 2]
