"""The run manager: what it holds, what it rejects, how its runs end."""

import asyncio
from contextlib import aclosing

import pytest
from signalbox.chat.loops.progress import Ending
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import AnyEvent, Content, Done, Stamped
from signalbox.core.ports import Emit
from signalbox.runs.manager import RunManager
from signalbox.runs.run import SHUT_DOWN, STOPPED, Run, new_run_id
from signalbox.store.runs.in_memory import MemoryStore

from tests.support.loop_runs import FunctionLoop
from tests.unit.runs.managed_runs import TextLoop, answer_in_two_batches, events_of, first_turns, start

pytestmark = pytest.mark.anyio


async def test_a_finished_run_is_read_from_the_store() -> None:
    """The manager holds only active runs."""
    manager = RunManager(MemoryStore())
    text_loop = TextLoop()
    live = await start(manager, text_loop)
    runs = [await start(manager, answer_in_two_batches) for _ in range(50)]
    for run in runs:
        await run.wait()
    assert (list(manager._live), manager._undurable) == ([live.id], {})
    assert (manager.live(live.id), manager.live(runs[0].id)) == (live, None)
    for run in runs:
        assert await manager.find(run.id) == run.record()
        assert [stamped.event for stamped in await manager.events(run.id)] == await events_of(run)
    live.stop()
    await live.wait()
    assert text_loop.closed.is_set()


async def test_the_starter_of_a_run_reads_it_from_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends before its first subscriber arrives is delivered completely without a disk read."""
    store = MemoryStore()
    manager = RunManager(store)
    run = await start(manager, answer_in_two_batches)
    await run.wait()
    assert manager.live(run.id) is None, "the run is under way, and this test sees nothing"
    told = [stamped async for batch in manager.subscribe(run.id) for stamped in batch]

    async def away(self: MemoryStore, run_id: str, after: int) -> list[Stamped]:
        raise StoreError(Code.STORE_UNAVAILABLE)

    monkeypatch.setattr(MemoryStore, "read_events", away)
    assert [stamped async for batch in manager.subscribe(run) for stamped in batch] == told
    with pytest.raises(StoreError):
        await anext(manager.subscribe(run.id))


async def test_an_unknown_run_is_rejected() -> None:
    """Finding and stopping an unknown run both give UNKNOWN_RUN."""
    manager = RunManager(MemoryStore())
    for asks in (manager.find, manager.stop):
        with pytest.raises(RequestError) as refused:
            await asks("0" * 32)
        assert refused.value.code is Code.UNKNOWN_RUN


async def test_the_newest_run_comes_first() -> None:
    """The list is limited to the newest runs; active ones have their current figures."""
    manager = RunManager(MemoryStore())
    runs: list[Run] = []
    text_loop = TextLoop()
    for number in range(5):
        run = await start(manager, text_loop if number == 4 else answer_in_two_batches)
        run.started = float(number)
        run.save_figures()
        runs.append(run)
    await text_loop.spoke.wait()
    for run in runs[:4]:
        await run.wait()
    listed = await manager.recent(3)
    assert [record.id for record in listed] == [run.id for run in runs[:1:-1]]
    assert [record.status for record in listed] == [None, "complete", "complete"]
    assert listed[0].seq == 1
    runs[4].stop()
    await runs[4].wait()


async def test_too_many_runs_are_rejected_before_anything_starts() -> None:
    """The limit of active runs protects the process."""
    manager = RunManager(MemoryStore(), max_active=1)
    text_loop = TextLoop()
    first = await start(manager, text_loop)
    second = TextLoop()
    with pytest.raises(RequestError) as refused:
        await start(manager, second)
    assert refused.value.code is Code.TOO_MANY_RUNS
    await first_turns()
    assert not second.spoke.is_set()
    first.stop()
    await first.wait()
    await (await start(manager, answer_in_two_batches)).wait()


async def test_closing_interrupts_runs_and_rejects_new_ones() -> None:
    """Every subscriber sees that the server was shut down."""
    manager = RunManager(MemoryStore())
    talks = [TextLoop() for _ in range(3)]
    runs = [await start(manager, text_loop) for text_loop in talks]
    for text_loop in talks:
        await text_loop.spoke.wait()
    await manager.aclose()
    for run, text_loop in zip(runs, talks, strict=True):
        done = (await events_of(run))[-1]
        assert isinstance(done, Done)
        assert (done.status, done.code) == ("interrupted", "SERVER_SHUTDOWN")
        assert text_loop.closed.is_set()
    late = TextLoop()
    with pytest.raises(RequestError) as refused:
        await start(manager, late)
    assert refused.value.code is Code.SHUTTING_DOWN
    await first_turns()
    assert not late.spoke.is_set()


@pytest.mark.parametrize("why", [STOPPED, SHUT_DOWN])
async def test_a_run_stopped_before_its_first_step_still_ends(why: Ending) -> None:
    """A stop at the moment of the start emits an ending, or subscribers would wait forever."""
    manager = RunManager(MemoryStore())
    run = await start(manager, TextLoop())
    run.stop(why)
    await asyncio.wait_for(run.wait(), 5)
    assert run.is_over
    done = (await events_of(run))[-1]
    assert isinstance(done, Done)
    assert done.status == why.status
    assert await manager.recent(5) == [run.record()]


async def test_two_stops_are_one() -> None:
    """The first reason counts, and one ending is emitted."""
    manager = RunManager(MemoryStore())
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    await text_loop.spoke.wait()
    run.stop(STOPPED)
    run.stop(SHUT_DOWN)
    await asyncio.wait_for(run.wait(), 5)
    done = (await events_of(run))[-1]
    assert isinstance(done, Done)
    assert done.status == "cancelled"


async def test_a_loop_that_raises_ends_as_internal() -> None:
    """An exception ends the run as INTERNAL with its warning, without the exception's text."""

    @FunctionLoop
    async def breaks(emit: Emit[list[AnyEvent]]) -> None:
        emit([Content("So far.")])
        raise RuntimeError("the secret prompt")

    over: list[Run] = []
    manager = RunManager(MemoryStore(), on_over=over.append)
    run = await start(manager, breaks)
    await run.wait()
    done = (await events_of(run))[-1]
    assert isinstance(done, Done)
    assert (done.status, done.code) == ("error", "INTERNAL")
    assert "secret" not in str(await events_of(run))
    assert over == [run]


async def test_the_last_subscriber_to_leave_stops_the_run() -> None:
    """With two subscribers, the run ends when the second has left."""
    manager = RunManager(MemoryStore())
    text_loop = TextLoop()
    run = await start(manager, text_loop)
    async with aclosing(manager.subscribe(run.id)) as second:
        async with aclosing(manager.subscribe(run.id)) as first:
            await anext(first)
            await anext(second)
            assert run.subscribers == 2
        assert run.subscribers == 1
        assert not run.is_over
    await asyncio.wait_for(run.wait(), 5)
    assert text_loop.closed.is_set()
    assert run.done is not None
    assert run.done.status == "cancelled"


async def test_a_run_without_any_subscriber_is_limited() -> None:
    """A detached run that never had a subscriber is stopped after its limit."""
    manager = RunManager(MemoryStore(), detached_seconds=0.0, unsubscribed_seconds=0.0)
    text_loop = TextLoop()
    run = await start(manager, text_loop, is_detached=True)
    await asyncio.wait_for(run.wait(), 5)
    assert run.done is not None
    assert (run.done.status, run.done.code) == ("interrupted", "DETACHED_TIMEOUT")


async def test_subscribers_read_at_their_own_pace() -> None:
    """A slow subscriber gets in one list what a fast one got in many; both get all events in order."""
    manager = RunManager(MemoryStore())
    run = await start(manager, answer_in_two_batches)
    fast = [[stamped.seq for stamped in batch] async for batch in manager.subscribe(run.id)]
    slow = [[stamped.seq for stamped in batch] async for batch in manager.subscribe(run.id)]
    assert [seq for batch in fast for seq in batch] == [1, 2, 3, 4]
    assert slow == [[1, 2, 3, 4]]


def test_run_ids_are_128_random_bits() -> None:
    """They cannot be guessed, and contain no colon, which separates id and seq."""
    ids = {new_run_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(bytes.fromhex(one)) == 16 for one in ids)


@pytest.mark.parametrize("is_detached", [False, True])
async def test_polling_keeps_a_run_alive(is_detached: bool) -> None:
    """A poll is no subscription, but it resets the time limit."""
    manager = RunManager(MemoryStore(), detached_seconds=1.0, unsubscribed_seconds=1.0)
    text_loop = TextLoop()
    run = await start(manager, text_loop, is_detached=is_detached)
    await text_loop.spoke.wait()
    for _ in range(2):
        timer = run.detached_timer
        polled = [
            stamped.event for batch in [batch async for batch in manager.read_available(run.id)] for stamped in batch
        ]
        assert polled == [Content("So far.")]
        assert (run.is_over, run.subscribers) == (False, 0)
        assert timer is not None
        assert timer.cancelled()
        assert run.detached_timer is not None
    run.stop()
    await run.wait()
