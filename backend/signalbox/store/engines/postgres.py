"""PostgreSQL, shared by several workers. Every operation has a timeout, also if the server does not respond."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from sqlalchemy import Text, cast, event, func, select, text
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.database import Database, OpenError, Value, Work, raise_store_error
from signalbox.store.engines.asyncpg_types import Driver, DriverError, DriverFault, connect
from signalbox.store.engines.postgres_errors import is_conflict, is_lasting, reason, sqlstate
from signalbox.store.engines.timeouts import CALL_TIMEOUT, CallTimeout, Silence
from signalbox.store.migrate import NewerDatabase, upgrade_on

# The total timeout of a call: for a free connection, for connecting, and for the transaction.
ANSWER_SECONDS = 5.0
MIGRATE_SECONDS = 300.0
LOCK_SECONDS = 9.0
# For a cancelled task to end, which needs no server.
_GRACE_SECONDS = 0.5
_POLL_SECONDS = 0.05
_POOL = 8
_LOCKS = 4
# The lock with which workers that start together migrate one after the other.
_MIGRATION = "signalbox migration"

# Timeouts on the server: cancel a long statement before its caller gives up, so that its outcome is known, and release
# the locks of a client that has disappeared. Settings that a server does not know are skipped.
_SESSION = {
    "statement_timeout": f"{ANSWER_SECONDS * 900:.0f}",
    "idle_in_transaction_session_timeout": f"{LOCK_SECONDS * 1500:.0f}",
    "tcp_user_timeout": "15000",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "2",
    "client_connection_check_interval": "5000",
}
_VALUES = ", ".join(f"('{name}', '{value}')" for name, value in _SESSION.items())
_PREPARE = (
    f"SELECT count(set_config(name, wanted.setting, false)) FROM pg_settings JOIN (VALUES {_VALUES}) "  # noqa: S608
    "AS wanted (name, setting) USING (name)"
)

Failure = (SQLAlchemyError, OSError, ValueError, DriverError, DriverFault)
Job = Callable[[AsyncConnection], Awaitable[Value]]


class CommitLost(ConnectionError):
    """The connection broke during COMMIT; only the server knows whether it was committed."""

    def __init__(self, value: object, number: str) -> None:
        super().__init__()
        self.value = value
        self.number = number


class PostgresDatabase(Database):
    """A PostgreSQL database for any number of workers."""

    is_shared = True

    def __init__(self, url: str) -> None:
        self._url = url
        self._drivers: set[Driver] = set()
        self._turns: set[CallTimeout] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._silence = Silence(self._drop_idle)
        self._engine = self._pool(_POOL)
        # A separate pool: a lock holds its connection while a run starts, which needs connections itself.
        self._locks = self._pool(_LOCKS)

    async def connect(self) -> Driver:
        """Open a connection outside the pool; raises OSError, ValueError, DriverError, DriverFault."""
        return await connect(self._url)

    async def open(self) -> None:
        """Migrate the tables; workers that start together take turns. Raises OpenError, NewerDatabase."""

        async def migrate(connection: AsyncConnection) -> None:
            await connection.execute(text("SET LOCAL statement_timeout = 0"))
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(_MIGRATION, 0))))
            await connection.run_sync(upgrade_on)

        try:
            await self._with_timeout(self._engine, migrate, MIGRATE_SECONDS)
        except NewerDatabase:
            raise
        except StoreError as error:
            raise OpenError(reason(error.__context__) if error.__context__ else "") from None

    async def aclose(self) -> None:
        """Wait for running transactions, with a timeout, and close all connections."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ANSWER_SECONDS)
        closing = asyncio.gather(self._engine.dispose(), self._locks.dispose(), return_exceptions=True)
        await asyncio.wait({closing}, timeout=_GRACE_SECONDS)
        for driver in list(self._drivers):
            driver.terminate()
        await asyncio.wait({closing}, timeout=_GRACE_SECONDS)
        closing.cancel()

    @asynccontextmanager
    async def locked(self, name: str) -> AsyncGenerator[None, None]:
        """Hold a named lock among all workers during the block; the server releases it if this worker dies."""
        got, release = asyncio.get_running_loop().create_future(), asyncio.Event()

        async def hold(connection: AsyncConnection) -> None:
            await connection.execute(text(f"SET LOCAL statement_timeout = {LOCK_SECONDS * 900:.0f}"))
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
            turn = CALL_TIMEOUT.get()
            assert turn is not None
            turn.restart(LOCK_SECONDS + ANSWER_SECONDS)
            got.set_result(None)
            with suppress(TimeoutError):  # a holder that takes longer loses the lock
                async with asyncio.timeout(LOCK_SECONDS):
                    await release.wait()

        holding = asyncio.create_task(
            self._with_timeout(self._locks, hold, LOCK_SECONDS, held=LOCK_SECONDS + ANSWER_SECONDS)
        )
        try:
            await asyncio.wait({got, holding}, return_when=asyncio.FIRST_COMPLETED)
            if not got.done():
                await holding  # raises StoreError
            yield
        finally:
            release.set()
            if got.done():  # otherwise it still waits for the lock
                await asyncio.gather(holding, return_exceptions=True)
            else:
                holding.add_done_callback(_retrieve_exception)

    async def erase_deleted(self) -> None:
        """Do nothing: the server's vacuum removes deleted rows."""

    async def _write(self, work: Work[Value]) -> Value:
        return await self._with_timeout(self._engine, lambda connection: connection.run_sync(work), ANSWER_SECONDS)

    async def _read(self, work: Work[Value]) -> Value:
        return await self._with_timeout(self._engine, lambda connection: connection.run_sync(work), ANSWER_SECONDS)

    # --- timeouts and retries ------------------------------------------------------------------------------------

    async def _with_timeout(self, engine: AsyncEngine, job: Job[Value], seconds: float, held: float = 0.0) -> Value:
        """Run a job in a transaction with a timeout; raises StoreError.

        `held` is added to the timeout for a job that waits on purpose. The job is a separate task, so that cancelling
        the caller does not interrupt a connection in the middle of a protocol message.
        """
        self._silence.enter()
        task = asyncio.create_task(self._attempt(engine, job, seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_retrieve_exception)
        await asyncio.wait({task}, timeout=seconds + held + _GRACE_SECONDS)
        if not task.done():
            task.cancel()
            raise StoreError(Code.STORE_UNAVAILABLE)
        try:
            return task.result()
        except Failure as error:
            raise_store_error(error, is_lasting=is_lasting(error))

    async def _attempt(self, engine: AsyncEngine, job: Job[Value], seconds: float) -> Value:
        """Run a job, again if the first try certainly had no effect."""
        turn = CallTimeout(seconds)
        CALL_TIMEOUT.set(turn)
        self._turns.add(turn)
        is_answered = True
        try:
            value = await self._try_twice(engine, job, turn)
        except (TimeoutError, asyncio.CancelledError):
            turn.is_late, is_answered = True, False
            raise
        except Failure as error:
            if turn.is_late:
                raise TimeoutError from None
            is_answered = sqlstate(error) != "" or is_lasting(error)
            raise
        else:
            turn.is_late = False  # the process may have been paused, but the server has answered
            return value
        finally:
            turn.end()
            self._turns.discard(turn)
            self.is_healthy = is_answered
            self._silence.leave(is_late=turn.is_late)

    async def _try_twice(self, engine: AsyncEngine, job: Job[Value], turn: CallTimeout) -> Value:
        try:
            return await _transact(engine, job)
        except CommitLost as lost:
            if await _was_committed(engine, lost.number):
                return lost.value  # type: ignore[return-value]
        except DBAPIError as error:
            # The server restarted, or the transaction conflicted with another one: nothing was committed.
            if turn.is_late or not (error.connection_invalidated or is_conflict(error)):
                raise
        return await _transact(engine, job)

    # --- connections ---------------------------------------------------------------------------------------------

    def _pool(self, size: int) -> AsyncEngine:
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=self._connect_pooled,
            pool_size=size,
            max_overflow=0,
            pool_timeout=MIGRATE_SECONDS,  # the caller's timeout is shorter
        )
        event.listen(engine.sync_engine, "checkout", _refuse_closed)
        return engine

    async def _connect_pooled(self) -> Driver:
        driver = await connect(self._url)
        self._drivers.add(driver)
        driver.add_termination_listener(self._drivers.discard)
        if (turn := CALL_TIMEOUT.get()) is not None:
            turn.uses(driver)
        await driver.fetchval(_PREPARE)
        return driver

    def _drop_idle(self) -> None:
        """Close all idle connections: they may be as dead as the one that did not respond."""
        in_use = {turn.driver for turn in self._turns}
        for driver in self._drivers - in_use:
            driver.terminate()


def _refuse_closed(dbapi: Any, record: object, proxy: object) -> None:
    """Make the pool replace a connection that the server has closed."""
    if dbapi.driver_connection.is_closed():
        raise DisconnectionError
    if (turn := CALL_TIMEOUT.get()) is not None:
        turn.uses(dbapi.driver_connection)


async def _transact(engine: AsyncEngine, job: Job[Value]) -> Value:
    """Run a job in a transaction; raises CommitLost if only the server knows whether it was committed."""
    async with engine.connect() as connection:
        transaction = await connection.begin()
        value = await job(connection)
        number = await connection.scalar(select(cast(func.pg_current_xact_id_if_assigned(), Text)))
        try:
            await transaction.commit()
        except DBAPIError as error:
            if error.connection_invalidated and number is not None:
                raise CommitLost(value, number) from None
            raise
        return value


async def _was_committed(engine: AsyncEngine, number: str) -> bool:
    """Return whether a transaction was committed; waits until the server has noticed the lost connection."""
    asked = text("SELECT pg_xact_status(CAST(CAST(:number AS text) AS xid8))")
    while True:
        async with engine.connect() as connection:
            status = await connection.scalar(asked, {"number": number})
        if status != "in progress":
            return status == "committed"
        await asyncio.sleep(_POLL_SECONDS)


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of a task that no caller awaits, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
