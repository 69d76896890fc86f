"""Settles runs when their figures are written: their cost is counted, and what they had reserved is released."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from signalbox.core.records import Figures
from signalbox.store.runs.raw_statements import change, insert, rows_of_ids
from signalbox.store.spend.accounts import Changes, Taken, accounts_of, add, apply, day_of, month_of, nano, releases
from signalbox.store.spend.reservations import take_reservations
from signalbox.store.spend.tables import SPEND
from signalbox.store.tables import RUNS

_COUNTED = ("runs", "cost", "estimated", "estimated_runs")
_SELECT = (
    'SELECT "id", "owner", "group_name", COALESCE("answered", "model"), "started", "charged", "charge_estimated" '
    'FROM runs WHERE "id" IN {ids} ORDER BY "id"'
)


class _Stored(NamedTuple):
    """What is counted of a run; `model` is the one that answered."""

    id: str
    owner: str
    group: str
    model: str
    started: float
    charged: int | None
    charge_estimated: bool | None


class _Sums(Struct):
    """What a settlement adds: to daily totals by day, owner, group and model, to budgets, and to the runs."""

    totals: dict[tuple[str, str, str, str], list[int]] = {}
    changes: Changes = {}
    charged: list[dict[str, Any]] = []


def settle(connection: Connection, ended: Sequence[tuple[str, Figures]]) -> None:
    """Count the costs of ended runs, or what has changed since they were last counted.

    It is idempotent: each run stores how much of its cost is counted. A run that is deleted counts as it is.
    """
    figures = {run_id: one for run_id, one in ended if one.is_over}
    if not figures:
        return
    taken = take_reservations(connection, [*figures])  # first: it locks them, so that no reservation grows from now on
    sums = _Sums()
    for row in _stored(connection, [*figures]):
        _count(row, figures[row.id], taken.get(row.id), sums)
    releases(sums.changes, taken.values())
    change(connection, RUNS, sums.charged)
    _add_totals(connection, sums.totals)
    apply(connection, sums.changes)


def _stored(connection: Connection, run_ids: Sequence[str]) -> list[_Stored]:
    """Return what is counted of runs, locked: another worker may settle the same run after a takeover."""
    lock = "" if connection.dialect.name == "sqlite" else " FOR UPDATE"
    return [_Stored(*row) for row in rows_of_ids(connection, _SELECT + lock, run_ids)]


def _count(row: _Stored, figures: Figures, taken: Taken | None, sums: _Sums) -> None:
    before, is_new = row.charged or 0, row.charged is None
    was_estimate = bool(row.charge_estimated)
    cost, is_estimate = _cost_of(figures, row.charged, taken), figures.cost_estimated
    if not is_new and (cost, is_estimate) == (before, was_estimate):
        return
    day = taken.day if taken else day_of(row.started)
    total = sums.totals.setdefault((day, row.owner, row.group, row.model), [0, 0, 0, 0])
    counted = (is_new, cost - before, cost * is_estimate - before * was_estimate, is_estimate - was_estimate)
    for place, amount in enumerate(counted):
        total[place] += amount
    for account in accounts_of(row.owner, row.group):
        add(sums.changes, (account, day), cost - before, 0)
        add(sums.changes, (account, month_of(day)), cost - before, 0)
    sums.charged.append({"charged": cost, "charge_estimated": is_estimate, "id": row.id})


def _cost_of(figures: Figures, charged: int | None, taken: Taken | None) -> int:
    """Return the cost to count. While a bill is missing, it is what the run's budget has estimated.

    After a crash, and for models without known prices, there is no estimate. Then the whole reservation counts until
    the bill arrives.
    """
    cost = nano(figures.cost or 0.0)
    if not figures.cost_estimated:
        return cost
    if figures.estimate is not None:
        return max(cost, nano(figures.estimate))
    return max(cost, taken.amount if taken else charged or 0)


def _add_totals(connection: Connection, totals: dict[tuple[str, str, str, str], list[int]]) -> None:
    rows: list[dict[str, Any]] = [
        dict(zip(("day", "owner", "group_name", "model", *_COUNTED), (*key, *amounts), strict=True))
        for key, amounts in sorted(totals.items())
        if any(amounts)
    ]
    insert(connection, SPEND, rows, summed=_COUNTED)
