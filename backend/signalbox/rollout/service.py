"""The rollout of this process: starts and ends plans, and evaluates the current one once a second."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from time import time
from typing import Literal, TypeAlias
from uuid import uuid4

import structlog
from msgspec import json, structs

from signalbox.core.errors import StoreError
from signalbox.core.messages import JsonObject
from signalbox.core.operation.audit import GUARD, OPERATOR, Action, Actor, Entry, entry_by
from signalbox.flags.override import Override, OverrideStore
from signalbox.flags.shared_override import SharedOverride
from signalbox.rollout.changes import Change, Event, NoOutbox, Outbox, details_of, entry_about, started_by
from signalbox.rollout.evaluation import Evaluation
from signalbox.rollout.plan import Assessment, Mode, Plan, Stage, State
from signalbox.store.database import Database, without_logging
from signalbox.store.rollout import PlanChange, Report, change_plan, claim, get_plan, get_report, put_report

_Kind: TypeAlias = Literal["rollout.promoted", "rollout.finished", "rollout.stepped_back", "rollout.regression"]

LOOK_SECONDS = 1.0
# If the worker that evaluates dies, another one goes on after this time.
_LEASE_SECONDS = 5.0
# After the last stage, the guard looks less often.
_WATCH_SECONDS = 10.0
_LOCK = "rollout"
_PLAN = json.Decoder(Plan)
_REPLACED = "A new plan has replaced it."

_log = structlog.get_logger()


class Rollout:
    """The rollout plan, which all workers of a database share; one of them evaluates it.

    `kill_switch` is whether the environment switches V2 off. `clock` returns epoch seconds.
    """

    def __init__(
        self,
        database: Database,
        override: OverrideStore,
        *,
        kill_switch: bool = False,
        outbox: Outbox | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        self.outbox = NoOutbox() if outbox is None else outbox
        self.kill_switch = kill_switch
        self._database, self._override, self._clock = database, override, clock
        self._worker = uuid4().hex
        self._evaluation: Evaluation | None = None
        self._turn = asyncio.Lock()
        self._is_working = True
        self._looked = 0.0

    # --- requests of operators ------------------------------------------------------------------------------------

    async def current(self) -> tuple[Plan | None, JsonObject]:
        """Return the plan and the latest report about it; raises StoreError."""
        plan = _plan_of(await self._database.read(get_plan))
        report = await self._database.read(get_report)
        if plan is None or report is None or report.plan_id != plan.id:
            return plan, {}
        return plan, json.decode(report.body)

    async def start(self, mode: Mode, stages: tuple[Stage, ...], holdback: int, actor: Actor = OPERATOR) -> Plan:
        """Start a plan in place of the running one; raises OSError and StoreError.

        In the mode `guard`, it begins at the percentage of the running plan, in the mode `observe` at that of the flag.
        """
        async with self._locked():
            now = self._clock()
            plan = Plan(id=uuid4().hex, mode=mode, stages=stages, holdback=holdback, started=now, stage_started=now)
            if mode == "observe":
                plan = plan.following(await self._read_override(), now)

            def change(stored: Plan | None) -> Change:
                begun, entries = plan, list[Entry]()
                if stored is not None and (stored.is_running or stored.is_watched):
                    entries.append(entry_about(stored, now, (actor, "rollout.ended"), _REPLACED))
                if stored is not None and stored.is_running and stored.mode == mode == "guard":
                    begun = plan.replacing(stored)
                return Change(begun, [*entries, started_by(actor, now, begun)])

            stored = await self._changed(change)
            assert stored is not None
            _log.info("rollout.started", plan=stored.id, mode=mode, percent=stored.percent)
            return await self._applied(stored)

    async def end(self, actor: Actor = OPERATOR) -> Plan | None:
        """End the running plan and leave the flag as it is; return it, None if none is running. Raises StoreError."""
        async with self._locked():
            return await self._close("ended", "An operator has ended the plan.", (actor, "rollout.ended"))

    async def set_override(self, override: Override | None, actor: Actor = OPERATOR) -> None:
        """Set the flag for an operator and end the running plan; raises OSError and StoreError.

        A plan of the mode `observe` follows the flag instead. None removes the override. The flag is set first: it must
        work whatever happens to the plan.
        """
        async with self._locked():
            await self._override.store(override)
            details: JsonObject = {"state": override.state if override else "default"}
            if override is not None and override.state == "percent":
                details["percent"] = override.percent
            entry = entry_by(actor, self._clock(), "flag.set", details)
            try:
                await self._close("overridden", "An operator has set the flag.", (actor, "rollout.overridden"), entry)
            except StoreError:
                # The next look finds a flag that the plan does not want, and ends the plan.
                _log.error("audit.not_written", action="flag.set", **details)

    # --- evaluation -----------------------------------------------------------------------------------------------

    async def work(self) -> None:
        """Evaluate the plan once a second, until cancelled; a failure is logged once."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                with without_logging():
                    await self.look()
                self._is_working = True
            except Exception as error:  # noqa: BLE001 - the next look may succeed; without looks nothing is guarded
                if self._is_working:
                    _log.error("rollout.look_failed", error=type(error).__name__)
                self._is_working = False

    async def look(self) -> None:
        """Evaluate the plan if this worker may; promote it or take V2 back. Raises OSError and StoreError."""
        plan = _plan_of(await self._database.read(get_plan))
        if plan is not None and not plan.is_applied:
            # Another worker has ended before it could set the flag: any worker may.
            async with self._locked():
                plan = await self._applied(plan)
        now = self._clock()
        if plan is None or not (plan.is_running or plan.is_watched):
            self._evaluation = None
            return
        if not plan.is_running and self._looked <= now < self._looked + _WATCH_SECONDS:
            return
        self._looked = now
        if not await self._database.write(claim, self._worker, now, self._lease(plan)):
            self._evaluation = None
            return
        followed = await self._observed(plan, now) if plan.mode == "observe" else await self._followed(plan)
        if followed is not None and (paused := await self._paused(followed, now)) is not None:
            await self._evaluate(paused, now)

    def _lease(self, plan: Plan) -> float:
        return _LEASE_SECONDS if plan.is_running else _LEASE_SECONDS + _WATCH_SECONDS

    async def _followed(self, plan: Plan) -> Plan | None:
        """Return the plan if the flag is as it has set it; end the plan if something else has changed the flag."""
        if plan.override is None or self._override.current() == plan.override:
            return plan
        async with self._locked():
            if await self._read_override() == plan.override:
                return plan
            await self._close("overridden", "The flag was changed.", (OPERATOR, "rollout.overridden"), of=plan)
        return None

    async def _observed(self, plan: Plan, now: float) -> Plan | None:
        """Return a plan of the mode `observe` at the flag's percentage; None if it was changed meanwhile."""
        if plan.following(self._override.current(), now) == plan:
            return plan
        async with self._locked():
            following = plan.following(await self._read_override(), now)
            stored = await self._changed(lambda stored: Change(following) if stored == plan else Change())
        return following if stored == following else None

    async def _paused(self, plan: Plan, now: float) -> Plan | None:
        """Stop the time of the stage while the kill switch is set; return None if the plan was changed meanwhile."""
        switched = plan.switched(now, kill_switch=self.kill_switch)
        if not plan.is_running or switched == plan:
            return plan
        async with self._locked():
            stored = await self._changed(lambda stored: Change(switched) if stored == plan else Change())
        return switched if stored == switched else None

    async def _read_override(self) -> Override | None:
        """Return the override as it is stored, not as this worker last read it."""
        if isinstance(self._override, SharedOverride):
            await self._override.refresh()
        return self._override.current()

    async def _evaluate(self, plan: Plan, now: float) -> None:
        """Read the new runs, judge the stage and act on the assessment."""
        if self._evaluation is None or not self._evaluation.is_of(plan):
            self._evaluation = Evaluation(plan, self._database, now)
        evaluation = self._evaluation
        await evaluation.read_runs(now)
        assessment = evaluation.assessment(now, kill_switch=self.kill_switch)
        report: JsonObject = evaluation.report(assessment, now)
        await self._database.write(
            put_report, Report(self._worker, now + self._lease(plan), plan.id, json.encode(report))
        )
        if plan.mode == "observe":
            await self._report_regression(plan, evaluation, assessment, report)
        elif assessment.step == "roll_back":
            await self._roll_back(plan, assessment, report)
        elif assessment.step == "promote":
            await self._promote(plan, plan.promoted(now, evaluation.guard.baseline()), assessment, report)
        elif assessment.step == "step_back":
            await self._step_back(plan, assessment, report)

    async def _roll_back(self, plan: Plan, assessment: Assessment, report: JsonObject) -> None:
        async with self._locked():
            closed = await self._close(
                "rolled_back", assessment.sentence, (GUARD, "rollout.rolled_back"), report=report, of=plan
            )
            if closed is not None:
                await self._applied(closed)

    async def _promote(self, plan: Plan, following: Plan, assessment: Assessment, report: JsonObject) -> None:
        kind = "rollout.promoted" if following.is_running else "rollout.finished"
        if not await self._replace(plan, following, kind, assessment, report):
            return
        if following.is_running:
            _log.info("rollout.promoted", plan=plan.id, percent=following.percent, reason=assessment.sentence)
        else:
            _log.info("rollout.finished", plan=plan.id, percent=following.percent, reason=assessment.sentence)

    async def _step_back(self, plan: Plan, assessment: Assessment, report: JsonObject) -> None:
        following = plan.stepped_back(self._clock())
        if await self._replace(plan, following, "rollout.stepped_back", assessment, report):
            _log.warning("rollout.stepped_back", plan=plan.id, percent=following.percent, reason=assessment.sentence)

    async def _replace(
        self, plan: Plan, following: Plan, kind: _Kind, assessment: Assessment, report: JsonObject
    ) -> bool:
        """Store and apply the plan at another stage; return False if the plan was changed meanwhile."""
        reason = assessment.sentence
        async with self._locked():
            entry = entry_about(following, self._clock(), (GUARD, kind), reason, report)
            change = Change(following, [entry], [Event(kind, details_of(following, reason, report))])
            if await self._changed(lambda stored: change if stored == plan else Change()) != following:
                return False
            await self._applied(following)
        return True

    async def _report_regression(
        self, plan: Plan, evaluation: Evaluation, assessment: Assessment, report: JsonObject
    ) -> None:
        """Report a regression once; in the mode `observe` nothing else happens."""
        if assessment.step != "roll_back" or plan.reason:
            return
        following = structs.replace(plan, reason=assessment.sentence)
        if await self._replace(plan, following, "rollout.regression", assessment, report):
            _log.warning("rollout.regression", plan=plan.id, reason=assessment.sentence)

    # --- changes of the plan --------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _locked(self) -> AsyncGenerator[None, None]:
        """Change plan and flag together: no other change of a worker comes between them; raises StoreError."""
        async with self._turn, self._database.locked(_LOCK):
            yield

    async def _changed(self, change: Callable[[Plan | None], Change]) -> Plan | None:
        """Change the stored plan in one transaction with its audit entries and events; return the stored plan."""

        def encoded(stored: bytes | None) -> PlanChange:
            made = change(_plan_of(stored))
            also = [self.outbox.enqueuing(one.kind, one.payload) for one in made.events]
            return PlanChange(None if made.plan is None else json.encode(made.plan), made.entries, also)

        stored = _plan_of(await self._database.write(change_plan, encoded))
        self.outbox.wake()
        return stored

    async def _applied(self, plan: Plan) -> Plan:
        """Set the flag as the plan wants it, unless the plan was changed meanwhile; return the stored plan."""
        stored = _plan_of(await self._database.read(get_plan))
        if stored != plan or plan.is_applied:
            return stored or plan
        if plan.override is not None:
            await self._override.store(plan.override)
        if plan.state == "rolled_back":
            # Only the worker that sets the flag logs it: the one that has decided may have ended.
            _log.warning("rollout.rolled_back", plan=plan.id, percent=plan.percent, reason=plan.reason)
        applied = structs.replace(plan, is_applied=True)
        await self._changed(lambda _: Change(applied))
        return applied

    async def _close(
        self,
        state: State,
        reason: str,
        who: tuple[Actor, Action],
        *first: Entry,
        report: JsonObject | None = None,
        of: Plan | None = None,
    ) -> Plan | None:
        """End the running plan, only `of` if given; add audit entries and return it, None if none was running.

        A finished plan is no longer watched.
        """
        now = self._clock()
        closed: list[Plan] = []

        def change(plan: Plan | None) -> Change:
            if plan is not None and plan.is_watched and not plan.is_running:
                return Change(structs.replace(plan, baseline={}), [*first, entry_about(plan, now, who, reason)])
            is_kept = plan is not None and plan.mode == "observe" and state == "overridden"  # it follows the flag
            if plan is None or not plan.is_running or is_kept or (of is not None and plan != of):
                return Change(entries=first)
            closed[:] = [plan.closed(state, reason)]
            entries = [*first, entry_about(plan, now, who, reason, report)]
            is_sent = state == "rolled_back"
            events = [Event("rollout.rolled_back", details_of(plan, reason, report))] if is_sent else []
            return Change(closed[0], entries, events)

        await self._changed(change)
        return closed[0] if closed else None


def _plan_of(stored: bytes | None) -> Plan | None:
    return None if stored is None else _PLAN.decode(stored)
