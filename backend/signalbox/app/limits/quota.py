"""What one user may: so many questions in a time, and so many runs at once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from weakref import WeakValueDictionary

from signalbox.app.access import Who
from signalbox.app.limits.rate_windows import Rates, address_of
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.store.database import Database
from signalbox.store.runs.active_count import count_active_runs

_RETRY_SECONDS = 2.0
_NOTHING_TO_ASK = nullcontext[None]()


class _Counted:
    """A question that was counted: when it is refused inside, it is not."""

    __slots__ = ("_asker", "_at", "_rates")

    def __init__(self, rates: Rates, asker: str, at: float) -> None:
        self._rates = rates
        self._asker = asker
        self._at = at

    def __enter__(self) -> None:
        """Go on."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, RequestError | StoreError):
            self._rates.give_back(self._asker, self._at)


@dataclass(slots=True)
class Quota:
    """Counts what a user asks for; `most_runs` holds for users alone, over all workers."""

    database: Database
    rates: Rates
    most_runs: int | None = None
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def counted(self, who: Who, address: str | None) -> AbstractContextManager[None]:
        """Count a question that starts a run inside, by its user, else by its address; raises RequestError.

        It is counted before it is known whether there is room, or many at once would all pass; what is refused does
        not stay counted.
        """
        if not self.rates.allowed:
            return _NOTHING_TO_ASK
        asker = f"user {who.owner}" if who.owner else address_of(address)
        now = self.rates.clock()
        wait = self.rates.ask(asker, now)
        if wait is not None:
            raise RequestError(Code.TOO_MANY_QUESTIONS, retry_after=wait)
        return _Counted(self.rates, asker, now)

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
            if await self.database.read(count_active_runs, who.owner) >= most:
                words = f"Too many runs are active: each user may have {most} at once."
                raise RequestError(Code.TOO_MANY_RUNS, words, status=429, retry_after=_RETRY_SECONDS)
            yield
