"""Executes the trials of a set: several at once, with retries and a limit for the cost, and skips finished ones."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from signalbox.evals.attempt import attempt_trial
from signalbox.evals.client import EvalClient, ServerUnusable
from signalbox.evals.loading import LoadedSet
from signalbox.evals.results import Result, ResultsError, ResultsFile, latest
from signalbox.evals.trials import Trial

_LONGEST_WAIT = 120.0
_FIRST_WAIT = 0.5

Pause = Callable[[float], Awaitable[None]]
OnResult = Callable[[Result, int, int], None]


@dataclass(slots=True)
class Progress:
    """What is left to do, and what it has cost. Costs that a server does not report count as 0."""

    waiting: Iterator[Trial]
    total: int
    done: int
    spent: float
    skipped: list[Trial] = field(default_factory=list[Trial])


def remaining(loaded: LoadedSet, results: ResultsFile, *, failed_too: bool) -> list[Trial]:
    """Return the trials without a result. Errors are executed again, failures only if `failed_too`."""
    finished = latest(results.results)
    kept = {"pass"} if failed_too else {"pass", "fail"}
    return [one for one in loaded.trials if one.digest not in finished or finished[one.digest].outcome not in kept]


async def execute(
    loaded: LoadedSet,
    client: EvalClient,
    results: ResultsFile,
    on_result: OnResult,
    *,
    failed_too: bool = False,
    pause: Pause = asyncio.sleep,
) -> Progress:
    """Execute what is left; return what was skipped because of the cost. Raises ServerUnusable, ResultsError.

    If it is cancelled, the runs in progress are stopped, and their trials have no result.
    """
    left = remaining(loaded, results, failed_too=failed_too)
    done = len(loaded.trials) - len(left)
    spent = sum(result.cost or 0.0 for result in results.results)
    progress = Progress(iter(left), len(loaded.trials), done, spent)
    work = _Work(loaded, client, results, on_result, pause, progress)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(loaded.settings.concurrency, len(left))):
                group.create_task(work.next_ones())
    except* (ServerUnusable, ResultsError) as faults:
        raise faults.exceptions[0] from None
    return progress


@dataclass(slots=True)
class _Work:
    loaded: LoadedSet
    client: EvalClient
    results: ResultsFile
    on_result: OnResult
    pause: Pause
    progress: Progress

    async def next_ones(self) -> None:
        """Take the next trial until none is left."""
        for trial in self.progress.waiting:
            if self._is_spent:
                self.progress.skipped.append(trial)
            else:
                await self._execute(trial)

    @property
    def _is_spent(self) -> bool:
        limit = self.loaded.settings.max_cost
        return limit is not None and self.progress.spent >= limit

    async def _execute(self, trial: Trial) -> None:
        """Attempt a trial until it has an answer, or no retry is left."""
        settings = self.loaded.settings
        for number in range(1, settings.retries + 2):
            attempt = await attempt_trial(trial, number, self.client, settings.timeout)
            self.progress.spent += attempt.result.cost or 0.0
            wait = attempt.retry_after if attempt.retry_after is not None else _FIRST_WAIT * 2 ** (number - 1)
            again = attempt.retryable and number <= settings.retries and wait <= _LONGEST_WAIT and not self._is_spent
            result = self.results.add(replace(attempt.result, will_retry=again))
            self.progress.done += not again
            self.on_result(result, self.progress.done, self.progress.total)
            if not again:
                return
            await self.pause(wait)
