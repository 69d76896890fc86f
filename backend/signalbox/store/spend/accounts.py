"""Rows of `budgets`: what an owner or a group has spent and reserved in a day, in a month and at present."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from sqlalchemy import Connection

from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.spend.tables import BUDGETS

ACTIVE = "active"
"""The period whose `reserved` counts active runs."""

_NANO = 1_000_000_000

Key: TypeAlias = tuple[str, str]
"""The account and the period of a row."""

Changes: TypeAlias = dict[Key, tuple[int, int]]
"""What to add to `spent` and `reserved`, by row."""


class Taken(NamedTuple):
    """A reservation that is released."""

    owner: str
    group: str
    day: str
    amount: int


def nano(usd: float) -> int:
    """Return an amount in 1e-9 USD."""
    return round(usd * _NANO)


def usd(amount: int) -> float:
    """Return an amount in USD."""
    return amount / _NANO


def day_of(at: float) -> str:
    """Return the UTC day of a time in epoch seconds, such as 2026-11-28."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def month_of(day: str) -> str:
    """Return the month of a day, such as 2026-11."""
    return day[:7]


def group_account(group: str) -> str:
    """Return the account of a group. No owner has this form."""
    return f"group:{group}"


def accounts_of(owner: str, group: str) -> list[str]:
    """Return the accounts that pay for a run: its owner's and its group's; none without a token."""
    return [*([owner] if owner else []), *([group_account(group)] if group else [])]


def add(changes: Changes, key: Key, spent: int, reserved: int) -> None:
    """Add to the changes of a row."""
    before = changes.get(key, (0, 0))
    changes[key] = before[0] + spent, before[1] + reserved


def rows_of(changes: Changes, *, with_zeros: bool = False) -> list[dict[str, object]]:
    """Return changes as rows. They are sorted: transactions that lock the same rows must not wait for each other."""
    return [
        {"account": account, "period": period, "spent": spent, "reserved": reserved}
        for (account, period), (spent, reserved) in sorted(changes.items())
        if spent or reserved or with_zeros
    ]


def apply(connection: Connection, changes: Changes) -> None:
    """Add changes to the rows, and insert those that are missing."""
    if rows := rows_of(changes):
        added = insert_into(connection, BUDGETS)
        summed = {name: BUDGETS.c[name] + added.excluded[name] for name in ("spent", "reserved")}
        connection.execute(added.on_conflict_do_update(index_elements=["account", "period"], set_=summed), rows)


def releases(changes: Changes, reserved: Iterable[Taken]) -> None:
    """Add the release of reservations to changes."""
    for owner, group, day, amount in reserved:
        for account in accounts_of(owner, group):
            add(changes, (account, day), 0, -amount)
            add(changes, (account, month_of(day)), 0, -amount)
            add(changes, (account, ACTIVE), 0, -1)
