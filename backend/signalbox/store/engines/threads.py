"""Threads that do what the loop must not wait for, handed over in one step and told of in one.

An executor makes another future for each piece of work, chains it to the loop's, and counts its idle threads:
that was most of what a small flush cost the loop.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

Value = TypeVar("Value")
Job = tuple[Callable[[], Any], asyncio.Future[Any]]


class Threads:
    """So many threads, which begin their work in the order in which it was asked for; one alone does it in that order.

    They start with the first piece of work. A process that ends without closing them does not wait for them.
    """

    def __init__(self, count: int, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads = [Thread(target=_work, args=(self._jobs,), name=name, daemon=True) for _ in range(count)]
        self._has_begun = self._is_closed = False

    async def run(self, work: Callable[[], Value]) -> Value:
        """Have it done and return what it returns, or raise what it raises. Once begun it is done to its end.

        Where the caller leaves before, it is not begun.
        """
        if self._is_closed:
            raise RuntimeError("these threads have ended")
        if not self._has_begun:
            self._begin()
        answer: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._jobs.put((work, answer))
        return await answer

    def _begin(self) -> None:
        self._has_begun = True
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish all work and end. The caller waits for it."""
        self._is_closed = True
        if not self._has_begun:
            return
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


def _work(jobs: "SimpleQueue[Job | None]") -> None:
    while (job := jobs.get()) is not None:
        _do(*job)
        del job  # or it would be held until the next one comes


def _do(work: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
    if answer.cancelled():
        return
    loop = answer.get_loop()
    with suppress(RuntimeError):  # the loop has closed, so no task waits any more
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, whatever it is
            loop.call_soon_threadsafe(_tell, answer, answer.set_exception, error)
        else:
            loop.call_soon_threadsafe(_tell, answer, answer.set_result, value)


def _tell(answer: asyncio.Future[Any], tell: Callable[[Any], None], what: object) -> None:
    if not answer.done():  # else the caller has left
        tell(what)
