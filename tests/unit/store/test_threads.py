"""Work in database threads: order, errors, cancellation, closing."""

import asyncio
import threading

import pytest
from signalbox.store.engines.threads import Threads

pytestmark = pytest.mark.anyio


class Held:
    """Work that waits in its thread until it is let go."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()
        self.is_done = False

    def __call__(self) -> None:
        self.began.set()
        self.go.wait(30)
        self.is_done = True


async def test_one_thread_works_in_order() -> None:
    """One thread runs all calls in order, and each caller gets its own result."""
    threads = Threads(1, "test")
    done: list[int] = []

    def work(number: int) -> int:
        done.append(number)
        return threading.get_ident()

    idents = await asyncio.gather(*(threads.run(lambda number=number: work(number)) for number in range(50)))
    assert done == [*range(50)]
    assert len({*idents} - {threading.get_ident()}) == 1
    threads.close()


async def test_several_threads_work_side_by_side() -> None:
    """A call that waits does not block the other threads."""
    threads, held = Threads(2, "test"), Held()
    waiting = asyncio.create_task(threads.run(held))
    assert await asyncio.wait_for(threads.run(lambda: 5), 30) == 5
    held.go.set()
    await waiting
    threads.close()


@pytest.mark.parametrize("error", [LookupError("mine"), SystemExit(3)])
async def test_exceptions_are_raised_to_the_caller(error: BaseException) -> None:
    """An exception does not end the thread: the next call is run."""
    threads = Threads(1, "test")

    def breaks() -> None:
        raise error

    caught: BaseException | None = None
    try:
        await threads.run(breaks)
    except BaseException as raised:  # noqa: BLE001 - whatever it is
        caught = raised
    assert caught is error
    assert await threads.run(lambda: 1) == 1
    threads.close()


async def test_cancellation_prevents_only_calls_that_have_not_started() -> None:
    """A started call runs to its end; a cancelled call that waits is not run; other callers get their results."""
    threads, held, never = Threads(1, "test"), Held(), Held()
    never.go.set()
    leaving = [asyncio.create_task(threads.run(work)) for work in (held, never)]
    staying = asyncio.create_task(threads.run(lambda: "told"))
    await asyncio.to_thread(held.began.wait, 30)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    held.go.set()
    assert await asyncio.wait_for(staying, 30) == "told"
    assert (held.is_done, never.is_done) == (True, False)
    threads.close()


def test_a_loop_that_has_closed_ends_no_thread() -> None:
    """A call whose event loop has closed runs to its end, and the thread serves another loop."""
    threads, held = Threads(1, "test"), Held()

    async def leave() -> None:
        task = asyncio.create_task(threads.run(held))
        await asyncio.to_thread(held.began.wait, 30)
        task.cancel()

    asyncio.run(leave())
    held.go.set()
    assert asyncio.run(threads.run(lambda: 7)) == 7
    assert held.is_done
    threads.close()


async def test_closing_finishes_calls_and_rejects_new_ones() -> None:
    """Waiting calls are run before closing, and later calls are rejected."""
    before = {*threading.enumerate()}
    threads = Threads(1, "test")
    asked = asyncio.create_task(threads.run(lambda: "done"))
    await asyncio.sleep(0)
    await asyncio.to_thread(threads.close)
    assert await asyncio.wait_for(asked, 30) == "done"
    assert not any(thread.name == "test" for thread in {*threading.enumerate()} - before)
    with pytest.raises(RuntimeError):
        await threads.run(lambda: 1)
    Threads(1, "test").close()  # one that never began
