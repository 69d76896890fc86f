"""Named locks of PostgreSQL, which all workers of a database share."""

import asyncio

import pytest
from signalbox.store.engines.postgres import PostgresDatabase
from sqlalchemy import text

from tests.support.postgres_faults import (
    HANG,
    one,
    recovered,
    refused,
    shorten_timeouts,
)
from tests.support.silent_servers import Proxy

pytestmark = pytest.mark.anyio


async def test_a_named_lock_is_exclusive(database: PostgresDatabase, proxied_url: str) -> None:
    """A named lock excludes other workers until it is released; another name is free."""
    other = PostgresDatabase(proxied_url)
    order: list[str] = []

    async def second() -> None:
        async with other.locked("x"):
            order.append("second")

    async with database.locked("x"):
        waiting = asyncio.create_task(second())
        async with other.locked("y"):
            order.append("y")
        await asyncio.gather(*(database.read(one) for _ in range(20)))
        order.append("first")
    await waiting
    assert order == ["y", "first", "second"]
    await other.aclose()


async def test_waiting_for_a_lock_can_be_cancelled(database: PostgresDatabase) -> None:
    """A cancelled waiter ends while the server still waits for its lock; the lock is free afterwards."""
    query = text(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    )

    async def waits() -> bool:
        return await database.read(lambda connection: connection.execute(query).scalar_one()) == 1

    async with database.locked("x"):
        waiting = asyncio.create_task(database.locked("x").__aenter__())
        async with asyncio.timeout(HANG):
            while not await waits():
                pass
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await waits()
    async with database.locked("x"):
        pass


async def test_waiting_for_a_lock_times_out(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for a lock times out if its holder keeps it, or if the server does not respond."""
    async with database.locked("x"):
        shorten_timeouts(monkeypatch)
        await refused(database.locked("x").__aenter__())
    await recovered(database)
    proxy.hold()
    await refused(database.locked("z").__aenter__())
    proxy.release()
