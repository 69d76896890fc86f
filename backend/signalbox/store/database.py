"""The database, as everyone above sees it: functions of a connection, each in a separate transaction."""

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


class Database(ABC):
    """Runs functions of a connection: each function's writes are committed together or not at all.

    Every failure of the database leaves as StoreError, without the statement and its values: they quote the chat.
    `is_shared`: other workers may use it at the same time. `is_well` is false while it is known not to answer.
    """

    is_shared: bool = False
    is_healthy: bool = True

    @abstractmethod
    async def open(self) -> None:
        """Bring it up to this version's tables; raises StoreError, NewerDatabase for a later version's."""

    @abstractmethod
    async def aclose(self) -> None:
        """Finish what is under way and close it."""

    async def write(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        """Run work that writes, with these arguments behind the connection; raises StoreError."""
        return await self._write(lambda connection: work(connection, *args, **kwargs))

    async def read(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        """Run work that only reads, with these arguments behind the connection; raises StoreError."""
        return await self._read(lambda connection: work(connection, *args, **kwargs))

    @abstractmethod
    async def _write(self, work: Work[Value]) -> Value: ...

    @abstractmethod
    async def _read(self, work: Work[Value]) -> Value: ...

    @abstractmethod
    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Lock a name among all workers; others wait for it. Raises StoreError."""

    @abstractmethod
    async def erase_deleted(self) -> None:
        """Leave nothing of deleted rows where that can be had; raises StoreError."""


class Unopened(StoreError):
    """It cannot be used; `reason` says why in a clause, empty where that is not known."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(Code.STORE_UNAVAILABLE)
        self.reason = reason


@contextmanager
def quietly() -> Generator[None, None, None]:
    """Do not log failures here: callers that poll twice a second log an outage once."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def refuse(error: Exception, *, is_lasting: bool | None = None) -> NoReturn:
    """Raise what the database said as StoreError; `is_lasting` where its kind of database knows better."""
    cause = getattr(error, "orig", None) or error
    if not _is_quiet.get():
        _log.error("database.failed", error=type(cause).__name__)
    # What the database will refuse however often it is asked is no outage.
    if is_lasting is None:
        is_lasting = isinstance(error, IntegrityError | DataError | ProgrammingError)
    raise StoreError(Code.INTERNAL if is_lasting else Code.STORE_UNAVAILABLE) from None


def touch(connection: Connection) -> None:
    """Write what changes nothing: it tells whether the database takes anything."""
    is_sqlite = connection.dialect.name == "sqlite"
    connection.execute(text("PRAGMA user_version = 1" if is_sqlite else "SELECT pg_current_xact_id()"))
