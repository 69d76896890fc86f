"""Runs on disk: what one flush writes, and what happens while the disk is slow, broken or silent."""

import asyncio

import pytest
from msgspec.structs import replace
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Stamped, Success, ToolResult
from signalbox.core.messages import AssistantMessage
from signalbox.core.records import RunRecord
from signalbox.runs.journal import read_all
from signalbox.store.message_codec import load_message
from signalbox.store.runs import journal, stored_runs
from signalbox.store.runs.in_memory import MemoryStore
from signalbox.store.runs.journal import JournalStore
from signalbox.store.tables import CONVERSATIONS
from sqlalchemy import insert
from structlog.testing import capture_logs

from tests.support.disk import BOTH, Disk, FileDisk, a_run, opened, until, words

pytestmark = pytest.mark.anyio
DATABASES = BOTH
RUNS = [f"run-{number}" for number in range(20)]


# --- grouped commits -----------------------------------------------------------------------------------------------


async def test_many_runs_are_one_transaction_and_one_row_each(disk: Disk, store: JournalStore) -> None:
    """What twenty runs say between two flushes costs one commit, and each of them one row."""
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
    """While one write is under way what comes is taken at once; the next write has all of it."""
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


async def test_who_is_waited_for_is_written_alone(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that starts or ends takes no other to the disk with it: those go when it is their time."""
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


async def test_those_who_are_waited_for_at_once_share_a_commit(disk: Disk, store: JournalStore) -> None:
    """While one write is under way the next ones gather, however many start and end."""
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


async def test_whoever_comes_and_goes_puts_off_nobodys_time(disk: Disk, store: JournalStore) -> None:
    """Runs open one after another, each in a commit of its own; what another one says is on disk none the less."""
    await opened(store, "a")
    store.append("a", words(1, 1))
    opening = 0
    async with asyncio.timeout(30):
        while not disk.seqs("a"):
            opening += 1
            await opened(store, f"new-{opening}")
    assert disk.seqs("a") == [(1, 1)]


async def test_an_idle_store_writes_nothing(disk: Disk, store: JournalStore) -> None:
    """A flush without anything to write does not ask the disk."""
    await store.flush()
    assert (disk.transactions, disk.asked.is_set()) == (0, False)


# --- a disk that fails ---------------------------------------------------------------------------------------------


async def test_what_a_failed_write_held_is_written_in_order_and_once(disk: Disk, store: JournalStore) -> None:
    """Three runs, failures, events before, while and after they are tried: each is on disk once, in its order."""
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


async def test_an_outage_is_asked_once_a_try_whatever_the_runs(disk: Disk, store: JournalStore) -> None:
    """Where the disk is gone nobody asks it for each run: a try would take as long as all their waits together."""
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
    """Whoever asked has been told no: the run must be found nowhere afterwards."""
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(StoreError) as refused:
        await opened(store, "a")
    assert refused.value.code is Code.STORE_UNAVAILABLE
    assert not store.is_healthy
    disk.failing = None
    await until(lambda: store.is_healthy)
    await opened(store, "b")
    assert disk.rows("SELECT id FROM runs") == [("b",)]


async def test_the_disk_is_found_to_be_back_without_anything_to_write(disk: Disk, store: JournalStore) -> None:
    """New runs are refused while it is away, so nothing would ever ask it again by itself."""
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(StoreError):
        await opened(store, "a")
    tries = disk.refused
    await until(lambda: disk.refused >= tries + 2)
    assert not store.is_healthy
    disk.failing = None
    await until(lambda: store.is_healthy)


async def test_a_silent_disk_keeps_nobody(disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It never answers: who waits is told so within the bound, and new runs are refused until it does."""
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


async def test_a_refused_run_that_came_through_leaves_its_conversation(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is taken out again, and the next question follows the message that it would have answered."""
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


async def test_a_flush_that_is_given_up_harms_no_other(disk: Disk, store: JournalStore) -> None:
    """A waiter is cancelled while its write is under way; the next one is told as ever."""
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


async def test_the_newest_figures_stand(disk: Disk, store: JournalStore) -> None:
    """Those of a closed run change while a write of older ones fails: the older ones do not come back."""
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


# --- one that is at fault ------------------------------------------------------------------------------------------


async def test_a_run_that_cannot_be_opened_keeps_no_other_from_the_disk(disk: Disk, store: JournalStore) -> None:
    """One of six names a conversation that is not there: it is refused, the five are kept, and the store is well."""

    async def open_bad() -> None:
        with pytest.raises(StoreError):
            await store.open(a_run("bad", conversation_id="deleted"), lambda seq, reserved: None)

    await asyncio.gather(opened(store, *RUNS[:3]), open_bad(), opened(store, *RUNS[3:5]))
    assert sorted(disk.rows("SELECT id FROM runs")) == [(run_id,) for run_id in RUNS[:5]]
    assert store.is_healthy


@pytest.mark.parametrize("why", ["its row is deleted", "a value is no JSON"])
async def test_a_run_that_cannot_be_written_is_let_go(disk: Disk, store: JournalStore, why: str) -> None:
    """The others are written; who waits for this one's events is told that there is nothing to wait for."""
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
    assert [line["event"] for line in lines if line["event"].startswith("journal")] == ["journal.refused"]
    assert [disk.seqs(run_id) for run_id in [*RUNS[:4], "bad"]] == [[(1, 2)]] * 4 + [[]]
    assert told[-1][0] == 1
    before = disk.transactions
    store.append("bad", words(2, 9))
    store.save_figures("bad", lambda: a_run("bad"))
    await store.flush()
    assert told[-1][0] == 9
    assert (disk.transactions, store.is_healthy) == (before, True)


async def test_figures_that_cannot_be_told_keep_no_event_from_the_disk(disk: Disk, store: JournalStore) -> None:
    """The record breaks when the flush asks for it: the events are written all the same, and the writer lives."""

    def breaks() -> RunRecord:
        raise ValueError("canary-text")

    await opened(store, "a")
    store.append("a", words(1, 2))
    store.save_figures("a", breaks)
    with capture_logs() as lines:
        await store.flush()
    assert disk.seqs("a") == [(1, 2)]
    assert "canary" not in str(lines)
    assert lines[0]["event"] == "journal.figures"


async def test_who_is_told_may_break(disk: Disk, store: JournalStore) -> None:
    """An error of one who hears of a write does not end the writing."""

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


async def test_a_dropped_run_is_not_written_again(disk: Disk, store: JournalStore) -> None:
    """It is dropped while a write of its own fails: what that held does not come back."""
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


# --- the end -------------------------------------------------------------------------------------------------------


async def test_closing_writes_what_is_left_and_ends_its_task(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left behind, and what comes too late harms nobody."""
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
    """What is lost is said; the process ends."""
    monkeypatch.setattr(journal, "_TIMEOUT_SECONDS", 0.01)
    before = asyncio.all_tasks()
    store = JournalStore(disk)
    disk.hold()
    store.save_figures("a", lambda: a_run("a"))
    with capture_logs() as lines:
        await asyncio.wait_for(store.aclose(), 5)
    assert "journal.lost" in [line["event"] for line in lines]
    assert asyncio.all_tasks() == before


async def test_figures_of_a_closed_run_are_kept(disk: Disk, store: JournalStore) -> None:
    """A bill that comes after the run is over finds its row; how the run ended stays as it is."""
    await ended(store, "a")
    store.save_figures("a", lambda: a_run("a", settled_at=5.0, status="error", code="INTERNAL"))
    await store.flush()
    found = await store.find("a")
    assert found is not None
    assert (found.settled_at, found.status, found.code) == (5.0, "complete", None)


async def test_nobody_ends_a_run_that_is_not_his(disk: Disk, store: JournalStore) -> None:
    """Figures of a run that is under way elsewhere, as far as this store knows, are kept nowhere."""
    await opened(store, "a")
    store.close("a")
    store.save_figures("a", lambda: a_run("a", status="complete", settled_at=5.0))
    await store.flush()
    found = await store.find("a")
    assert found is not None
    assert (found.status, found.settled_at) == (None, None)


async def ended(store: JournalStore, run_id: str) -> None:
    """Open a run and end it."""
    await opened(store, run_id)
    store.save_figures(run_id, lambda: a_run(run_id, status="complete", ended=2.0))
    await store.flush()
    store.close(run_id)


async def test_a_list_of_runs_reads_no_question(disk: Disk, store: JournalStore) -> None:
    """One may hold megabytes of images: only who asks for one run gets what was asked in it."""
    asked = {"prompt": "x" * 1000}
    record = a_run("a", question=asked, request=asked, cost_estimated=True, ended=5.0)
    await store.open(record, lambda seq, reserved: None)
    for told in (await store.recent(5), await store.claim_unfinished(), await store.unsettled(0.0)):
        assert [(one.id, one.question, one.request) for one in told] == [("a", {}, {})]
    found = await store.find("a")
    assert found is not None
    assert (found.question, found.request) == (asked, asked)


async def test_a_list_can_be_of_one_owner(disk: Disk, store: JournalStore) -> None:
    """Pages of one owner's runs are full of them, and hold nobody else's; without an owner they are of all."""
    memory = MemoryStore()
    for at, owner in enumerate(["", "a", "b", "a", "", "a"]):
        for kept in (store, memory):
            await kept.open(a_run(f"run{at}", owner=owner, started=float(at)), lambda seq, reserved: None)
    for kept in (store, memory):
        assert [one.id for one in await kept.recent(2, owner="a")] == ["run5", "run3"]
        assert [one.id for one in await kept.recent(2, (3.0, "run3"), "a")] == ["run1"]
        assert [one.id for one in await kept.recent(9, owner="")] == ["run4", "run0"]
        assert len(await kept.recent(9)) == 6
        assert [one.id for one in await kept.recent(9, statuses=["error", "complete"])] == []
        assert len(await kept.recent(9, statuses=[None, "error"])) == 6


# --- reading -------------------------------------------------------------------------------------------------------


async def test_a_long_run_is_read_page_by_page_at_one_price(
    disk: Disk, store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page is empty before the end, and the last one costs the database what the first one did."""
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
        == await store.read_events("nobody", 0)
        == []
    )


async def steps(disk: FileDisk, store: JournalStore, after: int) -> int:
    """Count what one read makes SQLite do."""
    before = disk.steps
    assert await store.read_events("a", after)
    return disk.steps - before
