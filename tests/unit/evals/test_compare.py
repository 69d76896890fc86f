"""`signalbox eval compare`: regressions, fixes, and differences of cost and time."""

from typing import Any

from signalbox.evals.compare import compare
from signalbox.evals.results import Check

from tests.unit.evals.test_results import result


def of(case: str, outcome: str, **fields: Any) -> Any:
    """Make a result of a case."""
    return result(f"{case}{fields.get('repeat', 1)}", case=case, outcome=outcome, loop="v2", **fields)


def test_what_changed() -> None:
    """Regressions say why, and the rest is counted."""
    before = [of("same", "pass"), of("worse", "pass"), of("better", "fail"), of("gone", "pass")]
    why = [Check("text contains “391”", False, "not found")]
    after = [of("same", "pass"), of("worse", "fail", checks=why), of("better", "pass"), of("new", "fail")]
    comparison = compare(before, after)
    assert comparison.regressions == [("worse", "a/b", "v2")]
    assert comparison.fixes == [("better", "a/b", "v2")]
    assert [*comparison.lines()][:10] == [
        "Regressions: 1",
        "  worse · a/b · v2 loop: 1/1 → 0/1 passed",
        "    text contains “391”: not found",
        "Fixes: 1",
        "  better · a/b · v2 loop: 0/1 → 1/1 passed",
        "Only in the first: 1",
        "  gone · a/b · v2 loop",
        "Only in the second: 1",
        "  new · a/b · v2 loop",
        "Unchanged: 1 of 3 in both.",
    ]


def test_repetitions_count_together() -> None:
    """Two of three instead of three of three is a regression; an error is not a pass."""
    before = [of("one", "pass", repeat=number) for number in (1, 2, 3)]
    after = [of("one", "pass"), of("one", "error", repeat=2, error="Overloaded."), of("one", "pass", repeat=3)]
    lines = [*compare(before, after).lines()]
    assert lines[:3] == ["Regressions: 1", "  one · a/b · v2 loop: 3/3 → 2/3 passed", "    error: Overloaded."]
    assert compare(after, before).fixes == [("one", "a/b", "v2")]


def test_cost_and_time_are_those_of_cases_in_both() -> None:
    """Per run, as a mean over cases, models and loops."""
    before = [of("one", "pass", cost=0.02, duration_ms=1000), of("gone", "pass", cost=9.0)]
    lines = [*compare(before, [of("one", "pass", cost=0.01, duration_ms=1500)]).lines()]
    assert lines[-2:] == ["Cost per run: $0.020000 → $0.010000 (-50%)", "Time per run: 1.00 s → 1.50 s (+50%)"]


def test_only_the_last_attempt_counts() -> None:
    """A retried attempt is not a result, and a changed case replaces its earlier form."""
    before = [of("one", "error"), of("one", "pass", attempt=2)]
    after = [result("other", case="one", outcome="pass", loop="v2")]
    assert [*compare(before, after).lines()][:3] == ["Regressions: none", "Fixes: none", "Unchanged: 1 of 1 in both."]


def test_nothing_in_common() -> None:
    """There is no mean of nothing."""
    assert [*compare([of("one", "pass")], [of("two", "pass")]).lines()][-1] == "Unchanged: 0 of 0 in both."
