"""The SQL statements of a flush: any number of rows of any size, and rows that exist already."""

from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.runs.flush import OpenRun, write_pending
from signalbox.store.runs.raw_statements import SIZES, Row, change, driver_of, insert
from signalbox.store.runs.rows import CHANGING, figure_columns, opening_row
from signalbox.store.tables import JOURNAL, RUNS, SHARED
from sqlalchemy import Connection, event

from tests.support.disk import BOTH, Disk, a_run

pytestmark = pytest.mark.anyio
DATABASES = BOTH
LARGEST = SIZES[0]
EDGES = [0, 1, 2, 3, LARGEST - 1, LARGEST, LARGEST + 1, sum(SIZES), 2 * LARGEST + 1]


def journal_rows(count: int, frames: bytes = b"[]", last: int = 9) -> list[Row]:
    """Make as many rows of the run `r`, in their order."""
    return [{"run_id": "r", "first_seq": at, "last_seq": last, "frames": frames} for at in range(count)]


@pytest.fixture
async def kept(disk: Disk) -> Disk:
    """Keep the run `r` that the rows are of."""
    await disk.write(insert, RUNS, [opening_row(a_run("r"))])
    return disk


@pytest.mark.parametrize("count", EDGES)
async def test_all_rows_are_written_once(kept: Disk, count: int) -> None:
    """No row is lost or repeated at the boundary between two statements."""
    await kept.write(insert, JOURNAL, journal_rows(count))
    assert kept.rows("SELECT first_seq FROM journal ORDER BY first_seq") == [(at,) for at in range(count)]


@pytest.mark.parametrize(("count", "statements"), [(0, 0), (1, 1), (8, 1), (9, 2), (100, 3), (128, 1), (257, 3)])
async def test_many_rows_are_few_statements(disk: Disk, kind: str, count: int, statements: int) -> None:
    """SQLite releases the GIL per statement; the driver of PostgreSQL sends all rows in one."""
    ran: list[str] = []

    def work(connection: Connection) -> None:
        insert(connection, RUNS, [opening_row(a_run("r"))])
        if kind == "sqlite":
            driver_of(connection).set_trace_callback(lambda text: ran.append(text) if "INTO journal" in text else None)
        event.listen(connection, "before_cursor_execute", lambda *given: ran.append(given[2]))
        insert(connection, JOURNAL, journal_rows(count))

    await disk.write(work)
    assert sum("INSERT" in text for text in ran) == (statements if kind == "sqlite" else min(count, 1))


async def test_existing_rows_are_replaced_or_kept(kept: Disk) -> None:
    """A flush whose commit was lost is written again, with later events."""
    await kept.write(insert, JOURNAL, journal_rows(LARGEST))
    further = journal_rows(LARGEST + 2, b"[1]", last=10)
    await kept.write(insert, JOURNAL, further)
    told = "SELECT last_seq, count(*) FROM journal GROUP BY last_seq ORDER BY last_seq"
    assert kept.rows(told) == [(9, LARGEST), (10, 2)]
    await kept.write(insert, JOURNAL, further, replaced=("last_seq", "frames"))
    assert kept.rows(told) == [(10, LARGEST + 2)]
    assert kept.rows("SELECT DISTINCT frames FROM journal") == [(b"[1]",)]


async def test_a_large_row_is_written_with_the_others(kept: Disk) -> None:
    """A run may emit megabytes between two flushes."""
    large = journal_rows(LARGEST + 1)
    large[LARGEST // 2] = {**large[LARGEST // 2], "frames": b"x" * 5_000_000}
    await kept.write(insert, JOURNAL, large)
    assert kept.rows("SELECT count(*), max(length(frames)) FROM journal") == [(LARGEST + 1, 5_000_000)]


@pytest.mark.parametrize("count", EDGES)
async def test_each_row_is_changed_by_its_own_values(disk: Disk, count: int) -> None:
    """Each row gets its own values, and unknown rows are not created."""
    ids = [f"r{at}" for at in range(count)]
    await disk.write(insert, RUNS, [opening_row(a_run(run_id)) for run_id in ids])
    await disk.write(change, RUNS, [{"steps": at, "id": run_id} for at, run_id in enumerate([*ids, "unknown"])])
    assert dict(disk.rows("SELECT id, steps FROM runs")) == {run_id: at for at, run_id in enumerate(ids)}


async def test_an_update_may_have_a_condition(disk: Disk) -> None:
    """A late cost changes only runs that have ended."""
    await disk.write(insert, RUNS, [opening_row(a_run("a")), opening_row(a_run("b", status="complete"))])
    change_of: list[Row] = [{"cost": 1.5, "id": "a"}, {"cost": 2.5, "id": "b"}]
    await disk.write(change, RUNS, change_of, only="status IS NOT NULL")
    assert disk.rows("SELECT id, cost FROM runs ORDER BY id") == [("a", None), ("b", 2.5)]


async def test_a_nul_is_stored_if_the_database_can(disk: Disk, kind: str) -> None:
    """PostgreSQL stores U+FFFD instead of NUL."""
    shown = "a\0b" if kind == "sqlite" else "a\ufffdb"
    await disk.write(insert, SHARED, [{"name": "a\0b", "value": b"\0"}])
    await disk.write(insert, RUNS, [opening_row(a_run("r"))])
    await disk.write(change, RUNS, [{"code": "a\0b", "id": "r"}])
    assert disk.rows("SELECT name, value FROM shared") == [(shown, b"\0")]
    assert disk.rows("SELECT code FROM runs") == [(shown,)]


async def test_a_batch_is_atomic(kept: Disk) -> None:
    """If one row cannot be stored, no row of the batch is."""
    rows: list[Any] = [*journal_rows(LARGEST), {**journal_rows(1)[0], "run_id": "unknown"}]
    with pytest.raises(StoreError) as refused:
        await kept.write(insert, JOURNAL, rows)
    assert refused.value.code is Code.INTERNAL
    assert kept.rows("SELECT count(*) FROM journal") == [(0,)]
    await kept.write(insert, JOURNAL, journal_rows(1))
    assert kept.rows("SELECT count(*) FROM journal") == [(1,)]


def test_the_columns_that_change_are_those_of_the_figures() -> None:
    """All figures are updated when a run is written again."""
    assert tuple(figure_columns(a_run("r"))) == CHANGING


async def test_figures_before_the_first_flush_are_stored(disk: Disk) -> None:
    """Figures are stored with a new run, also if its commit is repeated."""
    run = OpenRun("r", lambda seq, reserved: None, opening=a_run("r"), figures=lambda: a_run("r", steps=2))
    taken = run.take_pending()
    await disk.write(write_pending, [taken])
    assert disk.rows("SELECT steps, reserved FROM runs") == [(2, 1_000_000)]
    run.restore(taken)
    run.figures = lambda: a_run("r", steps=3)
    await disk.write(write_pending, [run.take_pending()])
    assert disk.rows("SELECT steps, reserved FROM runs") == [(3, 1_000_000)]


async def test_opening_an_existing_run_does_not_change_it(disk: Disk) -> None:
    """A repeated opening does not overwrite later figures."""
    await disk.write(insert, RUNS, [opening_row(a_run("r", steps=5))])
    await disk.write(write_pending, [OpenRun("r", lambda seq, reserved: None, opening=a_run("r")).take_pending()])
    assert disk.rows("SELECT steps FROM runs") == [(5,)]
