"""Settling the bill: once a run is over, asks what the attempts cost that never told their usage (quirk F4)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from time import time

import structlog

from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.ports import BillSource, RunStore
from signalbox.core.records import Figures
from signalbox.runs.attempts_codec import with_figures

_log = structlog.get_logger()

# OpenRouter answers 404 for some seconds, 9 to 11 in one report, before it knows a generation.
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_LONGEST_WAIT = 60.0
_ASK_SECONDS = 10.0


@dataclass(slots=True)
class Settlements:
    """The settlements under way: one task per run that owes something, of which only some ask at a time.

    Beyond `most` runs at once a run stays estimated: a flood of stops must not bury the process.
    """

    bills: BillSource
    clock: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    most: int = 500
    desk: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _is_closed: bool = False

    def begin(self, run_id: str, progress: Progress, keep: Callable[[], None] = lambda: None) -> None:
        """Settle what this run owes, in the background; `keep` is called when a figure has changed."""
        if self._is_closed or len(self._tasks) >= self.most or not _open(progress):
            return
        task = asyncio.create_task(self._settle(run_id, progress, keep), name=f"bill {run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def begin_over(self, store: RunStore, run_id: str, figures: Figures, progress: Progress) -> None:
        """Settle a run that is over. That may take minutes: neither its text nor its question is held."""
        self.begin(run_id, progress, partial(store.save_figures, run_id, partial(with_figures, figures, progress)))

    async def wait(self) -> None:
        """Wait until nothing is being settled."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """End all settlements; what they have not settled stays estimated."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _settle(self, run_id: str, progress: Progress, keep: Callable[[], None]) -> None:
        code: Code | None = None
        try:
            code = await self._ask_all(progress)
        except Exception as error:  # noqa: BLE001 - a bill that breaks us is told, and breaks nothing else
            _log.error("bill.broke", run_id=run_id, error=type(error).__name__)
        if not progress.is_estimate:
            progress.settled_at = self.clock()
        keep()
        usage = progress.usage
        _log.info(
            "bill",
            run_id=run_id,
            settled=progress.settled_at is not None,
            code=str(code) if code else None,
            cost=usage.cost if usage else None,
        )

    async def _ask_all(self, progress: Progress) -> Code | None:
        """Ask for each open attempt until it is told or refused for good; return the last refusal."""
        owing = _open(progress)
        last: UpstreamError | None = None
        for wait in WAITS:
            await self.sleep(max(wait, _asked_to_wait(last)))
            for attempt in list(owing):
                refusal = await self._ask(attempt)
                last = refusal or last
                if refusal is None or _is_final(refusal):
                    owing.remove(attempt)
            if not owing:
                break
        return last.code if last else None

    async def _ask(self, attempt: Attempt) -> UpstreamError | None:
        """Ask once; return why there is no bill."""
        try:
            async with self.desk, asyncio.timeout(_ASK_SECONDS):
                bill = await self.bills.bill(attempt.generation_id or "")
        except UpstreamError as error:
            return error
        except TimeoutError:
            return UpstreamError(Code.UPSTREAM_STALLED)
        if bill is None:
            return UpstreamError(Code.UPSTREAM_NOT_FOUND)
        attempt.apply_bill(bill)
        return None


def _open(progress: Progress) -> list[Attempt]:
    return [attempt for attempt in progress.attempts if attempt.is_owed and attempt.generation_id]


def _asked_to_wait(refusal: UpstreamError | None) -> float:
    asked = refusal.retry_after if refusal else None
    return min(asked or 0.0, _LONGEST_WAIT)


def _is_final(error: UpstreamError) -> bool:
    """A bill that is not found is not written yet; a long limit of the chat need not hold for bills."""
    return error.code is not Code.UPSTREAM_NOT_FOUND and not CODES[error.code].retryable
