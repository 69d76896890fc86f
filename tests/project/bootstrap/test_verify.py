"""The step runner behind `just test` and `just check`."""

import signal
import subprocess
import sys
from pathlib import Path

from scripts.verify import PLANS, Step, verify
from tests.conftest import ROOT

CHILD = """
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("up", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    pathlib.Path(sys.argv[1]).write_text("cleared up")
"""
PARENT = """
import signal, sys
from scripts.verify import call, stop
signal.signal(signal.SIGTERM, stop)
call(sys.argv[1:])
"""


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


def test_whoever_is_told_to_end_ends_what_runs_first(tmp_path: Path) -> None:
    """A `kill` of the runner leaves no pytest behind: that is interrupted and clears up before the runner is gone."""
    left = tmp_path / "left"
    command = [sys.executable, "-c", PARENT, sys.executable, "-c", CHILD, str(left)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "up\n"
        runner.terminate()
        assert runner.wait(30) == 128 + signal.SIGTERM
        assert left.read_text() == "cleared up"
