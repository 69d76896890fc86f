"""Runs over a real database, for tests."""

import asyncio
from contextlib import aclosing

from signalbox.chat.loops.progress import Progress
from signalbox.core.events import AnyEvent, Content
from signalbox.core.order.invariants import first_fault
from signalbox.core.ports import Emit
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run, StartOptions, new_run_id

from tests.support.disk import Disk
from tests.support.loop_runs import context_for

BLOCK = 8


class TextLoop:
    """A loop that emits this many words a step, as often as the test says, and then ends."""

    def __init__(self, words: int = 1) -> None:
        self.words, self.said = words, 0
        self._go = asyncio.Semaphore(0)
        self.is_over = False

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        while True:
            await self._go.acquire()
            if self.is_over:
                return
            self.said += self.words
            emit([Content("w ") for _ in range(self.words)])

    def step(self, times: int = 1) -> None:
        for _ in range(times):
            self._go.release()

    def end(self) -> None:
        self.is_over = True
        self._go.release()


async def start(manager: RunManager, text_loop: TextLoop, run_id: str | None = None) -> Run:
    """Start a run that outlives its subscribers."""
    context = context_for()
    context.run_id = run_id or new_run_id()
    return await manager.start(context, Progress(), text_loop, StartOptions(continues_after_disconnect=True))


class Subscriber:
    """Reads a run to its end; records what it saw, and what was reserved on disk then."""

    def __init__(self, manager: RunManager, disk: Disk, run_id: str, after: int = 0) -> None:
        self.seen: list[int] = []
        self.events: list[AnyEvent] = []
        self.ahead: list[int] = []
        self._ask = (manager, disk, run_id, after)
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        manager, disk, run_id, after = self._ask
        async with aclosing(manager.subscribe(run_id, after)) as batches:
            async for batch in batches:
                if batch[-1].seq > disk.reserved(run_id):
                    self.ahead.append(batch[-1].seq)
                self.seen += [stamped.seq for stamped in batch]
                self.events += [stamped.event for stamped in batch]

    async def end(self) -> list[int]:
        await asyncio.wait_for(self.task, 10)
        assert first_fault(self.events) is None
        return self.seen


def ended_loop() -> TextLoop:
    """Return a loop that ends after its first step."""
    text_loop = TextLoop()
    text_loop.step()
    text_loop.end()
    return text_loop
