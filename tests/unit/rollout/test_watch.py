"""V2 after its rollout: compared with its own rates in the last stage."""

import random
from typing import Any

from signalbox.rollout.guard import Guard
from signalbox.rollout.outcomes import Outcome
from signalbox.rollout.watch import THRESHOLD, Baseline, Expected, Watch

BASELINE: Baseline = {"error": Expected(0.1), "first_token": Expected(0.4, 500.0)}


def run(number: int, **given: Any) -> Outcome:
    """Return the end of a V2 run without a conversation."""
    fields: dict[str, Any] = {"subject": str(number), "loop": "v2", "family": "openai", "first_token": 200.0, **given}
    return Outcome(run_id=str(number), ended=float(number), **fields)


def test_failures_are_an_alarm() -> None:
    """After a thousand good runs, V2 fails in half of its runs: it takes few of them."""
    watch, needed = Watch(BASELINE), 0
    for number in range(1000):
        watch.add(run(number))
    while not watch.has_alarm:
        needed += 1
        watch.add(run(1000 + needed, error=needed % 2 == 0))
    assert needed < 40
    excess = watch.excess()
    assert (excess.metric, excess.expected) == ("error", 0.1)
    assert 0.4 < excess.rate < 0.6
    assert excess.runs <= needed


def test_slow_runs_are_an_alarm() -> None:
    """Values above the limit of the baseline count as bad; unknown ones do not count."""
    watch = Watch(BASELINE)
    for number in range(1000):
        watch.add(run(number, first_token=None))
    assert watch.evidence < 1
    for number in range(60):
        watch.add(run(number, first_token=501.0))
    assert watch.has_alarm
    assert watch.excess().metric == "first_token"


def test_false_alarms_are_rare() -> None:
    """At exactly the expected rate, ten watches of 1,000 runs raise fewer alarms than the threshold permits."""
    draw, alarms = random.Random(5), 0
    for _ in range(10):
        watch = Watch({"error": Expected(0.1)})
        for number in range(int(THRESHOLD)):
            watch.add(run(number, error=draw.random() < 0.1))
            alarms += watch.has_alarm
            if watch.has_alarm:
                break
    assert alarms <= 10 * 0.3


def test_one_conversation_is_no_alarm() -> None:
    """A conversation that always fails counts once; legacy runs do not count."""
    watch = Watch(BASELINE)
    for number in range(500):
        watch.add(run(number, subject="chat", error=True))
        watch.add(run(number, loop="legacy", error=True))
    assert not watch.has_alarm
    assert watch.runs == 500


def test_the_baseline_is_measured_by_the_guard() -> None:
    """It permits somewhat more than V2 had, and has the limits of time; an unmeasured cost is not in it."""
    guard = Guard(50, 600)
    for number in range(400):
        for loop in ("legacy", "v2"):
            guard.add(run(2 * number + (loop == "v2"), loop=loop, error=number % 20 == 0, first_token=100.0 + number))
    baseline = guard.baseline()
    assert set(baseline) == {"error", "interrupted", "empty", "first_token"}
    assert 0.10 < baseline["error"].rate < 0.15
    assert baseline["first_token"].limit is not None
