"""Which runs and conversations are swept, on both databases and with the test's clock."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.codes import Code
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.errors import StoreError
from signalbox.core.messages import UserMessage
from signalbox.runs.retention import Retention
from signalbox.store.conversations import add_nodes, find_conversation
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.retention import Swept

from tests.support.disk import BOTH, Disk, a_run, words

pytestmark = pytest.mark.anyio
DATABASES = BOTH
NOW = 1_000.0


class Pauses(list[float]):
    """A sleep that returns at once and records the delays."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        await asyncio.sleep(0)


def retention(disk: Disk, pauses: Pauses | None = None) -> Retention:
    """Return a retention of a hundred seconds."""
    return Retention(disk, 100.0, clock=lambda: NOW, sleep=Pauses() if pauses is None else pauses)


async def put(store: JournalStore, run_id: str, ended: float | None, **fields: Any) -> None:
    """Store a run of two events that ended at this time; in a conversation, with its question."""
    record = a_run(run_id, started=(ended or NOW) - 500, **fields)
    await store.open(record, lambda seq, reserved: None)
    store.append(run_id, words(1, 2))
    if ended is not None:
        over = replace(record, ended=ended, status="complete")
        store.save_figures(run_id, lambda: over)
    await store.flush()


async def conversation(disk: Disk, conversation_id: str, updated: float) -> str:
    """Store a conversation with one question; return the question's id."""
    node = Node(f"q-{conversation_id}", None, "user", updated, "Hello?")
    told = [ClientNode(node, (UserMessage("Hello?"),))]
    await disk.write(add_nodes, Conversation(conversation_id, "Hello", created=updated, updated=updated), told)
    return node.id


async def left(store: JournalStore) -> set[str]:
    """Return the ids of the remaining runs."""
    return {record.id for record in await store.recent(1_000)}


async def test_runs_are_swept_by_their_end(disk: Disk, store: JournalStore) -> None:
    """Active runs and recently ended ones stay, whenever they began; deleted runs lose their events."""
    await put(store, "old", NOW - 101)
    await put(store, "new", NOW - 99)
    await put(store, "under-way", None)
    assert await retention(disk).sweep() == Swept(runs=1)
    assert await left(store) == {"new", "under-way"}
    assert await store.read_events("old", 0) == []
    assert await store.read_events("new", 0) == words(1, 2)
    assert await retention(disk).sweep() == Swept()


async def test_conversations_are_swept_whole(disk: Disk, store: JournalStore) -> None:
    """With runs and questions, and only if nothing happened in them since."""
    for name, updated, ended in (
        ("old", 800.0, 850.0),
        ("late", 800.0, 950.0),
        ("busy", 800.0, None),
        ("new", 950.0, 960.0),
    ):
        question = await conversation(disk, name, updated)
        await put(store, f"run-{name}", ended, conversation_id=name, parent_id=question)
    await put(store, "run-before", 700.0, conversation_id="late", parent_id="q-late")
    await disk.write(_aged, {"old": 800.0, "late": 800.0, "busy": 800.0, "new": 950.0})
    await conversation(disk, "unanswered", 850.0)
    assert await retention(disk).sweep() == Swept(runs=1, conversations=2)
    assert await left(store) == {"run-before", "run-late", "run-busy", "run-new"}
    assert [await disk.read(find_conversation, name) is None for name in ("old", "unanswered", "late", "busy")] == [
        *(True, True, False, False)
    ]


def _aged(connection: Any, times: dict[str, float]) -> None:
    """Undo that the start of a run counts as activity."""
    from signalbox.store.tables import CONVERSATIONS
    from sqlalchemy import update

    for name, updated in times.items():
        connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == name).values(updated=updated))


async def test_many_are_deleted_in_small_batches(disk: Disk, store: JournalStore) -> None:
    """Each transaction is small, and others can write between two of them."""
    await asyncio.gather(*(put(store, f"run-{number}", 500.0) for number in range(120)))
    await asyncio.gather(*(conversation(disk, f"c{number}", 500.0) for number in range(12)))
    before, pauses = disk.transactions, Pauses()
    assert await retention(disk, pauses).sweep() == Swept(runs=120, conversations=12)
    assert disk.transactions - before == 4 + 4  # 50, 50, 20, none; 5, 5, 2, none
    assert len(pauses) == 6


async def test_a_failed_sweep_is_repeated_later(disk: Disk, store: JournalStore) -> None:
    """An outage ends the sweep, not the task."""
    await put(store, "old", 500.0)
    disk.failing = Code.STORE_UNAVAILABLE
    hours: list[float] = []

    async def an_hour(seconds: float) -> None:
        hours.append(seconds)
        disk.failing = None
        if not await left(store):
            raise asyncio.CancelledError

    with pytest.raises(StoreError):
        await retention(disk).sweep()
    keeper = Retention(disk, 100.0, clock=lambda: NOW, sleep=an_hour)
    with pytest.raises(asyncio.CancelledError):
        await keeper.work()
    assert 3600.0 in hours
    assert await left(store) == set()
