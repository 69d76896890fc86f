"""Leases: which worker a run under way lives in, and until when; only where several workers share a database.

A worker renews its leases with every beat. One whose leases have run out is taken for dead, and another one ends its
runs. Should it live after all (it was paused, or cut off), it finds out before anything it writes is kept: a flush
locks its runs (the journal's foreign key does) and then looks whether they are still its own, in one transaction;
a takeover locks the same rows first.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, delete, func, literal, or_, select, update

from signalbox.core.records import RunRecord
from signalbox.store.engines.portable_sql import database_time, insert_into, listed
from signalbox.store.runs.rows import FIGURES, record_of
from signalbox.store.tables import JOURNAL, LEASES, RUNS

CHANNEL = "signalbox"
# PostgreSQL takes 8,000 bytes; an id has 32.
_IDS_PER_NOTICE = 200
# Runs that are taken over at once: other workers may take the rest.
_AT_ONCE = 100


def _nobody(run_id: str) -> None:
    """Nothing to notify."""


@dataclass(slots=True)
class Sharing:
    """What a worker that shares its database knows of the others.

    `seconds` is how long a lease holds, `watched` are the runs whose news other workers wait for; `on_lost` is told of
    a run that another worker has taken over.
    """

    worker: str
    seconds: float
    awaited: Collection[str] = ()
    on_lost: Callable[[str], None] = field(default=_nobody)


class LeaseLost(Exception):
    """Some of the runs that were to be written belong to another worker by now."""

    def __init__(self, run_ids: frozenset[str]) -> None:
        super().__init__(len(run_ids))
        self.run_ids = run_ids


def take(connection: Connection, sharing: Sharing, run_ids: Sequence[str]) -> None:
    """Take new runs for this worker's."""
    rows = [{"run_id": run_id, "worker": sharing.worker} for run_id in run_ids]
    added = insert_into(connection, LEASES).values(until=_until(sharing)).on_conflict_do_nothing()
    connection.execute(added, rows)


def check(connection: Connection, sharing: Sharing, run_ids: Collection[str]) -> None:
    """Refuse to write for runs that are another worker's by now; raises LeaseLost."""
    of_mine = select(LEASES.c.run_id).where(LEASES.c.worker == sharing.worker, LEASES.c.run_id.in_(listed(run_ids)))
    if lost := frozenset(run_ids) - {*connection.execute(of_mine).scalars()}:
        raise LeaseLost(lost)


def give_up(connection: Connection, sharing: Sharing, run_ids: Collection[str]) -> None:
    """Drop this worker's leases of runs that are over."""
    mine = LEASES.c.worker == sharing.worker
    connection.execute(delete(LEASES).where(mine, LEASES.c.run_id.in_(listed(run_ids))))


def renew(connection: Connection, sharing: Sharing) -> frozenset[str]:
    """Renew all leases of this worker, and return the runs that they are of."""
    mine = update(LEASES).where(LEASES.c.worker == sharing.worker).values(until=_until(sharing))
    return frozenset(connection.execute(mine.returning(LEASES.c.run_id)).scalars())


def take_over(connection: Connection, sharing: Sharing, own: Collection[str] = ()) -> list[RunRecord]:
    """Take some of the runs without ending whose worker gives no sign of life; `seq` is what the journal really holds.

    Those that this worker has taken before and does not have are among them: it was kept from ending them. `own` are
    the runs that it has: of those none, whatever their leases say.
    """
    # As of when this transaction began: if it had to wait, so had the renewals of all other workers.
    has_run_out, is_mine = LEASES.c.until < _began(), LEASES.c.worker == sharing.worker
    is_left = or_(LEASES.c.until.is_(None), has_run_out, is_mine)
    asked = select(RUNS.c.id).outerjoin(LEASES).where(RUNS.c.status.is_(None), RUNS.c.id.not_in(listed(own)), is_left)
    locked = asked.order_by(RUNS.c.id).limit(_AT_ONCE).with_for_update(of=RUNS, skip_locked=True)
    found = [*connection.execute(locked).scalars()]
    if not found:
        return []
    # The leases were not locked: who has renewed his meanwhile keeps it.
    leased = insert_into(connection, LEASES).values(worker=sharing.worker, until=_until(sharing))
    renewed = {"worker": leased.excluded.worker, "until": leased.excluded.until}
    upserted = leased.on_conflict_do_update(index_elements=["run_id"], set_=renewed, where=or_(has_run_out, is_mine))
    connection.execute(upserted, [{"run_id": run_id} for run_id in found])
    taken = select(LEASES.c.run_id).where(is_mine, LEASES.c.run_id.in_(listed(found)))
    return unfinished(connection, [*connection.execute(taken).scalars()])


def unfinished(connection: Connection, only: Collection[str] | None = None) -> list[RunRecord]:
    """Return the runs that have no ending, of all or of some; `seq` is what the journal really holds."""
    last = select(func.coalesce(func.max(JOURNAL.c.last_seq), 0)).where(JOURNAL.c.run_id == RUNS.c.id)
    asked = select(*FIGURES, last.scalar_subquery().label("last")).where(RUNS.c.status.is_(None))
    if only is not None:
        asked = asked.where(RUNS.c.id.in_(listed(only)))
    return [replace(record_of(row), seq=row["last"]) for row in connection.execute(asked).mappings()]


def notify(connection: Connection, *words: str) -> None:
    """Tell all workers, once this transaction is kept."""
    for word in words:
        connection.execute(select(func.pg_notify(CHANNEL, word)))


def notify_news(connection: Connection, run_ids: Sequence[str]) -> None:
    """Tell all workers that there is more of these runs."""
    for at in range(0, len(run_ids), _IDS_PER_NOTICE):
        notify(connection, f"news {' '.join(run_ids[at : at + _IDS_PER_NOTICE])}")


def _began() -> Any:
    """When the transaction under way began, by the database's clock, in epoch seconds."""
    return func.extract("epoch", func.now())


def _until(sharing: Sharing) -> Any:
    return database_time() + literal(sharing.seconds)
