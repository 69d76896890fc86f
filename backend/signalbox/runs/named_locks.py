"""Locks by name: one holder at a time in this process and among all workers of the database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from signalbox.core.ports import RunStore


class NameLocks:
    """A lock for each name in use; an unused one is forgotten."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, name: str, store: RunStore) -> AsyncGenerator[None, None]:
        """Hold a name until the block ends; others that want it wait. Raises StoreError."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock, store.locked(name):
            yield
