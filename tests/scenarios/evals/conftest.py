"""Eval sets against the whole server, and `signalbox eval` in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from signalbox.evals.results import Result, load_results

from tests.support.processes import command_here
from tests.support.running_app import RunningApp, settings_for

Eval = Callable[..., CompletedProcess[bytes]]

SET = """\
models = ["openai/sim", "anthropic/sim"]
loops = ["v2", "legacy"]

[[cases]]
id = "product"
prompt = "What is 17 * 23?"
tools = ["calculate"]
expect.contains = "391"
expect.tools.exactly = ["calculate"]

[[cases]]
id = "greeting"
prompt = "Hello!"
tools = []
expect.not_contains = "391"
"""


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RunningApp]:
    """Serve the app, with the header that chooses a loop."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_allow_loop_header=True)) as running:
        yield running


@pytest.fixture
def evaluate(tmp_path: Path) -> Eval:
    """Run `signalbox eval` in the folder of the test; its set is `set.toml` there."""
    (tmp_path / "set.toml").write_text(SET)

    def run(*arguments: str, **env: str) -> CompletedProcess[bytes]:
        return command_here("eval", *arguments, cwd=tmp_path, env=env)

    return run


def results_in(folder: Path) -> list[Result]:
    """Read the results of an output folder."""
    return load_results(folder)
