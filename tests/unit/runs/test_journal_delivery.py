"""Batches that a subscriber accepts at once are delivered without waking its task."""

import asyncio

import pytest
from signalbox.core.events import Done, Stamped
from signalbox.runs.journal import Cursor

from tests.unit.runs.staged_journal import Stage, small_tail

pytestmark = pytest.mark.anyio
__all__ = ["small_tail"]  # applies to every test here


async def told_at_once(stage: Stage, takes: bool = True) -> tuple[list[int], list[int], "asyncio.Task[None]", Cursor]:
    """Follow a journal with `try_emit`; return what it received, what was yielded, the task, and the cursor."""
    at_once: list[int] = []
    yielded: list[int] = []

    def try_emit(batch: list[Stamped]) -> bool:
        if takes:
            at_once.extend(stamped.seq for stamped in batch)
        return takes

    cursor = Cursor(0, try_emit)

    async def follow() -> None:
        async for batch in stage.journal.read_from(cursor):
            yielded.extend(stamped.seq for stamped in batch)

    task = asyncio.create_task(follow())
    await asyncio.sleep(0)
    return at_once, yielded, task, cursor


async def test_events_are_delivered_without_waking_a_task() -> None:
    """Batches that `try_emit` accepts are delivered within `append` and not yielded; the cursor advances."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, cursor = await told_at_once(stage)
    stage.append(2)
    stage.append(1)
    assert (at_once, cursor.after) == ([1, 2, 3], 3)
    await asyncio.sleep(0)
    assert yielded == []
    task.cancel()


async def test_declined_batches_are_yielded() -> None:
    """If `try_emit` declines, nothing is lost or duplicated."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, _ = await told_at_once(stage, takes=False)
    stage.append(2)
    for _ in range(3):
        await asyncio.sleep(0)
    assert (at_once, yielded) == ([], [1, 2])
    task.cancel()


async def test_the_ending_is_never_delivered_at_once() -> None:
    """It waits for the disk, like every ending."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, yielded, task, _ = await told_at_once(stage)
    stage.append(1)
    stage.journal.append([Done(done=True, status="complete")])
    stage.journal.is_over = True
    stage.journal.wake()
    await asyncio.wait_for(task, 30)
    assert (at_once, yielded) == ([1], [2])


async def test_unreserved_events_are_not_delivered() -> None:
    """A number that a crash could assign again is never shown."""
    stage = Stage()
    stage.write(reserve=1)
    at_once, yielded, task, _ = await told_at_once(stage)
    stage.append(3)
    assert at_once == [1]
    stage.write(reserve=100)
    assert at_once == [1, 2, 3]
    assert yielded == []
    task.cancel()


async def test_a_lost_run_delivers_nothing() -> None:
    """The worker that has taken over the run delivers the rest, after the cursor."""
    stage = Stage()
    stage.write(reserve=100)
    at_once, _, task, cursor = await told_at_once(stage)
    stage.append(2)
    stage.journal.release()
    await asyncio.wait_for(task, 30)
    assert (at_once, cursor.after) == ([1, 2], 2)


async def test_a_subscriber_that_left_receives_nothing() -> None:
    """It is removed when it leaves; the others receive events as before."""
    stage = Stage()
    stage.write(reserve=100)
    gone, _, leaving, _ = await told_at_once(stage)
    there, _, staying, _ = await told_at_once(stage)
    stage.append(1)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    stage.append(1)
    assert (gone, there) == ([1], [1, 2])
    assert len(stage.journal._waiting) == 1
    staying.cancel()


async def test_leaving_while_being_woken_is_safe() -> None:
    """A task that is cancelled after it was woken does not disturb the others."""
    stage = Stage()
    stage.write(reserve=100)
    _, _, leaving, _ = await told_at_once(stage)
    there, _, staying, _ = await told_at_once(stage)
    leaving.cancel()
    stage.journal.wake()
    stage.append(1)
    await asyncio.gather(leaving, return_exceptions=True)
    _, _, woken, _ = await told_at_once(stage, takes=False)
    stage.append(1)
    woken.cancel()
    await asyncio.gather(woken, return_exceptions=True)
    stage.append(1)
    assert there == [1, 2, 3]
    staying.cancel()
