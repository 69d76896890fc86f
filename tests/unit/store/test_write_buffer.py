"""What runs under way have said last: kept together, filed one by one, found again after a crash, each event once."""

import asyncio
import random
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest
from msgspec import json
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped, ToolCalls
from signalbox.core.records import Figures
from signalbox.runs.journal import read_all
from signalbox.store.runs import journal, write_buffer
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.reader import journal_of
from structlog.testing import capture_logs

from tests.support.disk import Disk, opened, until, words
from tests.support.version_0_1 import OPEN, put_rows

pytestmark = pytest.mark.anyio
RUNS = [f"run-{number}" for number in range(20)]


@pytest.fixture
async def kept(store: JournalStore) -> JournalStore:
    """Have it keep what is said in the table of the latest: it has looked for what another process has left."""
    assert await store.claim_unfinished() == []
    return store


def said_in(disk: Disk) -> list[dict[str, list[int]]]:
    """Return what each row of the latest holds: the numbers of each run's events."""
    rows = disk.rows("SELECT said FROM latest ORDER BY id")
    return [{run_id: [stamped["seq"] for stamped in events] for run_id, events in json.decode(row)} for (row,) in rows]


def is_in_a_file(word: bytes, folder: Path) -> bool:
    """Tell whether a file of a folder holds a word."""
    return any(word in path.read_bytes() for path in folder.iterdir())


async def passed(disk: Disk) -> None:
    """Wait until it was time, and all was written."""
    before = disk.transactions
    await until(lambda: disk.transactions > before)


async def test_what_all_say_is_one_row(disk: Disk, kept: JournalStore) -> None:
    """Twenty runs speak twice: two rows for all of them, none of theirs, and their watchers are told of neither."""
    told: list[int] = []
    await opened(kept, *RUNS, told=lambda seq, reserved: told.append(seq))
    del told[:]
    for number in (1, 2):
        for run_id in RUNS:
            kept.append(run_id, words(number, number))
        await passed(disk)
    assert said_in(disk) == [{run_id: [1] for run_id in RUNS}, {run_id: [2] for run_id in RUNS}]
    assert (disk.rows("SELECT count(*) FROM journal"), told) == ([(0,)], [])


async def test_who_is_asked_for_is_filed(disk: Disk, kept: JournalStore) -> None:
    """A flush of one run makes one row of all it has said; the others stay, and so do the rows that they need."""
    await opened(kept, "a", "b")
    for number in (1, 2):
        kept.append("a", words(number, number))
        kept.append("b", words(number, number))
        await passed(disk)
    await kept.flush("a")
    assert (disk.seqs("a"), disk.seqs("b"), len(said_in(disk))) == ([(1, 2)], [], 2)
    assert await kept.read_events("a", 0) == words(1, 2)
    await kept.flush("a")
    assert disk.seqs("a") == [(1, 2)]
    await kept.flush()
    assert (disk.seqs("b"), said_in(disk)) == ([(1, 2)], [])
    before = disk.transactions
    await kept.flush()
    assert disk.transactions == before


async def test_whoever_is_looked_for_is_filed_before(disk: Disk, kept: JournalStore) -> None:
    """`find` has on disk what the run has said so far, also where nothing new has come."""
    await opened(kept, "a")
    kept.append("a", words(1, 3))
    await passed(disk)
    assert disk.seqs("a") == []
    assert await kept.find("a") is not None
    assert disk.seqs("a") == [(1, 3)]


async def test_figures_and_endings_are_filed(disk: Disk, kept: JournalStore) -> None:
    """Whoever reads that a run is over finds all of it, though nobody has waited for it."""
    await opened(kept, "a")
    kept.append("a", words(1, 1))
    await passed(disk)
    kept.append("a", words(2, 2))
    kept.save_figures("a", lambda: Figures(seq=2, status="complete", ended=1.0))
    kept.close("a")
    await passed(disk)
    assert (disk.seqs("a"), said_in(disk)) == ([(1, 2)], [])
    assert disk.rows("SELECT status FROM runs") == [("complete",)]


async def test_an_ending_that_comes_behind_the_closing_is_kept(disk: Disk, kept: JournalStore) -> None:
    """A run that was closed, and has something in the table, is still the one that its figures are of."""
    await opened(kept, "a")
    kept.append("a", words(1, 1))
    await passed(disk)
    kept.close("a")
    kept.save_figures("a", lambda: Figures(seq=1, status="complete", ended=1.0))
    await passed(disk)
    assert (disk.seqs("a"), disk.rows("SELECT status FROM runs")) == ([(1, 1)], [("complete",)])


async def test_who_speaks_while_he_is_filed_is_not_forgotten(disk: Disk, kept: JournalStore) -> None:
    """What comes during the write is in the next row, which stays until that is filed, too; the rows before it go."""
    await opened(kept, "a", "b")
    kept.append("a", words(1, 1))
    await passed(disk)
    disk.hold()
    filing = asyncio.create_task(kept.flush("a"))
    await disk.asked.wait()
    kept.append("a", words(2, 2))
    disk.release()
    await filing
    await until(lambda: {"a": [2]} in said_in(disk))
    kept.append("b", words(1, 1))
    await kept.flush("b")
    assert (disk.seqs("a"), said_in(disk)) == ([(1, 1)], [{"a": [2]}])


async def test_much_is_worth_a_row(disk: Disk, kept: JournalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is filed once it has said so much that a row of its own costs little, at once or bit by bit."""
    monkeypatch.setattr(write_buffer, "WORTH_A_ROW", 5)
    await opened(kept, "a", "b")
    for number in (1, 3, 5):
        kept.append("a", words(number, number + 1))
        await passed(disk)
    kept.append("b", words(1, 5))
    await passed(disk)
    assert (disk.seqs("a"), disk.seqs("b"), said_in(disk)) == ([(1, 6)], [(1, 5)], [])


async def test_who_fills_a_large_row_is_weighed(
    disk: Disk, kept: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is filed counts towards a run's limit, so that little may wait for that: much is filed at once."""
    monkeypatch.setattr(write_buffer, "LARGE", 300)
    full: list[str] = []
    kept.max_bytes, kept.on_full = 300, full.append
    await opened(kept, "a", "b")
    kept.append("b", words(1, 1))
    await passed(disk)
    assert (disk.seqs("b"), full) == ([], [])
    kept.append("a", [Stamped(1, 0, Content("x" * 300))])
    await until(lambda: disk.seqs("a") == [(1, 1)])
    await until(lambda: full == ["a"])
    assert said_in(disk)[0] == {"b": [1]}


async def test_a_silent_run_holds_up_nobodys_rows(
    disk: Disk, kept: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is as short as it may be: who has said something long ago is filed with what others say."""
    monkeypatch.setattr(write_buffer, "MOST_FLUSHES", 3)
    await opened(kept, "silent", "a")
    kept.append("silent", words(1, 1))
    for number in range(1, 12):
        kept.append("a", words(number, number))
        await passed(disk)
        assert len(said_in(disk)) <= 4
    assert disk.seqs("silent") == [(1, 1)]
    await kept.flush()
    assert await kept.read_events("a", 0) == words(1, 11)


@pytest.mark.parametrize("code", [Code.STORE_UNAVAILABLE, Code.INTERNAL])
async def test_what_could_not_be_written_is_written_once(disk: Disk, kept: JournalStore, code: Code) -> None:
    """Failures of a row of all and of a filing: each event is in the journal once in the end."""
    await opened(kept, "a", "b")
    kept.append("a", words(1, 1))
    await passed(disk)
    if code is Code.STORE_UNAVAILABLE:
        disk.failing = code
        kept.append("a", words(2, 2))
        await until(lambda: disk.refused > 2)
        disk.failing = None
        await until(lambda: disk.seqs("a") == [(1, 2)])  # by itself
        kept.append("a", words(3, 3))
        await passed(disk)
    else:  # one that cannot be written is let go of, and keeps no other from the disk
        bad = Stamped(1, 0, object())  # type: ignore[arg-type]
        kept.append("b", [bad])
        kept.append("a", words(2, 3))
        kept.save_figures("a", lambda: Figures(seq=3, steps=7))
        await passed(disk)
    await kept.flush()
    assert [stamped.seq for stamped in await kept.read_events("a", 0)] == [1, 2, 3]
    assert await kept.read_events("b", 0) == []
    assert disk.rows("SELECT steps FROM runs WHERE id = 'a'") == [(7 if code is Code.INTERNAL else 0,)]


async def test_after_a_crash_each_event_is_found_once(disk: Disk, kept: JournalStore) -> None:
    """Rows of the latest, some twice and one damaged, behind filed ones: the start files what is not there yet."""
    await opened(kept, "a", "b", "gone")
    kept.append("a", words(1, 2))
    await kept.flush("a")
    for number in (3, 4):
        kept.append("a", words(number, number))
        kept.append("b", words(number - 2, number - 2))
        kept.append("gone", words(number - 2, number - 2))
        await passed(disk)
    disk.change(
        "INSERT INTO latest (id, said) SELECT id + 10, said FROM latest WHERE id = (SELECT min(id) FROM latest)"
    )
    disk.change("INSERT INTO latest (id, said) VALUES (30, X'5b5b')")
    disk.change("DELETE FROM runs WHERE id = 'gone'")
    after = JournalStore(disk)
    with capture_logs() as logs:
        assert {record.id: record.seq for record in await after.claim_unfinished()} == {"a": 4, "b": 2}
    assert [line["event"] for line in logs] == ["journal.unreadable"]
    assert (await after.read_events("a", 0), await after.read_events("b", 0)) == (words(1, 4), words(1, 2))
    assert (disk.seqs("a"), said_in(disk)) == ([(1, 2), (3, 4)], [])


async def test_nothing_of_a_deleted_run_is_left(disk: Disk, kept: JournalStore, tmp_path: Path) -> None:
    """What it said is in rows that another one still needs: that one is filed, and they go, from all files."""
    await opened(kept, "a", "b")
    kept.append("a", [Stamped(1, 0, Content("xyzzy"))])
    kept.append("b", words(1, 1))
    await passed(disk)
    assert is_in_a_file(b"xyzzy", tmp_path)
    await kept.delete("a")
    assert not is_in_a_file(b"xyzzy", tmp_path)
    assert await kept.read_events("b", 0) == words(1, 1)


@pytest.mark.parametrize("is_written", [False, True])
async def test_nothing_of_the_only_run_is_left(
    disk: Disk, kept: JournalStore, tmp_path: Path, *, is_written: bool
) -> None:
    """What it said is in a row that nobody needs by then, or was on its way into one."""
    await opened(kept, "a")
    kept.append("a", [Stamped(1, 0, Content("xyzzy"))])
    if is_written:
        await passed(disk)
    await kept.delete("a")
    assert (said_in(disk), is_in_a_file(b"xyzzy", tmp_path)) == ([], False)


@pytest.mark.parametrize("why", ["event", "row"])
@pytest.mark.parametrize("bad", [0, 2])
async def test_nothing_of_a_deleted_run_is_left_beside_a_bad_one(  # noqa: PLR0917 - fixtures
    disk: Disk, kept: JournalStore, tmp_path: Path, why: str, bad: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flush that takes its words away meets a run that cannot be written: they go all the same, and at once."""
    order = ["b", "a"]
    order.insert(bad, "bad")
    await opened(kept, *order)
    for run_id in order if why == "row" else ["b", "a"]:
        kept.append(run_id, [Stamped(1, 0, Content("xyzzy" if run_id == "a" else "word"))])
    await passed(disk)
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 3600.0)
    if why == "row":
        disk.change("DELETE FROM runs WHERE id = 'bad'")  # its conversation was deleted meanwhile
    else:
        kept.append("bad", [Stamped(1, 0, object())])  # type: ignore[arg-type]
    await kept.delete("a")
    assert (said_in(disk), is_in_a_file(b"xyzzy", tmp_path)) == ([], False)
    assert await kept.read_events("b", 0) == [Stamped(1, 0, Content("word"))]


@pytest.mark.parametrize("bad", [Content("\ud800"), object()])
async def test_what_cannot_be_written_outlasts_no_outage(disk: Disk, kept: JournalStore, bad: Content) -> None:
    """An event that cannot even be weighed, while the disk is away: the others are written once it is back."""
    await opened(kept, "bad", "good")
    disk.failing = Code.STORE_UNAVAILABLE
    kept.append("bad", [Stamped(1, 0, bad)])
    kept.append("good", words(1, 1))
    await until(lambda: disk.refused > 2)
    disk.failing = None
    await until(lambda: disk.seqs("good") == [(1, 1)])
    assert disk.seqs("bad") == []


async def test_a_fault_of_ours_ends_no_writing(disk: Disk, kept: JournalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that breaks in our own code tells whoever waits for it, and the next one is made."""
    await opened(kept, "a", "b")
    kept.append("a", words(1, 1))
    with monkeypatch.context() as broken, capture_logs() as logs:
        broken.setattr(kept._buffer, "mark_written", _breaks)  # type: ignore[attr-defined]
        with pytest.raises(StoreError):
            await kept.flush("a")
    assert [line["event"] for line in logs] == ["journal.broke"]
    kept.append("b", words(1, 1))
    await kept.flush("b")
    assert disk.seqs("b") == [(1, 1)]


def _breaks(*given: object) -> None:
    raise RuntimeError("a fault of ours")


async def test_before_a_start_has_looked_nothing_is_kept_there(disk: Disk, store: JournalStore) -> None:
    """A store that has not asked for what is left writes into the journal: it might take another one's rows away."""
    disk.change("""INSERT INTO latest (id, said) VALUES (7, CAST('[["a",[]]]' AS BLOB))""")
    await opened(store, "a")
    store.append("a", words(1, 1))
    await passed(disk)
    await store.flush()
    assert (disk.seqs("a"), said_in(disk)) == ([(1, 1)], [{"a": []}])


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happens_each_event_is_kept_once_and_in_order(
    disk: Disk, kept: JournalStore, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs speak, are asked for, fail, are deleted, and the process dies: what was written is there, nothing twice."""
    monkeypatch.setattr(write_buffer, "MOST_FLUSHES", 4)
    monkeypatch.setattr(write_buffer, "WORTH_A_ROW", 9)
    chance = random.Random(seed)
    said: defaultdict[str, int] = defaultdict(int)
    on_disk: dict[str, int] = {}
    live = [f"run-{number}" for number in range(4)]
    await opened(kept, *live)
    for step in range(150):
        run_id = chance.choice(live)
        match chance.randrange(12):
            case 0:
                await kept.flush(run_id)
                on_disk[run_id] = said[run_id]
            case 1:
                await kept.flush()
                on_disk.update({one: said[one] for one in live})
            case 2:
                kept.save_figures(run_id, lambda seq=said[run_id]: Figures(seq=seq))  # type: ignore[misc]
            case 3:
                disk.failing = Code.STORE_UNAVAILABLE
                kept.append(run_id, words(said[run_id] + 1, said[run_id] + 1))
                said[run_id] += 1
                refused = disk.refused
                await until(lambda refused=refused: disk.refused > refused)  # type: ignore[misc]
                disk.failing = None
                await kept.flush()
                on_disk.update({one: said[one] for one in live})
            case 4 if len(live) > 2 and step > 50:
                live.remove(run_id)
                await kept.delete(run_id)
                on_disk.pop(run_id, None)
            case _:
                more = chance.randrange(1, 4)
                kept.append(run_id, words(said[run_id] + 1, said[run_id] + more))
                said[run_id] += more
                if chance.random() < 0.6:
                    await passed(disk)
                    on_disk.update({one: said[one] for one in live})
    disk.failing = Code.STORE_UNAVAILABLE  # a process that died writes nothing more
    after = JournalStore(disk.again())
    await after._database.open()  # type: ignore[attr-defined]
    left = {record.id: record.seq for record in await after.claim_unfinished()}
    assert left.keys() == set(live)
    for run_id in live:
        events = await read_all(lambda behind, run_id=run_id: after.read_events(run_id, behind))  # type: ignore[misc]
        assert events == words(1, len(events))
        assert on_disk.get(run_id, 0) <= len(events) <= said[run_id]
    assert said_in(disk) == []
    await after._database.aclose()  # type: ignore[attr-defined]


async def test_what_version_0_1_left_is_filed(disk: Disk) -> None:
    """In today's form: a call's arguments are text."""
    await disk.write(partial(put_rows, unfiled=True))
    assert await disk.read(journal_of, OPEN) == []
    store = JournalStore(disk)
    assert [record.id for record in await store.claim_unfinished()] == [OPEN]
    announced = [stamped.event for stamped in await disk.read(journal_of, OPEN) if isinstance(stamped.event, ToolCalls)]
    assert [[call.arguments for call in event.calls] for event in announced] == [['{"minutes":5}']]
    await store.aclose()
