"""One run as a task of its own: it writes its journal and wakes whoever watches; it belongs to no connection."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from time import time

from signalbox.chat.context import ConversationContext
from signalbox.chat.progress import Ending, Progress
from signalbox.chat.run import drive
from signalbox.core.errors import CODES, Code
from signalbox.core.events import AnyEvent, Done, Stamped
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.ports import RunStore

STOPPED = Ending("cancelled")
DETACHED = Ending("interrupted", Code.DETACHED_TIMEOUT, CODES[Code.DETACHED_TIMEOUT].sentence)
SHUT_DOWN = Ending("interrupted", Code.SERVER_SHUTDOWN, CODES[Code.SERVER_SHUTDOWN].sentence)


@dataclass(slots=True)
class Run:
    """A run and its journal's end. `goes_on`: it outlives its last watcher. `request` is redacted for the trace."""

    context: ConversationContext
    progress: Progress
    store: RunStore
    goes_on: bool = False
    request: JsonObject = field(default_factory=dict[str, JsonValue])
    started: float = field(default_factory=time)
    ended: float | None = None
    done: Done | None = None
    seq: int = 0
    watchers: int = 0
    detached_timer: asyncio.TimerHandle | None = None
    _task: asyncio.Task[None] | None = None
    _why: Ending = STOPPED
    _has_begun: bool = False
    _stops_at_start: bool = False
    _waiting: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])

    @property
    def id(self) -> str:
        """The run's id: 128 random bits, no colon."""
        return self.context.run_id

    @property
    def is_over(self) -> bool:
        """Whether `done` is in the journal."""
        return self.done is not None

    def start(self, loop: AsyncGenerator[list[AnyEvent], None], on_over: "Callable[[Run], None]") -> None:
        """Begin; `on_over` is called once, right after the run's last event."""
        self._task = asyncio.create_task(self._work(loop, on_over), name=f"run {self.id}")

    async def _work(self, loop: AsyncGenerator[list[AnyEvent], None], on_over: "Callable[[Run], None]") -> None:
        self._has_begun = True
        if self._stops_at_start and self._task is not None:
            self._task.cancel()
        # Nothing is awaited between two batches: a cancellation always lands inside `drive`, which tells the ending.
        async for events in drive(loop, self.context, self.progress, lambda: self._why):
            self._record(events)
        on_over(self)

    def _record(self, events: list[AnyEvent]) -> None:
        now = time()
        at = int(now * 1000)
        first = self.seq + 1
        self.seq += len(events)
        self.store.append(self.id, [Stamped(seq, at, event) for seq, event in enumerate(events, first)])
        if events and type(events[-1]) is Done:
            self.done = events[-1]
            self.ended = now
        self._wake()

    def stop(self, why: Ending = STOPPED) -> None:
        """End the run now; upstream and tools end with it. A run that is over stays as it is."""
        if self._task is None or self.is_over or self._task.cancelling():
            return
        self._why = why
        if self._has_begun:
            self._task.cancel()
        else:  # a task that is cancelled before its first step never runs, and could not tell its end
            self._stops_at_start = True

    async def wait(self) -> None:
        """Wait until the run is over."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def follow(self, after: int) -> AsyncIterator[list[Stamped]]:
        """Yield the journal behind a cursor, then what comes, up to `done`; one list per wake-up."""
        while True:
            batch = self.store.read(self.id, after)
            if batch:
                after = batch[-1].seq
                yield batch
            elif self.is_over:
                return
            else:
                await self._news()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def _news(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            if future in self._waiting:
                self._waiting.remove(future)
