"""Timeouts for a database server that does not respond: the first caller waits, the next ones fail at once."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.engines.asyncpg_types import Driver

_log = structlog.get_logger()

# While the server is silent, one caller per this interval tries it; all others fail at once.
SILENT_SECONDS = 1.0


class CallTimeout:
    """The timeout of one call: when it expires, the call's connection is terminated.

    Cancelling instead would make asyncpg and SQLAlchemy send a cancel and a rollback to the silent server.
    """

    def __init__(self, seconds: float) -> None:
        self._timer = self._within(seconds)
        self.driver: Driver | None = None
        self.is_late = False

    def uses(self, driver: Driver) -> None:
        """Register the call's connection, also while it is being set up."""
        self.driver = driver
        if self.is_late:
            driver.terminate()

    def restart(self, seconds: float) -> None:
        """Restart the timeout."""
        self._timer.cancel()
        self._timer = self._within(seconds)

    def _within(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        """Terminate the connection."""
        self.is_late = True
        if self.driver is not None:
            self.driver.terminate()

    def end(self) -> None:
        """Cancel the timeout."""
        self._timer.cancel()
        self.driver = None


# The call for which SQLAlchemy's pool creates a connection.
CALL_TIMEOUT: ContextVar[CallTimeout | None] = ContextVar("CALL_TIMEOUT", default=None)


class Silence:
    """Tracks whether the server responds; `on_silence` is called after each call that timed out."""

    def __init__(self, on_silence: Callable[[], None]) -> None:
        self._on_silence = on_silence
        self._until: float | None = None
        self._is_tried = False

    def enter(self) -> None:
        """Allow a call, or raise StoreError while the server is silent."""
        if self._until is None:
            return
        if self._is_tried or asyncio.get_running_loop().time() < self._until:
            raise StoreError(Code.STORE_UNAVAILABLE)
        self._is_tried = True

    def leave(self, *, is_late: bool) -> None:
        """Record whether a call timed out."""
        self._is_tried = False
        if not is_late:
            self._until = None
            return
        if self._until is None:
            _log.error("database.unresponsive")
        self._until = asyncio.get_running_loop().time() + SILENT_SECONDS
        self._on_silence()
