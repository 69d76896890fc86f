"""The harness of the costs, with few runs."""

from dataclasses import replace

from tests.bench.goals import goal_of
from tests.bench.runner import runner_figures
from tests.comparison.bench import describe, ratios_to
from tests.comparison.costs import Crowd, crowd
from tests.comparison.libraries import SIGNALBOX


def test_many_runs_of_one_process_all_end_well() -> None:
    """Each run has its own answer, each call ran once, two requests per run were sent, and all sockets are closed."""
    seen = crowd(SIGNALBOX, 30)
    assert seen.is_complete, describe(seen)
    assert seen.most_connections == 30


def test_a_crowd_with_a_fault_is_not_complete() -> None:
    """A second execution of a call, a missing answer and an open connection are each a fault."""
    good = Crowd(2, 2, 2, 2, 4, most_connections=2, open_connections=0, seconds=1.0, kib=1.0)
    assert good.is_complete
    for fault in ({"executed": 3}, {"answered": 1}, {"open_connections": 1}, {"requests": 5}):
        assert not replace(good, **fault).is_complete


def test_targets_are_compared_within_a_round() -> None:
    """Each target has one value per round, and a slow round is slow for both."""
    [figure] = runner_figures(rounds=2, runs=2)
    assert len(figure.values) == 2
    assert all(value > 0 for value in figure.values)
    assert goal_of(figure) is not None
    assert ratios_to("a", "b", {"a": [1.0, 10.0], "b": [2.0, 20.0]}) == [2.0, 2.0]
