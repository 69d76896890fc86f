"""What one user may: so many questions in a time, and so many runs at once."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from fastapi import Request

from signalbox.app.access import Who
from signalbox.app.rates import Rates, address_of
from signalbox.core.errors import Code, RequestError, StoreError
from signalbox.store.database import Database
from signalbox.store.under_way import count_under_way

_RETRY_SECONDS = 2.0
_NOTHING_TO_ASK = nullcontext[None]()


@dataclass(slots=True)
class Quota:
    """Counts what a user asks for; `most_runs` holds for users alone, over all workers."""

    database: Database
    rates: Rates
    most_runs: int | None = None
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def counted(self, who: Who, request: Request) -> AbstractContextManager[None]:
        """Count a question that starts a run inside, by its user, else by its address; raises RequestError."""
        return self._counted(who, request) if self.rates.allowed else _NOTHING_TO_ASK

    @contextmanager
    def _counted(self, who: Who, request: Request) -> Generator[None, None, None]:
        """Count one question.

        It is counted before it is known whether there is room, or many at once would all pass; what is refused does
        not stay counted.
        """
        asker = f"user {who.owner}" if who.owner else address_of(request.client and request.client.host)
        now = self.rates.clock()
        wait = self.rates.ask(asker, now)
        if wait is not None:
            raise RequestError(Code.TOO_MANY_QUESTIONS, retry_after=wait)
        try:
            yield
        except (RequestError, StoreError):
            self.rates.give_back(asker, now)
            raise

    def room_for(self, who: Who) -> AbstractAsyncContextManager[None]:
        """Start a run inside, where its user has room for it; raises RequestError and StoreError."""
        if self.most_runs is None or not who.owner:
            return _NOTHING_TO_ASK
        return self._room_for(who, self.most_runs)

    @asynccontextmanager
    async def _room_for(self, who: Who, most: int) -> AsyncGenerator[None, None]:
        """One start of a user follows another, so that many at once do not all find the same room."""
        lock = self._locks.setdefault(who.owner, asyncio.Lock())
        async with lock, self.database.locked(f"runs {who.owner}"):
            if await self.database.read(count_under_way, who.owner) >= most:
                words = f"Too many runs are under way: one user may have {most} at once."
                raise RequestError(Code.TOO_MANY_RUNS, words, status=429, retry_after=_RETRY_SECONDS)
            yield
