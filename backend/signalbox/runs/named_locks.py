"""Named locks: one holder at a time, in this process and among all workers of the database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from signalbox.core.ports import RunStore


class NameLocks:
    """One lock per name in use; unused locks are garbage-collected."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, name: str, store: RunStore) -> AsyncGenerator[None, None]:
        """Hold the lock of a name during the block; raises StoreError."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock, store.locked(name):
            yield
