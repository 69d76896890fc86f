"""The step runner behind `just test` and `just check`."""

import sys

from scripts.verify import PLANS, Step, verify


def step(name: str, code: str) -> Step:
    """Make a step that runs a line of Python."""
    return Step(name, (sys.executable, "-c", code))


def test_every_step_runs_after_a_failure(capfd) -> None:
    """A failed step fails the whole, is named at the end, and stops nothing."""
    assert verify((step("first", "raise SystemExit(3)"), step("second", "print('ran')"))) == 1
    output = capfd.readouterr().out
    assert "ran" in output
    assert "── second: ok" in output
    assert output.rstrip().endswith("FAILED: first")


def test_all_well_is_said(capfd) -> None:
    """Without a failure the exit code is 0 and the last line says so."""
    assert verify((step("only", "pass"),)) == 0
    assert capfd.readouterr().out.rstrip().endswith("all well")


def test_pytest_closes_the_run() -> None:
    """The counts of pytest come last, and the checks come with the tests."""
    assert PLANS["test"][-1].command[:1] == ("pytest",)
    assert PLANS["test"][: len(PLANS["check"])] == PLANS["check"]
