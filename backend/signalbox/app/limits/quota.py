"""Limits of one user: rates of questions, and concurrent runs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from weakref import WeakValueDictionary

from signalbox.app.access import Caller
from signalbox.app.limits.rate_windows import Rates, address_of
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.store.database import Database
from signalbox.store.runs.active_count import count_active_runs

_RETRY_SECONDS = 2.0
_UNLIMITED = nullcontext[None]()


class _Counted:
    """A counted question; it is subtracted again if it is rejected within the block."""

    __slots__ = ("_at", "_client", "_rates")

    def __init__(self, rates: Rates, client: str, at: float) -> None:
        self._rates = rates
        self._client = client
        self._at = at

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, RequestError | StoreError):
            self._rates.uncount(self._client, self._at)


@dataclass(slots=True)
class Quota:
    """Applies the limits. `most_runs` applies per API token, over all workers."""

    database: Database
    rates: Rates
    most_runs: int | None = None
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    def counted(self, caller: Caller, address: str | None) -> AbstractContextManager[None]:
        """Count a question that starts a run within the block, per user or per address; raises RequestError.

        It is counted before other checks, so that concurrent questions cannot all pass. A rejected one is not counted.
        """
        if not self.rates.allowed:
            return _UNLIMITED
        client = f"user {caller.owner}" if caller.owner else address_of(address)
        now = self.rates.clock()
        wait = self.rates.count(client, now)
        if wait is not None:
            raise RequestError(Code.TOO_MANY_QUESTIONS, retry_after=wait)
        return _Counted(self.rates, client, now)

    def slot_for(self, caller: Caller) -> AbstractAsyncContextManager[None]:
        """Start a run within the block, if its user is below the limit; raises RequestError and StoreError."""
        if self.most_runs is None or not caller.owner:
            return _UNLIMITED
        return self._slot_for(caller, self.most_runs)

    @asynccontextmanager
    async def _slot_for(self, caller: Caller, most: int) -> AsyncGenerator[None, None]:
        """Serialize the starts of a user, so that concurrent ones cannot all pass."""
        lock = self._locks.setdefault(caller.owner, asyncio.Lock())
        async with lock, self.database.locked(f"runs {caller.owner}"):
            if await self.database.read(count_active_runs, caller.owner) >= most:
                words = f"Too many runs are active: each user may have {most} at once."
                raise RequestError(Code.TOO_MANY_RUNS, words, status=429, retry_after=_RETRY_SECONDS)
            yield
