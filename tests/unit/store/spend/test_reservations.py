"""Reservations of budgets: exact for concurrent starts, released when runs end, crash or do not start."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.parts import Usage
from signalbox.core.records import Figures
from signalbox.store.runs.journal import JournalStore
from signalbox.store.spend.reservations import Account, Payer, Refused, extend, release, reserve, sweep

from tests.support.disk import BOTH, Disk, a_run

pytestmark = pytest.mark.anyio
DATABASES = BOTH
DAY = "2026-11-28"
# 2026-11-28 at 23:59 UTC.
NOW = 1795910340.0


def payer(run_id: str = "r", **limits: int | None) -> Payer:
    """Return a payer with limits of its token."""
    return Payer(run_id, "ada", "", DAY, (Account("ada", **limits),))


def of_group(run_id: str, **limits: int | None) -> Payer:
    """Return a payer whose group has limits."""
    return Payer(run_id, run_id, "team", DAY, (Account("group:team", **limits),))


def rows(disk: Disk) -> dict[tuple[str, str], tuple[int, int]]:
    """Return what is spent and reserved, by account and period."""
    return {
        (account, period): (spent, reserved)
        for account, period, spent, reserved in disk.rows("SELECT account, period, spent, reserved FROM budgets")
    }


def reserved(disk: Disk) -> list[int]:
    """Return what is reserved in each row."""
    return [amount for _, amount in rows(disk).values()]


async def try_to(disk: Disk, who: Payer, want: int, need: int | None = None) -> int | Refused:
    """Reserve, or return the refusal."""
    try:
        return await disk.write(reserve, who, want, want if need is None else need, NOW)
    except Refused as refused:
        return refused


async def end(store: JournalStore, run_id: str, cost: float, **figures: Any) -> None:
    """Store a run that ends with this cost."""
    await store.open(replace(a_run(run_id), started=NOW, owner="ada"), lambda seq, reserved: None)
    over = Figures(ended=1.0, status="complete", usage=Usage(1, 1, cost=cost), **figures)
    store.save_figures(run_id, lambda: over)
    await store.flush()


async def test_of_concurrent_starts_exactly_as_many_pass_as_the_budget_pays(disk: Disk) -> None:
    """Each of the others is refused; nothing is reserved for them."""
    found = await asyncio.gather(*(try_to(disk, payer(f"{n}", day=1000), 100) for n in range(40)))
    assert [one for one in found if isinstance(one, int)] == [100] * 10
    assert rows(disk) == {("ada", DAY): (0, 1000), ("ada", "2026-11"): (0, 1000), ("ada", "active"): (0, 10)}


async def test_the_remainder_is_granted_if_it_is_enough(disk: Disk) -> None:
    """Less than wanted, but at least what is needed."""
    assert await try_to(disk, payer("a", day=250), 200, 50) == 200
    assert await try_to(disk, payer("b", day=250), 200, 50) == 50
    refused = await try_to(disk, payer("c", day=250), 200, 50)
    assert isinstance(refused, Refused)
    assert (refused.account, refused.period, refused.limit, refused.spent, refused.reserved) == (
        "ada",
        DAY,
        250,
        0,
        250,
    )
    assert rows(disk)["ada", "active"] == (0, 2)


async def test_the_smaller_of_two_budgets_counts(disk: Disk) -> None:
    """Of the day and the month, and of the token and its group."""
    both = (Account("ada", day=500, month=300), Account("group:team", day=100))
    assert await try_to(disk, Payer("r", "ada", "team", DAY, both), 400, 1) == 100
    refused = await try_to(disk, Payer("s", "ada", "team", DAY, both), 400, 1)
    assert isinstance(refused, Refused)
    assert refused.account == "group:team"
    assert await try_to(disk, Payer("t", "ada", "", DAY, both[:1]), 400, 1) == 200


async def test_a_refusal_is_temporary_if_only_active_runs_are_in_the_way(disk: Disk, store: JournalStore) -> None:
    """Of several budgets, one that is spent has precedence over one that is reserved."""
    both = (Account("ada", day=500), Account("group:team", day=300))
    assert await try_to(disk, Payer("a", "ada", "team", DAY, both), 300) == 300
    refused = await try_to(disk, Payer("b", "ada", "team", DAY, both), 300, 150)
    assert isinstance(refused, Refused)
    assert (refused.account, refused.is_temporary, refused.need) == ("group:team", True, 150)
    await end(store, "spent", 400e-9)
    refused = await try_to(disk, Payer("b", "ada", "team", DAY, both), 300, 150)
    assert isinstance(refused, Refused)
    assert (refused.account, refused.is_temporary) == ("ada", False)


async def test_members_share_the_budget_of_their_group(disk: Disk) -> None:
    """Ten different owners."""
    found = await asyncio.gather(*(try_to(disk, of_group(f"{n}", month=300), 100) for n in range(10)))
    assert sum(isinstance(one, int) for one in found) == 3


async def test_active_runs_are_limited(disk: Disk) -> None:
    """Also without a budget; a released reservation makes room."""
    found = await asyncio.gather(*(try_to(disk, payer(f"{n}", runs=3), 0) for n in range(10)))
    admitted = [f"{n}" for n, one in enumerate(found) if one == 0]
    assert len(admitted) == 3
    await disk.write(release, admitted[:1])
    assert await try_to(disk, payer("later", runs=3), 0) == 0


async def test_a_model_that_costs_nothing_needs_no_budget(disk: Disk) -> None:
    """Nothing is reserved."""
    assert await try_to(disk, payer("r", day=0), 0) == 0


async def test_the_end_of_a_run_replaces_its_reservation_by_its_cost(disk: Disk, store: JournalStore) -> None:
    """What it did not need is free again."""
    await try_to(disk, payer("r", day=10**9), 10**9)
    await end(store, "r", 0.25)
    assert rows(disk)["ada", DAY] == (250_000_000, 0)
    assert reserved(disk) == [0, 0, 0]
    assert await try_to(disk, payer("s", day=10**9), 10**9, 1) == 750_000_000


async def test_after_a_crash_the_reservation_counts_until_the_bill_arrives(disk: Disk, store: JournalStore) -> None:
    """The cost of the interrupted attempt is not known."""
    await try_to(disk, payer("r", day=10**9), 400_000_000)
    await end(store, "r", 0.1, cost_estimated=True)
    assert rows(disk)["ada", DAY] == (400_000_000, 0)
    await store.flush()
    store.save_figures("r", lambda: Figures(ended=1.0, status="complete", usage=Usage(1, 1, cost=0.3)))
    await store.flush()
    assert rows(disk)["ada", DAY] == (300_000_000, 0)


async def test_a_run_reserves_more_as_far_as_there_is_more(disk: Disk, store: JournalStore) -> None:
    """All of it is released at its end, and nothing is granted after it."""
    who = payer("r", day=10**9)
    await try_to(disk, who, 600_000_000)
    assert await disk.write(extend, who, 300_000_000) == 300_000_000
    assert await disk.write(extend, who, 300_000_000) == 100_000_000
    assert await disk.write(extend, who, 300_000_000) == 0
    await end(store, "r", 0.5)
    assert rows(disk)["ada", DAY] == (500_000_000, 0)
    assert await disk.write(extend, who, 1) == 0
    assert rows(disk)["ada", DAY] == (500_000_000, 0)


async def test_a_killed_start_is_swept(disk: Disk, store: JournalStore) -> None:
    """Its run was never stored. Newer reservations and those of active runs stay."""
    await disk.write(reserve, payer("killed"), 5, 5, NOW - 100)
    await disk.write(reserve, payer("active"), 7, 7, NOW - 100)
    await disk.write(reserve, payer("starting"), 11, 11, NOW)
    await store.open(replace(a_run("active"), owner="ada"), lambda seq, reserved: None)
    assert await disk.write(sweep, NOW - 50, DAY) == 1
    assert rows(disk)["ada", "2026-11"] == (0, 18)
    assert rows(disk)["ada", "active"] == (0, 2)


async def test_past_days_are_forgotten(disk: Disk) -> None:
    """Months stay."""
    await disk.write(reserve, payer("r"), 5, 5, NOW)
    await disk.write(release, ["r"])
    await disk.write(sweep, NOW, "2026-11-29")
    assert {*rows(disk)} == {("ada", "2026-11"), ("ada", "active")}
