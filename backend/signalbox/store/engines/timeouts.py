"""How long anyone waits for a server that does not answer: a caller his time, and the next ones not at all."""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.engines.asyncpg_types import Driver

_log = structlog.get_logger()

# After a silence one caller in this time finds out whether it is over; all others are refused at once.
SILENT_SECONDS = 1.0


class Turn:
    """One caller's time: when it is up, the connection that he has by then is dropped, whatever it does.

    That is no cancellation: asyncpg would ask the silent server to cancel, and SQLAlchemy to roll back.
    """

    def __init__(self, seconds: float) -> None:
        self._timer = self._within(seconds)
        self.driver: Driver | None = None
        self.is_late = False

    def uses(self, driver: Driver) -> None:
        """Take note of his connection: also while it is being set up."""
        self.driver = driver
        if self.is_late:
            driver.terminate()

    def begin_anew(self, seconds: float) -> None:
        """Give him so much time from now on."""
        self._timer.cancel()
        self._timer = self._within(seconds)

    def _within(self, seconds: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, self._drop)

    def _drop(self) -> None:
        """Take his connection away."""
        self.is_late = True
        if self.driver is not None:
            self.driver.terminate()

    def end(self) -> None:
        """Leave his connection alone from now on."""
        self._timer.cancel()
        self.driver = None


# Whose turn a new connection is made in: it is asked for deep in SQLAlchemy's pool.
TURN: ContextVar[Turn | None] = ContextVar("TURN", default=None)


class Silence:
    """Whether the server is silent; `on_silence` is called when it falls silent."""

    def __init__(self, on_silence: Callable[[], None]) -> None:
        self._on_silence = on_silence
        self._until: float | None = None
        self._is_tried = False

    def enter(self) -> None:
        """Let a caller try the server, or refuse him: raises StoreError."""
        if self._until is None:
            return
        if self._is_tried or asyncio.get_running_loop().time() < self._until:
            raise StoreError(Code.STORE_UNAVAILABLE)
        self._is_tried = True

    def leave(self, *, is_late: bool) -> None:
        """Take note of how the server answered a caller."""
        self._is_tried = False
        if not is_late:
            self._until = None
            return
        if self._until is None:
            _log.error("database.silent")
        self._until = asyncio.get_running_loop().time() + SILENT_SECONDS
        self._on_silence()
