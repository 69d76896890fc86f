"""Admits runs: rates, concurrent runs and budgets of the caller and its group, in one transaction over all workers."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import blake2b
from math import inf
from time import time
from weakref import WeakValueDictionary

import structlog
from msgspec import Struct

from signalbox.app.access import Caller
from signalbox.app.limits.rate_windows import Rate, address_of, read_rates
from signalbox.app.limits.refusals import budget_refusal, without_price
from signalbox.chat.budget import Budget
from signalbox.chat.context import ConversationContext
from signalbox.chat.reservation import Estimate, open_budget
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.security.policies import Policy
from signalbox.store.database import Database
from signalbox.store.spend.accounts import day_of, group_account, nano, usd
from signalbox.store.spend.admit import admit, clean_up, undo
from signalbox.store.spend.rates import Counted, TooMany, Window
from signalbox.store.spend.reservations import Account, Payer, Refused, extend

_UNLIMITED = nullcontext[None]()
_SWEEP_SECONDS = 60.0
# In a burst of requests, not every refused one flushes; the endings of runs are written that often anyway.
_FLUSH_AGAIN_SECONDS = 0.1
# Longer than any start takes, so that no start under way loses its reservation.
_START_SECONDS = 180.0
_log = structlog.get_logger()


class Wanted(Struct, frozen=True):
    """A run that wants to start. `max_cost` is the client's, `max_output` the longest answer of its models.

    `prices` are those of the models that may answer, as far as they are known; `has_unpriced`: not all are.
    `without_costs` are the upstreams on its route at which its cost cannot be known.
    """

    context: ConversationContext
    prices: Mapping[str, Prices] = {}
    has_unpriced: bool = False
    max_cost: float | None = None
    max_output: float | None = None
    without_costs: tuple[str, ...] = ()


@dataclass(slots=True)
class Admission:
    """Applies the limits that need the database. `shared` are the rates of every client, with several workers.

    `flush` writes the endings of runs, which frees what they have reserved.
    """

    database: Database
    flush: Callable[[], Awaitable[None]]
    shared: tuple[Rate, ...] = ()
    clock: Callable[[], float] = time
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])
    _flushed_for: tuple[str, float] = ("", 0.0)

    def admitted(self, caller: Caller, address: str | None, wanted: Wanted) -> AbstractAsyncContextManager[None]:
        """Start a run within the block, if the limits of its caller allow it; raises RequestError and StoreError.

        If the block fails, nothing is counted or reserved.
        """
        windows = self._windows(caller, address)
        payer = self._payer(caller, wanted)
        return self._admitted(windows, payer, wanted) if windows or payer else _UNLIMITED

    @asynccontextmanager
    async def _admitted(
        self, windows: Sequence[Window], payer: Payer | None, wanted: Wanted
    ) -> AsyncGenerator[None, None]:
        estimate = Estimate(0.0, 0.0)
        has_budget = payer is not None and any(one.day is not None or one.month is not None for one in payer.accounts)
        if has_budget:
            estimate = await self._estimate(wanted)
        counted, granted = await self._counted(windows, payer, (nano(estimate.want), nano(estimate.need)))
        if payer is not None and has_budget:
            assert wanted.context.budget is not None
            wanted.context.budget.reserved = usd(granted)
            wanted.context.budget.reserve_more = partial(self._extend, payer)
        try:
            yield
        except BaseException:
            undoing = asyncio.ensure_future(self._undo(counted, wanted.context.run_id))
            with suppress(asyncio.CancelledError):
                await asyncio.shield(undoing)
            raise

    async def _counted(
        self, windows: Sequence[Window], payer: Payer | None, amounts: tuple[int, int]
    ) -> tuple[list[Counted], int]:
        """Return what was counted and reserved; raises RequestError.

        The starts of one account wait here for each other, not in the database, whose connections others need.
        """
        account = payer.accounts[-1].name if payer is not None else windows[0].client
        lock = self._locks.setdefault(account, asyncio.Lock())
        has_waited = lock.locked()
        async with lock:
            if has_waited and not self.database.is_healthy:
                raise StoreError(Code.STORE_UNAVAILABLE)
            try:
                return await self._admit(account, windows, payer, amounts)
            except Refused as error:
                raise budget_refusal(error, self.clock()) from None
            except TooMany as error:
                raise RequestError(Code.TOO_MANY_QUESTIONS, retry_after=error.wait) from None

    async def _admit(
        self, account: str, windows: Sequence[Window], payer: Payer | None, amounts: tuple[int, int]
    ) -> tuple[list[Counted], int]:
        """Count and reserve. If that is refused, try again once the runs that have ended have released their part."""
        try:
            return await self.database.write(admit, windows, payer, amounts, self.clock())
        except Refused:
            now = self.clock()
            if account == self._flushed_for[0] and abs(now - self._flushed_for[1]) < _FLUSH_AGAIN_SECONDS:
                raise
            await self.flush()
            self._flushed_for = account, now
            return await self.database.write(admit, windows, payer, amounts, now)

    async def _estimate(self, wanted: Wanted) -> Estimate:
        """Return what the run reserves first; raises RequestError if its cost can never be known."""
        if wanted.without_costs:
            raise without_price(wanted.context.model, wanted.without_costs)
        if wanted.context.budget is None:
            wanted.context.budget = Budget(inf)
        wanted.context.budget.use_prices(wanted.prices)
        return await open_budget(wanted.context, wanted.max_cost, wanted.max_output, has_unpriced=wanted.has_unpriced)

    async def _extend(self, payer: Payer, amount: float) -> float:
        """Reserve more for an active run; without a database nothing is granted."""
        try:
            return usd(await self.database.write(extend, payer, nano(amount)))
        except StoreError:
            return 0.0

    async def _undo(self, counted: Sequence[Counted], run_id: str) -> None:
        with suppress(StoreError):  # `sweep` releases the reservation later
            await self.database.write(undo, counted, run_id)

    def _windows(self, caller: Caller, address: str | None) -> list[Window]:
        found = [
            Window(client, rate.amount, rate.seconds)
            for client, policy in ((caller.owner, caller.policy), (group_account(caller.group), caller.group_policy))
            if policy.rate_limit
            for rate in _rates_of(policy.rate_limit)
        ]
        if self.shared:
            client = f"user {caller.owner}" if caller.owner else _hashed(address_of(address))
            found += [Window(client, rate.amount, rate.seconds) for rate in self.shared]
        return found

    def _payer(self, caller: Caller, wanted: Wanted) -> Payer | None:
        accounts = [
            Account(name, _nano(policy.budget_day), _nano(policy.budget_month), policy.max_runs)
            for name, policy in ((caller.owner, caller.policy), (group_account(caller.group), caller.group_policy))
            if _has_limits(policy)
        ]
        if not accounts:
            return None
        day = day_of(self.clock())
        return Payer(wanted.context.run_id, caller.owner, caller.group, day, tuple(accounts))

    # --- what killed processes leave ---------------------------------------------------------------------------------

    async def sweep(self, *, is_first: bool = False) -> None:
        """Release reservations without a run, and forget expired rates. Raises StoreError.

        At the first sweep of the only worker no start is under way.
        """
        now = self.clock()
        before = now + 1 if is_first and not self.database.is_shared else now - _START_SECONDS
        released = await self.database.write(clean_up, before, day_of(now), now)
        if released:
            _log.warning("reservations.released", runs=released)

    async def work(self) -> None:
        """Sweep now and every minute."""
        is_first = True
        while True:
            with suppress(StoreError):  # logged by the database
                await self.sweep(is_first=is_first)
                is_first = False
            await asyncio.sleep(_SWEEP_SECONDS)


@lru_cache(maxsize=1024)
def _rates_of(words: str) -> tuple[Rate, ...]:
    return read_rates(words)


def _hashed(address: str) -> str:
    """Return a key for an address that does not show it in the database."""
    return f"address {blake2b(address.encode(), digest_size=12).hexdigest()}"


def _has_limits(policy: Policy) -> bool:
    return policy.budget_day is not None or policy.budget_month is not None or policy.max_runs is not None


def _nano(amount: float | None) -> int | None:
    return None if amount is None else nano(amount)
