"""Expected files: those that the model of this very run has written, on both loops."""

import json
from pathlib import Path

import pytest
from signalbox.evals.results import Result

from tests.scenarios.evals.conftest import Eval, results_in
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream

SET = """\
models = ["openai/sim"]
loops = ["{loop}"]
[[cases]]
id = "page"
prompt = "Make a page about tides."
tools = ["create_file"]
expect.tools.exactly = ["create_file"]
[[cases.expect.files]]
path = "index.html"
contains = "<h1>Tides</h1>"
not_contains = "<script"
matches = "(?s)<h1>.*</html>"
[[cases.expect.files]]
path = "absent.css"
exists = false
"""
PAGE = "<html><h1>Tides</h1></html>"


def written(loop: str, content: str, evaluate: Eval, folder: Path) -> tuple[int, Result]:
    """Execute the set with a model that writes this page; return the exit status and the result."""
    (folder / "set.toml").write_text(SET.replace("{loop}", loop))
    arguments = json.dumps({"path": "index.html", "content": content})
    with ScriptedUpstream(calls(Called("create_file", arguments)), answers("Here it is.")) as upstream:
        key = {"openrouter_api_key": "k", "openrouter_base_url": upstream.base_url}
        with RunningApp(settings_for(folder / "data", signalbox_allow_loop_header=True, **key)) as app:
            done = evaluate("set.toml", "--output", f"out-{loop}", "--url", app.url)
    (result,) = results_in(folder / f"out-{loop}")
    return done.returncode, result


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_a_file_that_was_written(loop: str, evaluate: Eval, tmp_path: Path) -> None:
    """Its content is read from the conversation of the run."""
    status, result = written(loop, PAGE, evaluate, tmp_path)
    assert (status, result.outcome) == (0, "pass"), result
    assert [(file.path, file.size) for file in result.files] == [("index.html", len(PAGE))]
    names = {check.name for check in result.checks}
    files = {"there is a file index.html", "there is no file absent.css", "index.html contains “<h1>Tides</h1>”"}
    assert names > files


def test_a_file_with_other_content(evaluate: Eval, tmp_path: Path) -> None:
    """Each check that does not hold is named."""
    status, result = written("v2", "<script></script><h2>Tides</h2>", evaluate, tmp_path)
    assert (status, result.outcome) == (1, "fail")
    assert [check.name for check in result.failed_checks] == [
        "index.html contains “<h1>Tides</h1>”",
        "index.html does not contain “<script”",
        "index.html matches “(?s)<h1>.*</html>”",
    ]
