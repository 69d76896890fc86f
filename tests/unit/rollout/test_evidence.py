"""Evidence and bounds: fair on average if both rates are equal, and decisive if V2 is worse."""

import random

import pytest
from signalbox.rollout.bounds import lower_bound, upper_bound
from signalbox.rollout.comparison import Comparison
from signalbox.rollout.evidence import Block, RateTest, Starts, _factor


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
@pytest.mark.parametrize(("v2", "legacy"), [(0.2, 0.02), (0.6, 0.25)])
def test_the_expected_factor_is_at_most_one(rate: float, v2: float, legacy: float) -> None:
    """Over all outcomes of a block of one V2 run and three legacy runs, if both loops have the same rate."""
    expected = 0.0
    for v2_bad in (0, 1):
        for legacy_bad, ways in enumerate((1, 3, 3, 1)):
            bad = v2_bad + legacy_bad
            likelihood = ways * rate**bad * (1 - rate) ** (4 - bad)
            expected += likelihood * _factor(Block(1, v2_bad, 3, legacy_bad), v2, legacy)
    assert expected <= 1 + 1e-12


def test_a_better_v2_is_no_evidence() -> None:
    """If legacy is worse, the evidence shrinks."""
    test = RateTest(0.02, {"stage": Starts(0, 0)})
    for at in range(50):
        test.add(Block(1, 0, 1, 1), at)
    assert test.value < 0.01


def test_a_late_start_is_not_diluted() -> None:
    """After many good runs, a window needs fewer bad blocks than the whole stage."""
    windows = {"1m": Starts(60, 10), "stage": Starts(0, 0)}
    test = RateTest(0.02, windows)
    for at in range(2000):
        test.add(Block(1, 0, 1, 0), at)
    needed: dict[str, int] = {}
    for number in range(1, 40):
        test.add(Block(1, 1, 1, 0), 2000 + number)
        for name, window in windows.items():
            if window.value >= 1000:
                needed.setdefault(name, number)
    assert needed["1m"] < needed["stage"]


def test_starts_share_one_weight() -> None:
    """Without evidence, the weights of all starts and the unused rest are 1."""
    starts = Starts(1, 5)
    for at in range(500):
        starts.multiply([1.0, 1.0, 1.0], at)
    assert starts.value == pytest.approx(1)


def test_bounds_enclose_the_rate() -> None:
    """The bounds are around the observed rate, narrow with more runs, and start at 0 and 1."""
    assert (lower_bound(0, 0, 0.05), upper_bound(0, 0, 0.05)) == (0.0, 1.0)
    few, many = upper_bound(2, 20, 0.05), upper_bound(200, 2000, 0.05)
    assert 0.1 < many < 0.13 < few < 0.5
    assert 0.07 < lower_bound(200, 2000, 0.05) < 0.1
    assert (lower_bound(0, 9, 0.05), upper_bound(9, 9, 0.05)) == (0.0, 1.0)


def test_bounds_hold_at_every_look() -> None:
    """Of 200 sequences that are read after each run, at most 5 % ever exclude the true rate."""
    draw, wrong = random.Random(7), 0
    for _ in range(200):
        bad, is_wrong = 0, False
        for runs in range(1, 100):
            bad += draw.random() < 0.2
            is_wrong |= upper_bound(bad, runs, 0.05) < 0.2
        wrong += is_wrong
    assert wrong <= 10


def test_slow_runs_are_compared_with_legacy() -> None:
    """Values count from the 20th legacy run on, and only above the quantile of legacy are they bad."""
    comparison = Comparison("first_token", 50, 600)
    assert not comparison.add("v2", 9999.0, 0)
    for number in range(20):
        comparison.add("legacy", 100.0 + number, number)
    assert comparison.total == Block()
    assert comparison.add("v2", 500.0, 30)
    assert not comparison.add("v2", 110.0, 31)
    assert not comparison.add("v2", None, 32)
    assert comparison.total == Block(v2=2, v2_bad=1)


@pytest.mark.parametrize(("factor", "is_worse"), [(1.04, False), (1.5, True)])
def test_small_differences_of_time_are_tolerated(factor: float, is_worse: bool) -> None:
    """V2 is always 4 % slower: no evidence, however many runs show it. With 50 %, there is."""
    comparison, draw = Comparison("first_token", 50, 600), random.Random(3)
    for number in range(5000):
        value = 800 * draw.lognormvariate(0, 0.02)
        comparison.add("legacy", value, number)
        comparison.add("v2", value * factor, number)
    assert (comparison.test.value > 1000) == is_worse
    assert (comparison.excess() <= comparison.margin) == (not is_worse)
