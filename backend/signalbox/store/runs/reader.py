"""Runs as they are kept: their records and their events, read back."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, func, or_, select, tuple_

from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord, Statuses
from signalbox.store.runs.format_0_1 import read_events
from signalbox.store.runs.rows import COLUMNS, FIGURES, record_of
from signalbox.store.tables import JOURNAL, RUNS

# What a column of whole numbers takes; no run has so many events.
_MOST = 2**31 - 2


def find_run(connection: Connection, run_id: str) -> RunRecord | None:
    """Return a run with what was asked, None for an unknown one."""
    return next(iter(_runs(connection, RUNS.c.id == run_id, columns=COLUMNS, limit=1)), None)


def find_run_by_key(connection: Connection, key: str) -> RunRecord | None:
    """Return the run that was started with this Idempotency-Key, None without one."""
    return next(iter(_runs(connection, RUNS.c.key == key, limit=1)), None)


def is_run_over(connection: Connection, run_id: str) -> bool:
    """Whether a run's ending is kept; so it is of a run that is not there (any more)."""
    asked = select(RUNS.c.id).where(RUNS.c.id == run_id, RUNS.c.status.is_(None))
    return connection.execute(asked).first() is None


def recent_runs(
    connection: Connection,
    limit: int,
    before: tuple[float, str] | None = None,
    owner: str | None = None,
    statuses: Statuses = (),
) -> list[RunRecord]:
    """Return the newest runs first, of those that began before this time and run.

    Those of one owner, and of these statuses (None: under way); of all where none is named.
    """
    older = [] if before is None else [tuple_(RUNS.c.started, RUNS.c.id) < before]
    own = [] if owner is None else [RUNS.c.owner == owner]
    running = [RUNS.c.status.is_(None)] if None in statuses else []
    ended = [RUNS.c.status.in_([status for status in statuses if status is not None])]
    wanted = [or_(*running, *ended)] if statuses else []
    return _runs(connection, *older, *own, *wanted, limit=limit)


def unsettled_runs(connection: Connection, since: float) -> list[RunRecord]:
    """Return the runs ended since then (epoch seconds) whose cost is not known yet."""
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
    """Return a run's events with seq > after; `rows` bounds how many flushes are read."""
    of_run, after = JOURNAL.c.run_id == run_id, min(after, _MOST)
    # Where the cursor stands, by the key: else each page of a long run would walk over all the pages before it.
    here = select(func.max(JOURNAL.c.first_seq)).where(of_run, JOURNAL.c.first_seq <= after + 1)
    asked = (
        select(JOURNAL.c.frames)
        .where(of_run, JOURNAL.c.first_seq >= func.coalesce(here.scalar_subquery(), 0), JOURNAL.c.last_seq > after)
        .order_by(JOURNAL.c.first_seq)
        .limit(rows)
    )
    batches = [read_events(frames) for frames in connection.execute(asked).scalars()]
    return [stamped for batch in batches for stamped in batch if stamped.seq > after]
