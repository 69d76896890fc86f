"""An executor with daemon threads, so that a call that never returns cannot delay the exit of the process."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ExitError(RuntimeError):
    """A call raised an exception that a future cannot pass on to the task that awaits it; `error` is the exception.

    StopIteration would leave the task waiting. GeneratorExit, SystemExit and KeyboardInterrupt would end the task, its
    event loop or the process.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"the function raised {type(error).__name__}")
        self.error = error


class DaemonThreads(ThreadPoolExecutor):
    """Runs each piece of work in a daemon thread, at most `most` at once.

    Event loops accept only a ThreadPoolExecutor.
    """

    def __init__(self, most: int = 64) -> None:
        super().__init__(most)
        self._free = threading.Semaphore(most)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call in a thread; raises RuntimeError if too many calls have not returned.

        The future gets an ExitError instead of StopIteration, and instead of an exception that is no Exception.
        """
        if not self._free.acquire(blocking=False):
            raise RuntimeError("too many threads have not returned")
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - it is set on the future
                future.set_exception(_carried(error))
            finally:
                self._free.release()

        threading.Thread(target=run, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Return at once; daemon threads need no shutdown."""


def _carried(error: BaseException) -> Exception:
    """Return the exception as one that a future can pass on."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return ExitError(error).with_traceback(error.__traceback__)
