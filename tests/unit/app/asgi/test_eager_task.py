"""Coroutines that start eagerly: without suspension they finish at once, otherwise they continue in a task."""

import asyncio

import pytest
from signalbox.app.asgi.eager_task import start_eagerly

pytestmark = pytest.mark.anyio


async def test_a_coroutine_without_suspension_finishes_at_once() -> None:
    """It needs no task."""
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    assert start_eagerly(work()) is None
    assert done == [1]


async def test_a_suspended_coroutine_continues_in_a_task() -> None:
    """It continues through several suspensions with their results."""
    first: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    done: list[str] = []

    async def work() -> None:
        done.append("begun")
        done.append(await first)
        await asyncio.sleep(0)
        done.append("over")

    task = start_eagerly(work())
    assert task is not None
    assert done == ["begun"]
    first.set_result("waited")
    await asyncio.wait_for(task, 30)
    assert done == ["begun", "waited", "over"]


async def test_a_later_error_is_raised_in_the_task() -> None:
    """An error of the awaited future is raised inside the coroutine first."""
    first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        try:
            await first
        except ValueError as error:
            raise KeyError("inside") from error

    task = start_eagerly(work())
    assert task is not None
    first.set_exception(ValueError("outside"))
    with pytest.raises(KeyError, match="inside"):
        await asyncio.wait_for(task, 30)


async def test_a_suspended_coroutine_can_be_cancelled() -> None:
    """The cancellation is raised inside the coroutine, which may clean up."""
    cleared: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleared.append(True)

    task = start_eagerly(work())
    assert task is not None
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleared == [True]


async def test_an_immediate_error_is_raised_to_the_caller() -> None:
    """Without a task, the error is raised by `start_eagerly`."""

    async def work() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        start_eagerly(work())
