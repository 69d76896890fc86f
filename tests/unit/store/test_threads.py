"""Work of other threads: done in order, told to whoever waits, and to its end when he leaves."""

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


async def test_one_thread_does_all_in_order() -> None:
    """What was asked for first is done first, by the same thread, and each caller is told what is his."""
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
    """One that waits keeps no other from its work."""
    threads, held = Threads(2, "test"), Held()
    waiting = asyncio.create_task(threads.run(held))
    assert await asyncio.wait_for(threads.run(lambda: 5), 30) == 5
    held.go.set()
    await waiting
    threads.close()


@pytest.mark.parametrize("error", [LookupError("mine"), SystemExit(3)])
async def test_what_work_raises_is_the_callers(error: BaseException) -> None:
    """It ends no thread: the next one is served."""
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


async def test_who_leaves_stops_what_has_not_begun_and_nothing_else() -> None:
    """Work under way goes to its end; what waited behind it is not begun; those who stay are told."""
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
    """Its work is done, nobody is told, and another loop is served."""
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


async def test_closing_does_what_was_asked_for_and_takes_no_more() -> None:
    """Nothing waits for ever: who comes too late is refused."""
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
