"""`signalbox eval` against the real server with the simulator, on both loops."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.scenarios.evals.conftest import SET, Eval, results_in
from tests.support.processes import WAIT, command, environment
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds, says

EXAMPLES = sorted((ROOT / "examples/evals").glob("*.toml"))


def test_a_set_on_both_loops(app: RunningApp, evaluate: Eval, tmp_path: Path) -> None:
    """Each trial is a run of the server on its loop; results and report name it."""
    done = evaluate("set.toml", "--output", "out", "--url", app.url)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, b"out/report.html"), done.stderr
    results = results_in(tmp_path / "out")
    assert len(results) == 8
    for result in results:
        trace = app.client.get(f"/api/runs/{result.run_id}").json()
        assert (trace["loop"], trace["request"]["model"]) == (result.loop, result.model)
    assert b"[8/8] pass " in done.stderr
    assert all(str(result.run_id) in (tmp_path / "out/report.html").read_text() for result in results)


def test_a_failure_is_shown_and_changes_the_exit_status(app: RunningApp, evaluate: Eval, tmp_path: Path) -> None:
    """Progress says which check failed and why; the other cases pass."""
    (tmp_path / "set.toml").write_text(SET.replace('"391"', '"392"', 1))
    done = evaluate("set.toml", "--output", "out", "--url", app.url)
    assert done.returncode == 1
    assert b"4 passed, 4 failed" in done.stdout
    assert "FAIL  product · openai/sim · v2".encode() in done.stderr
    assert "text contains “392”: not found".encode() in done.stderr


def test_a_second_command_asks_nothing_again(app: RunningApp, evaluate: Eval, tmp_path: Path) -> None:
    """It counts what is there. A new case is executed, and so is one that failed, with --failed."""
    evaluate("set.toml", "--output", "out", "--url", app.url, "--only", "prod*")
    assert len(results_in(tmp_path / "out")) == 4
    (tmp_path / "set.toml").write_text(SET.replace('not_contains = "391"', 'contains = "391"'))
    assert evaluate("set.toml", "--output", "out", "--url", app.url).returncode == 1
    assert len(results_in(tmp_path / "out")) == 8
    assert evaluate("set.toml", "--output", "out", "--url", app.url).returncode == 1
    assert len(results_in(tmp_path / "out")) == 8
    assert evaluate("set.toml", "--output", "out", "--url", app.url, "--failed").returncode == 1
    assert len(results_in(tmp_path / "out")) == 12


def test_ctrl_c_stops_the_runs_and_the_same_command_continues(tmp_path: Path) -> None:
    """Results are kept, the upstream request ends, and only the trial without a result is executed again."""
    text = SET.replace('["openai/sim", "anthropic/sim"]', '["openai/sim"]\nconcurrency = 1').replace(', "legacy"', "")
    (tmp_path / "set.toml").write_text(text.replace('"391"\nexpect.tools.exactly = ["calculate"]', '"17"', 1))
    with ScriptedUpstream(says("It is 17."), holds, says("Hello.")) as upstream:
        key = {"openrouter_api_key": "k", "openrouter_base_url": upstream.base_url}
        with RunningApp(settings_for(tmp_path / "data", signalbox_allow_loop_header=True, **key)) as app:
            arguments = [sys.executable, "-m", "signalbox", "eval", "set.toml", "--output", "out", "--url", app.url]
            with subprocess.Popen(arguments, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as process:
                assert upstream.wait_until(lambda: len(upstream.asked) == 2)
                process.send_signal(signal.SIGINT)
                assert process.wait(WAIT) == 130
                assert process.stderr is not None
                assert b"Interrupted. The same command continues." in process.stderr.read()
            assert upstream.wait_until(lambda: len(upstream.left) == 1)
            assert [result.case for result in results_in(tmp_path / "out")] == ["product"]
            assert "1</b> not executed" in (tmp_path / "out/report.html").read_text()
            done = subprocess.run(arguments, cwd=tmp_path, env=environment(), capture_output=True, check=False)
        assert (done.returncode, len(upstream.asked)) == (0, 3), done.stderr
    assert [result.case for result in results_in(tmp_path / "out")] == ["product", "greeting"]


def test_a_server_that_does_not_allow_the_loop(evaluate: Eval, tmp_path: Path) -> None:
    """It is said at once, instead of results about the other loop."""
    with RunningApp(settings_for(tmp_path / "data")) as app:
        (tmp_path / "set.toml").write_text(SET.replace('["v2", "legacy"]', '["legacy"]'))
        done = evaluate("set.toml", "--output", "out", "--url", app.url)
    assert done.returncode == 2
    assert b"asks for the loop legacy, but the server used v2. Start the server with SIGNALBOX_ALLOW" in done.stderr
    assert results_in(tmp_path / "out") == []


def test_a_token_is_used_and_never_written(evaluate: Eval, tmp_path: Path) -> None:
    """Not even if the question and the answer repeat it."""
    token = "sk-eval-0123456789"
    (tmp_path / "token").write_text(f"{token}\n")
    (tmp_path / "set.toml").write_text(SET.replace("Hello!", f"Hello {token}!"))
    with RunningApp(settings_for(tmp_path / "data", signalbox_allow_loop_header=True), token=token) as app:
        refused = evaluate("set.toml", "--output", "out", "--url", app.url)
        done = evaluate("set.toml", "--output", "out", "--url", app.url, "--token-file", "token")
        own = evaluate("set.toml", "--output", "out", SIGNALBOX_PORT=str(app.port), SIGNALBOX_ACCESS_TOKEN=token)
    assert refused.returncode == 2
    assert b"rejects the token" in refused.stderr
    assert (done.returncode, own.returncode) == (0, 0), (done.stderr, own.stderr)
    assert b"[secret]" in (tmp_path / "out/results.ndjson").read_bytes()
    for path in (tmp_path / "out").iterdir():
        assert token.encode() not in path.read_bytes()


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_sets_pass_with_the_simulator(path: Path, tmp_path: Path) -> None:
    """`--simulate` starts a server and leaves no data; settings of the environment do not reach it."""
    env = {"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": "http://127.0.0.1:9", "TOOL_LOOP_V2": "false"}
    done = command("eval", str(path), "--simulate", "--output", "out", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr.decode()
    assert all(result.simulated for result in results_in(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["out"]  # noqa: PTH208 - the names alone


def test_two_executions_are_compared(app: RunningApp, evaluate: Eval, tmp_path: Path) -> None:
    """Exit status 1 for a regression, 0 without one."""
    evaluate("set.toml", "--output", "before", "--url", app.url)
    (tmp_path / "set.toml").write_text(SET.replace('"391"', '"392"', 1))
    evaluate("set.toml", "--output", "after", "--url", app.url)
    worse, better = evaluate("compare", "before", "after"), evaluate("compare", "after/results.ndjson", "before")
    assert (worse.returncode, better.returncode) == (1, 0)
    assert "Regressions: 4\n  product · anthropic/sim · legacy loop: 1/1 → 0/1 passed" in worse.stdout.decode()
    assert b"Regressions: none\nFixes: 4\n" in better.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["set.toml"], "Name the folder for results and report: --output FOLDER."),
        (["set.toml", "other.toml", "--output", "out"], "eval takes one set file, but got 2"),
        (["none.toml", "--output", "out"], "none.toml cannot be read"),
        (
            ["set.toml", "--output", "out", "--only", "no*"],
            "No case matches --only no*. The cases are: product, greeting.",
        ),
        (["set.toml", "--output", "out", "--simulate", "--url", "http://x"], "takes neither --url nor --token-file"),
        (["set.toml", "--output", "out", "--url", "http://127.0.0.1:9"], "does not answer. Start it, or check --url."),
        (["set.toml", "--output", "out", "--url", "x"], "is not a URL"),
        (["set.toml", "--output", "out", "--token-file", "none"], "The token file none cannot be read"),
        (["set.toml", "--output", "out", "--token-file", "set.toml"], "must contain one token and nothing else"),
        (
            ["set.toml", "--output", "set.toml", "--url", "http://127.0.0.1:9"],
            "output folder set.toml cannot be written",
        ),
        (["compare", "out"], "eval compare takes two output folders"),
        (["compare", "out", "other"], "out cannot be read"),
    ],
)
def test_a_command_line_that_cannot_be_used(evaluate: Eval, arguments: list[str], words: str) -> None:
    """Exit status 2 and one sentence that says what to do."""
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert len(done.stderr.decode().splitlines()) == 1
