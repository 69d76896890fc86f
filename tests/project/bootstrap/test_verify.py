"""The step runner of `just test` and `just check`."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

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
ALONE = """
import signal, sys
from scripts.verify import call, stop
signal.signal(signal.SIGTERM, stop)
call(sys.argv[1:])
"""
# The step writes to the terminal, not to the file that collects its output.
TOGETHER = """
import os, signal, sys
from scripts.verify import Step, stop, verify
signal.signal(signal.SIGTERM, stop)
out = f"/proc/{os.getpid()}/fd/1"
verify((Step("one", ("sh", "-c", f'exec "$@" > {out}', "sh", *sys.argv[1:])),))
"""


def step(name: str, code: str) -> Step:
    """Make a step that runs a line of Python."""
    return Step(name, (sys.executable, "-c", code))


def test_every_step_runs_after_a_failure(capfd) -> None:
    """A failed step fails the run and is named at the end; the other steps run."""
    assert verify((step("first", "raise SystemExit(3)"), step("second", "print('ran')"))) == 1
    output = capfd.readouterr().out
    assert "ran" in output
    assert "── second: ok" in output
    assert output.rstrip().endswith("FAILED: first")


def test_all_well_is_said(capfd) -> None:
    """Without a failure, the exit status is 0 and the last line says so."""
    assert verify((step("only", "pass"),)) == 0
    assert capfd.readouterr().out.rstrip().endswith("all well")


def test_pytest_closes_the_run() -> None:
    """The checks are part of `test`, and the summary of pytest comes last."""
    assert PLANS["test"][-1].command[:1] == ("pytest",)
    assert PLANS["test"][: len(PLANS["check"])] == PLANS["check"]


def test_steps_run_side_by_side(tmp_path: Path, capfd) -> None:
    """Two steps run at the same time, and the output of each stays together."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert (
        verify((step("reader", f"print(open({str(pipe)!r}).read())"), step("writer", f"open({str(pipe)!r}, 'w')"))) == 0
    )
    assert "── reader\n\n── reader: ok" in capfd.readouterr().out


def test_the_last_step_does_not_wait_for_the_background(tmp_path: Path, capfd) -> None:
    """A step in the background, which waits here for the last one, is printed after it and can fail the run."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    background = step("background", f"raise SystemExit(open({str(pipe)!r}).read())")
    last = step("last", f"open({str(pipe)!r}, 'w').write('from the last')")
    assert verify((replace(background, is_background=True), replace(last, is_last=True))) == 1
    output = capfd.readouterr().out
    assert "── last: ok" in output.partition("── background\nfrom the last")[0]
    assert output.rstrip().endswith("FAILED: background")


@pytest.mark.parametrize("runner", [ALONE, TOGETHER], ids=["alone", "together"])
def test_a_runner_that_is_told_to_end_ends_its_steps_first(tmp_path: Path, runner: str) -> None:
    """SIGTERM interrupts the steps, which clean up before the runner ends."""
    left = tmp_path / "left"
    command = [sys.executable, "-c", runner, sys.executable, "-c", CHILD, str(left)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
        assert left.read_text() == "cleared up"
