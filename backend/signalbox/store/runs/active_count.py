"""Counts the active runs of one user, over all workers."""

from sqlalchemy import Connection, func, select

from signalbox.store.tables import RUNS


def count_active_runs(connection: Connection, owner: str) -> int:
    """Return how many runs of this owner have no ending."""
    # Avoids the owner index, which would read all runs of a user to find the few active ones.
    is_his = func.coalesce(RUNS.c.owner, "") == owner
    return connection.execute(select(func.count()).where(RUNS.c.status.is_(None), is_his)).scalar_one()
