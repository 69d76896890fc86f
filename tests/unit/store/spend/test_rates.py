"""Rates that all workers share: exact sliding windows in the database."""

import asyncio

import pytest
from signalbox.store.spend.rates import TooMany, Window, count_question, forget_expired, uncount

from tests.support.disk import BOTH, Disk

pytestmark = pytest.mark.anyio
DATABASES = BOTH
RATE = [Window("ada", 3, 10.0)]


async def ask(disk: Disk, now: float, windows: list[Window] = RATE) -> float:
    """Count a question; return the seconds to wait, 0 if it is allowed."""
    try:
        await disk.write(count_question, windows, now)
    except TooMany as error:
        return round(error.wait, 6)
    return 0.0


async def test_no_window_has_more_than_the_limit(disk: Disk) -> None:
    """A question is allowed once the one that is three before it is ten seconds old; rejected ones do not count."""
    times = [0.0, 4.0, 5.0, 6.0, 9.9, 10.0, 13.0, 14.0, 15.0, 15.5]
    assert [await ask(disk, 100 + at) for at in times] == [0, 0, 0, 4.0, 0.1, 0, 1.0, 0, 0, 4.5]


async def test_concurrent_questions_are_counted_one_by_one(disk: Disk) -> None:
    """Three of twenty pass."""
    found = await asyncio.gather(*(ask(disk, 100.0) for _ in range(20)))
    assert sorted(found)[:4] == [0, 0, 0, 10.0]


async def test_every_rate_has_to_allow_a_question(disk: Disk) -> None:
    """A question that the second one rejects does not count in the first one."""
    both = [Window("ada", 3, 10.0), Window("ada", 1, 1.0)]
    assert [await ask(disk, 100 + at, both) for at in (0, 0.5, 1, 2, 3)] == [0, 0.5, 0, 0, 7.0]


async def test_clients_have_their_own_windows(disk: Disk) -> None:
    """And a changed rate begins anew."""
    for _ in range(3):
        await ask(disk, 100)
    assert await ask(disk, 100) == 10.0
    assert await ask(disk, 100, [Window("bob", 3, 10.0)]) == 0
    assert await ask(disk, 100, [Window("ada", 4, 10.0)]) == 0


async def test_a_question_that_starts_no_run_is_subtracted(disk: Disk) -> None:
    """Another one may take its place at once."""
    counted = [await disk.write(count_question, RATE, 100.0 + n) for n in range(3)]
    await disk.write(uncount, counted[0])
    assert await ask(disk, 103.0) == 0
    assert await ask(disk, 104.0) == 7.0


async def test_expired_windows_are_forgotten(disk: Disk) -> None:
    """Nothing stays of a client that is gone."""
    await ask(disk, 100)
    await disk.write(forget_expired, 109.0)
    assert disk.rows("SELECT count(*) FROM rate_times") == [(1,)]
    await disk.write(forget_expired, 111.0)
    assert disk.rows("SELECT count(*) FROM rate_times") == disk.rows("SELECT count(*) FROM rate_counts") == [(0,)]
