"""The level of a run's last line: failures are warnings or errors, all else is info."""

import os
import signal
from pathlib import Path

import orjson
import pytest
from signalbox.app.logs.run_log import level_of
from signalbox.core.bounds.run_limits import RUN_LIMITS
from signalbox.core.codes import Code
from structlog.testing import capture_logs

from tests.scenarios.access.users import bearer, create_token
from tests.support.metrics import Scrape
from tests.support.processes import Process, serving
from tests.support.running_app import RunningApp, read_until, settings_for


@pytest.mark.parametrize(
    ("status", "code", "level"),
    [
        ("complete", None, "info"),
        ("cancelled", None, "info"),
        ("length", Code.LENGTH, "info"),
        ("content_filter", Code.CONTENT_FILTER, "info"),
        ("interrupted", Code.BUDGET_REACHED, "info"),
        ("interrupted", Code.BUDGET_EXHAUSTED, "info"),
        ("interrupted", Code.DETACHED_TIMEOUT, "info"),
        ("interrupted", Code.RUN_TOO_LARGE, "info"),
        ("interrupted", Code.STREAM_CUT, "warning"),
        ("interrupted", Code.SERVER_SHUTDOWN, "warning"),
        ("error", Code.RATE_LIMIT, "warning"),
        ("error", Code.EMPTY_ANSWER, "warning"),
        ("error", Code.UPSTREAM_AUTH, "error"),
        ("error", Code.UPSTREAM_CREDITS, "error"),
        ("error", Code.INTERNAL, "error"),
    ],
)
def test_how_a_run_ended_decides(status: str, code: Code | None, level: str) -> None:
    """An upstream failure is a warning; an error is what only the operator can fix."""
    assert level_of(status, code) == level


@pytest.mark.parametrize("code", Code)
def test_every_failure_is_a_warning_or_an_error(code: Code) -> None:
    """Whatever the code; only limits that somebody configured end a run quietly."""
    assert (level_of("error", code) in ("warning", "error")) == (code not in RUN_LIMITS)
    assert level_of("interrupted", code) == ("info" if code in RUN_LIMITS else "warning")


def test_a_failed_run_stands_out_and_names_its_owner(tmp_path: Path) -> None:
    """The owner is the API token's id, as in `signalbox token list`; the token itself is not logged."""
    with RunningApp(settings_for(tmp_path, signalbox_require_token=True)) as app:
        token, text = create_token(app, "Ada")
        with capture_logs() as lines:
            body = {"model": "openai/sim-error-401", "prompt": "Hi!", "tools": []}
            answer = app.client.post("/api/chat/stream", json=body, headers=bearer(text))
            assert answer.status_code == 200
    runs = [line for line in lines if line["event"] in ("run.finished", "run.started")]
    assert [line["owner"] for line in runs] == [token.id, token.id]
    assert (runs[1]["log_level"], runs[1]["code"]) == ("error", "UPSTREAM_AUTH")
    assert text not in str(lines)
    assert text[-16:] not in str(lines)


def test_the_upstream_has_the_name_that_metrics_have(tmp_path: Path) -> None:
    """Without upstreams.toml the upstream has no name in the settings."""
    settings = settings_for(tmp_path, signalbox_metrics_token="the-token-of-prometheus", signalbox_log_level="debug")
    with RunningApp(settings) as app:
        with capture_logs() as lines:
            app.ask(model="openai/sim", tools=[])
        text = app.client.get("/metrics", headers=bearer("the-token-of-prometheus")).text
    named = {line["upstream"] for line in lines if "upstream" in line}
    assert named == {labels["upstream"] for labels in Scrape(text).labels("runs_total")} == {"simulator"}
    assert sum("upstream" in line for line in lines) == 3  # start, attempt, end


@pytest.mark.e2e
def test_a_run_that_a_crash_has_cut_ends_in_the_log_too(tmp_path: Path) -> None:
    """After `kill -9` the next start writes the run's last line."""
    env = {"SIGNALBOX_SIMULATOR_PACE": "0.05", "TOOL_LOOP_V2": "true"}
    process = Process(["-m", "signalbox", "serve", "--port", "0"], tmp_path, env).ready()
    body = {"model": "openai/sim-long-400", "prompt": "Hello!"}
    with process.client() as client, client.stream("POST", "/api/chat/stream", json=body) as response:
        run_id = response.headers["x-run-id"]
        read_until(response.iter_raw(), b'"content"')
        os.kill(process.process.pid, signal.SIGKILL)
    process.end()
    with serving(tmp_path) as process:
        pass
    lines = [orjson.loads(line) for line in process.errors().splitlines()]
    [line] = [line for line in lines if line["event"] == "run.finished"]
    assert (line["run_id"], line["status"], line["code"]) == (run_id, "interrupted", "SERVER_CRASH")
    assert (line["level"], line["recovered"], line["upstream"]) == ("warning", True, "simulator")
