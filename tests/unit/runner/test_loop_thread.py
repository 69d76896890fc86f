"""The event loop of a synchronous run: owners keep it running, guests do not, and no end of it waits for ever."""

import asyncio
import threading

import pytest
from signalbox import UsageError
from signalbox.runner.loop_thread import LoopClosingError, LoopThread

LONGEST = 10


async def nothing() -> None:
    """Close nothing."""


def test_the_last_owner_ends_the_loop() -> None:
    """Two owners share one loop; afterwards a call runs in the caller's thread, and a new owner starts another loop."""
    before, loop = set(threading.enumerate()), LoopThread()
    names: list[str] = []
    assert loop.enter() is loop.enter()
    loop.leave(nothing)
    loop.call(lambda: names.append(threading.current_thread().name))
    loop.leave(nothing)
    loop.call(lambda: names.append(threading.current_thread().name))
    assert [name == threading.current_thread().name for name in names] == [False, True]
    loop.enter()
    loop.leave(nothing)
    assert set(threading.enumerate()) <= before


def test_a_thread_that_the_loop_waits_for_may_visit_it_while_it_ends() -> None:
    """An async tool may use `asyncio.to_thread`: the loop's end waits for that thread, which must not wait for it."""
    loop, is_closing = LoopThread(), threading.Event()
    refused: list[Exception] = []

    def visit() -> None:
        is_closing.wait(LONGEST)
        try:
            loop.call(lambda: None)
        except LoopClosingError as error:
            refused.append(error)

    async def close() -> None:
        is_closing.set()

    portal = loop.enter()
    portal.start_task_soon(asyncio.to_thread, visit)
    ending = threading.Thread(target=loop.leave, args=(close,), daemon=True)
    ending.start()
    ending.join(LONGEST)
    assert not ending.is_alive()
    assert len(refused) == 1


def test_the_loop_cannot_wait_for_itself() -> None:
    """Waiting in the loop's own thread would never end, so it is an error."""
    loop = LoopThread()
    portal = loop.enter()
    try:
        for blocks in (loop.enter, lambda: loop.wait(nothing)):
            with pytest.raises(UsageError, match="cannot wait for the run"):
                portal.call(blocks)
    finally:
        loop.leave(nothing)


def test_waiting_needs_a_loop_that_runs() -> None:
    """Leaving a `with` block twice is an error that says so."""
    with pytest.raises(UsageError, match="has ended, or has not begun"):
        LoopThread().wait(nothing)
