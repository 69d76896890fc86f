"""Reservations: what a run may spend is taken from its budgets before it starts, in one transaction."""

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update

from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.runs.raw_statements import rows_of_ids
from signalbox.store.spend.accounts import (
    ACTIVE,
    Changes,
    Key,
    Taken,
    accounts_of,
    add,
    apply,
    month_of,
    releases,
    rows_of,
)
from signalbox.store.spend.tables import BUDGETS, RESERVATIONS
from signalbox.store.tables import RUNS

_DELETE = 'DELETE FROM reservations WHERE run_id IN {ids} RETURNING run_id, owner, group_name, "day", amount'


class Account(Struct, frozen=True):
    """An account that pays for a run, with its limits: amounts in 1e-9 USD, and active runs. None is no limit."""

    name: str
    day: int | None = None
    month: int | None = None
    runs: int | None = None


class Payer(Struct, frozen=True):
    """Who pays for a run that starts on a UTC day: its owner and the owner's group."""

    run_id: str
    owner: str
    group: str
    day: str
    accounts: tuple[Account, ...]

    def limits(self) -> dict[Key, int]:
        """Return the limit of each row of `budgets` that has one."""
        found: dict[Key, int] = {}
        for account in self.accounts:
            for period, limit in (
                (self.day, account.day),
                (month_of(self.day), account.month),
                (ACTIVE, account.runs),
            ):
                if limit is not None:
                    found[account.name, period] = limit
        return found


class Refused(Exception):
    """A limit does not allow the run: `spent` and `reserved` are those of the row, without this run.

    `need` is what the run must be able to reserve at least.
    """

    def __init__(self, key: Key, limit: int, spent: int, reserved: int, need: int = 0) -> None:
        super().__init__(*key)
        self.account, self.period = key
        self.limit, self.spent, self.reserved, self.need = limit, spent, reserved, need

    @property
    def is_temporary(self) -> bool:
        """Whether only active runs are in the way: enough may be left when they have ended."""
        return self.limit - self.spent >= self.need


def reserve(connection: Connection, payer: Payer, want: int, need: int, now: float) -> int:
    """Reserve `want`, or what is left if that is at least `need`; return the amount. Raises Refused.

    The rows stay locked until the transaction ends, so concurrent starts see what this one has reserved.
    """
    rows = _add(connection, payer, want, runs=1)
    limits = payer.limits()
    for key, limit in limits.items():
        if key[1] == ACTIVE and rows[key][1] > limit:
            raise Refused(key, limit, 0, rows[key][1] - 1)
    granted = _granted(payer, rows, want)
    if need > 0 and granted < max(need, 1):
        raise _refusal(payer, rows, want, max(need, 1))
    _take_back(connection, payer, want - max(granted, 0))
    values = {"run_id": payer.run_id, "owner": payer.owner, "group_name": payer.group, "day": payer.day}
    connection.execute(insert(RESERVATIONS).values(**values, amount=max(granted, 0), created=now))
    return max(granted, 0)


def extend(connection: Connection, payer: Payer, amount: int) -> int:
    """Reserve more for an active run, as far as its budgets allow; return how much."""
    mine = RESERVATIONS.c.run_id == payer.run_id
    if connection.execute(select(RESERVATIONS.c.run_id).where(mine).with_for_update()).first() is None:
        return 0  # the run has ended meanwhile
    rows = _add(connection, payer, amount, runs=0)
    granted = max(_granted(payer, rows, amount), 0)
    _take_back(connection, payer, amount - granted)
    connection.execute(update(RESERVATIONS).where(mine).values(amount=RESERVATIONS.c.amount + granted))
    return granted


def take_reservations(connection: Connection, run_ids: Collection[str]) -> dict[str, Taken]:
    """Delete the reservations of runs and return them by run, to be released."""
    return {run_id: Taken(*taken) for run_id, *taken in rows_of_ids(connection, _DELETE, run_ids)}


def release(connection: Connection, run_ids: Collection[str]) -> int:
    """Release the reservations of runs that do not start; return how many there were."""
    taken = take_reservations(connection, run_ids)
    changes: Changes = {}
    releases(changes, taken.values())
    apply(connection, changes)
    return len(taken)


def sweep(connection: Connection, before: float, today: str) -> int:
    """Release reservations from before a time whose run was never stored, or has ended; return how many.

    They are left by a process that was killed during a start. Rows of past days are deleted.
    """
    over = or_(RUNS.c.id.is_(None), RUNS.c.status.is_not(None))
    asked = select(RESERVATIONS.c.run_id).outerjoin(RUNS, RUNS.c.id == RESERVATIONS.c.run_id)
    left = [*connection.execute(asked.where(RESERVATIONS.c.created < before, over)).scalars()]
    past = (BUDGETS.c.period.like("____-__-__"), BUDGETS.c.period < today, BUDGETS.c.reserved == 0)
    connection.execute(delete(BUDGETS).where(*past))
    return release(connection, left) if left else 0


def _changes(payer: Payer, amount: int, runs: int) -> Changes:
    changes: Changes = {}
    for account in accounts_of(payer.owner, payer.group):
        add(changes, (account, payer.day), 0, amount)
        add(changes, (account, month_of(payer.day)), 0, amount)
        add(changes, (account, ACTIVE), 0, runs)
    return changes


def _add(connection: Connection, payer: Payer, amount: int, *, runs: int) -> dict[Key, tuple[int, int]]:
    """Add to the rows of a payer, which locks them; return what each has spent and reserved now."""
    rows = rows_of(_changes(payer, amount, runs), with_zeros=True)
    added = insert_into(connection, BUDGETS).values(rows)
    raised = added.on_conflict_do_update(
        index_elements=["account", "period"], set_={"reserved": BUDGETS.c.reserved + added.excluded.reserved}
    )
    columns = (BUDGETS.c.account, BUDGETS.c.period, BUDGETS.c.spent, BUDGETS.c.reserved)
    found = connection.execute(raised.returning(*columns))
    return {(account, period): (spent, reserved) for account, period, spent, reserved in found}


def _granted(payer: Payer, rows: dict[Key, tuple[int, int]], want: int) -> int:
    """Return how much of `want`, which the rows contain, is within all limits; may be negative."""
    budgets = {key: limit for key, limit in payer.limits().items() if key[1] != ACTIVE}
    return min([want, *(limit - sum(rows[key]) + want for key, limit in budgets.items())])


def _refusal(payer: Payer, rows: dict[Key, tuple[int, int]], want: int, need: int) -> Refused:
    """Return the refusal by the budget with the smallest remainder, by one that is spent if there is one."""
    refusals = [
        Refused(key, limit, rows[key][0], rows[key][1] - want, need)
        for key, limit in payer.limits().items()
        if key[1] != ACTIVE
    ]
    return min(refusals, key=lambda one: (one.is_temporary, one.limit - one.spent - one.reserved))


def _take_back(connection: Connection, payer: Payer, amount: int) -> None:
    if amount:
        apply(connection, _changes(payer, -amount, 0))
