"""Queries for runs and their events."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, func, select

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord
from signalbox.store.runs.format_0_1 import read_events
from signalbox.store.runs.rows import COLUMNS, FIGURES, record_of
from signalbox.store.tables import JOURNAL, RUNS

# The largest value of an integer column, less one for `after + 1`.
_MOST = 2**31 - 2


def find_run(connection: Connection, run_id: str) -> RunRecord | None:
    """Return a run with its question, None for an unknown one."""
    return next(iter(_runs(connection, RUNS.c.id == run_id, columns=COLUMNS, limit=1)), None)


def find_run_by_key(connection: Connection, key: str) -> RunRecord | None:
    """Return the run that was started with this Idempotency-Key, or None."""
    return next(iter(_runs(connection, RUNS.c.key == key, limit=1)), None)


def is_run_over(connection: Connection, run_id: str) -> bool:
    """Return whether a run's ending is stored; true for an unknown or deleted run."""
    asked = select(RUNS.c.id).where(RUNS.c.id == run_id, RUNS.c.status.is_(None))
    return connection.execute(asked).first() is None


def unsettled_runs(connection: Connection, since: float) -> list[RunRecord]:
    """Return the runs that ended since then (epoch seconds) and whose cost is still an estimate."""
    return _runs(connection, RUNS.c.cost_estimated, RUNS.c.ended >= since)


def _runs(
    connection: Connection,
    *where: ColumnElement[bool],
    columns: Sequence[Column[Any]] = FIGURES,
    limit: int | None = None,
) -> list[RunRecord]:
    asked = select(*columns).where(*where).order_by(RUNS.c.started.desc(), RUNS.c.id.desc()).limit(limit)
    return [record_of(row) for row in connection.execute(asked).mappings()]


def journal_of(connection: Connection, run_id: str, after: int = 0, rows: int | None = None) -> list[Stamped]:
    """Return a run's events with seq > after; `rows` limits how many rows are read."""
    of_run, after = JOURNAL.c.run_id == run_id, min(after, _MOST)
    # Finds the first row by primary key; otherwise each page of a long run would scan all pages before it.
    here = select(func.max(JOURNAL.c.first_seq)).where(of_run, JOURNAL.c.first_seq <= after + 1)
    asked = (
        select(JOURNAL.c.frames)
        .where(of_run, JOURNAL.c.first_seq >= func.coalesce(here.scalar_subquery(), 0), JOURNAL.c.last_seq > after)
        .order_by(JOURNAL.c.first_seq)
        .limit(rows)
    )
    batches = [read_events(frames) for frames in connection.execute(asked).scalars()]
    return [stamped for batch in batches for stamped in batch if stamped.seq > after]
