"""Deletes runs and conversations older than the retention period, at startup and every hour."""

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
# Rows per transaction, and seconds between two transactions: the flush of open streams does not have to wait long.
_RUNS, _CONVERSATIONS = 50, 5
_PAUSE = 0.05


@dataclass(slots=True)
class Retention:
    """Deletes runs and conversations without activity for `seconds`; saved snapshots stay."""

    database: Database
    seconds: float
    clock: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def work(self) -> None:
        """Sweep now and every hour; a failed sweep is logged."""
        while True:
            try:
                await self.sweep()
            except StoreError as error:
                _log.warning("retention.failed", code=str(error.code))
            await self.sleep(_EVERY)

    async def sweep(self) -> Swept:
        """Delete everything that is too old now; after a StoreError, committed deletions stay."""
        before = self.clock() - self.seconds
        swept = await self._sweep_in_batches(sweep_runs, before, _RUNS) + await self._sweep_in_batches(
            sweep_conversations, before, _CONVERSATIONS
        )
        if swept != Swept():
            await self.database.erase_deleted()
            _log.info("retention.finished", runs=swept.runs, conversations=swept.conversations)
        return swept

    async def _sweep_in_batches(self, delete: Bound[[float, int], Swept], before: float, most: int) -> Swept:
        """Delete in batches until nothing is left; workers take turns."""
        total, swept = Swept(), None
        while swept != Swept():
            if swept is not None:
                await self.sleep(_PAUSE)
            async with self.database.locked("retention"):
                swept = await self.database.write(delete, before, most)
            total += swept
        return total
