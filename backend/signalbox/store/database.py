"""The database interface: runs functions of a connection, each in its own transaction."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from typing import Concatenate, NoReturn, ParamSpec, TypeVar

import structlog
from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

P = ParamSpec("P")
Value = TypeVar("Value")
Work = Callable[[Connection], Value]
Bound = Callable[Concatenate[Connection, P], Value]

_log = structlog.get_logger()
_is_quiet = ContextVar("is_quiet", default=False)


def _ignore(error: StoreError) -> None:
    """Ignore a failed transaction."""


class Database(ABC):
    """Runs functions of a connection; each function is one transaction.

    Every database failure is raised as StoreError without the statement and its values, which contain user messages.
    `is_shared` is whether other workers may use the database too. `is_healthy` is false while it does not respond.
    `on_error` is called for every failed transaction.
    """

    is_shared: bool = False
    is_healthy: bool = True
    on_error: Callable[[StoreError], None] = staticmethod(_ignore)

    @abstractmethod
    async def open(self) -> None:
        """Open it and migrate its tables; raises StoreError, NewerDatabase if a later version has migrated them."""

    @abstractmethod
    async def aclose(self) -> None:
        """Finish running transactions and close it."""

    async def write(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        """Run `work(connection, *args, **kwargs)` in a writing transaction; raises StoreError."""
        try:
            return await self._write(lambda connection: work(connection, *args, **kwargs))
        except StoreError as error:
            self.on_error(error)
            raise

    async def read(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        """Run `work(connection, *args, **kwargs)` in a reading transaction; raises StoreError."""
        try:
            return await self._read(lambda connection: work(connection, *args, **kwargs))
        except StoreError as error:
            self.on_error(error)
            raise

    @abstractmethod
    async def _write(self, work: Work[Value]) -> Value: ...

    @abstractmethod
    async def _read(self, work: Work[Value]) -> Value: ...

    @abstractmethod
    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold a named lock among all workers; raises StoreError."""

    @abstractmethod
    async def erase_deleted(self) -> None:
        """Erase deleted rows from the disk, if the database allows it; raises StoreError."""


class OpenError(StoreError):
    """The database cannot be opened; `reason` is a clause, empty if unknown."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(Code.STORE_UNAVAILABLE)
        self.reason = reason


@contextmanager
def without_logging() -> Generator[None, None, None]:
    """Do not log failures in this block; for callers that poll and log an outage once themselves."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def raise_store_error(error: Exception, *, is_lasting: bool | None = None) -> NoReturn:
    """Raise a database error as StoreError; `is_lasting` overrides whether a retry is useless."""
    cause = getattr(error, "orig", None) or error
    if not _is_quiet.get():
        _log.error("database.failed", error=type(cause).__name__)
    # An error that no retry can fix is not an outage.
    if is_lasting is None:
        is_lasting = isinstance(error, IntegrityError | DataError | ProgrammingError)
    raise StoreError(Code.INTERNAL if is_lasting else Code.STORE_UNAVAILABLE) from None


def touch(connection: Connection) -> None:
    """Execute a write without effect, to check whether the database accepts writes."""
    is_sqlite = connection.dialect.name == "sqlite"
    connection.execute(text("PRAGMA user_version = 1" if is_sqlite else "SELECT pg_current_xact_id()"))
