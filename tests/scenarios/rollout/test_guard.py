"""A regression of V2 on a real server: the guard takes V2 back, on all workers, and says why."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from signalbox.rollout.service import Rollout

from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream
from tests.support.workers import within

OPERATOR = {"authorization": "Bearer the-operators-token"}
FLAG = "/api/flags/tool_loop_v2"
HALF = {"stages": [{"percent": 50, "minutes": 60, "runs": 200}, {"percent": 100}]}
WHOLE = {
    "id": "gen-1",
    "model": "some/model",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cost": 0.0001},
}


async def breaks_streams(exchange: Exchange) -> None:
    """Answer whole requests, and close the connection in the middle of streamed answers: this hurts only V2."""
    if not exchange.asked.body.get("stream"):
        await exchange.whole(200, json.dumps(WHOLE).encode())
        return
    await exchange.head()
    await exchange.send_text("Hel")
    exchange.writer.close()


@contextmanager
def workers(tmp_path: Path, count: int, **given: Any) -> Iterator[list[RunningApp]]:
    """Run workers whose upstream breaks streamed answers."""
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedUpstream(*[breaks_streams] * 5000))
        settings = {
            "openrouter_api_key": "sk-test",
            "openrouter_base_url": upstream.base_url,
            "signalbox_admin_token": "the-operators-token",
            "tool_loop_v2": None,
            **given,
        }
        found: list[RunningApp] = []
        for number in range(count):
            folder = tmp_path / str(number)
            folder.mkdir()
            found.append(stack.enter_context(RunningApp(settings_for(folder, **settings))))
        yield found


def asks(app: RunningApp, number: int) -> str:
    """Ask in a new conversation; return its loop."""
    body = {"model": "some/model", "prompt": "Hello!", "conversation_id": f"chat-{number}"}
    response = app.client.post("/api/chat", json=body)
    assert response.status_code in (200, 502, 503), response.text
    return response.headers["x-tool-loop"]


def rollout(app: RunningApp) -> dict[str, Any]:
    """Return the state of the rollout."""
    return app.client.get("/api/rollout", headers=OPERATOR).json()


def break_v2(apps: list[RunningApp]) -> dict[str, Any]:
    """Ask until the guard has rolled back; return the state of the rollout."""
    loops: list[str] = []
    began = time.monotonic()
    for number in range(400):
        loops.append(asks(apps[number % len(apps)], number))
        if number % 4 == 3 and rollout(apps[0])["plan"]["state"] == "rolled_back":
            break
    print(f"rolled back after {loops.count('v2')} V2 runs, {time.monotonic() - began:.1f} s")
    assert loops.count("v2") < 100, loops
    return rollout(apps[0])


def test_a_regression_is_rolled_back(tmp_path: Path) -> None:
    """Broken streams on V2 set the flag to off; the audit log shows the figures, and later runs use legacy."""
    with workers(tmp_path, 1) as [app]:
        began = app.client.put("/api/rollout", json=HALF, headers=OPERATOR).json()
        assert (began["plan"]["state"], began["plan"]["percent"]) == ("running", 50)
        assert app.client.get(FLAG).json()["percent"] == 50
        found = break_v2([app])
        assert found["assessment"].startswith("V2 is worse than legacy: interrupted streams in 100.0% of ")
        within(1, lambda: app.client.get(FLAG).json()["state"] == "off")
        assert asks(app, 1000) == asks(app, 1001) == "legacy"
        entries = app.client.get("/api/rollout/audit", headers=OPERATOR).json()["entries"]
        assert [one["action"] for one in entries] == ["rollout.rolled_back", "rollout.started"]
        [details] = [one["details"] for one in entries if one["actor"] == "guard"]
        stage = details["figures"]["stage"]
        assert stage["v2"]["interrupted"] == stage["v2"]["runs"] > 0
        assert stage["legacy"]["interrupted"] == 0
        assert details["evidence"] >= details["threshold"]
        assert details["reason"] == found["assessment"]


def test_a_rollback_reaches_all_workers(tmp_path: Path, postgres_url: str) -> None:
    """Of two workers, one evaluates; both use legacy within a second after the rollback."""
    with workers(tmp_path, 2, database_url=postgres_url) as apps:
        apps[0].client.put("/api/rollout", json=HALF, headers=OPERATOR)
        within(5, lambda: all(app.client.get(FLAG).json()["percent"] == 50 for app in apps))
        break_v2(apps)
        within(1, lambda: all(app.client.get(FLAG).json()["state"] == "off" for app in apps))
        assert [asks(app, 1000 + place) for place, app in enumerate(apps)] == ["legacy", "legacy"]
        entries = apps[1].client.get("/api/rollout/audit", headers=OPERATOR).json()["entries"]
        assert [one["action"] for one in entries] == ["rollout.rolled_back", "rollout.started"]


def test_observing_leaves_the_flag_alone(tmp_path: Path) -> None:
    """In the mode `observe`, the regression is reported once, and V2 stays on."""
    with workers(tmp_path, 1) as [app]:
        app.client.put(FLAG, json={"state": "percent", "percent": 50}, headers=OPERATOR)
        app.client.put("/api/rollout", json={"mode": "observe"}, headers=OPERATOR)
        for number in range(100):
            asks(app, number)
        for _ in range(2):
            app.within(_look(app.parts.rollout))
        assert rollout(app)["assessment"].startswith("V2 is worse than legacy")
        assert app.client.get(FLAG).json()["percent"] == 50
        entries = app.client.get("/api/rollout/audit", headers=OPERATOR).json()["entries"]
        assert [one["action"] for one in entries] == ["rollout.regression", "rollout.started", "flag.set"]


def test_an_operator_overrides_the_plan(tmp_path: Path) -> None:
    """Setting the flag ends the plan, and the audit log says so."""
    with workers(tmp_path, 1) as [app]:
        app.client.put("/api/rollout", json=HALF, headers=OPERATOR)
        app.client.put(FLAG, json={"state": "on"}, headers=OPERATOR)
        app.within(_look(app.parts.rollout))
        assert rollout(app)["plan"]["state"] == "overridden"
        assert rollout(app)["assessment"] == "An operator has set the flag."
        assert app.client.get(FLAG).json()["state"] == "on"
        first = app.client.get("/api/rollout/audit?limit=2", headers=OPERATOR).json()
        assert [one["action"] for one in first["entries"]] == ["rollout.overridden", "flag.set"]
        second = app.client.get(f"/api/rollout/audit?before={first['next']}", headers=OPERATOR).json()
        assert [one["action"] for one in second["entries"]] == ["rollout.started"]
        assert second["next"] is None


def test_ending_the_plan_keeps_the_flag(tmp_path: Path) -> None:
    """DELETE leaves the percentage as it is."""
    with workers(tmp_path, 1) as [app]:
        app.client.put("/api/rollout", json=HALF, headers=OPERATOR)
        assert app.client.delete("/api/rollout", headers=OPERATOR).json()["plan"]["state"] == "ended"
        assert app.client.get(FLAG).json()["percent"] == 50


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"stages": [{"percent": 50}, {"percent": 25}]}, "stages"),
        ({"stages": [{"percent": 100}], "holdback": 0}, "stages"),
        ({"holdback": 50}, "holdback"),
        ({"stages": [{"percent": 0}]}, "stages.0.percent"),
        ({"stages": []}, "stages"),
        ({"mode": "off"}, "mode"),
        ({"mode": "observe", "stages": [{"percent": 5}]}, "stages"),
        ({"mode": "observe", "holdback": 5}, "holdback"),
    ],
)
def test_an_invalid_plan_is_rejected(tmp_path: Path, body: dict[str, Any], field: str | None) -> None:
    """Percentages must rise, and legacy needs a share."""
    with workers(tmp_path, 1) as [app]:
        response = app.client.put("/api/rollout", json=body, headers=OPERATOR)
        assert response.status_code == 422
        error = response.json()["error"]
        assert error.get("field") == field
        assert "after validation" not in error["message"]
        assert rollout(app)["plan"] is None


async def _look(rollout: Rollout) -> None:
    await rollout.look()
