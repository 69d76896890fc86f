"""An event loop in a thread, which several threads of a program may use at the same time."""

import atexit
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from threading import Condition, Thread, get_ident
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from signalbox.runner.errors import UsageError

if TYPE_CHECKING:  # the first owner imports it
    from anyio.from_thread import BlockingPortal

_BLOCKS_ITSELF = (
    "A tool that runs in the event loop of the run cannot wait for the run: make the tool a `def` function."
)
_NOT_RUNNING = "The `with` block of this RunnerSync has ended, or has not begun."
_CLOSING = "Another thread is ending the run."
Value = TypeVar("Value")


class LoopClosingError(UsageError):
    """The last owner is ending the loop."""


class LoopThread:
    """The event loop of one run. It runs as long as it has owners; guests use it only while it runs.

    The last owner ends it, and a guest never does: a guest may be a thread that the loop waits for. The exit of the
    interpreter ends it too: then `has_exited` is true, and its owners have nothing left to do.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._owners = self._guests = 0
        self._is_closing = False
        self._portal: BlockingPortal | None = None
        self._stack = ExitStack()
        self._ident = 0
        self.has_exited = False

    def enter(self) -> "BlockingPortal":
        """Become an owner, and start the loop if it does not run."""
        if get_ident() == self._ident:
            raise UsageError(_BLOCKS_ITSELF)
        with self._changed:
            self._changed.wait_for(lambda: not self._is_closing)
            if self._portal is None:
                self._portal = self._stack.enter_context(_started_portal())
                self._ident = self._portal.call(get_ident)
                _running.add(self)
            self._owners += 1
            return self._portal

    def leave(self, close: Callable[[], Awaitable[None]]) -> None:
        """Be an owner no longer. The last one awaits `close` in the loop, waits for the guests, and ends the loop."""
        with self._changed:
            self._owners -= 1
            if self._owners or self._portal is None:  # None: the interpreter exits
                return
            portal, self._portal = self._portal, None
            self._is_closing = True
        try:
            with self._stack:
                portal.call(close)
                with self._changed:
                    self._changed.wait_for(lambda: not self._guests)
        finally:
            with self._changed:
                self._ident = 0
                self._is_closing = False
                self._changed.notify_all()

    def exit(self) -> None:
        """Cancel what the loop does, and end it, whatever owners it has."""
        with self._changed:
            portal, self._portal = self._portal, None
            if portal is None:
                return
            self.has_exited = True
        with suppress(RuntimeError):  # it has ended already
            portal.call(portal.stop, True)
        self._stack.close()

    def call(self, change: Callable[[], None]) -> None:
        """Call a function in the loop; here and now if no loop runs, or in the loop's own thread."""
        with self._visited() as portal:
            if portal is None:
                change()
            else:
                portal.call(change)

    def wait(self, work: Callable[[], Awaitable[Value]]) -> Value:
        """Await a function in the loop."""
        with self._visited() as portal:
            if portal is None:
                raise UsageError(_BLOCKS_ITSELF if get_ident() == self._ident else _NOT_RUNNING)
            return portal.call(work)

    @contextmanager
    def _visited(self) -> "Generator[BlockingPortal | None]":
        """Be a guest. Yields None in the loop's own thread, and while no loop runs: none starts meanwhile."""
        if get_ident() == self._ident:
            yield None
            return
        with self._changed:
            if self._is_closing:
                raise LoopClosingError(_CLOSING)
            if (portal := self._portal) is None:
                yield None
                return
            self._guests += 1
        try:
            yield portal
        finally:
            with self._changed:
                self._guests -= 1
                self._changed.notify_all()


@contextmanager
def _started_portal() -> "Generator[BlockingPortal]":
    """Run an event loop in a daemon thread. Python waits for the thread of older versions of anyio when it exits."""
    from anyio import run
    from anyio.from_thread import BlockingPortal

    started: Future[BlockingPortal] = Future()

    async def serve() -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    def work() -> None:
        try:
            run(serve, backend="asyncio")
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = Thread(target=work, name="signalbox portal", daemon=True)
    thread.start()
    portal, is_cancelled = started.result(), True
    try:
        yield portal
        is_cancelled = False
    finally:
        with suppress(RuntimeError):  # it has ended already
            portal.call(portal.stop, is_cancelled)
        thread.join()


_running: WeakSet[LoopThread] = WeakSet()


def _exit_all() -> None:
    """End loops whose iterators still exist, as those in variables of a module.

    Later, Python closes these iterators, when no other thread runs any more: their wait for the loop would never end.
    """
    for loop in [*_running]:
        loop.exit()


atexit.register(_exit_all)
