"""An active run's journal: the newest events in memory, older ones on disk, read by any number of subscribers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, repeat
from time import time

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import AnyEvent, Done, Stamped
from signalbox.core.ports import RunStore, TryEmit

# Events that stay in memory although they are on disk: a subscriber that lags by fewer needs no disk read.
_IN_MEMORY = 1024
_RETRY_SECONDS = 0.5


def decline(batch: list[Stamped]) -> bool:
    """Decline every batch: the subscriber reads in its own task."""
    return False


@dataclass(slots=True, eq=False)
class Cursor:
    """A subscriber's position: it has everything up to `after`.

    A subscriber that has read everything waits for `woken` in its task, unless `try_emit` delivers without waking it.
    """

    after: int
    try_emit: TryEmit[list[Stamped]] = decline
    woken: asyncio.Future[None] = field(init=False)


class Journal(Struct):
    """One run's events. No event is emitted before its number is reserved on disk, so no crash can reuse the number.

    `seq` is the number of the last event, `durable` of the last one on disk. Numbers up to `reserved` are reserved on
    disk ahead of the events; after a crash, numbering continues above them. `is_over` is set after the last event,
    `is_lost` if another worker has taken over the run. `_tail` are the newest events, starting at number `_first`.
    Cursors in `_waiting` have read every event that may be emitted.
    """

    run_id: str
    store: RunStore
    seq: int = 0
    durable: int = 0
    reserved: int = 0
    is_over: bool = False
    is_lost: bool = False
    _tail: list[Stamped] = []
    _first: int = 1
    _waiting: list[Cursor] = []

    def append(self, events: list[AnyEvent]) -> None:
        """Append at least one event and deliver it to waiting subscribers; ignored if the run is lost."""
        if self.is_lost:
            return
        at = int(time() * 1000)
        if len(events) == 1:  # every event of a slow stream arrives alone; four times as fast
            batch = [Stamped(self.seq + 1, at, events[0])]
        else:
            batch = list(map(Stamped, count(self.seq + 1), repeat(at), events))
        self.store.append(self.run_id, batch)  # first: an event that the store rejects is not emitted
        self._tail += batch
        self.seq = seq = batch[-1].seq
        if seq <= self.reserved and type(events[-1]) is not Done:
            for one in self._waiting:
                if not one.try_emit(batch):
                    break
                one.after = seq
            else:
                return
        self.wake()  # subscribers that already have the batch find nothing new

    def mark_durable(self, durable: int, reserved: int) -> None:
        """Record up to where events are on disk and numbers are reserved; called after a flush."""
        self.durable = durable
        if reserved > self.reserved:
            self.reserved = reserved
            self.wake()
        if len(self._tail) > 2 * _IN_MEMORY:
            self._trim(durable)

    def _trim(self, durable: int) -> None:
        spare = min(durable - self._first + 1, len(self._tail) - _IN_MEMORY)
        if spare > _IN_MEMORY:  # rarely, and then many at once: each deletion moves the rest
            del self._tail[:spare]
            self._first += spare

    def follow(self, after: int) -> AsyncIterator[list[Stamped]]:
        """Yield the events after a number, then new ones to the end; one list per wake-up."""
        return self.read_from(Cursor(after))

    async def read_from(self, cursor: Cursor) -> AsyncIterator[list[Stamped]]:
        """Yield events like `follow`, and advance the cursor.

        Batches that its `try_emit` accepts are not yielded. The last event is always yielded, after a flush.
        """
        loop = asyncio.get_running_loop()
        cursor.after = min(cursor.after, self.seq)
        while not self.is_lost:
            after = cursor.after
            batch = self._in_memory(after) if after < self.seq else []
            if batch is None:
                batch = await self._next_with_retry(after)
            if batch:
                cursor.after = batch[-1].seq
                yield batch
            elif self.is_lost or (self.is_over and after >= self.seq):
                return
            else:
                cursor.woken = loop.create_future()
                self._waiting.append(cursor)
                try:
                    await cursor.woken
                except BaseException:  # the subscriber leaves
                    if cursor in self._waiting:
                        self._waiting.remove(cursor)
                    raise

    async def read_available(self, after: int) -> AsyncIterator[list[Stamped]]:
        """Yield the events after a number that exist now, and wait for no more."""
        now = self.seq
        while after < now and (batch := await self._next(after)):
            after = batch[-1].seq
            yield batch

    async def _next_with_retry(self, after: int) -> list[Stamped]:
        """Retry until the disk is available: only a lagging subscriber needs it, and its stream stays open."""
        while True:
            try:
                return await self._next(after)
            except StoreError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _next(self, after: int) -> list[Stamped]:
        batch = await self.next_events(after)
        if not batch or self.durable >= batch[-1].seq or not isinstance(batch[-1].event, Done):
            return batch
        if len(batch) > 1:
            return batch[:-1]  # only the last event waits for the disk
        await self._flush_ending()
        return [] if self.is_lost else batch

    async def _flush_ending(self) -> None:
        """Flush the ending before it is emitted: after a crash, clients that have seen it must not get another one.

        If the disk fails, the ending is emitted after the store's timeout.
        """
        with suppress(StoreError):
            await self.store.flush(self.run_id)

    def _in_memory(self, after: int) -> list[Stamped] | None:
        """Return the events that can be emitted at once, None if the disk is needed."""
        if after + 1 < self._first or self.is_over:
            return None
        return self._tail_after(after)

    async def next_events(self, after: int) -> list[Stamped]:
        """Return the next events with seq > after that may be emitted; an empty list if there are none yet."""
        if after + 1 < self._first and (stored := await self.store.read_events(self.run_id, after)):
            return stored
        return self._tail_after(max(after, self._first - 1))  # the events on disk were deleted; the rest follows

    def _tail_after(self, after: int) -> list[Stamped]:
        shown = min(self.seq, self.reserved)
        return self._tail[after + 1 - self._first : shown + 1 - self._first]

    def release(self) -> None:
        """Emit nothing more, because another worker has taken over the run and ends it."""
        self.is_lost = True
        self.wake()

    def wake(self) -> None:
        """Deliver to all waiting subscribers; wake the tasks of those that decline."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one.woken.done():
                continue  # the subscriber is leaving
            if self._try_emit(one):
                self._waiting.append(one)
            else:
                one.woken.set_result(None)

    def _try_emit(self, one: Cursor) -> bool:
        """Deliver to a subscriber without waking its task, which would take a third of the time of an event."""
        first, after = self._first, one.after
        if self.is_over or self.is_lost or after + 1 < first:
            return False  # the disk is needed
        batch = self._tail[after + 1 - first : min(self.seq, self.reserved) + 1 - first]
        if batch:
            if type(batch[-1].event) is Done or not one.try_emit(batch):
                return False
            one.after = batch[-1].seq
        return True


async def read_all(read: Callable[[int], Awaitable[list[Stamped]]]) -> list[Stamped]:
    """Return a whole journal, read page by page; raises StoreError."""
    events: list[Stamped] = []
    while batch := await read(events[-1].seq if events else 0):
        events += batch
    return events
