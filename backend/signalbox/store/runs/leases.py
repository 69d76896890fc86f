"""Leases: which worker owns an active run, and until when; used only if several workers share a database.

A worker renews its leases with each heartbeat. If they expire, it is taken for dead and another worker ends its runs.
A worker that was only paused or cut off notices before its writes are committed: a flush locks its runs (through the
journal's foreign key) and then verifies its leases in the same transaction; a takeover locks the same rows first.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, delete, func, literal, or_, select, update

from signalbox.core.records import RunRecord
from signalbox.store.engines.portable_sql import database_time, id_subquery, insert_into
from signalbox.store.runs.rows import FIGURES, record_of
from signalbox.store.tables import JOURNAL, LEASES, RUNS

CHANNEL = "signalbox"
# A payload has at most 8,000 bytes; an id has 32.
_IDS_PER_NOTICE = 200
# Runs per takeover: other workers may take the rest.
_RUNS_PER_TAKEOVER = 100


def _no_op(run_id: str) -> None:
    """Ignore a lost lease."""


@dataclass(slots=True)
class Sharing:
    """Settings of a worker that shares its database.

    `seconds` is the duration of a lease. `awaited` are the runs whose news other workers wait for. `on_lost` is called
    for a run that another worker has taken over.
    """

    worker: str
    seconds: float
    awaited: Collection[str] = ()
    on_lost: Callable[[str], None] = field(default=_no_op)


class LeaseLost(Exception):
    """Another worker has taken over some of the runs to be written."""

    def __init__(self, run_ids: frozenset[str]) -> None:
        super().__init__(len(run_ids))
        self.run_ids = run_ids


def acquire(connection: Connection, sharing: Sharing, run_ids: Sequence[str]) -> None:
    """Acquire leases of new runs."""
    rows = [{"run_id": run_id, "worker": sharing.worker} for run_id in run_ids]
    added = insert_into(connection, LEASES).values(until=_until(sharing)).on_conflict_do_nothing()
    connection.execute(added, rows)


def verify(connection: Connection, sharing: Sharing, run_ids: Collection[str]) -> None:
    """Verify that this worker still holds the leases of these runs; raises LeaseLost."""
    of_mine = select(LEASES.c.run_id).where(
        LEASES.c.worker == sharing.worker, LEASES.c.run_id.in_(id_subquery(run_ids))
    )
    if lost := frozenset(run_ids) - {*connection.execute(of_mine).scalars()}:
        raise LeaseLost(lost)


def release(connection: Connection, sharing: Sharing, run_ids: Collection[str]) -> None:
    """Release this worker's leases of ended runs."""
    mine = LEASES.c.worker == sharing.worker
    connection.execute(delete(LEASES).where(mine, LEASES.c.run_id.in_(id_subquery(run_ids))))


def renew(connection: Connection, sharing: Sharing) -> frozenset[str]:
    """Renew all leases of this worker, and return their run ids."""
    mine = update(LEASES).where(LEASES.c.worker == sharing.worker).values(until=_until(sharing))
    return frozenset(connection.execute(mine.returning(LEASES.c.run_id)).scalars())


def take_over(connection: Connection, sharing: Sharing, own: Collection[str] = ()) -> list[RunRecord]:
    """Take over unfinished runs whose lease has expired, a limited number; `seq` is the last one in the journal.

    Runs that this worker took over before and could not end are included. `own` are its active runs, which are never
    taken over, whatever their leases say.
    """
    # Compared with the start of this transaction: if it had to wait, so did the renewals of the other workers.
    has_run_out, is_mine = LEASES.c.until < _began(), LEASES.c.worker == sharing.worker
    is_left = or_(LEASES.c.until.is_(None), has_run_out, is_mine)
    asked = (
        select(RUNS.c.id).outerjoin(LEASES).where(RUNS.c.status.is_(None), RUNS.c.id.not_in(id_subquery(own)), is_left)
    )
    locked = asked.order_by(RUNS.c.id).limit(_RUNS_PER_TAKEOVER).with_for_update(of=RUNS, skip_locked=True)
    found = [*connection.execute(locked).scalars()]
    if not found:
        return []
    # The leases are not locked: a worker that has renewed its lease meanwhile keeps it.
    leased = insert_into(connection, LEASES).values(worker=sharing.worker, until=_until(sharing))
    renewed = {"worker": leased.excluded.worker, "until": leased.excluded.until}
    upserted = leased.on_conflict_do_update(index_elements=["run_id"], set_=renewed, where=or_(has_run_out, is_mine))
    connection.execute(upserted, [{"run_id": run_id} for run_id in found])
    taken = select(LEASES.c.run_id).where(is_mine, LEASES.c.run_id.in_(id_subquery(found)))
    return unfinished(connection, [*connection.execute(taken).scalars()])


def unfinished(connection: Connection, only: Collection[str] | None = None) -> list[RunRecord]:
    """Return unfinished runs, all or only these ids; `seq` is the last one in the journal."""
    last = select(func.coalesce(func.max(JOURNAL.c.last_seq), 0)).where(JOURNAL.c.run_id == RUNS.c.id)
    asked = select(*FIGURES, last.scalar_subquery().label("last")).where(RUNS.c.status.is_(None))
    if only is not None:
        asked = asked.where(RUNS.c.id.in_(id_subquery(only)))
    return [replace(record_of(row), seq=row["last"]) for row in connection.execute(asked).mappings()]


def notify(connection: Connection, *words: str) -> None:
    """Notify all workers when this transaction is committed."""
    for word in words:
        connection.execute(select(func.pg_notify(CHANNEL, word)))


def notify_news(connection: Connection, run_ids: Sequence[str]) -> None:
    """Notify all workers that these runs have new events."""
    for at in range(0, len(run_ids), _IDS_PER_NOTICE):
        notify(connection, f"news {' '.join(run_ids[at : at + _IDS_PER_NOTICE])}")


def _began() -> Any:
    """Return when the current transaction started, by the database's clock, in epoch seconds."""
    return func.extract("epoch", func.now())


def _until(sharing: Sharing) -> Any:
    return database_time() + literal(sharing.seconds)
