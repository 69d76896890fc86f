"""Settles costs after a run: fetches the bill of each attempt that reported no usage (quirk F4)."""

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

# OpenRouter answers 404 for a generation at first, in one report for 9 to 11 seconds.
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
_LONGEST_WAIT = 60.0
_FETCH_SECONDS = 10.0


@dataclass(slots=True)
class Settlements:
    """The running settlements: one task per run with open costs; `slots` limits concurrent requests.

    Beyond `max_runs` at once, the cost of a run stays an estimate, so that many stopped runs cannot overload the
    process. `on_bill` is called for an attempt whose bill was fetched.
    """

    bills: BillSource
    clock: Callable[[], float] = time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    max_runs: int = 500
    on_bill: Callable[[Attempt], None] = lambda _: None
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(4))
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _is_closed: bool = False

    def begin(self, run_id: str, progress: Progress, save: Callable[[], None] = lambda: None) -> None:
        """Settle the open costs of a run in the background; `save` is called to store the result."""
        if self._is_closed or len(self._tasks) >= self.max_runs or not _unsettled(progress):
            return
        task = asyncio.create_task(self._settle(run_id, progress, save), name=f"bill {run_id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def begin_for_ended(self, store: RunStore, run_id: str, figures: Figures, progress: Progress) -> None:
        """Settle an ended run. This may take minutes, so neither its text nor its request stays in memory."""
        self.begin(run_id, progress, partial(store.save_figures, run_id, partial(with_figures, figures, progress)))

    async def wait(self) -> None:
        """Wait until all settlements have ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """Cancel all settlements; open costs stay estimates."""
        self._is_closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _settle(self, run_id: str, progress: Progress, save: Callable[[], None]) -> None:
        code: Code | None = None
        try:
            code = await self._fetch_all(progress)
        except Exception as error:  # noqa: BLE001 - logged; a malformed bill must not end the task without saving
            _log.error("settlement.failed", run_id=run_id, error=type(error).__name__)
        if not progress.is_estimate:
            progress.settled_at = self.clock()
        save()
        usage = progress.usage
        _log.info(
            "settlement.finished",
            run_id=run_id,
            settled=progress.settled_at is not None,
            code=str(code) if code else None,
            cost=usage.cost if usage else None,
        )

    async def _fetch_all(self, progress: Progress) -> Code | None:
        """Fetch the bill of each open attempt, with retries; return the last error's code, or None."""
        open_attempts = _unsettled(progress)
        last: UpstreamError | None = None
        for wait in WAITS:
            await self.sleep(max(wait, _retry_after(last)))
            for attempt in list(open_attempts):
                error = await self._fetch_bill(attempt)
                last = error or last
                if error is None or _is_final(error):
                    open_attempts.remove(attempt)
            if not open_attempts:
                break
        return last.code if last else None

    async def _fetch_bill(self, attempt: Attempt) -> UpstreamError | None:
        """Fetch one bill and record it in the attempt; return the error, or None."""
        try:
            async with self.slots, asyncio.timeout(_FETCH_SECONDS):
                bill = await self.bills.bill(attempt.generation_id or "", attempt.upstream or "")
        except UpstreamError as error:
            return error
        except TimeoutError:
            return UpstreamError(Code.UPSTREAM_STALLED)
        if bill is None:
            return UpstreamError(Code.UPSTREAM_NOT_FOUND)
        attempt.apply_bill(bill)
        self.on_bill(attempt)
        return None


def _unsettled(progress: Progress) -> list[Attempt]:
    return [attempt for attempt in progress.attempts if attempt.is_cost_unknown and attempt.generation_id]


def _retry_after(error: UpstreamError | None) -> float:
    seconds = error.retry_after if error else None
    return min(seconds or 0.0, _LONGEST_WAIT)


def _is_final(error: UpstreamError) -> bool:
    """Return whether a retry cannot help; a bill that is not found may become available."""
    return error.code is not Code.UPSTREAM_NOT_FOUND and not CODES[error.code].retryable
