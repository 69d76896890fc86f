"""Passes events and steps from a run's task to its reader."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Feed(Generic[Item]):
    """A queue with one reader; it ends once, after its last item."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._changed = asyncio.Event()
        self._has_ended = False

    def put(self, items: Iterable[Item]) -> None:
        """Add items."""
        self._items.extend(items)
        self._changed.set()

    def end(self) -> None:
        """Add nothing more."""
        self._has_ended = True
        self._changed.set()

    async def next(self) -> Item | None:
        """Return the next item, None after the last one."""
        while not self._items:
            if self._has_ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._items.popleft()
