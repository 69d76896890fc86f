"""The programs of docs/runner.md run as shown, and its tables name what exists."""

import inspect

import pytest
import signalbox
from signalbox import Runner, tool
from signalbox.core.errors import SignalboxError
from signalbox.simulator.http.server import BackgroundSimulator

from tests.project.docs.pages import codes_in, page, rows

PAGE = page("runner.md")
PROGRAMS = PAGE.blocks("python")
# A line that each program prints.
PRINTED = ["2 model calls,", "delete False Files in /etc must not be deleted.", "complete", "1 True", ""]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_each_program_runs(number: int, simulator: BackgroundSimulator, capsys: pytest.CaptureFixture[str]) -> None:
    """A program prints what the page says, against the simulator."""
    assert len(PROGRAMS) == len(PRINTED)
    code = PROGRAMS[number].replace("http://127.0.0.1:8001/api/v1", simulator.base_url)
    assert simulator.base_url in code
    exec(compile(code, f"runner.md {number}", "exec"), {"__name__": "program"})
    printed = capsys.readouterr().out
    assert printed.strip()
    assert PRINTED[number] in printed


def test_every_public_name_is_on_the_page_or_a_kind_of_one() -> None:
    """The page names the functions, the errors and the classes of the API."""
    names = [name for name in signalbox.__all__ if name[0].islower() or name.endswith(("Error", "Sync", "Runner"))]
    missing = [name for name in names if name not in PAGE.text]
    assert set(missing) <= {"assistant", "image", "StepSync"}
    assert issubclass(signalbox.RunError, SignalboxError)


def test_every_argument_is_documented() -> None:
    """The tables of parameters have those of `Runner` and `@tool`."""
    named = {code for row in rows(PAGE.text) for code in codes_in(row[0])}
    runner = {*inspect.signature(Runner).parameters} - {"upstream", "model", "messages", "options"}
    assert runner <= named
    assert {"timeout", "eager", "side_effects", "untrusted"} <= named
    assert "timeout" in (tool.__doc__ or "")
