"""The evaluation of one stage: reads the runs that ended since the last look, and passes them to the guard."""

from msgspec import structs

from signalbox.core.messages import JsonObject
from signalbox.rollout.guard import Guard
from signalbox.rollout.outcomes import outcome_of
from signalbox.rollout.plan import Assessment, Plan, assess, regression_of
from signalbox.rollout.watch import THRESHOLD, Watch
from signalbox.store.database import Database
from signalbox.store.rollout import ended_runs

_BATCH = 1000
# A run may be stored some time after its end, or by a worker whose clock is behind.
_OVERLAP_SECONDS = 10.0
_WATCHED_SECONDS = 600.0
KILL_SWITCH = "TOOL_LOOP_V2=false is set, so every run uses the legacy loop and nothing is compared."
ONE_LOOP = (
    "{percent} percent of the conversations use V2, so there is nothing to compare. Set the flag to a percentage from "
    "1 to 99."
)


class Evaluation:
    """The guard of the plan's stage, with all runs of the stage so far, or the watch after the last stage.

    After a restart, or when another worker evaluates, it reads the runs of the stage again. After the last stage, it
    reads only those of the last minutes.
    """

    def __init__(self, plan: Plan, database: Database, now: float) -> None:
        self._key = _key(plan)
        self._plan, self._database = plan, database
        self.guard = Guard(plan.percent, plan.current.minutes * 60, len(plan.stages))
        self.watch = Watch(plan.baseline) if plan.is_watched else None
        # A percentage has chosen the loop of the runs to compare; after the last stage, the flag is on for all.
        self._reason = "SPLIT" if plan.is_running else "STATIC"
        self._begun = plan.stage_started if plan.is_running else plan.finished
        self._since = self._begun if plan.is_running else max(plan.finished, now - _WATCHED_SECONDS)
        self._seen: dict[str, float] = {}

    def is_of(self, plan: Plan) -> bool:
        """Return whether it evaluates this stage of this plan."""
        return self._key == _key(plan)

    async def read_runs(self, now: float) -> None:
        """Read the runs that ended since the last look; raises StoreError."""
        after = (self._since, "")
        while True:
            records = await self._database.read(ended_runs, self._since, after, _BATCH)
            for record in records:
                assert record.ended is not None
                after = (record.ended, record.id)
                if record.id not in self._seen:
                    self._seen[record.id] = record.ended
                    if record.started >= self._begun and (outcome := outcome_of(record, self._reason)) is not None:
                        self.guard.add(outcome)
                        if self.watch is not None:
                            self.watch.add(outcome)
            if len(records) < _BATCH:
                break
        self._since = max(self._since, now - _OVERLAP_SECONDS)
        self._seen = {run_id: ended for run_id, ended in self._seen.items() if ended >= self._since}

    def assessment(self, now: float, *, kill_switch: bool) -> Assessment:
        """Judge the stage; with the kill switch, nothing is changed."""
        if kill_switch:
            return Assessment("wait", KILL_SWITCH)
        if self._plan.mode == "guard":
            return assess(self._plan, self.guard, self.watch, now)
        if self.guard.is_worse:
            return Assessment("roll_back", regression_of(self.guard))
        percent = self._plan.percent
        if percent in (0, 100):
            return Assessment("wait", ONE_LOOP.format(percent=percent))
        return assess(self._plan, self.guard, None, now)

    def report(self, assessment: Assessment, now: float) -> JsonObject:
        """Return the assessment, the evidence and the figures as JSON."""
        guard = self.guard
        finding = structs.asdict(guard.finding())
        return {
            "assessment": assessment.sentence,
            "missing": None if assessment.missing is None else structs.asdict(assessment.missing),
            "evidence": round(guard.evidence, 3),
            "threshold": guard.threshold,
            "watch": None
            if self.watch is None
            else {"evidence": round(self.watch.evidence, 3), "threshold": THRESHOLD},
            "strongest": {
                name: round(value, 4) if isinstance(value, float) else value for name, value in finding.items()
            },
            "tests": {metric: {**windows} for metric, windows in guard.tests().items()},
            "figures": guard.figures.as_json(now),
            "at": now,
        }


def _key(plan: Plan) -> tuple[object, ...]:
    return plan.id, plan.stage, plan.stage_started, plan.state
