"""GET /metrics on the main port: who may read it, and what runs, tools and requests have counted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry

from tests.scenarios.tool_loop.script import Called, answers, calls, search
from tests.support.fixtures import StartApp
from tests.support.metrics import Scrape
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import says, sends
from tests.support.stream_reader import check_stream

TOKEN = "the-token-of-prometheus"
METRICS = {"signalbox_metrics_token": TOKEN}
SEARCH = {"search_backend": "docs"}


def scrape(app: RunningApp, **headers: str) -> Scrape:
    """Scrape with the token."""
    response = app.client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}", **headers})
    assert response.status_code == 200, response.text
    return Scrape(response.text)


def ask(app: RunningApp, model: str = "openai/sim", **question: Any) -> dict[str, Any]:
    """Ask a question and return its `done`."""
    response = app.client.post("/api/chat/stream", json={"model": model, "prompt": "Hi", "tools": [], **question})
    return check_stream(response.content).done


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[RunningApp]:
    """Run an app over the simulator, with API tokens and metrics."""
    settings = settings_for(tmp_path / "data", **METRICS, signalbox_access_token="the-access-token")
    with RunningApp(settings) as app:
        yield app


def test_only_the_token_of_metrics_reads_them(measured: RunningApp) -> None:
    """No other token does, and neither does a part of it."""
    for given in ("", "Bearer", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer the-access-token"):
        response = measured.client.get("/metrics", headers={"authorization": given} if given else {})
        assert (response.status_code, response.json()["error"]["code"]) == (401, "UNAUTHORIZED"), given
    assert scrape(measured).total("refused_requests_total", status=401, code="UNAUTHORIZED") == 6
    assert measured.client.post("/metrics").status_code == 405


def test_without_a_token_the_main_port_has_no_metrics(tmp_path: Path) -> None:
    """A port of metrics does not open the main port, and without both nothing is measured."""
    for number, given in enumerate(({}, {"signalbox_metrics_port": 0})):
        with RunningApp(settings_for(tmp_path / str(number), **given)) as app:
            response = app.client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
            assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
            assert (app.app.state.metrics is None) == (not given)


def test_the_format_is_what_prometheus_asks_for(measured: RunningApp) -> None:
    """Text by default, OpenMetrics on request; no sample of creation times."""
    headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/openmetrics-text; version=1.0.0"}
    response = measured.client.get("/metrics", headers=headers)
    assert response.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert response.text.endswith("# EOF\n")
    assert response.headers["cache-control"] == "no-store"
    assert "_created" not in response.text


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_a_run_with_tools_is_counted(start_app: StartApp, loop: str) -> None:
    """Loop, protocol, upstream, family, code; tokens, cost, durations; calls by outcome; no id of a model."""
    app, _ = start_app(
        calls(Called("calculate", '{"expression": "1+1"}')),
        answers("Two."),
        settings={**METRICS, "tool_loop_v2": loop == "v2"},
    )
    assert ask(app, "anthropic/claude-sonnet-4.5", tools=["calculate"])["status"] == "complete"
    found = scrape(app)
    run = {"loop": loop, "protocol": "v1.1", "upstream": "default", "family": "anthropic", "model": "other"}
    assert found.labels("runs_total") == [{**run, "status": "complete", "code": "ok"}]
    assert found.total("attempts_total", upstream="default", family="anthropic", code="ok") == 2
    assert found.total("tool_calls_total", tool="calculate", outcome="ok") == 1
    assert found.total("tool_duration_seconds_count", tool="calculate") == 1
    for name in ("run_duration_seconds", "time_to_first_token_seconds", "added_time_seconds"):
        assert found.total(f"{name}_count", loop=loop) == 1, name
    assert found.total("added_time_seconds_sum") < found.total("run_duration_seconds_sum")
    reason = "STATIC" if loop == "v2" else "DISABLED"
    assert found.total("flag_evaluations_total", loop=loop, reason=reason) == 1
    assert found.total("tokens_total", direction="output") == 10
    assert found.total("cost_usd_total", upstream="default") == pytest.approx(0.002)
    assert found.total("journal_flush_seconds_count") > 0
    assert (found.total("live_runs"), found.total("open_streams")) == (0, 0)
    assert found.total("live_runs_limit") == 1000


def test_models_are_named_only_if_the_operator_lists_them(start_app: StartApp) -> None:
    """Labels stay bounded, whatever clients ask for."""
    app, _ = start_app(says("Hi."), settings={**METRICS, "signalbox_metrics_models": "openai/sim"})
    for model in ("openai/sim", "mallory/one", "mallory/two"):
        ask(app, model)
    found = scrape(app)
    assert {labels["model"] for labels in found.labels("runs_total")} == {"openai/sim", "other"}
    assert found.total("runs_total", model="other", family="unknown") == 2


def test_failures_and_retries_are_counted_by_code(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """The run that fails, its attempts and the retries between them."""
    app, _ = start_app(
        sends(b'{"error":{"code":503,"message":"busy"}}', status=503, kind="application/json"), settings=METRICS
    )
    code = ask(app)["code"]
    found = scrape(app)
    attempts = found.total("attempts_total", code=code)
    assert found.total("runs_total", status="error", code=code) == 1
    assert found.total("retries_total", code=code) == attempts - 1 == len(no_waiting) > 0


def test_searches_saved_and_clamped(start_app: StartApp) -> None:
    """The second equal search is reused, and a third one exceeds the limit."""
    app, _ = start_app(
        calls(search("cats"), search("cats"), search("dogs")), answers("Found."), settings={**METRICS, **SEARCH}
    )
    ask(app, tools=["search_web"], max_searches=1)
    found = scrape(app)
    assert found.total("searches_saved_total", tool="search_web") == 1
    assert found.total("clamps_total", code="TOOL_CLAMP") == 1
    outcomes = {labels["outcome"] for labels in found.labels("tool_calls_total")}
    assert outcomes == {"ok", "reused", "TOOL_CLAMP"}
    assert found.total("tool_duration_seconds_count", tool="search_web") == 1


def test_resumes_are_counted_by_result(start_app: StartApp) -> None:
    """Streamed, nothing left, and a run that does not exist."""
    app, _ = start_app(says("Hi."), settings=METRICS)
    run_id = app.client.post("/api/chat/stream", json={"model": "m/m", "prompt": "Hi"}).headers["x-run-id"]
    path = f"/api/runs/{run_id}/events"
    assert app.client.get(path).status_code == 200
    assert app.client.get(path, params={"after": 9999}).status_code == 204
    assert app.client.get(f"/api/runs/{'0' * 32}/events").status_code == 404
    found = scrape(app)
    for result in ("streamed", "nothing_left", "UNKNOWN_RUN"):
        assert found.total("resumes_total", result=result) == 1, result
    assert found.total("refused_requests_total", status=404, code="UNKNOWN_RUN") == 1


def test_changes_of_the_override_are_counted(tmp_path: Path) -> None:
    """By the new state, from this process."""
    settings = settings_for(tmp_path / "data", **METRICS, signalbox_admin_token="operator-token")
    with RunningApp(settings) as app:
        for state in ("off", "on", "off"):
            put = app.client.put(
                "/api/flags/tool_loop_v2", json={"state": state}, headers={"authorization": "Bearer operator-token"}
            )
            assert put.status_code == 200
        found = scrape(app)
        assert [found.total("flag_override_changes_total", state=state) for state in ("off", "on")] == [2, 1]
