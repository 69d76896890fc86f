"""The store in memory: append, read, discard."""

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


async def test_read_after_a_cursor() -> None:
    """All events after a number are returned in order, whether or not that number exists."""
    store = MemoryStore()
    told = await opened(store)
    store.append("r", stamped(1, 2))
    store.append("r", stamped(5, 9))
    assert await store.read_events("r", 0) == stamped(1, 2, 5, 9)
    assert await store.read_events("r", 2) == await store.read_events("r", 4) == stamped(5, 9)
    assert await store.read_events("r", 9) == await store.read_events("r", 100) == []
    assert await store.read_events("r", -1) == stamped(1, 2, 5, 9)
    assert told == [0, 2, 9]


async def test_runs_are_separate() -> None:
    """A run returns only its own events, and an unknown run none."""
    store = MemoryStore()
    await opened(store, "a")
    await opened(store, "b")
    store.append("a", stamped(1))
    store.append("b", stamped(2))
    store.append("c", stamped(3))
    assert [await store.read_events(run_id, 0) for run_id in "abc"] == [stamped(1), stamped(2), []]


async def test_a_returned_list_does_not_change() -> None:
    """Later events are not added to a list that was returned."""
    store = MemoryStore()
    await opened(store)
    store.append("r", stamped(1))
    read = await store.read_events("r", 0)
    store.append("r", stamped(2))
    assert read == stamped(1)


async def test_discard() -> None:
    """A discarded run is unknown; later events and a second discard are ignored."""
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
