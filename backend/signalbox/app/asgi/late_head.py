"""Holds back a response's head until its first events decide between a stream and an error.

Clients of some protocols read a failure from the HTTP status alone: they back off on a 429, shorten the conversation
on a 400. So a run that fails before its first visible event gets an HTTP status.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")


class PeekedBody(Generic[Item]):
    """The items of a generator, of which the first can be looked at before they are consumed."""

    def __init__(self, body: AsyncGenerator[Item, None]) -> None:
        self._body = body
        self._held: deque[Item] = deque()
        self._coming: asyncio.Task[Item | None] | None = None

    async def peek(self, is_decisive: Callable[[Item], bool], seconds: float) -> list[Item]:
        """Read up to the first decisive item, at most this long; return what was read. Nothing is lost for `anext`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not (self._held and is_decisive(self._held[-1])):
            coming = self._coming = asyncio.ensure_future(anext(self._body, None))
            done, _ = await asyncio.wait({coming}, timeout=deadline - loop.time())
            if not done:
                break  # `anext` goes on waiting for it
            self._coming = None
            item = coming.result()
            if item is None:
                break
            self._held.append(item)
        return [*self._held]

    @property
    def is_holding(self) -> bool:
        """Whether `anext` returns an item that was looked at; no later one may be sent before."""
        return bool(self._held)

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[Item]:
        if self._held or self._coming is not None:
            return self._next_held()
        return self._body.__anext__()

    async def _next_held(self) -> Item:
        if self._held:
            return self._held.popleft()
        assert self._coming is not None
        coming, self._coming = self._coming, None
        item = await coming  # a cancelled reader cancels it
        if item is None:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        """Close the generator."""
        if self._coming is not None:  # a generator that is running cannot be closed
            self._coming.cancel()
            with suppress(asyncio.CancelledError):
                await self._coming
        await self._body.aclose()
