"""The write buffer: one row per flush for all runs, moved to the journal later; each event is stored once."""

import asyncio
import random
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.events import Content, Stamped, ToolCalls
from signalbox.core.records import Figures
from signalbox.runs.journal import read_all
from signalbox.store.runs import write_buffer
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.reader import journal_of

from tests.support.disk import Disk, opened, until, words
from tests.support.version_0_1 import OPEN, put_rows
from tests.unit.store.buffered_rows import flushed, is_in_a_file, rows_of

pytestmark = pytest.mark.anyio
RUNS = [f"run-{number}" for number in range(20)]


async def test_a_flush_of_all_runs_is_one_row(disk: Disk, buffered: JournalStore) -> None:
    """Two flushes of twenty runs write two rows to the buffer, none to the journal, and do not call `on_durable`."""
    told: list[int] = []
    await opened(buffered, *RUNS, told=lambda seq, reserved: told.append(seq))
    del told[:]
    for number in (1, 2):
        for run_id in RUNS:
            buffered.append(run_id, words(number, number))
        await flushed(disk)
    assert rows_of(disk) == [{run_id: [1] for run_id in RUNS}, {run_id: [2] for run_id in RUNS}]
    assert (disk.rows("SELECT count(*) FROM journal"), told) == ([(0,)], [])


async def test_a_flush_of_one_run_journals_it(disk: Disk, buffered: JournalStore) -> None:
    """Flushing one run writes one journal row with all its events; rows with events of other runs stay."""
    await opened(buffered, "a", "b")
    for number in (1, 2):
        buffered.append("a", words(number, number))
        buffered.append("b", words(number, number))
        await flushed(disk)
    await buffered.flush("a")
    assert (disk.seqs("a"), disk.seqs("b"), len(rows_of(disk))) == ([(1, 2)], [], 2)
    assert await buffered.read_events("a", 0) == words(1, 2)
    await buffered.flush("a")
    assert disk.seqs("a") == [(1, 2)]
    await buffered.flush()
    assert (disk.seqs("b"), rows_of(disk)) == ([(1, 2)], [])
    before = disk.transactions
    await buffered.flush()
    assert disk.transactions == before


async def test_find_journals_a_run(disk: Disk, buffered: JournalStore) -> None:
    """`find` moves the events of a run to the journal."""
    await opened(buffered, "a")
    buffered.append("a", words(1, 3))
    await flushed(disk)
    assert disk.seqs("a") == []
    assert await buffered.find("a") is not None
    assert disk.seqs("a") == [(1, 3)]


async def test_the_end_of_a_run_is_journalled(disk: Disk, buffered: JournalStore) -> None:
    """When a run's status is stored, all its events are in the journal."""
    await opened(buffered, "a")
    buffered.append("a", words(1, 1))
    await flushed(disk)
    buffered.append("a", words(2, 2))
    buffered.save_figures("a", lambda: Figures(seq=2, status="complete", ended=1.0))
    buffered.close("a")
    await flushed(disk)
    assert (disk.seqs("a"), rows_of(disk)) == ([(1, 2)], [])
    assert disk.rows("SELECT status FROM runs") == [("complete",)]


async def test_figures_after_close_are_stored(disk: Disk, buffered: JournalStore) -> None:
    """A closed run with buffered events still accepts its final figures."""
    await opened(buffered, "a")
    buffered.append("a", words(1, 1))
    await flushed(disk)
    buffered.close("a")
    buffered.save_figures("a", lambda: Figures(seq=1, status="complete", ended=1.0))
    await flushed(disk)
    assert (disk.seqs("a"), disk.rows("SELECT status FROM runs")) == ([(1, 1)], [("complete",)])


async def test_events_during_a_flush_stay_in_the_buffer(disk: Disk, buffered: JournalStore) -> None:
    """Events that arrive while a run is journalled are in the next row, and older rows are deleted."""
    await opened(buffered, "a", "b")
    buffered.append("a", words(1, 1))
    await flushed(disk)
    disk.hold()
    filing = asyncio.create_task(buffered.flush("a"))
    await disk.asked.wait()
    buffered.append("a", words(2, 2))
    disk.release()
    await filing
    await until(lambda: {"a": [2]} in rows_of(disk))
    buffered.append("b", words(1, 1))
    await buffered.flush("b")
    assert (disk.seqs("a"), rows_of(disk)) == ([(1, 1)], [{"a": [2]}])


async def test_a_run_with_many_events_is_journalled(
    disk: Disk, buffered: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is journalled once it has many buffered events, from one flush or from several."""
    monkeypatch.setattr(write_buffer, "WORTH_A_ROW", 5)
    await opened(buffered, "a", "b")
    for number in (1, 3, 5):
        buffered.append("a", words(number, number + 1))
        await flushed(disk)
    buffered.append("b", words(1, 5))
    await flushed(disk)
    assert (disk.seqs("a"), disk.seqs("b"), rows_of(disk)) == ([(1, 6)], [(1, 5)], [])


async def test_runs_in_a_large_row_are_journalled(
    disk: Disk, buffered: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only journalled events count towards a run's size limit, so a large row is journalled at once."""
    monkeypatch.setattr(write_buffer, "LARGE", 300)
    full: list[str] = []
    buffered.max_bytes, buffered.on_full = 300, full.append
    await opened(buffered, "a", "b")
    buffered.append("b", words(1, 1))
    await flushed(disk)
    assert (disk.seqs("b"), full) == ([], [])
    buffered.append("a", [Stamped(1, 0, Content("x" * 300))])
    await until(lambda: disk.seqs("a") == [(1, 1)])
    await until(lambda: full == ["a"])
    assert rows_of(disk)[0] == {"b": [1]}


async def test_an_old_row_is_journalled_after_some_flushes(
    disk: Disk, buffered: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without new events is journalled after some flushes, which limits the rows of the buffer."""
    monkeypatch.setattr(write_buffer, "MOST_FLUSHES", 3)
    await opened(buffered, "silent", "a")
    buffered.append("silent", words(1, 1))
    for number in range(1, 12):
        buffered.append("a", words(number, number))
        await flushed(disk)
        assert len(rows_of(disk)) <= 4
    assert disk.seqs("silent") == [(1, 1)]
    await buffered.flush()
    assert await buffered.read_events("a", 0) == words(1, 11)


async def test_nothing_of_a_deleted_run_is_left(disk: Disk, buffered: JournalStore, tmp_path: Path) -> None:
    """Deleting a run removes its events from rows that other runs share, in all files."""
    await opened(buffered, "a", "b")
    buffered.append("a", [Stamped(1, 0, Content("xyzzy"))])
    buffered.append("b", words(1, 1))
    await flushed(disk)
    assert is_in_a_file(b"xyzzy", tmp_path)
    await buffered.delete("a")
    assert not is_in_a_file(b"xyzzy", tmp_path)
    assert await buffered.read_events("b", 0) == words(1, 1)


@pytest.mark.parametrize("is_written", [False, True])
async def test_nothing_of_the_only_run_is_left(
    disk: Disk, buffered: JournalStore, tmp_path: Path, *, is_written: bool
) -> None:
    """Deleting the only run removes its events, whether they were written or pending."""
    await opened(buffered, "a")
    buffered.append("a", [Stamped(1, 0, Content("xyzzy"))])
    if is_written:
        await flushed(disk)
    await buffered.delete("a")
    assert (rows_of(disk), is_in_a_file(b"xyzzy", tmp_path)) == ([], False)


async def test_a_store_uses_the_journal_before_recovery(disk: Disk, store: JournalStore) -> None:
    """A store that has not checked for old rows writes to the journal, so that it cannot delete them."""
    disk.change("""INSERT INTO latest (id, said) VALUES (7, CAST('[["a",[]]]' AS BLOB))""")
    await opened(store, "a")
    store.append("a", words(1, 1))
    await flushed(disk)
    await store.flush()
    assert (disk.seqs("a"), rows_of(disk)) == ([(1, 1)], [{"a": []}])


@pytest.mark.parametrize("seed", range(12))
async def test_random_operations_store_each_event_once_in_order(
    disk: Disk, buffered: JournalStore, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After random appends, flushes, failures, deletions and a crash, every written event is stored once, in order."""
    monkeypatch.setattr(write_buffer, "MOST_FLUSHES", 4)
    monkeypatch.setattr(write_buffer, "WORTH_A_ROW", 9)
    chance = random.Random(seed)
    said: defaultdict[str, int] = defaultdict(int)
    on_disk: dict[str, int] = {}
    live = [f"run-{number}" for number in range(4)]
    await opened(buffered, *live)
    for step in range(150):
        run_id = chance.choice(live)
        match chance.randrange(12):
            case 0:
                await buffered.flush(run_id)
                on_disk[run_id] = said[run_id]
            case 1:
                await buffered.flush()
                on_disk.update({one: said[one] for one in live})
            case 2:
                buffered.save_figures(run_id, lambda seq=said[run_id]: Figures(seq=seq))  # type: ignore[misc]
            case 3:
                disk.failing = Code.STORE_UNAVAILABLE
                buffered.append(run_id, words(said[run_id] + 1, said[run_id] + 1))
                said[run_id] += 1
                refused = disk.refused
                await until(lambda refused=refused: disk.refused > refused)  # type: ignore[misc]
                disk.failing = None
                await buffered.flush()
                on_disk.update({one: said[one] for one in live})
            case 4 if len(live) > 2 and step > 50:
                live.remove(run_id)
                await buffered.delete(run_id)
                on_disk.pop(run_id, None)
            case _:
                more = chance.randrange(1, 4)
                buffered.append(run_id, words(said[run_id] + 1, said[run_id] + more))
                said[run_id] += more
                if chance.random() < 0.6:
                    await flushed(disk)
                    on_disk.update({one: said[one] for one in live})
    disk.failing = Code.STORE_UNAVAILABLE  # a process that died writes nothing more
    after = JournalStore(disk.again())
    await after._database.open()  # type: ignore[attr-defined]
    left = {record.id: record.seq for record in await after.claim_unfinished()}
    assert left.keys() == set(live)
    for run_id in live:
        events = await read_all(lambda start_app, run_id=run_id: after.read_events(run_id, start_app))  # type: ignore[misc]
        assert events == words(1, len(events))
        assert on_disk.get(run_id, 0) <= len(events) <= said[run_id]
    assert rows_of(disk) == []
    await after._database.aclose()  # type: ignore[attr-defined]


async def test_buffered_rows_of_version_0_1_are_journalled(disk: Disk) -> None:
    """Calls of version 0.1 are converted: their arguments become text."""
    await disk.write(partial(put_rows, unfiled=True))
    assert await disk.read(journal_of, OPEN) == []
    store = JournalStore(disk)
    assert [record.id for record in await store.claim_unfinished()] == [OPEN]
    announced = [stamped.event for stamped in await disk.read(journal_of, OPEN) if isinstance(stamped.event, ToolCalls)]
    assert [[call.arguments for call in event.calls] for event in announced] == [['{"minutes":5}']]
    await store.aclose()
