"""Runs a plugin's code on an event loop in a daemon thread, one for each entry point (decision 0054)."""

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import structlog

from signalbox.core.failure_location import failure_location
from signalbox.tools.daemon_threads import DaemonThreads

# Limits the log of a plugin whose callback fails a thousand times per second.
MOST_LINES = 20
SECONDS = 60.0

T = TypeVar("T")

_log = structlog.get_logger(__name__)


class PluginLoadError(Exception):
    """A plugin could not be loaded: the exception that it raised, None if it took too long."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.error = error


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    """The outcome of a call. An exception is a value here, because some would end the event loop."""

    value: T | None = None
    error: BaseException | None = None


class PluginThread:
    """Runs the code of one plugin; code that blocks, exits or ignores cancellation affects nothing else."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._log_unhandled)
        self._loop.set_default_executor(DaemonThreads())
        self._is_closed = False
        self._written = self._skipped = 0
        threading.Thread(target=self._serve, name=f"plugin {package}", daemon=True).start()

    def load(self, work: Callable[[], T], seconds: float) -> T:
        """Call `work` on the thread and wait for it; raises PluginLoadError."""
        future: Future[_Ended[T]] = Future()
        self._loop.call_soon_threadsafe(lambda: future.set_result(_called(work)))
        try:
            ended = future.result(seconds)
        except TimeoutError:
            raise PluginLoadError from None
        if ended.error is not None:
            raise PluginLoadError(ended.error)
        return cast(T, ended.value)

    async def run(self, work: Callable[[], object]) -> object:
        """Call `work` on the thread, await its result if it is awaitable, and return the outcome.

        Raises every BaseException that `work` raises. A cancellation is passed on without waiting for its effect.
        """
        running = asyncio.run_coroutine_threadsafe(_awaited(work), self._loop)
        ended = await asyncio.wrap_future(running)
        if ended.error is not None:
            raise ended.error
        return ended.value

    def close(self) -> None:
        """Stop the thread; code that blocks it keeps it until the process exits."""
        self._is_closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._is_closed:
            try:
                self._loop.run_forever()
            except BaseException as error:  # noqa: BLE001 - a task or a callback of the plugin that exits
                self._log_broken(error)
        self._loop.close()

    def _log_unhandled(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self._log_broken(error)

    def _log_broken(self, error: BaseException) -> None:
        """Log at most `MOST_LINES` per minute, then how many more there were; runs in the plugin's thread."""
        if self._written >= MOST_LINES:
            self._skipped += 1
            return
        if self._written == 0:
            self._loop.call_later(SECONDS, self._sum_up)
        self._written += 1
        _log.warning(
            "plugin.failed", package=self._package, error=type(error).__name__, raised_at=failure_location(error)
        )

    def _sum_up(self) -> None:
        if self._skipped:
            _log.warning("plugin.failures_suppressed", package=self._package, more=self._skipped, seconds=SECONDS)
        self._written = self._skipped = 0


def _called(work: Callable[[], T]) -> _Ended[T]:
    try:
        return _Ended(work())
    except BaseException as error:  # noqa: BLE001 - see _Ended
        return _Ended(error=error)


async def _awaited(work: Callable[[], object]) -> _Ended[object]:
    try:
        made = work()
        return _Ended(await made if inspect.isawaitable(made) else made)
    except BaseException as error:  # noqa: BLE001 - see _Ended
        return _Ended(error=error)
