"""Loops and runs for tests of the run manager."""

import asyncio

from signalbox.chat.loops.progress import Progress
from signalbox.core.events import AnyEvent, Content
from signalbox.core.order.invariants import first_fault
from signalbox.core.ports import Emit, Loop
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run, StartOptions, new_run_id

from tests.support.loop_runs import FunctionLoop, context_for


@FunctionLoop
async def answer_in_two_batches(emit: Emit[list[AnyEvent]]) -> None:
    """Answer in two batches."""
    emit([Content("One "), Content("two ")])
    emit([Content("three.")])


class TextLoop:
    """A loop that emits one text, then works until it is cancelled."""

    def __init__(self) -> None:
        self.spoke, self.closed = asyncio.Event(), asyncio.Event()

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        try:
            emit([Content("So far.")])
            self.spoke.set()
            await asyncio.Event().wait()
        finally:
            self.closed.set()


async def start(manager: RunManager, loop: Loop, *, is_detached: bool = False) -> Run:
    """Start a run with a new id."""
    context = context_for()
    context.run_id = new_run_id()
    return await manager.start(context, Progress(), loop, StartOptions(continues_after_disconnect=is_detached))


async def first_turns() -> None:
    """Let started tasks take their first steps."""
    for _ in range(5):
        await asyncio.sleep(0)


async def events_of(run: Run) -> list[AnyEvent]:
    """Return a run's journal, after checking the order of events."""
    events = [stamped.event for stamped in await run.store.read_events(run.id, 0)]
    assert first_fault(events) is None
    return events
