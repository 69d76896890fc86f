"""Decisions about a stage, and the stages of a plan."""

from typing import Any

import pytest
from signalbox.core.events import LoopName
from signalbox.flags.override import Override
from signalbox.rollout.guard import Guard
from signalbox.rollout.outcomes import Outcome
from signalbox.rollout.plan import Missing, Plan, Stage, assess

PLAN = Plan(id="plan", stages=(Stage(50, 10, 100), Stage(100)))


def runs(guard: Guard, loop: LoopName, number: int, **given: Any) -> None:
    """Add runs without conversations."""
    for _ in range(number):
        run_id = f"{loop}-{guard.figures.stage[loop].runs}"
        guard.add(Outcome(run_id=run_id, subject=run_id, loop=loop, family="openai", ended=1.0, **given))


def both(number: int, **of_v2: Any) -> Guard:
    """Make a guard that has seen this many runs of each loop."""
    guard = Guard(50, 600, 2)
    for _ in range(number):
        runs(guard, "legacy", 1)
        runs(guard, "v2", 1, **of_v2)
    return guard


def test_a_stage_needs_its_time() -> None:
    """With all runs, but too early, the stage waits."""
    guard = both(300)
    early = assess(PLAN, guard, None, 599)
    assert (early.step, early.missing) == ("wait", Missing(0, 0, 10 - 599 / 60))
    assert early.sentence.endswith("Still needed: less than a minute.")
    assert assess(PLAN, guard, None, 600).step == "promote"


def test_a_stage_needs_its_runs() -> None:
    """Too few runs of either loop never promote, however much time has passed."""
    guard = Guard(50, 600, 2)
    runs(guard, "v2", 400)
    runs(guard, "legacy", 49)
    assert assess(PLAN, guard, None, 1e6).step == "wait"
    assert assess(PLAN, guard, None, 300).missing == Missing(0, 1, 5)
    few = assess(PLAN, both(60), None, 300)
    assert few.missing == Missing(40, 0, 5)
    assert few.sentence == (
        "No sign of harm so far: 60 of 100 V2 runs, 60 legacy runs, 5 of 10 minutes. "
        "Still needed: 40 V2 runs, 5 minutes."
    )


def test_a_stage_needs_evidence() -> None:
    """Enough runs, but rates so high that V2 may be more than ten points worse: the assessment names the metric."""
    guard = Guard(50, 600, 2)
    for number in range(100):
        for loop in ("legacy", "v2"):
            runs(guard, loop, 1, error=number % 3 == 0)
    assessment = assess(PLAN, guard, None, 1e6)
    assert assessment.step == "wait"
    assert "too few runs to exclude it for: error endings" in assessment.sentence
    assert assessment.missing is not None
    further = assessment.missing.v2_runs
    assert further is not None
    assert assessment.sentence.endswith(f"Still needed at these rates: about {further} V2 runs.")
    for number in range(further + 10):
        for loop in ("legacy", "v2"):
            runs(guard, loop, 1, error=number % 3 == 0)
    assert assess(PLAN, guard, None, 1e6).step == "promote"


def test_no_number_of_runs_excludes_a_difference() -> None:
    """If V2 fails eleven points more often, but without proof, the assessment promises nothing."""
    guard = Guard(50, 600, 2)
    for number in range(100):
        runs(guard, "legacy", 1, error=number % 4 == 0)
        runs(guard, "v2", 1, error=number % 11 < 4)
    assessment = assess(PLAN, guard, None, 1e6)
    assert assessment.missing is not None
    assert (assessment.step, assessment.missing.v2_runs) == ("wait", None)


def test_a_sign_of_harm_is_inconclusive() -> None:
    """Between a sign and a proof, the stage neither ends nor is promoted."""
    guard = both(150)
    while not guard.is_suspicious:
        runs(guard, "v2", 1, error=True)
        runs(guard, "legacy", 1)
    assessment = assess(PLAN, guard, None, 1e6)
    assert (assessment.step, assessment.sentence[:13]) == ("wait", "Inconclusive:")


def test_a_regression_rolls_back() -> None:
    """The sentence has both rates."""
    assessment = assess(PLAN, both(40, empty=True), None, 1)
    assert assessment.step == "roll_back"
    assert assessment.sentence == (
        "V2 is worse than legacy: empty answers in 100.0% of 40 V2 runs and 0.0% of 40 legacy runs."
    )


def test_one_family_is_named() -> None:
    """A regression of one family among many runs of others is found in that family."""
    guard = Guard(50, 600, 2)
    for number in range(200):
        family = "google" if number % 10 == 0 else "openai"
        for loop in ("legacy", "v2"):
            guard.add(
                Outcome(
                    run_id=f"{loop}{number}",
                    subject=f"{loop}{number}",
                    loop=loop,
                    family=family,
                    ended=float(number),
                    error=loop == "v2" and family == "google",
                )
            )
    assert guard.is_worse
    assert guard.finding().family == "google"
    assert (
        "error endings among models of the family google in 100.0% of 20 V2 runs"
        in assess(PLAN, guard, None, 1).sentence
    )


def test_a_busy_conversation_does_not_decide() -> None:
    """A conversation that always fails counts once, and one that never fails three times."""
    guard = Guard(50, 600, 2)
    for number in range(500):
        for loop in ("legacy", "v2"):
            guard.add(
                Outcome(
                    run_id=str(number), subject=loop, loop=loop, family="x", ended=float(number), error=loop == "v2"
                )
            )
    assert not guard.is_suspicious
    assert (guard.finding().v2_runs, guard.finding().legacy_runs) == (1, 3)


def test_the_stages_set_the_flag() -> None:
    """The last stage keeps the holdback on legacy; after it, V2 is on."""
    assert PLAN.override == Override("percent", 50)
    last = PLAN.promoted(5, {})
    assert (last.stage, last.stage_started, last.override) == (1, 5, Override("percent", 90))
    over = last.promoted(9, {})
    assert (over.state, over.override, over.is_applied) == ("finished", Override("on"), False)
    assert PLAN.closed("rolled_back", "worse").override == Override("off")
    assert PLAN.closed("overridden", "by hand").override is None


def test_without_holdback_the_last_stage_is_skipped() -> None:
    """Nothing could be compared in it."""
    assert Plan(id="plan", stages=PLAN.stages, holdback=0).promoted(5, {}).state == "finished"


@pytest.mark.parametrize(
    ("planned", "elapsed", "words"),
    [
        (60, 12.9, "12 of 60 minutes. Still needed: 40 V2 runs, 48 minutes."),
        (0.1, 0.05, "3 of 6 seconds. Still needed: 40 V2 runs, less than a minute."),
        (1.5, 1.25, "75 of 90 seconds. Still needed: 40 V2 runs, less than a minute."),
        (0, 1, "60 legacy runs. Still needed: 40 V2 runs."),
    ],
)
def test_both_times_have_the_same_precision(planned: float, elapsed: float, words: str) -> None:
    """Whole minutes or seconds; a stage without a planned time has none, and what is missing adds up."""
    plan = Plan(id="plan", stages=(Stage(50, planned, 100), Stage(100)))
    assert assess(plan, both(60), None, elapsed * 60).sentence.endswith(words)


def test_the_holdback_counts_in_every_stage() -> None:
    """A stage of 95 percent with the default holdback is one of 90 percent."""
    assert Plan(id="plan", stages=(Stage(50), Stage(95)), stage=1).percent == 90


@pytest.mark.parametrize(
    ("percents", "holdback", "begun", "stage"),
    [
        ((5, 50, 100), 10, (5, 50, 100), 1),
        ((3, 100), 10, (3, 50, 100), 1),
        ((60, 100), 10, (50, 60, 100), 0),
        ((5, 25), 10, (5, 25), 1),
        ((100,), 50, (100,), 0),
        ((100,), 0, (50, 100), 0),
    ],
)
def test_a_plan_begins_at_the_running_percentage(
    percents: tuple[int, ...], holdback: int, begun: tuple[int, ...], stage: int
) -> None:
    """A plan that replaces one at 50 percent never begins above it; the holdback counts."""
    plan = Plan(id="new", stages=tuple(Stage(percent) for percent in percents), holdback=holdback).replacing(PLAN)
    assert (tuple(one.percent for one in plan.stages), plan.stage) == (begun, stage)
    assert plan.percent <= PLAN.percent
