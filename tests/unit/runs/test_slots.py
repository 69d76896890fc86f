"""However a run ends, its slot and its memory are released (quirk F7)."""

import asyncio
from contextlib import aclosing

import pytest
from signalbox.core.events import AnyEvent, Stamped
from signalbox.core.ports import Emit
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run
from signalbox.store.runs.in_memory import MemoryStore
from structlog.testing import capture_logs

from tests.support.loop_runs import FunctionLoop
from tests.unit.runs.managed_runs import TextLoop, answer_in_two_batches, events_of, start

pytestmark = pytest.mark.anyio


class Broken(MemoryStore):
    """A journal that fails when the test says so."""

    def __init__(self, *failing: int) -> None:
        super().__init__()
        self.failing, self.appended = failing, 0

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        self.appended += 1
        if self.appended in self.failing or 0 in self.failing:
            raise OSError("the disk is full of canary-text")
        super().append(run_id, batch)


def freed(manager: RunManager, run: Run, over: list[Run]) -> None:
    """Check that the slot and the memory of a run were released, and its end reported once."""
    assert over == [run]
    assert run.is_over
    assert run.ended is not None
    assert not manager._live
    assert not manager._undurable


async def test_f07_the_slot_is_free_when_done_is_read() -> None:
    """A client that has read `done` can start the next run at once."""
    over: list[Run] = []
    manager = RunManager(MemoryStore(), max_active=1, on_over=over.append)
    run = await start(manager, answer_in_two_batches)
    async for batch in manager.subscribe(run.id):
        if batch[-1].event is run.done:
            freed(manager, run, over)
    await (await start(manager, answer_in_two_batches)).wait()


@pytest.mark.parametrize("how", ["stopped", "cancelled"])
async def test_f07_a_run_that_never_began_releases_its_slot(how: str) -> None:
    """It was stopped at its start, or cancelled from outside before its first step."""
    over: list[Run] = []
    manager = RunManager(MemoryStore(), max_active=1, on_over=over.append)
    run = await start(manager, TextLoop())
    if how == "stopped":
        run.stop()
    else:
        assert run._task is not None
        run._task.cancel()
    await asyncio.wait_for(run.wait(), 5)
    freed(manager, run, over)
    assert (await events_of(run))[-1] is run.done
    assert run.done is not None
    assert run.done.status == "cancelled"


async def test_f07_a_loop_that_raises_releases_its_slot() -> None:
    """Whatever a loop raises, the next run can start."""

    @FunctionLoop
    async def breaks(emit: Emit[list[AnyEvent]]) -> None:
        raise RuntimeError("canary-text")

    over: list[Run] = []
    manager = RunManager(MemoryStore(), max_active=1, on_over=over.append)
    run = await start(manager, breaks)
    await run.wait()
    freed(manager, run, over)
    await (await start(manager, answer_in_two_batches)).wait()


@pytest.mark.parametrize(
    ("failing", "told"),
    [
        pytest.param((1,), ["run.internal_error"], id="at its first word"),
        pytest.param((2,), ["run.internal_error"], id="at its second"),
        pytest.param((3,), ["run.journal_failed"], id="at its end"),
        pytest.param((0,), ["run.internal_error", "run.journal_failed", "run.ending_failed"], id="from now on"),
    ],
)
async def test_f07_a_journal_that_fails_releases_its_slot(failing: tuple[int, ...], told: list[str]) -> None:
    """The loop is closed, subscribers are released, and the ending is emitted if the journal accepts it."""
    over: list[Run] = []
    store = Broken(*failing)
    manager = RunManager(store, max_active=1, on_over=over.append)
    text_loop = TextLoop()
    with capture_logs() as lines:
        run = await start(manager, text_loop if failing in ((0,), (1,)) else answer_in_two_batches)
        async with asyncio.timeout(30):
            seen = [stamped async for batch in manager.subscribe(run.id) for stamped in batch]
            await run.wait()
    freed(manager, run, over)
    assert text_loop.closed.is_set() is (failing in ((0,), (1,)))
    assert run.done is not None
    assert (run.done.status, run.done.code) == ("error", "INTERNAL")
    assert [stamped.seq for stamped in seen] == list(range(1, len(seen) + 1))
    assert (bool(seen) and seen[-1].event == run.done) is (failing != (0,))
    assert "canary" not in str(lines)
    assert [line["event"] for line in lines] == told


async def test_f07_a_failing_follow_up_releases_the_slot() -> None:
    """A log that cannot be written keeps neither the slot nor the memory of the run."""

    def breaks(run: Run) -> None:
        raise OSError("canary-text")

    manager = RunManager(MemoryStore(), max_active=1, on_over=breaks)
    with capture_logs() as lines:
        for _ in range(3):
            run = await start(manager, answer_in_two_batches)
            await run.wait()
            assert manager.live(run.id) is None
    assert not manager._live
    assert [line["event"] for line in lines] == ["run.cleanup_failed"] * 3
    assert "canary" not in str(lines)


async def test_f07_a_failing_subscriber_counts_as_leaving() -> None:
    """An error in a subscriber ends the run like leaving does."""
    over: list[Run] = []
    manager = RunManager(MemoryStore(), max_active=1, on_over=over.append)
    text_loop = TextLoop()
    run = await start(manager, text_loop)

    async def watches() -> None:
        async with aclosing(manager.subscribe(run.id)) as batches:
            async for _ in batches:
                raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await watches()
    await asyncio.wait_for(run.wait(), 5)
    freed(manager, run, over)
    assert text_loop.closed.is_set()


async def test_f07_a_run_whose_subscriber_never_connects_ends() -> None:
    """A client that left before its stream began leaves no run; one that connects in time cancels the limit."""
    over: list[Run] = []
    manager = RunManager(MemoryStore(), unsubscribed_seconds=0.0, on_over=over.append)
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    watched = manager.subscribe(run.id)
    await asyncio.wait_for(run.wait(), 5)
    await watched.aclose()
    freed(manager, run, over)
    assert run.done is not None
    assert run.done.status == "cancelled"
    manager.unsubscribed_seconds = 60.0
    second = await start(manager, text_loop)
    async with aclosing(manager.subscribe(second.id)) as batches:
        await anext(batches)
        assert second.detached_timer is None
