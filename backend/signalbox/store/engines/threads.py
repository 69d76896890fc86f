"""Worker threads with less overhead on the event loop than an executor.

An executor creates a second future for each job, chains it to the loop's and counts idle threads, which was most of the
loop's cost of a small flush.
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
    """A fixed number of threads that take jobs in order; a single thread also executes them in order.

    They start with the first job. A process that exits without `close` does not wait for them.
    """

    def __init__(self, count: int, name: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads = [Thread(target=_work, args=(self._jobs,), name=name, daemon=True) for _ in range(count)]
        self._has_begun = self._is_closed = False

    async def run(self, work: Callable[[], Value]) -> Value:
        """Run a job in a thread and return or raise its result.

        A job that has started runs to its end; if the caller is cancelled before, it does not start.
        """
        if self._is_closed:
            raise RuntimeError("these threads have ended")
        if not self._has_begun:
            self._start()
        answer: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._jobs.put((work, answer))
        return await answer

    def _start(self) -> None:
        self._has_begun = True
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Finish all jobs and end the threads; blocks until then."""
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
        del job  # otherwise it would be referenced until the next one


def _do(work: Callable[[], Any], answer: asyncio.Future[Any]) -> None:
    if answer.cancelled():
        return
    loop = answer.get_loop()
    with suppress(RuntimeError):  # the loop is closed, so no task waits
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller
            loop.call_soon_threadsafe(_deliver, answer, answer.set_exception, error)
        else:
            loop.call_soon_threadsafe(_deliver, answer, answer.set_result, value)


def _deliver(answer: asyncio.Future[Any], tell: Callable[[Any], None], what: object) -> None:
    if not answer.done():  # otherwise the caller was cancelled
        tell(what)
