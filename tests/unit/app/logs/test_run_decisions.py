"""The level `debug`: the decisions of a run, without content."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.observer import IGNORE
from signalbox.simulator.http.server import BackgroundSimulator
from structlog.testing import capture_logs

from tests.support.running_app import RunningApp, settings_for


@pytest.fixture
def debugged(simulator: BackgroundSimulator, tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app that logs decisions."""
    settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url, signalbox_log_level="debug")
    with RunningApp(settings) as app:
        yield app


def decisions(app: RunningApp, model: str, **body: Any) -> list[dict[str, Any]]:
    """Run a question, and return the lines of its decisions."""
    with capture_logs() as lines:
        app.ask(model=model, **body)
    found = [dict(line) for line in lines if line["log_level"] == "debug"]
    assert len({line["run_id"] for line in found}) == 1
    return found


def of(lines: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    """Return the lines of one event."""
    return [line for line in lines if line["event"] == event]


def test_attempts_and_retries(debugged: RunningApp, no_waiting: object) -> None:
    """Each attempt begins and ends, and each retry says why."""
    lines = decisions(debugged, "openai/sim-error-529", tools=[])
    assert [(line["step"], line["attempt"]) for line in of(lines, "run.attempt_started")] == [(1, 1), (1, 2), (1, 3)]
    assert {line["code"] for line in of(lines, "run.attempt_finished")} == {"UPSTREAM_OVERLOADED"}
    assert [line["code"] for line in of(lines, "run.retry_planned")] == ["UPSTREAM_OVERLOADED"] * 2


def test_a_degraded_request(debugged: RunningApp, no_waiting: object) -> None:
    """The retry names what it gives up."""
    lines = decisions(debugged, "openai/sim-afford-500", tools=[], max_tokens=1000)
    assert any(line["changes"] for line in of(lines, "run.retry_planned")), lines


def test_reused_and_limited_searches_and_the_finalize(debugged: RunningApp) -> None:
    """Equal searches are reused; those beyond the limit are not sent."""
    lines = decisions(debugged, "anthropic/sim-duplicate")
    assert [line["reused"] for line in of(lines, "run.tool_finished")].count(True) >= 1
    lines = decisions(debugged, "openai/sim-searches-8", max_searches=2)
    assert [line["limited"] for line in of(lines, "run.tool_finished")].count(True) >= 1
    lines = decisions(debugged, "openai/sim-steps-12")
    assert [line["finalize"] for line in of(lines, "run.attempt_started")] == [False] * 7 + [True]


def test_an_invented_name_is_not_logged(debugged: RunningApp) -> None:
    """A model can write text into the name of a tool."""
    lines = decisions(debugged, "openai/sim-unknown-tool")
    rejected, *_ = of(lines, "run.tool_finished")
    assert (rejected["tool"], rejected["code"]) == (None, "UNKNOWN_TOOL")


def test_other_levels_observe_nothing(app: RunningApp) -> None:
    """No observer is attached, so no code runs for these lines."""
    with capture_logs() as lines:
        response = app.post(prompt="Hello!", tools=[])
    assert {line["event"] for line in lines} == {"run.started", "run.finished"}
    assert app.run(response.headers["x-run-id"]).context.observer is IGNORE
