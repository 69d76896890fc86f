"""The write buffer after failed flushes, a crash and invalid events: each event is stored once."""

from pathlib import Path

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped
from signalbox.core.records import Figures
from signalbox.store.runs import journal
from signalbox.store.runs.journal import JournalStore
from structlog.testing import capture_logs

from tests.support.disk import Disk, opened, until, words
from tests.unit.store.buffered_rows import flushed, is_in_a_file, rows_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("code", [Code.STORE_UNAVAILABLE, Code.INTERNAL])
async def test_events_of_a_failed_flush_are_stored_once(disk: Disk, buffered: JournalStore, code: Code) -> None:
    """After failures of a flush or of one run, each event is in the journal once."""
    await opened(buffered, "a", "b")
    buffered.append("a", words(1, 1))
    await flushed(disk)
    if code is Code.STORE_UNAVAILABLE:
        disk.failing = code
        buffered.append("a", words(2, 2))
        await until(lambda: disk.refused > 2)
        disk.failing = None
        await until(lambda: disk.seqs("a") == [(1, 2)])  # without a further call
        buffered.append("a", words(3, 3))
        await flushed(disk)
    else:  # one that cannot be written is let go of, and keeps no other from the disk
        bad = Stamped(1, 0, object())  # type: ignore[arg-type]
        buffered.append("b", [bad])
        buffered.append("a", words(2, 3))
        buffered.save_figures("a", lambda: Figures(seq=3, steps=7))
        await flushed(disk)
    await buffered.flush()
    assert [stamped.seq for stamped in await buffered.read_events("a", 0)] == [1, 2, 3]
    assert await buffered.read_events("b", 0) == []
    assert disk.rows("SELECT steps FROM runs WHERE id = 'a'") == [(7 if code is Code.INTERNAL else 0,)]


async def test_each_event_is_stored_once_after_a_crash(disk: Disk, buffered: JournalStore) -> None:
    """Repeated and damaged rows of the buffer are moved to the journal once at the start."""
    await opened(buffered, "a", "b", "gone")
    buffered.append("a", words(1, 2))
    await buffered.flush("a")
    for number in (3, 4):
        buffered.append("a", words(number, number))
        buffered.append("b", words(number - 2, number - 2))
        buffered.append("gone", words(number - 2, number - 2))
        await flushed(disk)
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
    assert (disk.seqs("a"), rows_of(disk)) == ([(1, 2), (3, 4)], [])


@pytest.mark.parametrize("why", ["event", "row"])
@pytest.mark.parametrize("bad", [0, 2])
async def test_a_deletion_succeeds_beside_an_invalid_run(  # noqa: PLR0917 - fixtures
    disk: Disk, buffered: JournalStore, tmp_path: Path, why: str, bad: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is deleted completely although another run of the same flush cannot be written."""
    order = ["b", "a"]
    order.insert(bad, "bad")
    await opened(buffered, *order)
    for run_id in order if why == "row" else ["b", "a"]:
        buffered.append(run_id, [Stamped(1, 0, Content("xyzzy" if run_id == "a" else "word"))])
    await flushed(disk)
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 3600.0)
    if why == "row":
        disk.change("DELETE FROM runs WHERE id = 'bad'")  # its conversation was deleted meanwhile
    else:
        buffered.append("bad", [Stamped(1, 0, object())])  # type: ignore[arg-type]
    await buffered.delete("a")
    assert (rows_of(disk), is_in_a_file(b"xyzzy", tmp_path)) == ([], False)
    assert await buffered.read_events("b", 0) == [Stamped(1, 0, Content("word"))]


@pytest.mark.parametrize("bad", [Content("\ud800"), object()])
async def test_an_invalid_event_does_not_prolong_an_outage(disk: Disk, buffered: JournalStore, bad: Content) -> None:
    """After an outage, other runs are written although one event cannot be encoded."""
    await opened(buffered, "bad", "good")
    disk.failing = Code.STORE_UNAVAILABLE
    buffered.append("bad", [Stamped(1, 0, bad)])
    buffered.append("good", words(1, 1))
    await until(lambda: disk.refused > 2)
    disk.failing = None
    await until(lambda: disk.seqs("good") == [(1, 1)])
    assert disk.seqs("bad") == []


async def test_an_internal_error_does_not_stop_the_writer(
    disk: Disk, buffered: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error is raised to the waiting caller, and the next flush succeeds."""
    await opened(buffered, "a", "b")
    buffered.append("a", words(1, 1))
    with monkeypatch.context() as broken, capture_logs() as logs:
        broken.setattr(buffered._buffer, "mark_written", _breaks)  # type: ignore[attr-defined]
        with pytest.raises(StoreError):
            await buffered.flush("a")
    assert [line["event"] for line in logs] == ["journal.internal_error"]
    buffered.append("b", words(1, 1))
    await buffered.flush("b")
    assert disk.seqs("b") == [(1, 1)]


def _breaks(*given: object) -> None:
    raise RuntimeError("a fault of ours")
