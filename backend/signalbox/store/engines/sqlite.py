"""SQLite: one file, one writer thread and a few reader threads; the event loop never waits for the disk."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import SQLAlchemyError

from signalbox.core.errors import StoreError
from signalbox.store.database import Database, Value, Work, raise_store_error
from signalbox.store.engines.threads import Threads
from signalbox.store.migrate import upgrade
from signalbox.store.runs.raw_statements import driver_of

_log = structlog.get_logger()
_READERS = 4
_BUSY_SECONDS = 5
_CHECKPOINT_MS = 100
_TRUNCATE_SECONDS = 1.0
_LASTING = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.ProgrammingError)
# synchronous=FULL: committed data survives a power failure; group commits keep that cheap. secure_delete: deleted rows
# are overwritten.
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",
    f"busy_timeout={_BUSY_SECONDS * 1000}",
)


class SqliteDatabase(Database):
    """An SQLite file, used by one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._engine = _engine(path)
        # One writer: transactions wait here in order, instead of on SQLite's lock.
        self._writer = Threads(1, "database-writer")
        self._held: Connection | None = None
        self._truncating: asyncio.Task[None] | None = None
        self._readers = Threads(_READERS, "database-reader")

    async def open(self) -> None:
        """Create or migrate the file; raises StoreError, NewerDatabase."""
        await _raising_store_errors(self._writer.run(self._open))

    async def _write(self, work: Work[Value]) -> Value:
        return await _raising_store_errors(self._writer.run(lambda: self._transact(work)))

    async def _read(self, work: Work[Value]) -> Value:
        return await _raising_store_errors(self._readers.run(lambda: self._read_transaction(work)))

    @asynccontextmanager
    async def locked(self, name: str) -> AsyncGenerator[None, None]:
        """Take no lock: there are no other workers."""
        yield

    async def erase_deleted(self) -> None:
        """Truncate the write-ahead log, which may still contain deleted rows; raises StoreError.

        A long read, such as a backup, prevents that; then it is retried in the background.
        """
        if await _raising_store_errors(self._writer.run(self._truncate_log)) or self._truncating is not None:
            return
        _log.warning("database.wal_kept")
        self._truncating = asyncio.create_task(self._truncate_later(), name="database log")

    async def _truncate_later(self) -> None:
        with suppress(StoreError):
            is_empty = False
            while not is_empty:
                await asyncio.sleep(_TRUNCATE_SECONDS)
                is_empty = await _raising_store_errors(self._writer.run(self._truncate_log))
        self._truncating = None

    async def aclose(self) -> None:
        """Finish queued work and close the file."""
        if self._truncating is not None:
            self._truncating.cancel()
        await asyncio.to_thread(self._close)

    def _open(self) -> None:
        _keep_private(self._path)
        upgrade(self._engine)

    def _transact(self, work: Work[Value]) -> Value:
        """Run work in a transaction on the writer's connection, which stays open: checking one out costs like a flush.

        BEGIN and COMMIT go directly to the driver; SQLAlchemy's transaction management would cost a third more.
        """
        if self._held is None:
            self._held = self._engine.connect()
        try:
            driver = driver_of(self._held)
            driver.execute("BEGIN IMMEDIATE")
            value = work(self._held)
            if self._held.in_transaction():  # work has used SQLAlchemy, which then manages the transaction
                self._held.commit()
            else:
                driver.commit()
        except BaseException:
            self._close_connection()
            raise
        return value

    def _close_connection(self) -> None:
        if self._held is not None:
            self._held.close()
            self._held = None

    def _read_transaction(self, work: Work[Value]) -> Value:
        with self._engine.connect() as connection:
            return work(connection)

    def _truncate_log(self) -> bool:
        """Truncate the log and return whether that succeeded; the short timeout limits how long writers wait."""
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={_CHECKPOINT_MS}")
            try:
                return connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0] == 0
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")

    def _close(self) -> None:
        self._writer.close()
        self._readers.close()
        self._close_connection()
        self._engine.dispose()


async def _raising_store_errors(work: Awaitable[Value]) -> Value:
    """Await work of a thread; raise database errors as StoreError."""
    try:
        return await work
    except sqlite3.Error as error:  # from a flush, which calls the driver directly
        raise_store_error(error, is_lasting=isinstance(error, _LASTING))
    except (SQLAlchemyError, OSError) as error:
        raise_store_error(error)


def _keep_private(path: Path) -> None:
    """Restrict the file and its log to the owner: they contain users' messages."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        with suppress(FileNotFoundError, PermissionError):  # the file belongs to another user
            file.chmod(0o600)


def _engine(path: Path) -> Engine:
    # Not a URL string: a folder name may contain "?".
    engine = create_engine(URL.create("sqlite", database=str(path)), pool_size=_READERS + 2, max_overflow=0)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: object) -> None:
        connection.isolation_level = None  # Python's implicit BEGIN comes too late for reads, and never for DDL
        cursor = connection.cursor()
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        driver = driver_of(connection)
        if not driver.in_transaction:  # otherwise the writer has begun it
            driver.execute("BEGIN")

    return engine
