"""A PostgreSQL server that stops responding: callers wait for a limited time."""

import asyncio
from typing import Any

import pytest
from signalbox.store import saves
from signalbox.store.engines import postgres, timeouts
from signalbox.store.engines.postgres import PostgresDatabase
from sqlalchemy import Connection, text

from tests.support.disk import until
from tests.support.postgres import Server
from tests.support.postgres_faults import (
    HANG,
    SECONDS,
    a_save,
    is_refused_at_once,
    one,
    recovered,
    refused,
    shorten_timeouts,
)
from tests.support.silent_servers import Proxy

pytestmark = pytest.mark.anyio


async def test_pending_calls_time_out_and_the_next_is_refused_at_once(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the server stops responding, pending calls wait for their timeout; the next call is refused at once."""
    await asyncio.gather(*(database.read(one) for _ in range(20)))
    shorten_timeouts(monkeypatch)
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 3600.0)
    proxy.hold()
    first = await asyncio.gather(*(refused(database.read(one)) for _ in range(20)), refused(database.write(one)))
    assert min(first) > SECONDS * 0.9
    assert is_refused_at_once(database.read(one))
    database._silence._until = 0.0  # the hour is over
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", HANG)
    proxy.release()
    await recovered(database)
    assert await asyncio.gather(*(database.read(one) for _ in range(20))) == [1] * 20


@pytest.mark.usefixtures("hasty")
async def test_one_caller_at_a_time_probes_a_silent_server(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the server does not respond, one caller tries it and waits; all others are refused at once."""
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 0.0)
    proxy.hold()
    await refused(database.read(one))
    trying = asyncio.create_task(refused(database.read(one)))
    await until(lambda: database._silence._is_tried)
    assert all(is_refused_at_once(database.read(one)) for _ in range(20))
    assert await trying > SECONDS * 0.9


@pytest.mark.usefixtures("hasty")
async def test_a_dead_connection_closes_idle_ones(database: PostgresDatabase, proxy: Proxy) -> None:
    """After one connection times out, the idle ones are closed too, so the next caller gets a new connection."""
    await asyncio.gather(*(database.read(lambda c: c.execute(text("SELECT pg_sleep(0.05)"))) for _ in range(8)))
    proxy.hold()
    await refused(database.read(one))
    async with asyncio.timeout(HANG):  # on a busy machine the call may fail before all connections are closed
        while [driver for driver in database._drivers if not driver.is_closed()]:  # noqa: ASYNC110 - they have no event
            await asyncio.sleep(0.01)
    proxy.release()
    await recovered(database)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("when", ["connecting", "setting up"])
async def test_a_new_connection_has_a_timeout(proxied_url: str, proxy: Proxy, when: str) -> None:
    """The timeout also covers the handshake and the queries that set up a new connection."""
    fresh = PostgresDatabase(proxied_url)
    if when == "setting up":  # the server stops responding after asyncpg's handshake
        connect = postgres.connect

        async def connected(url: str) -> Any:
            driver = await connect(url)
            proxy.hold()
            return driver

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(postgres, "connect", connected)
            await refused(fresh.read(one))
    else:
        proxy.hold()
        await refused(fresh.read(one))
    async with asyncio.timeout(HANG):
        await fresh.aclose()
    proxy.release()


@pytest.mark.usefixtures("hasty")
async def test_closing_does_not_wait_for_a_silent_server(proxied_url: str, proxy: Proxy) -> None:
    """Closing drops active and idle connections of a silent server, and leaves no task."""
    before = asyncio.all_tasks()
    fresh = PostgresDatabase(proxied_url)
    await asyncio.gather(*(fresh.read(one) for _ in range(4)))
    proxy.hold()
    waiting = asyncio.create_task(refused(fresh.read(one)))
    await until(lambda: any(turn.driver for turn in fresh._turns))
    async with asyncio.timeout(HANG):
        await fresh.aclose()
    await waiting
    await until(lambda: asyncio.all_tasks() == before)
    proxy.release()


async def test_the_server_cancels_a_long_statement(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server cancels a statement that exceeds its timeout; further calls are not refused."""

    def long(connection: Connection) -> None:
        connection.execute(text("SET LOCAL statement_timeout = 50"))
        connection.execute(text("SELECT pg_sleep(30)"))

    await refused(database.read(long))
    assert await database.read(one) == 1


async def test_a_cancelled_caller_does_not_cancel_its_write(
    database: PostgresDatabase, postgres: Server, proxied_url: str
) -> None:
    """A write is completed although its caller is cancelled; closing the database waits for it."""
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: Connection) -> None:
        loop.call_soon(entered.set)
        connection.execute(text("SELECT pg_sleep(0.1)"))
        saves.add_save(connection, *a_save("s"))

    leaving = asyncio.create_task(database.write(slow))
    await entered.wait()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await database.aclose()
    assert postgres.sql("SELECT id FROM saves", database=proxied_url) == [("s",)]
