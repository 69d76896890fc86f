"""Shadow mode: runs are made again on the other loop, without tools, within a budget."""

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from signalbox.app.config import Settings
from signalbox.app.shadow.cases import Cases
from signalbox.app.shadow.worker import Shadow
from signalbox.app.tool_setup import Toolbox
from signalbox.replay import case_runner
from signalbox.services.tool_executor import ToolExecutor
from signalbox.store.shadow_runs import ShadowRun, reserve_shadow
from sqlalchemy import Connection

from tests.scenarios.access.users import ADMIN, bearer
from tests.support.metrics import Scrape
from tests.support.running_app import WAIT, RunningApp, settings_for
from tests.support.stream_reader import check_stream
from tests.support.workers import within

CANARY = "canary-7d1e"
TOKEN = "the-token-of-prometheus"
OF_USERS = ("runs_", "attempts_", "tokens_", "cost_", "tool_", "time_", "run_", "flag_evaluations_", "retries_")
QUESTION = f"What is 17 * 23? {CANARY}"


def settings(folder: Path, **given: Any) -> Settings:
    """Return settings with an operator token."""
    return settings_for(folder, signalbox_admin_token=ADMIN, **given)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RunningApp]:
    """Serve an app whose shadow mode is off, so that tests make runs again themselves."""
    with RunningApp(settings(tmp_path)) as running:
        yield running


def ask(app: RunningApp) -> str:
    """Ask a question that needs a tool; return the id of the stored run."""
    run_id = app.post(prompt=QUESTION, tools=["calculate"]).headers["x-run-id"]
    app.over(run_id)
    app.within(app.parts.runs.store.flush(run_id))
    return run_id


def again(app: RunningApp, run_id: str, budget: float = 1.0) -> ShadowRun | None:
    """Make a run again with a daily budget in USD."""
    chosen = settings(app.parts.settings.signalbox_data_dir, signalbox_shadow_daily_cost=budget)
    cases = Cases(chosen, app.parts.catalog, Toolbox([*app.parts.executor.by_name.values()], False))
    return app.within(Shadow(chosen, app.parts.database, cases, app.parts.upstreams).repeat(run_id))


def report(app: RunningApp) -> Any:
    """Return the report."""
    response = app.client.get("/api/rollout/shadow", headers=bearer(ADMIN))
    assert response.status_code == 200, response.text
    return response.json()


def test_a_run_is_made_again_without_its_tools(app: RunningApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recorded result of the tool answers the call; no tool is executed, and the loops agree."""
    run_id = ask(app)

    async def executed(*_: object) -> None:
        raise AssertionError("a tool was executed")

    monkeypatch.setattr(ToolExecutor, "run", executed)
    result = again(app, run_id)
    assert result is not None
    assert (result.loop, result.outcome in ("same", "expected"), result.cost > 0) == ("legacy", True, True)
    found = report(app)
    assert found["counts"][result.outcome] == 1
    assert found["cost"] == found["cost_today"] == pytest.approx(result.cost)


def test_the_simulated_pages_of_both_loops_are_alike(app: RunningApp) -> None:
    """A further answer to a question has another look, but not the same answer on the other loop."""
    page = {"prompt": "Make a page about tea", "tools": ["create_file", "edit_file"]}
    looks: list[str] = []
    for conversation in ("first", "second"):
        response = app.post(**page, conversation_id=conversation)
        looks.append(check_stream(response.content).calls[0]["arguments"])
        run_id = response.headers["x-run-id"]
        app.over(run_id)
        app.within(app.parts.runs.store.flush(run_id))
        result = again(app, run_id)
        assert result is not None
        assert result.outcome in ("same", "expected"), result.differences
        assert not any(one["kind"] == "calls" for one in result.differences)
    assert len(set(looks)) == 2


def test_users_neither_see_nor_pay_for_it(app: RunningApp) -> None:
    """The list of runs and the spend are the same before and after."""
    run_id = ask(app)
    before = [app.client.get(path, headers=bearer(ADMIN)).json() for path in ("/api/runs", "/api/spend")]
    assert again(app, run_id) is not None
    assert [app.client.get(path, headers=bearer(ADMIN)).json() for path in ("/api/runs", "/api/spend")] == before


def test_metrics_and_budgets_of_users_leave_it_out(tmp_path: Path) -> None:
    """Runs, attempts, tokens, tools and costs are those of users; so is what a token has spent of its budget."""
    metrics = {"signalbox_metrics_token": TOKEN}
    with RunningApp(settings(tmp_path, **metrics)) as app:
        made = app.client.post("/api/tokens", json={"name": "Ada", "budget_day": 5}, headers=bearer(ADMIN)).json()
        asked = {"model": "openai/sim", "prompt": QUESTION, "tools": ["calculate"]}
        response = app.client.post("/api/chat/stream", json=asked, headers=bearer(made["token"]))
        run_id = response.headers["x-run-id"]
        app.over(run_id)
        app.within(app.parts.runs.store.flush(run_id))

        def counted() -> tuple[list[Any], Any, Any]:
            scraped = Scrape(app.client.get("/metrics", headers=bearer(TOKEN)).raise_for_status().text)
            samples = [one for one in scraped.samples() if one[0].startswith(OF_USERS)]
            spent = app.client.get("/api/spend", headers=bearer(made["token"])).json()["total"]
            return samples, spent, app.within(app.parts.database.read(budgets))

        before = counted()
        assert before[0]
        assert before[1]["cost"] > 0
        assert again(app, run_id) is not None
        assert counted() == before


def budgets(connection: Connection) -> list[Any]:
    """Return what is spent and reserved."""
    return [tuple(row) for row in connection.exec_driver_sql("SELECT account, period, spent, reserved FROM budgets")]


def test_a_day_has_a_budget(app: RunningApp) -> None:
    """Once a day's budget is spent, no further run is made again; each run is made again once."""
    first, second = ask(app), ask(app)
    assert again(app, first) is not None
    assert again(app, first) is None
    assert again(app, second, budget=1e-6) is None
    assert again(app, second) is not None


def test_workers_reserve_before_they_spend(app: RunningApp) -> None:
    """Of 30 runs that may each cost a tenth of the budget, ten start, however many workers ask at once."""

    async def reserve() -> list[bool]:
        asked = [ShadowRun(f"{n:032x}", 10.0, "openai/sim", "v2", "running", 0.125) for n in range(30)]
        return await asyncio.gather(*(app.parts.database.write(reserve_shadow, one, 0.0, 1.0) for one in asked))

    assert sum(app.within(reserve())) == 8


def test_differences_are_reported_without_content(app: RunningApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that differs is unexpected; the report names the kind, and quotes neither answer nor question."""
    run_id = ask(app)
    real = case_runner.run_case

    async def changed(*given: Any) -> Any:
        result = await real(*given)
        outcome = replace(result.outcome, text=f"{CANARY} other", status="error", code="INTERNAL")
        return replace(result, outcome=outcome)

    monkeypatch.setattr(case_runner, "run_case", changed)
    result = again(app, run_id)
    assert result is not None
    assert result.outcome == "unexpected"
    (shown,) = report(app)["newest"]
    kinds = {one["kind"]: one for one in shown["differences"]}
    assert (kinds["ending"]["legacy"], kinds["ending"]["v2"]) == ("error", "complete")
    assert (kinds["text"]["legacy"], kinds["text"]["v2"]) == (None, None)
    assert CANARY not in json.dumps(report(app))


def test_runs_are_made_again_in_the_background(tmp_path: Path) -> None:
    """With a share of 100 percent, every complete run is, and the report survives a restart."""
    chosen = settings(tmp_path, signalbox_shadow_percent=100)
    with RunningApp(chosen) as app:
        ask(app)
        within(WAIT, lambda: report(app)["counts"]["same"] + report(app)["counts"]["expected"] == 1)
        before = report(app)
    with RunningApp(chosen) as app:
        assert report(app) == before


def test_its_runs_and_their_cost_have_metrics(tmp_path: Path) -> None:
    """They are apart from those of users: one run is counted, and its cost only once."""
    metrics = {"signalbox_metrics_token": TOKEN}
    with RunningApp(settings(tmp_path, signalbox_shadow_percent=100, **metrics)) as app:

        def scrape() -> Scrape:
            return Scrape(app.client.get("/metrics", headers=bearer(TOKEN)).raise_for_status().text)

        ask(app)
        within(WAIT, lambda: scrape().total("shadow_runs_total") == 1)
        found = scrape()
        assert found.total("shadow_runs_total", loop="legacy") == 1
        (labels,) = found.labels("shadow_runs_total")
        within(WAIT, lambda: report(app)["counts"][labels["outcome"]] == 1)
        cost = report(app)["cost"]
        assert found.total("shadow_cost_usd_total", loop="legacy", family="openai") == pytest.approx(cost) != 0
        assert found.total("runs_total") == 1
        spent = app.client.get("/api/spend", headers=bearer(ADMIN)).json()
        assert found.total("cost_usd_total") == pytest.approx(spent["total"]["cost"])


def test_a_stop_does_not_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shadow run that is under way is cancelled; it keeps its reservation."""
    began = threading.Event()

    async def hang(*_: object) -> None:
        began.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(case_runner, "run_case", hang)
    with RunningApp(settings(tmp_path, signalbox_shadow_percent=100)) as app:
        ask(app)
        assert began.wait(WAIT)
    with RunningApp(settings(tmp_path)) as app:
        found = report(app)
        assert (found["counts"]["running"], found["cost"]) == (1, pytest.approx(0.1))
