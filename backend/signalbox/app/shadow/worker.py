"""Makes a share of the finished runs again on the other loop: one at a time, in the background, within a budget."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import random
from time import time

import structlog

from signalbox.app.config import Settings
from signalbox.app.shadow.cases import Cases
from signalbox.chat.observer import RunObserver
from signalbox.chat.plan import trusted_names
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject
from signalbox.core.ports import RunStore
from signalbox.core.records import RunRecord
from signalbox.metrics.counters import NO_COUNTERS, Counters
from signalbox.replay.differences import Difference, differences
from signalbox.replay.journals import Journal, NoJournal, load_journal
from signalbox.replay.outcome import Outcome
from signalbox.replay.reasons import explain
from signalbox.runs.run import Run
from signalbox.services.upstreams.registry import Upstreams
from signalbox.store.database import Database
from signalbox.store.shadow_runs import ShadowOutcome, ShadowRun, finish_shadow, reserve_shadow, sweep_shadows

_log = structlog.get_logger()
_DAY = 24 * 3600.0
# Runs that wait; further ones are not made again.
_MOST_WAITING = 20
# What one run may cost, as a share of the day's budget.
_SHARE_OF_RUN = 0.1
# While more live runs than this are active in the process, no shadow run starts.
_BUSY = 8
_BUSY_SECONDS = 1.0
_KEPT_SECONDS = 30 * _DAY
_OTHER: dict[LoopName, LoopName] = {"legacy": "v2", "v2": "legacy"}
# These kinds describe the two runs without quoting messages, arguments or results.
_PUBLIC = frozenset({"ending", "code", "warnings", "steps", "cost", "order"})


@dataclass(slots=True)
class Shadow:
    """A RunListener that makes runs again. `draw` returns a number from 0 to 1."""

    settings: Settings
    database: Database
    cases: Cases
    upstreams: Upstreams
    counters: Counters = NO_COUNTERS
    draw: Callable[[], float] = random
    clock: Callable[[], float] = time
    _active: int = 0  # live runs of this process
    _waiting: deque[tuple[str, RunStore]] = field(default_factory=deque["tuple[str, RunStore]"])
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    # --- as a listener ---

    def started(self, run: Run) -> RunObserver | None:
        """Count the run; observe nothing."""
        self._active += 1

    def over(self, run: Run) -> None:
        """Queue a share of the complete runs."""
        self._active -= 1
        if run.done is None or run.done.status != "complete" or run.journal.is_lost:
            return
        if self.draw() * 100 < self.settings.signalbox_shadow_percent and len(self._waiting) < _MOST_WAITING:
            self._waiting.append((run.id, run.store))
            self._wake.set()

    def recovered(self, record: RunRecord) -> None:
        """Ignore it: the run is not complete."""

    # --- in the background ---

    async def work(self) -> None:
        """Make queued runs again, one after the other, until the task is cancelled."""
        while True:
            self._wake.clear()
            while self._waiting:
                if self._active > _BUSY:
                    await asyncio.sleep(_BUSY_SECONDS)
                    continue
                run_id, store = self._waiting.popleft()
                with suppress(StoreError):  # logged by the database; `repeat` then finds no complete run
                    await store.flush(run_id)
                await self.repeat(run_id)
            await self._wake.wait()

    async def repeat(self, run_id: str) -> ShadowRun | None:
        """Make a stored run again and store the comparison; return None if it cannot, or may not, be made again."""
        budget = self.settings.signalbox_shadow_daily_cost
        try:
            journal = await load_journal(self.database, run_id, trusted_names(self.cases.toolbox.tools))
            if not journal.attempts:
                return None
            now = self.clock()
            reserved = ShadowRun(run_id, now, journal.model, _OTHER[journal.loop], "running", budget * _SHARE_OF_RUN)
            await self.database.write(sweep_shadows, now - _KEPT_SECONDS)
            if not await self.database.write(reserve_shadow, reserved, now - now % _DAY, budget):
                return None
            result = await self._compared(journal, reserved)
            self.counters.shadow_finished(result.model, result.loop, result.outcome, result.cost)
            await self.database.write(finish_shadow, result)
        except (NoJournal, RequestError, StoreError) as error:
            _log.info("shadow.skipped", run_id=run_id, error=type(error).__name__)
            return None
        _log.info("shadow.finished", run_id=run_id, outcome=result.outcome, cost=result.cost)
        return result

    async def _compared(self, journal: Journal, reserved: ShadowRun) -> ShadowRun:
        """Run the journal on the other loop with its recorded tool results, and compare the two."""
        failed = replace(reserved, outcome="failed")
        try:
            case = await self.cases.case(journal, journal.model, reserved.cost)
            client = self.upstreams.route(journal.model, case.plan.params)
            from signalbox.replay.case_runner import run_case  # loads a JSON Schema validator: most servers need none

            try:
                result = await run_case(case, _OTHER[journal.loop], client, self.cases.recorded(journal))
            finally:
                client.release()
        except (NoJournal, RequestError):
            return replace(failed, cost=0.0)  # no request was sent
        except Exception as error:  # noqa: BLE001 - a defect of a loop is a result, and must not end shadow mode
            _log.error("shadow.failed", run_id=journal.run_id, error=type(error).__name__)
            return failed
        # Without a known cost, it counts as what it was allowed to cost: the budget holds anyway.
        cost = reserved.cost if result.spent is None else result.spent
        if result.outcome.code == Code.BUDGET_REACHED != journal.outcome.code:
            return replace(failed, cost=cost)  # the reservation ended it, not the loop
        found = _explained(journal, result.outcome, by_chance=not self.settings.is_simulated)
        return replace(
            reserved,
            outcome=outcome_of(found),
            cost=cost,
            differences=[as_data(one) for one in found],
        )


def _explained(journal: Journal, again: Outcome, *, by_chance: bool) -> list[Difference]:
    then = journal.outcome
    legacy, v2 = (again, then) if then.loop == "v2" else (then, again)
    return explain(differences(legacy, v2), legacy, v2, by_chance=by_chance)


def outcome_of(found: Sequence[Difference]) -> ShadowOutcome:
    """Return the outcome of a comparison, as `signalbox parity` counts it."""
    if not found:
        return "same"
    return "expected" if all(one.is_expected for one in found) else "unexpected"


def as_data(one: Difference) -> JsonObject:
    """Return a difference as JSON; both sides are left out if they quote the run."""
    shown = one.kind in _PUBLIC
    return {
        "kind": one.kind,
        "expected": one.is_expected,
        "why": one.why,
        "legacy": one.first if shown else None,
        "v2": one.second if shown else None,
    }
