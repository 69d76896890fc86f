"""How many runs of one user are under way, in whatever worker."""

from sqlalchemy import Connection, func, select

from signalbox.store.tables import RUNS


def count_under_way(connection: Connection, owner: str) -> int:
    """Return how many runs of this owner have no ending."""
    # Not by the index of owners: that would read all runs of a user to find the few without an ending.
    is_his = func.coalesce(RUNS.c.owner, "") == owner
    return connection.execute(select(func.count()).where(RUNS.c.status.is_(None), is_his)).scalar_one()
