"""The plan of a rollout: its stages, how far it is, and what happens next. Decisions only, no I/O."""

from math import ceil
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from signalbox.flags.override import Override
from signalbox.rollout.guard import Guard
from signalbox.rollout.watch import Baseline, Watch

Mode: TypeAlias = Literal["guard", "observe"]
State: TypeAlias = Literal["running", "finished", "rolled_back", "overridden", "ended"]
Step: TypeAlias = Literal["wait", "promote", "roll_back", "step_back"]


class Stage(Struct, frozen=True):
    """One stage: the percentage of conversations on V2, for at least `minutes` and `runs` runs of V2."""

    percent: int
    minutes: float = 60.0
    runs: int = 200


DEFAULT_STAGES = (Stage(5), Stage(25), Stage(50), Stage(100))
DEFAULT_HOLDBACK = 10


class Plan(Struct, frozen=True, kw_only=True):
    """A rollout. Times are epoch seconds; `stage` is an index.

    `holdback` is the percentage of conversations that stay on legacy in every stage at least, for comparison.
    `paused` is how long the kill switch has paused the stage, in seconds, until `paused_since` if that is set.
    `is_applied`: the flag has been set as the plan wants it. `reason` says why the plan is over. `baseline` is what the
    guard found in the stage before, and `finished` when the last stage was over.
    """

    id: str
    mode: Mode = "guard"
    stages: tuple[Stage, ...] = DEFAULT_STAGES
    holdback: int = DEFAULT_HOLDBACK
    state: State = "running"
    stage: int = 0
    started: float = 0.0
    stage_started: float = 0.0
    paused: float = 0.0
    paused_since: float | None = None
    is_applied: bool = False
    reason: str = ""
    baseline: Baseline = {}
    finished: float = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the plan compares the loops."""
        return self.state == "running"

    @property
    def current(self) -> Stage:
        """The stage that the plan is at."""
        return self.stages[self.stage]

    @property
    def percent(self) -> int:
        """The percentage of conversations on V2: less than 100 until the end, so that legacy can be compared."""
        return 100 if self.state == "finished" else min(self.current.percent, 100 - self.holdback)

    @property
    def override(self) -> Override | None:
        """The override that the plan wants, None if it leaves the flag alone."""
        if self.mode == "observe":
            return None
        wanted = {"finished": Override("on"), "rolled_back": Override("off")}
        return Override("percent", self.percent) if self.is_running else wanted.get(self.state)

    @property
    def is_watched(self) -> bool:
        """Whether V2 is compared with the baseline: in the stage of 100 percent, and after the last stage."""
        return bool(self.baseline) and (self.state == "finished" or (self.is_running and self.current.percent == 100))

    def elapsed(self, now: float) -> float:
        """Return for how many seconds the stage has lasted, without the time under the kill switch."""
        return (now if self.paused_since is None else self.paused_since) - self.stage_started - self.paused

    def switched(self, now: float, *, kill_switch: bool) -> "Plan":
        """Return the plan with its time stopped if the kill switch is set, and running again if not."""
        if kill_switch == (self.paused_since is not None):
            return self
        paused = self.paused + (0.0 if self.paused_since is None else now - self.paused_since)
        return structs.replace(self, paused=paused, paused_since=now if kill_switch else None)

    def _at(self, stage: int, now: float) -> "Plan":
        """Return the plan at the beginning of a stage."""
        begun = structs.replace(self, stage=stage, stage_started=now, is_applied=False)
        return structs.replace(begun, paused=0.0, paused_since=None)

    def replacing(self, running: "Plan") -> "Plan":
        """Return the plan, begun at the percentage of the running one: only evidence may raise it.

        Unless a stage has this percentage, one is inserted before the next higher stage. If no stage is higher, the
        plan begins at its last one.
        """
        shares = [min(one.percent, 100 - self.holdback) for one in self.stages]
        place = next((place for place, share in enumerate(shares) if share >= running.percent), None)
        if place is None:
            return structs.replace(self, stage=len(self.stages) - 1)
        if shares[place] == running.percent:
            return structs.replace(self, stage=place)
        inserted = structs.replace(self.stages[place], percent=running.percent)
        return structs.replace(self, stages=(*self.stages[:place], inserted, *self.stages[place:]), stage=place)

    def following(self, override: Override | None, now: float) -> "Plan":
        """Return a plan of the mode `observe` at the percentage of the flag.

        It has one stage. If the percentage has changed, the comparison begins again.
        """
        percent = override.percent if override and override.state == "percent" else 100 * (override != Override("off"))
        stages = (structs.replace(self.current, percent=percent),)
        if self.stages == stages:
            return self
        paused_since = None if self.paused_since is None else now
        begun = structs.replace(self._at(0, now), is_applied=self.is_applied, paused_since=paused_since)
        return structs.replace(begun, stages=stages, holdback=0, reason="")

    def promoted(self, now: float, baseline: Baseline) -> "Plan":
        """Return the plan at its next stage, or finished. A stage without a legacy share is not compared."""
        following = self.stage + 1
        is_over = following == len(self.stages) or (self.holdback == 0 and self.stages[following].percent == 100)
        if is_over:
            closed = self.closed("finished", "All stages are passed.")
            return structs.replace(closed, baseline=baseline, finished=now)
        return structs.replace(self._at(following, now), baseline=baseline)

    def stepped_back(self, now: float) -> "Plan":
        """Return the plan at its last stage below 100 percent, where both loops have enough runs to compare."""
        below = [place for place, one in enumerate(self.stages) if one.percent < 100]
        stage = below[-1] if below else 0
        return structs.replace(self._at(stage, now), state="running", reason="", baseline={}, finished=0.0)

    def closed(self, state: State, reason: str) -> "Plan":
        """Return the plan in a final state. The flag is left alone, except after the last stage and a rollback."""
        return structs.replace(self, state=state, reason=reason, is_applied=state in ("overridden", "ended"))


class Missing(Struct, frozen=True):
    """What a stage still needs for its promotion. `v2_runs` is an estimate once the stage has its planned runs.

    `v2_runs` is None if no number of runs would be enough with the present rates.
    """

    v2_runs: int | None
    legacy_runs: int
    minutes: float

    @property
    def words(self) -> str:
        """Describe it in a phrase, empty if nothing is missing."""
        minutes = _counted(ceil(self.minutes), "minute") if self.minutes >= 1 else "less than a minute"
        parts = [
            _counted(self.v2_runs, "V2 run") if self.v2_runs else "",
            _counted(self.legacy_runs, "legacy run") if self.legacy_runs else "",
            minutes if self.minutes > 0 else "",
        ]
        return ", ".join(part for part in parts if part)


class Assessment(Struct, frozen=True):
    """What the guard says about a stage: the next step, and a sentence for people.

    `missing` is None if the stage cannot be promoted: V2 is worse, or nothing is compared.
    """

    step: Step
    sentence: str
    missing: Missing | None = None


def next_step(plan: Plan, guard: Guard, watch: Watch | None, now: float) -> Step:
    """Decide about the stage. Only one with enough time, runs and evidence that V2 is not worse is promoted."""
    if plan.is_running and guard.is_worse:
        return "roll_back"
    if watch is not None and watch.has_alarm:
        return "step_back"
    if not plan.is_running or guard.is_suspicious or plan.elapsed(now) < plan.current.minutes * 60:
        return "wait"
    return "promote" if guard.has_runs(plan.current.runs) and not guard.unproven() else "wait"


def assess(plan: Plan, guard: Guard, watch: Watch | None, now: float) -> Assessment:
    """Decide about the stage, or the time after the last one, and explain it."""
    step = next_step(plan, guard, watch, now)
    if step == "roll_back":
        return Assessment(step, regression_of(guard))
    if step == "step_back" and watch is not None:
        return Assessment(step, _worse_than_before(plan, watch))
    if not plan.is_running:
        return Assessment(step, _WATCHED.format(runs=_counted(guard.figures.stage["v2"].runs, "run")))
    stage, runs = plan.current, guard.figures.stage
    minutes = plan.elapsed(now) / 60
    progress = f"{runs['v2'].runs} of {stage.runs} V2 runs, {runs['legacy'].runs} legacy runs{_time(minutes, stage)}"
    missing_v2, missing_legacy = guard.missing_runs(stage.runs)
    missing = Missing(missing_v2, missing_legacy, max(0.0, stage.minutes - minutes))
    if step == "promote":
        return Assessment(step, f"V2 is not worse than legacy: {progress}.", missing)
    if guard.is_suspicious:
        sentence = f"Inconclusive: {_compared(guard)} The stage continues ({progress})."
    elif missing.minutes or not guard.has_runs(stage.runs):
        sentence = f"No sign of harm so far: {progress}."
    else:
        names = ", ".join(NAMES[metric] for metric in guard.unproven())
        sentence = f"No sign of harm, but too few runs to exclude it for: {names} ({progress})."
        if missing.v2_runs is None:
            return Assessment(step, f"{sentence} With these rates, more runs will not exclude it.", missing)
        return Assessment(step, f"{sentence} Still needed at these rates: about {missing.words}.", missing)
    return Assessment(step, f"{sentence} Still needed: {missing.words}." if missing.words else sentence, missing)


def _time(minutes: float, stage: Stage) -> str:
    """Return ", 12 of 60 minutes": whole minutes that have passed, or seconds for a stage of 1.5 minutes."""
    if not stage.minutes:
        return ""
    if stage.minutes % 1 == 0:
        return f", {int(minutes)} of {stage.minutes:g} minutes"
    return f", {int(minutes * 60)} of {stage.minutes * 60:g} seconds"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_WATCHED = (
    "V2 is on. There are no legacy runs to compare with, so the guard watches whether V2 becomes worse than in the "
    "last stage. No sign of it so far, in {runs}."
)


def _worse_than_before(plan: Plan, watch: Watch) -> str:
    found = watch.excess()
    return (
        f"V2 has become worse: {NAMES[found.metric]} in {found.rate:.1%} of its latest {found.runs} runs, and at most "
        f"{found.expected:.1%} were expected. The rollout steps back to {plan.stepped_back(0).percent} percent, where "
        "the loops can be compared."
    )


NAMES = {
    "error": "error endings",
    "interrupted": "interrupted streams",
    "empty": "empty answers",
    "first_token": "slow first tokens",
    "cost": "expensive runs",
}


def regression_of(guard: Guard) -> str:
    """Describe the regression that the guard has found."""
    return f"V2 is worse than legacy: {_compared(guard)}"


def _compared(guard: Guard) -> str:
    found = guard.finding()
    among = f" among models of the family {found.family}" if found.family else ""
    return (
        f"{NAMES[found.metric]}{among} in {found.v2_rate:.1%} of {found.v2_runs} V2 runs "
        f"and {found.legacy_rate:.1%} of {found.legacy_runs} legacy runs."
    )
