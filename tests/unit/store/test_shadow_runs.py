"""Runs of shadow mode as rows: the budget holds, however many workers reserve at once."""

import asyncio

import pytest
from signalbox.store.shadow_runs import ShadowRun, cost_since, finish_shadow, newest_shadows, reserve_shadow

from tests.support.disk import Disk

pytestmark = pytest.mark.anyio
DATABASES = ("sqlite", "postgres")


async def test_the_budget_holds_under_concurrent_reservations(disk: Disk):
    """Of 30 reservations of an eighth each, eight fit; a finished run frees what it did not need."""
    asked = [ShadowRun(f"{n:032x}", 10.0, "openai/sim", "v2", "running", 0.125) for n in range(30)]
    fit = await asyncio.gather(*(disk.write(reserve_shadow, one, 0.0, 1.0) for one in asked))
    assert sum(fit) == 8
    one = asked[fit.index(True)]
    done = ShadowRun(one.run_id, one.at, one.model, one.loop, "same", 0.0, [{"kind": "order"}])
    await disk.write(finish_shadow, done)
    assert await disk.read(cost_since, 0.0) == pytest.approx(7 * 0.125)
    assert await disk.read(newest_shadows, "same", 5) == [done]
