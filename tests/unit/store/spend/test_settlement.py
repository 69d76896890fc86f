"""Costs of runs are counted when their figures are written: once, in daily totals and in periods of budgets."""

from typing import Any

import pytest
from msgspec.structs import replace
from signalbox.core.parts import Usage
from signalbox.core.records import Figures
from signalbox.store.runs.journal import JournalStore
from signalbox.store.spend.report import Spent, spend_by
from signalbox.store.spend.settlement import settle

from tests.support.disk import BOTH, Disk, a_run

pytestmark = pytest.mark.anyio
DATABASES = BOTH
# 2026-11-28 at 23:59 UTC.
STARTED = 1795910340.0


def ended(cost: float | None, *, is_estimate: bool = False, estimate: float | None = None) -> Figures:
    """Return the figures of a run that has ended."""
    usage = None if cost is None else Usage(1, 1, cost=cost)
    return Figures(ended=1.0, status="complete", usage=usage, cost_estimated=is_estimate, estimate=estimate)


async def start(store: JournalStore, run_id: str, **fields: Any) -> None:
    """Store a new run."""
    record = replace(a_run(run_id, started=STARTED, owner="ada"), **fields)
    await store.open(record, lambda seq, reserved: None)


async def end(store: JournalStore, run_id: str, figures: Figures) -> None:
    """Store the end of a run, or its new cost."""
    store.save_figures(run_id, lambda: figures)
    await store.flush()


def periods(disk: Disk) -> dict[tuple[str, str], int]:
    """Return what is spent by account and period, in 1e-9 USD."""
    rows = disk.rows("SELECT account, period, spent FROM budgets")
    return {(account, period): spent for account, period, spent in rows}


async def totals(disk: Disk) -> list[Spent]:
    """Return what was spent by day."""
    return [*await disk.read(spend_by, "day", "2026-01-01", "2026-12-31")]


async def test_a_run_counts_on_the_day_of_its_start(disk: Disk, store: JournalStore) -> None:
    """The day is in UTC; the run counts for its owner and for its group."""
    await start(store, "r", group="team")
    await end(store, "r", ended(0.25))
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.25, 0.0, 0)]
    assert periods(disk) == {
        ("ada", "2026-11-28"): 250_000_000,
        ("ada", "2026-11"): 250_000_000,
        ("group:team", "2026-11-28"): 250_000_000,
        ("group:team", "2026-11"): 250_000_000,
    }


async def test_the_same_figures_count_once(disk: Disk, store: JournalStore) -> None:
    """A flush whose commit was lost is written again."""
    await start(store, "r")
    for _ in range(3):
        await end(store, "r", ended(0.25))
    await disk.write(settle, [("r", ended(0.25))])
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.25, 0.0, 0)]


async def test_a_bill_replaces_the_estimate(disk: Disk, store: JournalStore) -> None:
    """Until it arrives, the estimate of the run's budget counts, and is marked."""
    await start(store, "r")
    await end(store, "r", ended(0.1, is_estimate=True, estimate=0.4))
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.4, 0.4, 1)]
    await end(store, "r", ended(0.3))
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.3, 0.0, 0)]
    assert periods(disk)["ada", "2026-11"] == 300_000_000


async def test_the_model_that_answered_is_charged(disk: Disk, store: JournalStore) -> None:
    """A fallback model of the request, also for a bill that arrives later."""
    answered = ({"model": "openai/sim", "served_model": "c/d-2026", "provider": "P", "fallback_model": "c/d"},)
    await start(store, "r")
    await end(store, "r", replace(ended(0.1, is_estimate=True, estimate=0.4), attempts=answered))
    await end(store, "r", replace(ended(0.3), attempts=answered))
    assert [*await disk.read(spend_by, "model", "2026-01-01", "2026-12-31")] == [Spent("c/d", 1, 0.3, 0.0, 0)]


async def test_a_bill_that_never_arrives_keeps_the_estimate(disk: Disk, store: JournalStore) -> None:
    """Figures that are read back after a restart have no estimate."""
    await start(store, "r")
    await end(store, "r", ended(0.1, is_estimate=True, estimate=0.4))
    await end(store, "r", ended(0.1, is_estimate=True))
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.4, 0.4, 1)]


async def test_runs_without_a_token_have_no_budget(disk: Disk, store: JournalStore) -> None:
    """They are in the totals, with an empty owner."""
    await start(store, "r", owner="")
    await end(store, "r", ended(0.5))
    assert [one.key for one in await disk.read(spend_by, "owner", "2026-11-28", "2026-11-28")] == [""]
    assert periods(disk) == {}


async def test_a_run_without_a_cost_is_counted(disk: Disk, store: JournalStore) -> None:
    """A model without a price costs nothing that is known."""
    await start(store, "r")
    await end(store, "r", ended(None))
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.0, 0.0, 0)]


async def test_costs_outlive_their_runs(disk: Disk, store: JournalStore) -> None:
    """A run that is deleted at once after its end is counted before."""
    await start(store, "r")
    store.save_figures("r", lambda: ended(0.25))
    await store.delete("r")
    assert disk.rows("SELECT id FROM runs") == []
    assert await totals(disk) == [Spent("2026-11-28", 1, 0.25, 0.0, 0)]


async def test_sums_of_small_amounts_are_exact(disk: Disk, store: JournalStore) -> None:
    """Ten times 0.1 is 1."""
    for number in range(10):
        await start(store, str(number), model=f"openai/{number % 2}")
        await end(store, str(number), ended(0.1))
    assert [one.cost for one in await totals(disk)] == [1.0]
    assert [(one.key, one.runs) for one in await disk.read(spend_by, "model", "2026-11-28", "2026-11-28")] == [
        ("openai/0", 5),
        ("openai/1", 5),
    ]


async def test_an_owner_sees_only_its_own(disk: Disk, store: JournalStore) -> None:
    """Of all owners, and within the days."""
    for run_id, owner in (("a", "ada"), ("b", "bob")):
        await start(store, run_id, owner=owner)
        await end(store, run_id, ended(0.25))
    assert [one.runs for one in await disk.read(spend_by, "day", "2026-11-28", "2026-11-28", "ada")] == [1]
    assert await disk.read(spend_by, "day", "2026-11-29", "2026-12-31") == []
