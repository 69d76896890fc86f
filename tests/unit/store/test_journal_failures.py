"""The journal while the disk fails or does not respond, and with runs that cannot be written."""

import asyncio

import pytest
from msgspec.structs import replace
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Stamped, Success, ToolResult
from signalbox.core.messages import AssistantMessage
from signalbox.core.records import RunRecord
from signalbox.store.message_codec import load_message
from signalbox.store.runs import journal
from signalbox.store.runs.journal import JournalStore
from signalbox.store.tables import CONVERSATIONS
from sqlalchemy import insert
from structlog.testing import capture_logs

from tests.support.disk import BOTH, Disk, a_run, ended, opened, until, words

pytestmark = pytest.mark.anyio
DATABASES = BOTH
RUNS = [f"run-{number}" for number in range(20)]


# --- failing disks -------------------------------------------------------------------------------------------------


async def test_events_of_failed_writes_are_written_once_in_order(disk: Disk, store: JournalStore) -> None:
    """Events before, during and after failed writes of three runs are stored once, in order."""
    await opened(store, "a", "b", "c")
    disk.failing = Code.STORE_UNAVAILABLE
    tries: list[int] = []
    for number in range(1, 4):
        tries.append(disk.refused)
        for run_id in ("a", "b"):
            store.append(run_id, words(number, number))
            store.append_turns(run_id, number, [AssistantMessage(f"{run_id}{number}")])
        await until(lambda: disk.refused >= tries[-1] + 2)
    assert not store.is_healthy
    store.save_figures("a", lambda: replace(a_run("a"), steps=7))
    disk.failing = None
    store.append("a", words(4, 4))
    store.append("c", words(1, 1))
    await store.flush()
    assert store.is_healthy
    assert [s.seq for s in await store.read_events("a", 0)] == [1, 2, 3, 4]
    assert [s.seq for s in await store.read_events("b", 0)] == [1, 2, 3]
    assert [s.seq for s in await store.read_events("c", 0)] == [1]
    disk.hold()
    disk.failing = Code.STORE_UNAVAILABLE
    store.append("a", words(5, 5))
    store.append_turns("a", 5, [AssistantMessage("a5")])
    await disk.asked.wait()
    store.append("a", words(6, 6))
    store.append_turns("a", 6, [AssistantMessage("a6")])
    store.append_turns("b", 4, [AssistantMessage("b4")])
    disk.release()
    await until(lambda: not store.is_healthy)
    disk.failing = None
    await store.flush()
    assert await store.read_events("a", 0) == words(1, 6)
    told = disk.rows("SELECT message FROM turns WHERE run_id = 'a' ORDER BY place")
    assert [load_message(row[0]).content for row in told] == ["a1", "a2", "a3", "a5", "a6"]
    places = "SELECT place, seq FROM turns WHERE run_id = ? ORDER BY place"
    assert disk.rows(places, "a") == [(0, 1), (1, 2), (2, 3), (3, 5), (4, 6)]
    assert disk.rows(places, "b") == [(0, 1), (1, 2), (2, 3), (3, 4)]
    found = await store.find("a")
    assert found is not None
    assert found.steps == 7


async def test_an_outage_is_tried_once_for_all_runs(disk: Disk, store: JournalStore) -> None:
    """During an outage, one transaction is tried for all runs, not one per run."""
    await opened(store, *RUNS)
    disk.hold()
    disk.failing = Code.STORE_UNAVAILABLE
    for run_id in RUNS:
        store.append(run_id, words(1, 1))
    await disk.asked.wait()
    disk.release()
    await until(lambda: not store.is_healthy)
    assert disk.refused <= 2  # the next try may have begun


async def test_a_new_run_is_refused_while_the_disk_fails_and_leaves_no_row(disk: Disk, store: JournalStore) -> None:
    """A run that was rejected because the disk failed leaves no row."""
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(StoreError) as refused:
        await opened(store, "a")
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert not store.is_healthy
    disk.failing = None
    await until(lambda: store.is_healthy)
    await opened(store, "b")
    assert disk.rows("SELECT id FROM runs") == [("b",)]


async def test_a_recovered_disk_is_detected_without_new_events(disk: Disk, store: JournalStore) -> None:
    """The store detects that the disk works again although there is nothing to write."""
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(StoreError):
        await opened(store, "a")
    tries = disk.refused
    await until(lambda: disk.refused >= tries + 2)
    assert not store.is_healthy
    disk.failing = None
    await until(lambda: store.is_healthy)


async def test_waiting_for_a_silent_disk_times_out(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Callers that wait for a silent disk time out, and new runs are rejected until it responds."""
    await opened(store, "a")
    disk.hold()
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 0.01)
    for waits in (opened(store, "b"), store.flush()):
        with pytest.raises(StoreError) as refused:
            await asyncio.wait_for(waits, 5)
        assert refused.value.code is Code.STORE_UNAVAILABLE
        assert not store.is_healthy
    store.append("a", words(1, 3))
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 10.0)
    disk.release()
    await store.flush()
    await store.flush()  # the row of the run that was refused came through with the silent write
    assert store.is_healthy
    assert disk.rows("SELECT id FROM runs") == [("a",)]
    assert disk.seqs("a") == [(1, 3)]


async def test_a_rejected_run_that_was_written_is_removed(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that timed out but was written is deleted, and its question is the leaf again."""
    row = {"id": "c", "title": "", "is_titled": False, "created": 0.0, "updated": 0.0, "leaf_id": "question"}
    await disk.write(lambda connection: connection.execute(insert(CONVERSATIONS).values(row)))
    disk.hold()
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 0.01)
    with pytest.raises(StoreError):
        await store.open(a_run("a", conversation_id="c", parent_id="question"), lambda seq, reserved: None)
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 10.0)
    disk.release()
    await store.flush()
    await store.flush()
    assert disk.rows("SELECT id FROM runs") == []
    assert disk.rows("SELECT leaf_id FROM conversations") == [("question",)]


async def test_a_cancelled_flush_does_not_affect_others(disk: Disk, store: JournalStore) -> None:
    """If one waiting caller is cancelled, the next flush completes."""
    await opened(store, "a")
    disk.hold()
    store.append("a", words(1, 1))
    waiting = asyncio.create_task(store.flush())
    await disk.asked.wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    store.append("a", words(2, 2))
    disk.release()
    await store.flush()
    assert [s.seq for s in await store.read_events("a", 0)] == [1, 2]


async def test_newer_figures_are_not_overwritten(disk: Disk, store: JournalStore) -> None:
    """Figures that arrive while a write of older ones fails are the ones that are stored."""
    await ended(store, "a")
    disk.hold()
    disk.failing = Code.STORE_UNAVAILABLE
    store.save_figures("a", lambda: a_run("a", settled_at=1.0))
    await disk.asked.wait()
    store.save_figures("a", lambda: a_run("a", settled_at=2.0))
    disk.release()
    await until(lambda: not store.is_healthy)
    disk.failing = None
    await store.flush()
    found = await store.find("a")
    assert found is not None
    assert found.settled_at == 2.0


# --- invalid runs --------------------------------------------------------------------------------------------------


async def test_an_invalid_run_does_not_prevent_others_from_starting(disk: Disk, store: JournalStore) -> None:
    """Of six runs, the one with an unknown conversation is rejected, and the others are stored."""

    async def open_bad() -> None:
        with pytest.raises(StoreError):
            await store.open(a_run("bad", conversation_id="deleted"), lambda seq, reserved: None)

    await asyncio.gather(opened(store, *RUNS[:3]), open_bad(), opened(store, *RUNS[3:5]))
    assert sorted(disk.rows("SELECT id FROM runs")) == [(run_id,) for run_id in RUNS[:5]]
    assert store.is_healthy


@pytest.mark.parametrize("why", ["its row is deleted", "a value is no JSON"])
async def test_a_run_that_cannot_be_written_is_discarded(disk: Disk, store: JournalStore, why: str) -> None:
    """Other runs are written, and callers that wait for the discarded run are released."""
    told: list[tuple[int, int]] = []
    await opened(store, *RUNS[:4])
    await opened(store, "bad", told=lambda seq, reserved: told.append((seq, reserved)))
    event = words(1, 1)
    if why == "its row is deleted":
        disk.change("DELETE FROM runs WHERE id = 'bad'")
    else:
        event = [Stamped(1, 0, ToolResult("c", "t", Success(True, object()), "other", "hidden"))]
    for run_id in RUNS[:4]:
        store.append(run_id, words(1, 2))
    store.append("bad", event)
    with capture_logs() as lines:
        await store.flush()
    assert [line["event"] for line in lines if line["event"].startswith("journal")] == ["journal.discarded"]
    assert [disk.seqs(run_id) for run_id in [*RUNS[:4], "bad"]] == [[(1, 2)]] * 4 + [[]]
    assert told[-1][0] == 1
    before = disk.transactions
    store.append("bad", words(2, 9))
    store.save_figures("bad", lambda: a_run("bad"))
    await store.flush()
    assert told[-1][0] == 9
    assert (disk.transactions, store.is_healthy) == (before, True)


async def test_an_error_in_figures_does_not_prevent_a_flush(disk: Disk, store: JournalStore) -> None:
    """If computing a run's figures raises, its events are still written."""

    def breaks() -> RunRecord:
        raise ValueError("canary-text")

    await opened(store, "a")
    store.append("a", words(1, 2))
    store.save_figures("a", breaks)
    with capture_logs() as lines:
        await store.flush()
    assert disk.seqs("a") == [(1, 2)]
    assert "canary" not in str(lines)
    assert lines[0]["event"] == "journal.usage_failed"


async def test_an_error_in_on_durable_does_not_stop_the_writer(disk: Disk, store: JournalStore) -> None:
    """An exception in a run's `on_durable` does not affect further writes."""

    def breaks(seq: int, reserved: int) -> None:
        raise ValueError("canary-text")

    with capture_logs() as lines:
        await opened(store, "a", told=breaks)
        await opened(store, "b")
        for number in (1, 2):
            store.append("a", words(number, number))
            store.append("b", words(number, number))
            await store.flush()
    assert disk.seqs("a") == disk.seqs("b") == [(1, 1), (2, 2)]
    assert "canary" not in str(lines)


async def test_a_discarded_run_is_not_written(disk: Disk, store: JournalStore) -> None:
    """A run that is discarded while its write fails is not written later."""
    await opened(store, "a")
    disk.hold()
    disk.failing = Code.STORE_UNAVAILABLE
    store.append("a", words(1, 3))
    await disk.asked.wait()
    store.discard("a")
    store.append("a", words(4, 5))
    disk.release()
    await until(lambda: not store.is_healthy)
    disk.failing = None
    await store.flush()
    assert disk.seqs("a") == []
