"""A rollout steered over HTTP: stages, plans, rollbacks while a run is under way, and the webhook of a rollback."""

import time
from pathlib import Path
from typing import Any

from signalbox.flags.choice import bucket

from tests.scenarios.access.users import ADMIN, bearer
from tests.scenarios.webhooks.receivers import receiver, register
from tests.support.rollout_runs import store_runs
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream
from tests.support.stream_reader import check_stream

FLAG = "/api/flags/tool_loop_v2"
OPERATOR = bearer(ADMIN)
SHORT: dict[str, Any] = {"minutes": 0, "runs": 100}
PLAN = {"stages": [{"percent": 50, **SHORT}, {"percent": 100, **SHORT}], "holdback": 25}
IN_V2 = next(f"chat-{number}" for number in range(100) if bucket(f"chat-{number}") < 5000)


def server(tmp_path: Path, **given: Any) -> RunningApp:
    """Return a server whose operator has the token."""
    return RunningApp(settings_for(tmp_path, signalbox_admin_token=ADMIN, tool_loop_v2=None, **given))


def rollout(app: RunningApp, method: str = "GET", body: Any = None) -> dict[str, Any]:
    """Read or change the rollout."""
    response = app.client.request(method, "/api/rollout", json=body, headers=OPERATOR)
    assert response.status_code == 200, response.text
    return response.json()


def look(app: RunningApp, number: int, prefix: str, **of_v2: Any) -> dict[str, Any]:
    """Store ended runs of both loops, and let the guard look; return the rollout."""
    ends = [time.time() + 0.5 + place / 1000 for place in range(number)]
    app.within(store_runs(app.parts.database, ends, prefix=prefix, **of_v2))
    app.within(app.parts.rollout.look())
    return rollout(app)


def actions(app: RunningApp) -> list[str]:
    """Return the actions in the audit log, oldest first."""
    entries = app.client.get("/api/rollout/audit", headers=OPERATOR).json()["entries"]
    return [one["action"] for one in reversed(entries)]


def test_v2_is_promoted_through_all_stages(tmp_path: Path) -> None:
    """With enough runs and no sign of harm, the flag goes to 50, 75 and on; before, the missing runs are counted."""
    with server(tmp_path) as app:
        rollout(app, "PUT", PLAN)
        few = look(app, 30, "few")
        assert few["report"]["missing"] == {"v2_runs": 70, "legacy_runs": 20, "minutes": 0}
        assert few["assessment"].endswith("Still needed: 70 V2 runs, 20 legacy runs.")
        flags = [app.client.get(FLAG, headers=OPERATOR).json()]
        stages = [few["plan"]["stage"]]
        for prefix in ("first", "second"):
            stages.append(look(app, 600, prefix)["plan"]["stage"])
            flags.append(app.client.get(FLAG, headers=OPERATOR).json())
        assert stages == [1, 2, 2]
        assert [(one["state"], one.get("percent")) for one in flags] == [("percent", 50), ("percent", 75), ("on", None)]
        over = rollout(app)["plan"]
        assert (over["state"], over["watched"]) == ("finished", True)
        assert rollout(app, "DELETE")["plan"]["watched"] is False
        assert actions(app) == ["rollout.started", "rollout.promoted", "rollout.finished", "rollout.ended"]


def test_a_second_plan_replaces_the_first(tmp_path: Path) -> None:
    """It begins at the percentage of the first, though its own stages have others."""
    with server(tmp_path) as app:
        first = rollout(app, "PUT", PLAN)["plan"]
        stages = [{"percent": percent} for percent in (5, 60, 90)]
        second = rollout(app, "PUT", {"stages": stages})["plan"]
        assert second["id"] != first["id"]
        assert (second["state"], second["stage"], second["percent"]) == ("running", 2, 50)
        assert [one["percent"] for one in second["stages"]] == [5, 50, 60, 90]
        assert app.client.get(FLAG, headers=OPERATOR).json()["percent"] == 50
        assert actions(app) == ["rollout.started", "rollout.ended", "rollout.started"]


async def waits(exchange: Exchange) -> None:
    """Begin an answer, and end it when the test allows."""
    await exchange.head()
    await exchange.send_text("So far")
    await exchange.gate_opened()
    await exchange.send_text(", so good.")
    await exchange.end()


def test_a_run_under_way_keeps_its_loop(tmp_path: Path) -> None:
    """While a V2 run streams, V2 is taken back: this run ends on V2, and the next one of the conversation on legacy."""
    body = {"model": "some/model", "prompt": "Hello!", "tools": [], "conversation_id": IN_V2}
    with ScriptedUpstream(waits) as upstream:
        keys = {"openrouter_api_key": "sk-test", "openrouter_base_url": upstream.base_url}
        with server(tmp_path, **keys) as app:
            rollout(app, "PUT", PLAN)
            with app.client.stream("POST", "/api/chat/stream", json=body) as response:
                chunks = response.iter_raw()
                begun = read_until(chunks, b"So far")
                found = look(app, 60, "bad", status="error", code="INTERNAL")
                assert found["plan"]["state"] == "rolled_back"
                assert app.client.get(FLAG, headers=OPERATOR).json()["state"] == "off"
                upstream.opened.set()
                done = check_stream(begun + b"".join(chunks)).done
            assert (done["loop"], done["status"]) == ("v2", "complete")
            assert app.client.post("/api/chat", json=body).headers["x-tool-loop"] == "legacy"


def test_a_rollback_is_sent_to_webhooks(tmp_path: Path) -> None:
    """The receiver gets a signed event with the stage, the reason and the figures."""
    with receiver() as inbox, server(tmp_path, signalbox_webhook_allowed_hosts="127.0.0.1") as app:
        register(app, inbox, "rollout.rolled_back")
        rollout(app, "PUT", PLAN)
        found = look(app, 60, "bad", status="interrupted", code="STREAM_BROKEN")
        event = inbox.next()
        assert event["type"] == "rollout.rolled_back"
        data = event["data"]
        assert (data["plan"], data["stage"], data["percent"]) == (found["plan"]["id"], 1, 50)
        assert data["reason"] == found["assessment"]
        assert data["figures"]["stage"]["v2"]["interrupted"] == 60
        assert data["figures"]["stage"]["legacy"]["interrupted"] == 0
