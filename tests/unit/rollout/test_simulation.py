"""240 simulated rollouts: few false rollbacks, and large regressions are found early; the docs show the table."""

from collections import defaultdict

from tests.conftest import ROOT
from tests.support.rollout_simulation import (
    CAUGHT_WITHIN,
    Kind,
    Scenario,
    scenarios,
    simulate,
    stored_results,
    table,
)

WATCHED: tuple[Kind, ...] = ("large, at 100 percent", "large, after the end")
# Of these, most take seconds: they last for hours of simulated time.
LONG: tuple[Kind, ...] = ("no regression", "small", *WATCHED)


def test_the_guard_is_reliable() -> None:
    """At most 1 % false rollbacks; at least 95 % of large regressions are found within 100 V2 runs.

    Where few or no legacy runs remain, they are found within 250 V2 runs, and the rollout steps back only for them.
    """
    results = stored_results()
    assert [(one.seed, one.kind) for one in results] == [(one.seed, one.kind) for one in scenarios()]
    assert len(results) == 240
    harmless = [one for one in results if one.kind in ("no regression", "low traffic")]
    large = [one for one in results if one.kind.startswith("large") and one.kind not in WATCHED]
    assert sum(one.state == "rolled_back" for one in harmless) <= 0.01 * len(harmless)
    caught = [one for one in large if one.state == "rolled_back" and one.harmed <= CAUGHT_WITHIN]
    assert len(caught) >= 0.95 * len(large)
    watched = [one for one in results if one.kind in WATCHED]
    assert all(one.state == "rolled_back" and one.harmed <= 250 for one in watched)
    assert sum(one.steps_back for one in harmless) == 0
    assert all(one.state == "running" and one.stage == 0 for one in results if one.kind == "low traffic")
    assert table(results) in (ROOT / "docs" / "rollout.md").read_text(encoding="utf-8")


def test_the_stored_results_are_of_this_guard() -> None:
    """Played again, scenarios end as stored: all short ones, and each tenth long one. `./just rollout-simulation`."""
    stored = {one.seed: one for one in stored_results()}
    played = [simulate(one) for one in _short() + _some_long()]
    assert len(played) == 123
    assert [one for one in played if one != stored[one.seed]] == []


def _short() -> list[Scenario]:
    return [one for one in scenarios() if one.kind not in LONG]


def _some_long() -> list[Scenario]:
    by_kind: defaultdict[Kind, list[Scenario]] = defaultdict(list)
    for one in scenarios():
        by_kind[one.kind].append(one)
    return [one for kind in LONG for one in by_kind[kind][::10]]
