"""Forgetting what is older than the operator wants it kept: at the start and every hour, in the background."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import time

import structlog

from signalbox.core.errors import StoreError
from signalbox.store.database import Bound, Database
from signalbox.store.runs.retention import Swept, sweep_conversations, sweep_runs

_log = structlog.get_logger()

DAY = 24 * 3600.0
_EVERY = 3600.0
# So few in a transaction, and so long between two, that a stream that is being written does not wait.
_RUNS, _CONVERSATIONS = 50, 5
_PAUSE = 0.05


@dataclass(slots=True)
class Retention:
    """Deletes runs and conversations in which nothing happened for `seconds`; saves stay."""

    database: Database
    seconds: float
    clock: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def work(self) -> None:
        """Sweep now and every hour, whatever becomes of one time."""
        while True:
            try:
                await self.sweep()
            except StoreError as error:
                _log.warning("retention.failed", code=str(error.code))
            await self.sleep(_EVERY)

    async def sweep(self) -> Swept:
        """Delete everything that is too old now; raises StoreError, and keeps what it has come to."""
        before = self.clock() - self.seconds
        swept = await self._all(sweep_runs, before, _RUNS) + await self._all(
            sweep_conversations, before, _CONVERSATIONS
        )
        if swept != Swept():
            await self.database.erase_deleted()
            _log.info("retention", runs=swept.runs, conversations=swept.conversations)
        return swept

    async def _all(self, some: Bound[[float, int], Swept], before: float, most: int) -> Swept:
        """Delete a few, and again until there are none; workers take turns."""
        total, swept = Swept(), None
        while swept != Swept():
            if swept is not None:
                await self.sleep(_PAUSE)
            async with self.database.locked("retention"):
                swept = await self.database.write(some, before, most)
            total += swept
        return total
