"""Errors of PostgreSQL: restarts, lasting and passing errors, deadlocks."""

import asyncio
import signal

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store import saves
from signalbox.store.engines.postgres import PostgresDatabase
from sqlalchemy import Connection, text

from tests.support.postgres import Server
from tests.support.postgres_faults import (
    a_save,
    one,
    refused,
    run_all,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGINT])
async def test_calls_succeed_after_a_restart(database: PostgresDatabase, postgres: Server, how: signal.Signals) -> None:
    """After a restart all pooled connections are stale; reads and writes get new ones and succeed."""
    await asyncio.gather(*(database.read(one) for _ in range(8)))
    postgres.stop(how)
    postgres.start()
    await asyncio.gather(*(database.write(saves.add_save, *a_save(str(number))) for number in range(8)))
    assert [await database.read(saves.find_save, str(number)) is None for number in range(8)] == [False] * 8


async def test_a_read_is_repeated_if_its_connection_is_terminated(database: PostgresDatabase, postgres: Server) -> None:
    """A read whose connection an administrator terminates is repeated once."""
    tries: list[int] = []
    loop = asyncio.get_running_loop()
    begun = asyncio.Event()

    def slow(connection: Connection) -> int:
        tries.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
        loop.call_soon(begun.set)
        connection.execute(text(f"SELECT pg_sleep({0 if len(tries) > 1 else 30})"))
        return len(tries)

    reading = asyncio.create_task(database.read(slow))
    await begun.wait()
    postgres.sql("SELECT pg_terminate_backend($1)", tries[0])
    assert await reading == 2


# --- errors of statements -------------------------------------------------------------------------------------------

LASTING = {
    "unknown table": "SELECT * FROM nothing",
    "invalid number": "SELECT CAST('x' AS integer)",
    "missing row": "INSERT INTO journal VALUES ('unknown', 1, 1, '')",
    "too large": "SELECT 2147483647 + 1",
    "forbidden": "SET SESSION AUTHORIZATION guest; SELECT * FROM runs",
}
PASSING = {
    "read-only": "SET TRANSACTION READ ONLY; CREATE TABLE x ()",
    "disk full": "SET LOCAL temp_file_limit = 0; SET LOCAL work_mem = 64; "
    "SELECT count(*) FROM (SELECT g FROM generate_series(1, 200000) g ORDER BY -g) x",
    "lock held": "SET LOCAL lock_timeout = 20; LOCK TABLE runs",
    "terminated": "SELECT pg_terminate_backend(pg_backend_pid())",
    "cancelled": "SELECT pg_cancel_backend(pg_backend_pid()); SELECT pg_sleep(1)",
}


@pytest.mark.parametrize("why", LASTING)
async def test_a_lasting_error_is_no_outage(database: PostgresDatabase, postgres: Server, why: str) -> None:
    """A statement that can never succeed fails with INTERNAL, and the database stays healthy."""
    if why == "forbidden":
        postgres.sql("DROP ROLE IF EXISTS guest")
        postgres.sql("CREATE ROLE guest")
    with pytest.raises(StoreError) as error:
        await database.write(run_all, LASTING[why])
    assert error.value.code is Code.INTERNAL
    assert await database.read(one) == 1


@pytest.mark.parametrize("value", ["\0", 2**40, "x"])
async def test_a_value_that_does_not_fit_is_no_outage(database: PostgresDatabase, value: object) -> None:
    """A value that the server or asyncpg rejects fails with INTERNAL, so that it does not block other runs."""
    where = "title" if value == "\0" else "seq"
    with pytest.raises(StoreError) as error:
        await database.write(lambda c: c.execute(text(f"UPDATE saves SET {where} = :value"), {"value": value}))
    assert error.value.code is Code.INTERNAL


@pytest.mark.parametrize("why", PASSING)
async def test_a_temporary_error_is_an_outage(database: PostgresDatabase, why: str) -> None:
    """A temporary error fails with STORE_UNAVAILABLE, and the next call succeeds."""
    if why == "lock held":
        release = asyncio.Event()
        holding = asyncio.create_task(_hold(database, release))
        await asyncio.sleep(0)
        await refused(_until_locked(database, PASSING[why]))
        release.set()
        await holding
    else:
        await refused(database.write(run_all, PASSING[why]))
    assert await database.read(one) == 1


async def _until_locked(database: PostgresDatabase, words: str) -> None:
    while True:
        await database.write(run_all, words)


async def _hold(database: PostgresDatabase, release: asyncio.Event) -> None:
    from sqlalchemy.util import await_only

    def hold(connection: Connection) -> None:
        connection.execute(text("LOCK TABLE runs"))
        await_only(release.wait())

    await database.write(hold)


async def test_a_deadlock_is_resolved(database: PostgresDatabase) -> None:
    """Of two transactions in a deadlock, the one that the server cancels is repeated, and both succeed."""
    await database.write(saves.add_save, *a_save("a"))
    await database.write(saves.add_save, *a_save("b"))
    met = asyncio.Barrier(2)
    tries: list[str] = []

    def crossing(connection: Connection, first: str, second: str) -> None:
        from sqlalchemy.util import await_only

        # The transaction that detects the deadlock is cancelled, so only one of them looks for it early.
        connection.execute(text(f"SET LOCAL deadlock_timeout = {20 if first == 'a' else 4000}"))
        change = text("UPDATE saves SET seq = seq + 1 WHERE id = :id")
        connection.execute(change, {"id": first})
        tries.append(first)
        if len(tries) <= 2:
            await_only(met.wait())
        connection.execute(change, {"id": second})

    await asyncio.gather(database.write(crossing, "a", "b"), database.write(crossing, "b", "a"))
    assert len(tries) == 3
    lines = [await database.read(saves.find_save, name) for name in "ab"]
    assert [line and line.seq for line in lines] == [3, 3]
