"""Reports of what runs have cost, from the daily totals."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from sqlalchemy import Connection, func, select

from signalbox.store.spend.accounts import usd
from signalbox.store.spend.tables import SPEND

By: TypeAlias = Literal["owner", "model", "day", "group"]
_COLUMNS = {"owner": SPEND.c.owner, "model": SPEND.c.model, "day": SPEND.c.day, "group": SPEND.c.group_name}


class Spent(Struct, frozen=True):
    """What the runs with one key cost in USD; `estimated` is the part of `cost` whose bill is missing."""

    key: str
    runs: int
    cost: float
    estimated: float
    estimated_runs: int


def spend_by(
    connection: Connection, by: By, first_day: str, last_day: str, owner: str | None = None
) -> Sequence[Spent]:
    """Return what was spent from one UTC day to another, inclusive: days in order, anything else by cost.

    With an `owner`, only that owner's runs count.
    """
    key = _COLUMNS[by]
    sums = [func.sum(SPEND.c[name]) for name in ("runs", "cost", "estimated", "estimated_runs")]
    asked = select(key, *sums).where(SPEND.c.day >= first_day, SPEND.c.day <= last_day).group_by(key)
    if owner is not None:
        asked = asked.where(SPEND.c.owner == owner)
    asked = asked.order_by(key) if by == "day" else asked.order_by(sums[1].desc(), key)
    return [_spent(*row) for row in connection.execute(asked)]


def _spent(key: str, *sums: int) -> Spent:
    runs, cost, estimated, estimated_runs = map(int, sums)  # PostgreSQL returns decimals
    return Spent(key, runs, usd(cost), usd(estimated), estimated_runs)
