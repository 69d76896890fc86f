"""A live run's journal: the newest events in memory, those before them on disk; any number of watchers read it."""

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

# Events kept in memory although they are on disk: a watcher who is that little behind costs no read.
_KEPT = 1024
_RETRY_SECONDS = 0.5


def decline(batch: list[Stamped]) -> bool:
    """Decline every batch: the subscriber reads in its own task."""
    return False


@dataclass(slots=True, eq=False)
class Cursor:
    """A watcher's place: everything up to `after` is told to him.

    He waits in a task, until `woken`, when he has read everything; `try_emit` may spare him the waking.
    """

    after: int
    try_emit: TryEmit[list[Stamped]] = decline
    woken: asyncio.Future[None] = field(init=False)


class Journal(Struct):
    """One run's events. Nothing is shown before its number is reserved on disk: no crash can give it out again.

    `seq` is the last event's number, `durable` that of the last one that is filed on disk. Numbers up to `reserved` are
    promised to this run on disk, ahead of its events: after a crash it goes on above them. `is_over` once nothing
    follows, `is_lost` once another worker tells the rest. `_tail` are the newest events, from the number `_first` on.
    Tasks in `_waiting` have read every event that may be shown.
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
        """Add events (one at least), and wake the subscribers that wait for them; of a lost run none."""
        if self.is_lost:
            return
        at = int(time() * 1000)
        if len(events) == 1:  # a slow stream's events all come alone, and this takes a quarter of the time
            batch = [Stamped(self.seq + 1, at, events[0])]
        else:
            batch = list(map(Stamped, count(self.seq + 1), repeat(at), events))
        self.store.append(self.run_id, batch)  # first: what it does not take has not happened
        self._tail += batch
        self.seq = seq = batch[-1].seq
        if seq <= self.reserved and type(events[-1]) is not Done:
            for one in self._waiting:
                if not one.try_emit(batch):
                    break
                one.after = seq
            else:
                return
        self.wake()  # those who know it already find nothing new

    def written(self, durable: int, reserved: int) -> None:
        """Take in how far it is filed on disk."""
        self.durable = durable
        if reserved > self.reserved:
            self.reserved = reserved
            self.wake()
        if len(self._tail) > 2 * _KEPT:
            self._cut(durable)

    def _cut(self, durable: int) -> None:
        spare = min(durable - self._first + 1, len(self._tail) - _KEPT)
        if spare > _KEPT:  # seldom, and then much: each time moves what stays
            del self._tail[:spare]
            self._first += spare

    def follow(self, after: int) -> AsyncIterator[list[Stamped]]:
        """Yield what is behind a number, then what comes, to the end; one list per wake-up."""
        return self.go_on(Cursor(after))

    async def go_on(self, cursor: Cursor) -> AsyncIterator[list[Stamped]]:
        """Do as `follow` does, and move the cursor along.

        What its `try_emit` takes meanwhile is not yielded. The end is always yielded: it waits for the disk.
        """
        loop = asyncio.get_running_loop()
        cursor.after = min(cursor.after, self.seq)
        while not self.is_lost:
            after = cursor.after
            batch = self._in_memory(after) if after < self.seq else []
            if batch is None:
                batch = await self._next_patiently(after)
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
                except BaseException:  # he leaves
                    if cursor in self._waiting:
                        self._waiting.remove(cursor)
                    raise

    async def so_far(self, after: int) -> AsyncIterator[list[Stamped]]:
        """Yield what is behind a cursor by now, and wait for nothing more."""
        now = self.seq
        while after < now and (batch := await self._next(after)):
            after = batch[-1].seq
            yield batch

    async def _next_patiently(self, after: int) -> list[Stamped]:
        """Wait for a disk that is away: only a slow watcher needs it, and breaking his stream would not help him."""
        while True:
            try:
                return await self._next(after)
            except StoreError as error:
                if error.code is not Code.STORE_UNAVAILABLE:
                    raise
            await asyncio.sleep(_RETRY_SECONDS)

    async def _next(self, after: int) -> list[Stamped]:
        batch = await self.read(after)
        if not batch or self.durable >= batch[-1].seq or not isinstance(batch[-1].event, Done):
            return batch
        if len(batch) > 1:
            return batch[:-1]  # only the end waits for the disk
        await self._recorded()
        return [] if self.is_lost else batch

    async def _recorded(self) -> None:
        """Flush the end before it is emitted: after a crash, clients that have seen it must not get another one.

        A disk that is ill or silent holds it up for its time, and no longer.
        """
        with suppress(StoreError):
            await self.store.flush(self.run_id)

    def _in_memory(self, after: int) -> list[Stamped] | None:
        """Return what may be shown at once; None where the disk has a word in it."""
        if after + 1 < self._first or self.is_over:
            return None
        return self._tail_behind(after)

    async def read(self, after: int) -> list[Stamped]:
        """Return the next events with seq > after that may be shown; none when there are none yet."""
        if after + 1 < self._first and (kept := await self.store.read_events(self.run_id, after)):
            return kept
        return self._tail_behind(max(after, self._first - 1))  # what was there has been deleted: go on with the rest

    def _tail_behind(self, after: int) -> list[Stamped]:
        shown = min(self.seq, self.reserved)
        return self._tail[after + 1 - self._first : shown + 1 - self._first]

    def lose(self) -> None:
        """Show nothing more: another worker has taken the run over, and its ending is the one that is kept."""
        self.is_lost = True
        self.wake()

    def wake(self) -> None:
        """Have all watchers look again, those who cannot be told at once."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one.woken.done():
                continue  # he is leaving
            if self._push(one):
                self._waiting.append(one)
            else:
                one.woken.set_result(None)

    def _push(self, one: Cursor) -> bool:
        """Tell a watcher what there is where it is made: that wakes no task, which is a third of a paced event."""
        first, after = self._first, one.after
        if self.is_over or self.is_lost or after + 1 < first:
            return False  # the disk has a word in it
        batch = self._tail[after + 1 - first : min(self.seq, self.reserved) + 1 - first]
        if batch:
            if type(batch[-1].event) is Done or not one.try_emit(batch):
                return False
            one.after = batch[-1].seq
        return True


async def read_all(read: Callable[[int], Awaitable[list[Stamped]]]) -> list[Stamped]:
    """Return a whole journal, read piece by piece behind a cursor; raises StoreError."""
    events: list[Stamped] = []
    while batch := await read(events[-1].seq if events else 0):
        events += batch
    return events
