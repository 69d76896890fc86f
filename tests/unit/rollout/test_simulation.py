"""200 simulated rollouts: few false rollbacks, and large regressions are found early; the docs show the table."""

from tests.conftest import ROOT
from tests.support.rollout_simulation import CAUGHT_WITHIN, scenarios, simulate, table


def test_the_guard_is_reliable() -> None:
    """At most 1 % false rollbacks; at least 95 % of large regressions are found within 100 V2 runs."""
    results = [simulate(one) for one in scenarios()]
    assert len(results) == 200
    harmless = [one for one in results if one.kind in ("no regression", "low traffic")]
    large = [one for one in results if one.kind.startswith("large")]
    assert sum(one.state == "rolled_back" for one in harmless) <= 0.01 * len(harmless)
    caught = [one for one in large if one.state == "rolled_back" and one.harmed <= CAUGHT_WITHIN]
    assert len(caught) >= 0.95 * len(large)
    assert all(one.state == "running" and one.stage == 0 for one in results if one.kind == "low traffic")
    assert table(results) in (ROOT / "docs" / "rollout.md").read_text(encoding="utf-8")
