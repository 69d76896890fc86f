"""PostgreSQL, which several workers share: every word to it has its time, so that a silent server holds up nobody."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast

from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from signalbox.core.errors import Code, StoreError
from signalbox.store.database import Database, Value, Work, refuse
from signalbox.store.driver import CONNECT_SECONDS, Driver, DriverError, connect
from signalbox.store.migrate import upgrade_on

# How long a transaction may take; a caller waits for a free connection as long as for a new one.
ANSWER_SECONDS = 5.0
MIGRATE_SECONDS = 300.0
_POOL = 8
_LOCKS = 4
# All workers that start at once migrate one after the other.
_MIGRATION = "signalbox migration"


class PostgresDatabase(Database):
    """A database of any number of workers."""

    is_shared = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._engine = self._pool(_POOL)
        # A lock holds its connection for as long as a run takes to start, which itself needs one: not of the same pool.
        self._locks = self._pool(_LOCKS)

    async def connect(self) -> Driver:
        """Return a connection outside of the pool; raises OSError, TimeoutError or DriverError."""
        return await connect(self._url)

    async def open(self) -> None:
        """Bring it up to this version's tables; workers that start together take turns."""

        async def migrate(connection: AsyncConnection) -> None:
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(_MIGRATION, 0))))
            await connection.run_sync(upgrade_on)

        await self._in_time(self._engine, migrate, MIGRATE_SECONDS)

    async def aclose(self) -> None:
        """Close all connections."""
        async with asyncio.timeout(ANSWER_SECONDS):
            await asyncio.gather(self._engine.dispose(), self._locks.dispose(), return_exceptions=True)

    @asynccontextmanager
    async def locked(self, name: str) -> AsyncGenerator[None, None]:
        """Hold a name against all other workers until the block ends, or this worker does."""
        got, release = asyncio.get_running_loop().create_future(), asyncio.Event()

        async def hold(connection: AsyncConnection) -> None:
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
            got.set_result(None)
            await release.wait()

        holding = asyncio.create_task(self._in_time(self._locks, hold, 2 * ANSWER_SECONDS))
        try:
            await asyncio.wait({got, holding}, return_when=asyncio.FIRST_COMPLETED)
            if not got.done():
                await holding  # raises StoreError
            yield
        finally:
            release.set()
            await asyncio.gather(holding, return_exceptions=True)

    async def forget(self) -> None:
        """Leave deleted rows to the server's vacuum: a client cannot overwrite them."""

    async def _write(self, work: Work[Value]) -> Value:
        return await self._in_time(self._engine, lambda connection: connection.run_sync(work))

    async def _read(self, work: Work[Value]) -> Value:
        try:
            return await self._in_time(self._engine, lambda connection: connection.run_sync(work), is_told=False)
        except DBAPIError as error:
            if not error.connection_invalidated:
                refuse(error)
        except (SQLAlchemyError, OSError) as error:
            refuse(error)
        # The server was started anew: this connection was an old one, and so were all others of the pool.
        return await self._write(work)

    async def _in_time(
        self,
        engine: AsyncEngine,
        work: Callable[[AsyncConnection], Awaitable[Value]],
        seconds: float = ANSWER_SECONDS,
        *,
        is_told: bool = True,
    ) -> Value:
        """Run work in a transaction, and be back in time whatever the server does; raises StoreError.

        It is a task of its own: a caller who leaves must not cut a connection in the middle of a word. Without
        `is_told` the database's own errors leave as they are.
        """
        task = asyncio.create_task(_transact(engine, work, seconds))
        done, _ = await asyncio.wait({task}, timeout=seconds + 2 * CONNECT_SECONDS)
        if not done:
            task.cancel()
            raise StoreError(Code.STORE_UNAVAILABLE)
        try:
            return task.result()
        except (SQLAlchemyError, OSError, TimeoutError, DriverError) as error:
            if not is_told:
                raise
            refuse(error)

    def _pool(self, size: int) -> AsyncEngine:
        return create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self.connect,
            pool_size=size,
            max_overflow=0,
            pool_timeout=CONNECT_SECONDS,
        )


async def _transact(engine: AsyncEngine, work: Callable[[AsyncConnection], Awaitable[Value]], seconds: float) -> Value:
    """Run work in a transaction; a server that does not answer in time loses the connection."""
    connection = await engine.connect()
    raw = cast(Driver, (await connection.get_raw_connection()).driver_connection)
    # Not a cancellation: asyncpg would ask the silent server to cancel, and SQLAlchemy to roll back.
    timer = asyncio.get_running_loop().call_later(seconds, raw.terminate)
    try:
        async with connection.begin():
            return await work(connection)
    except DBAPIError:
        if timer.when() <= asyncio.get_running_loop().time():
            raise TimeoutError from None
        raise
    finally:
        try:
            await connection.close()
        finally:
            timer.cancel()
