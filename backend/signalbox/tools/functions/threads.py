"""Runs functions that block in daemon threads, a limited number at a time for each event loop."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import TypeVar
from weakref import WeakKeyDictionary

from signalbox.tools.daemon_threads import DaemonThreads

T = TypeVar("T")

_MOST = 64


class _Threads:
    """The threads of one event loop."""

    def __init__(self) -> None:
        self.executor = DaemonThreads(_MOST)
        self.free = asyncio.Semaphore(_MOST)


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Threads] = WeakKeyDictionary()


async def in_thread(work: Callable[[], T]) -> T:
    """Call a function in a thread, with the context variables of the caller; wait for a free one first.

    Cancelling this does not end the thread: nothing can. It counts as taken until the function returns.
    """
    loop = asyncio.get_running_loop()
    threads = _of_loop.setdefault(loop, _Threads())
    await threads.free.acquire()

    def released(_: object) -> None:
        with suppress(RuntimeError):  # the event loop is closed: nothing waits for a thread
            loop.call_soon_threadsafe(threads.free.release)

    future = threads.executor.submit(copy_context().run, work)
    future.add_done_callback(released)
    return await asyncio.wrap_future(future)
