"""The package without the server's packages: a program runs with the lowest and the newest versions that it allows."""

import os
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.scenarios.runner.model import answers, calls, model_that
from tests.support.environments import environment

pytestmark = pytest.mark.e2e

PROGRAM = '''
import sys
from typing import Literal

from signalbox import RunnerSync, Upstream, tool


@tool
def price(item: str, currency: Literal["USD", "EUR"] = "USD") -> dict[str, object]:
    """Look up a price."""
    return {"item": item, "price": 3, "currency": currency}


run = RunnerSync(Upstream(sys.argv[1], "sk-test"), "openai/sim", "What does a lamp cost?", tools=[price])
for step in run:
    for result in step.results():
        print(result.value or result.error)
print(run.answer().text)
'''


@pytest.fixture(scope="module", params=["lowest-direct", "highest"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the base package's dependencies, pytest, and pydantic for the models."""
    folder = tmp_path_factory.mktemp("base")
    more = [f"{name}=={version(name)}" for name in ("pydantic", "pytest")]
    return environment(folder, ROOT / "pyproject.toml", request.param, *more)


def ran(python: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run Python with the sources of the package."""
    variables = {"PYTHONPATH": f"{ROOT / 'backend'}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-W", "error", *arguments]
    return subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_a_program_runs_a_model_and_its_tools(python: Path) -> None:
    """Right and wrong arguments are handled, and nothing but the program writes to the output."""
    made = [("price", {"item": "lamp"}), ("price", {"item": "lamp", "currency": "GBP"})]
    with model_that(calls(*made), answers("Three dollars.")) as model:
        done = ran(python, "-c", PROGRAM, model.server.base_url)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "{'item': 'lamp', 'price': 3, 'currency': 'USD'}",
        'currency: expected one of "EUR", "USD", got the string "GBP"',
        "Three dollars.",
    ]


def test_the_guarantees_of_the_runner_and_of_tools_hold(python: Path) -> None:
    """The tests of both pass in this environment, without the server's packages."""
    suites = ["tests/scenarios/runner", "tests/unit/tools/functions"]
    options = ["--noconftest", "-c", os.devnull, "--rootdir", str(ROOT), "--import-mode=importlib", "-k", "not trio"]
    done = ran(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *suites)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", ["serve", "doctor", "backup", "simulate"])
def test_commands_of_the_server_say_what_to_install(python: Path, command: str) -> None:
    """Without the extra, a command of the server ends with one sentence."""
    done = ran(python, "-m", "signalbox", command)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "is not installed: in a clone of Signalbox, run pip install '.[server]'" in done.stderr


@pytest.mark.parametrize("code", ["from signalbox.app import signalbox_app", "import signalbox.app.main"])
def test_imports_of_the_server_say_what_to_install(python: Path, code: str) -> None:
    """Without the extra, a program that embeds the server gets the same sentence, not "No module named 'dotenv'"."""
    last = ran(python, "-c", code).stderr.splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: signalbox.app belongs to the server, and ")
    assert last.endswith(" is not installed: in a clone of Signalbox, run pip install '.[server]'")
