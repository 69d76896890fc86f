"""Simulated rollouts: seeded scenarios run through the real plan and guard, with a simulated clock and outcomes.

`python -m tests.support.rollout_simulation` plays all of them, stores their results and prints the table of
docs/rollout.md. A test plays part of them again and compares the results.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import accumulate
from pathlib import Path
from typing import Literal

from msgspec import Struct, json
from msgspec.structs import replace as with_fields
from signalbox.flags.choice import choose_loop
from signalbox.rollout.guard import Guard
from signalbox.rollout.outcomes import Metric, Outcome
from signalbox.rollout.plan import DEFAULT_STAGES, Plan, next_step
from signalbox.rollout.watch import Watch

Kind = Literal[
    "no regression",
    "low traffic",
    "large",
    "large, one family",
    "large, late",
    "large, at 100 percent",
    "large, after the end",
    "small",
]
COUNTS: dict[Kind, int] = {
    "no regression": 70,
    "low traffic": 30,
    "large": 40,
    "large, one family": 20,
    "large, late": 20,
    "small": 20,
    "large, at 100 percent": 20,
    "large, after the end": 20,
}
STORED = Path(__file__).parent / "data" / "rollout_results.json"
STAGES = tuple(with_fields(one, minutes=15, runs=100) for one in DEFAULT_STAGES)
FAMILIES = ("openai", "anthropic", "google")
HOUR = 3600.0
MOST_HOURS = 4
CAUGHT_WITHIN = 100
LOOK_SECONDS = 2


@dataclass(frozen=True)
class Scenario:
    """Traffic, base rates, how much conversations differ in them (`frailty`), and how V2 differs.

    It differs from the stage with the index `late_stage` on, once that has `late_runs` V2 runs; the stage after the
    last is the time after the end. The rollout begins at `first_stage`, and is watched for `watched_hours` after its
    end.
    `harm` is the share of the runs that V2 fails although legacy would not, or the factor of time and cost.
    """

    kind: Kind
    seed: int
    per_minute: float
    rates: dict[Metric, float]
    families: tuple[float, ...]
    frailty: tuple[float, ...]
    metric: Metric = "error"
    harm: float = 0.0
    family: str | None = None
    late_stage: int = 0
    late_runs: int = 0
    first_stage: int = 0
    watched_hours: float = 0.0


class Result(Struct, frozen=True):
    """How a rollout ended. `harmed` is the number of V2 runs from the first harmful one to the end.

    `hours` and `evidence` are rounded; they show whether the guard still computes the same.
    """

    seed: int
    kind: Kind
    state: str
    stage: int
    harmed: int
    steps_back: int
    hours: float
    evidence: str


def scenarios() -> Iterator[Scenario]:
    """Make the 240 scenarios."""
    seed = 0
    for kind, count in COUNTS.items():
        for _ in range(count):
            seed += 1
            yield _scenario(kind, seed)


def _scenario(kind: Kind, seed: int) -> Scenario:
    draw = random.Random(seed)
    rates: dict[Metric, float] = {
        "error": draw.choice((0.001, 0.01, 0.03, 0.08)),
        "interrupted": draw.choice((0.001, 0.005, 0.02)),
        "empty": draw.choice((0.001, 0.01)),
    }
    first = draw.uniform(0.4, 0.6)
    families = (first, 0.9 - first, 0.1)
    per_minute = draw.choice((0.5, 1.0)) if kind == "low traffic" else draw.choice((30.0, 45.0, 60.0))
    frailty = draw.choice(((0.5, 1.0, 1.5), (0.2, 0.2, 0.2, 3.4)))
    base = Scenario(kind, seed, per_minute, rates, families, frailty)
    metric: Metric = draw.choice(("error", "interrupted", "empty", "first_token", "cost"))
    is_factor = metric in ("first_token", "cost")
    if kind == "small":
        return replace(base, metric=metric, harm=draw.uniform(1.2, 1.5) if is_factor else draw.uniform(0.03, 0.08))
    if not kind.startswith("large"):
        return base
    harmed = replace(base, metric=metric, harm=draw.uniform(3, 5) if is_factor else draw.uniform(0.35, 0.6))
    if kind == "large, one family":
        return replace(harmed, family="openai")
    if kind == "large, late":
        return replace(harmed, late_stage=draw.choice((0, 1, 2)), late_runs=draw.randint(20, 90))
    if kind == "large, at 100 percent":
        return replace(harmed, first_stage=2, late_stage=3, late_runs=draw.randint(20, 900))
    if kind == "large, after the end":
        return replace(harmed, first_stage=2, late_stage=4, late_runs=draw.randint(20, 900), watched_hours=1.0)
    return harmed


class Simulated:
    """A rollout under way: its plan, with the guard, the watch and the override of the current stage."""

    def __init__(self, plan: Plan) -> None:
        self.steps_back = 0
        self.begin(plan)

    def begin(self, plan: Plan) -> None:
        """Begin a stage, or the time after the last one."""
        self.plan, self.override = plan, plan.override
        self.guard = Guard(plan.percent, plan.current.minutes * 60, len(plan.stages))
        self.watch = Watch(plan.baseline) if plan.is_watched else None

    @property
    def reached(self) -> tuple[int, int]:
        """The stage, and its V2 runs so far."""
        return self.plan.stage + (not self.plan.is_running), self.guard.figures.stage["v2"].runs

    def add(self, outcome: Outcome) -> None:
        """Add a run."""
        self.guard.add(outcome)
        if self.watch is not None:
            self.watch.add(outcome)

    def look(self, now: float) -> str:
        """Do what the guard decides; return the state of the plan."""
        step = next_step(self.plan, self.guard, self.watch, now)
        if step == "roll_back":
            return "rolled_back"
        if step == "promote":
            self.begin(self.plan.promoted(now, self.guard.baseline()))
        elif step == "step_back":
            self.steps_back += 1
            self.begin(self.plan.stepped_back(now))
        return self.plan.state


def simulate(scenario: Scenario) -> Result:
    """Run one rollout to its end, at most for some hours; the guard looks every two seconds."""
    rollout = Simulated(Plan(id="simulated", stages=STAGES, stage=scenario.first_stage))
    has_begun = False
    harmed, now, state = 0, 0.0, "running"
    for outcome, is_harmed in _traffic(scenario, rollout):
        rollout.add(outcome)
        has_begun |= is_harmed
        harmed += has_begun and outcome.loop == "v2"
        if outcome.ended - now < LOOK_SECONDS:
            continue
        now = outcome.ended
        state = rollout.look(now)
        is_over = state == "finished" and now - rollout.plan.finished >= scenario.watched_hours * HOUR
        if state == "rolled_back" or is_over:
            break
    evidence = f"{rollout.guard.evidence:.4g}"
    hours = round(now / HOUR, 4)
    return Result(scenario.seed, scenario.kind, state, rollout.plan.stage, harmed, rollout.steps_back, hours, evidence)


def _traffic(scenario: Scenario, rollout: Simulated) -> Iterator[tuple[Outcome, bool]]:
    """Yield the runs in the order of their ends; half of them are turns of conversations that differ in their rates."""
    draw = random.Random(scenario.seed)
    waiting: list[tuple[float, int, str, str, tuple[float, float]]] = []
    number, start, begins = 0, 0.0, False
    cumulative = tuple(accumulate(scenario.families))
    while start < MOST_HOURS * HOUR:
        if waiting and waiting[0][0] <= start:
            at, _, subject, family, kind = heappop(waiting)
        else:
            start += draw.expovariate(scenario.per_minute / 60 * 0.6)
            at, subject = start, f"{scenario.seed}-{number}"
            family = draw.choices(FAMILIES, cum_weights=cumulative)[0]
            kind = (draw.choice(scenario.frailty), draw.choice((0.5, 1.0, 1.5)))
        number += 1
        is_conversation = subject.endswith(("0", "1", "2", "3"))
        if is_conversation and draw.random() < 0.6:
            heappush(waiting, (at + draw.uniform(10, 120), number, subject, family, kind))
        loop = choose_loop(None, rollout.override, subject).loop
        begins = begins or rollout.reached >= (scenario.late_stage, scenario.late_runs)
        is_harmed = begins and scenario.harm > 0 and loop == "v2" and scenario.family in (None, family)
        yield _outcome(scenario, draw, (subject, number, family, kind), loop, at, is_harmed=is_harmed), is_harmed


def _outcome(
    scenario: Scenario,
    draw: random.Random,
    what: tuple[str, int, str, tuple[float, float]],
    loop: str,
    at: float,
    *,
    is_harmed: bool,
) -> Outcome:
    subject, number, family, (frailty, length) = what
    values: dict[Metric, float] = {
        "first_token": 800 * length * draw.lognormvariate(0, 0.5),
        "cost": 0.002 * length * (1 + FAMILIES.index(family)) * draw.lognormvariate(0, 0.4),
    }
    failed = {metric: draw.random() < rate * frailty for metric, rate in scenario.rates.items()}
    if is_harmed and scenario.metric in values:
        values[scenario.metric] *= scenario.harm
    elif is_harmed:
        failed[scenario.metric] |= draw.random() < scenario.harm
    return Outcome(
        run_id=str(number),
        subject=subject,
        loop="v2" if loop == "v2" else "legacy",
        family=family,
        ended=at,
        first_token=values["first_token"],
        cost=values["cost"],
        **{str(metric): is_bad for metric, is_bad in failed.items()},
    )


def table(results: list[Result]) -> str:
    """Return the table of the docs."""
    by_kind: defaultdict[Kind, list[Result]] = defaultdict(list)
    for result in results:
        by_kind[result.kind].append(result)
    lines = ["| scenario | number | rolled back | within 100 V2 runs | median of V2 runs | finished | still waiting |"]
    lines.append("|---|---|---|---|---|---|---|")
    for kind, found in by_kind.items():
        back = sorted(one.harmed for one in found if one.state == "rolled_back")
        has_harm = kind not in ("no regression", "low traffic")
        within = str(sum(runs <= CAUGHT_WITHIN for runs in back)) if has_harm else ""
        median = str(back[len(back) // 2]) if has_harm and back else ""
        finished = sum(one.state == "finished" for one in found)
        waiting = len(found) - len(back) - finished
        lines.append(f"| {kind} | {len(found)} | {len(back)} | {within} | {median} | {finished} | {waiting} |")
    return "\n".join(lines)


def stored_results() -> list[Result]:
    """Read the results of the last full simulation."""
    return json.decode(STORED.read_bytes(), type=list[Result])


def store_results(results: list[Result]) -> None:
    """Write the results, one in each line."""
    lines = ",\n".join(json.encode(one).decode() for one in results)
    STORED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main() -> None:
    """Play all scenarios, store the results and print the table."""
    results = [simulate(one) for one in scenarios()]
    store_results(results)
    print(table(results))


if __name__ == "__main__":
    main()
