"""Webhooks end to end: detached runs end, and a receiver on loopback gets signed events."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from signalbox.app.config import Settings
from standardwebhooks.webhooks import Webhook

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.scenarios.webhooks.receivers import CONTINUE, Inbox, call, receiver, register
from tests.support.running_app import RunningApp, error_of, read_until, settings_for

CANARY = "canary-prompt-9f2c"


def settings(folder: Path) -> Settings:
    """Return settings that allow receivers on loopback."""
    return settings_for(folder, signalbox_admin_token=ADMIN, signalbox_webhook_allowed_hosts="127.0.0.1")


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Serve a receiver."""
    with receiver() as made:
        yield made


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RunningApp]:
    """Serve an app that allows receivers on loopback."""
    with RunningApp(settings(tmp_path)) as running:
        yield running


def test_the_end_of_a_detached_run_is_sent_without_content(app: RunningApp, inbox: Inbox) -> None:
    """The event has ids, times and figures; neither the prompt nor the answer."""
    register(app, inbox)
    _, text = create_token(app, "Ada")
    response = app.client.post(
        "/api/chat/stream",
        json={"model": "openai/sim", "prompt": f"Say {CANARY}!", "conversation_id": "chat-1", **CONTINUE},
        headers=bearer(text),
    )
    run_id = response.headers["x-run-id"]
    headers, body = inbox.raw()
    event = Webhook(inbox.secret).verify(body, headers)
    assert CANARY.encode() not in body
    assert (event["type"], event["data"]["run_id"], event["data"]["conversation_id"]) == ("run.ended", run_id, "chat-1")
    trace = app.client.get(f"/api/runs/{run_id}", headers=bearer(ADMIN)).json()
    data = event["data"]
    assert data["owner"] == text.split("-")[1]
    for name in ("status", "model", "loop", "started", "ended", "cost"):
        assert data[name] == trace[name], name
    assert data["usage"]["input"] > 0
    assert set(data) == {
        *("run_id", "conversation_id", "owner", "status", "code", "model", "loop", "started", "ended", "usage", "cost"),
        *("cost_estimated", "subscribed"),
    }


def test_runs_that_a_client_waits_for_send_nothing(app: RunningApp, inbox: Inbox) -> None:
    """A streamed and a whole answer to a client that stays, then a detached run: only this one is sent."""
    register(app, inbox)
    app.ask(tools=[])
    app.client.post("/api/chat", json={"model": "openai/sim", "prompt": "Hello!", "tools": []})
    run_id = app.post(prompt="Hello!", **CONTINUE).headers["x-run-id"]
    assert inbox.next()["data"]["run_id"] == run_id
    assert inbox.got.empty()


def test_a_run_whose_client_left_is_sent_as_cancelled(app: RunningApp, inbox: Inbox) -> None:
    """Without `on_disconnect: continue`, the run ends because its last subscriber left."""
    register(app, inbox)
    with app.asking(model="openai/sim-stall", tools=[]) as response:
        read_until(response.iter_bytes(), b"\n\n")
        run_id = response.headers["x-run-id"]
    data = inbox.next()["data"]
    assert (data["run_id"], data["status"], data["subscribed"]) == (run_id, "cancelled", False)


def test_runs_that_a_stop_interrupts_are_sent_after_the_restart(tmp_path: Path, inbox: Inbox) -> None:
    """The event is stored while the server stops, and delivered by the next process."""
    with RunningApp(settings(tmp_path)) as app:
        register(app, inbox)
        inbox.status = 503
        with app.asking(model="openai/sim-stall", **CONTINUE) as response:
            read_until(response.iter_bytes(), b"\n\n")
            run_id = response.headers["x-run-id"]
    if inbox.got.empty():
        inbox.status = 200
    else:  # sent while the server stopped, and refused
        inbox.raw()
        inbox.status = 200
    with RunningApp(settings(tmp_path)):
        data = inbox.next()["data"]
        assert (data["run_id"], data["status"], data["code"]) == (run_id, "interrupted", "SERVER_SHUTDOWN")


def test_a_test_event_reports_its_result(app: RunningApp, inbox: Inbox) -> None:
    """It is signed like any event, also for an inactive receiver, and the log has it."""
    webhook_id = register(app, inbox)
    call(app, "PATCH", f"/{webhook_id}", json={"active": False})
    tested = call(app, "POST", f"/{webhook_id}/test")
    assert inbox.next() | {"timestamp": ""} == {
        "type": "webhook.test",
        "timestamp": "",
        "data": {"webhook_id": webhook_id},
    }
    assert (tested["state"], tested["attempts"][0]["status"], tested["next_attempt"]) == ("delivered", 200, None)
    inbox.status = 500
    failed = call(app, "POST", f"/{webhook_id}/test")
    assert (failed["state"], failed["attempts"][0]["error"]) == ("failed", "HTTP_STATUS")
    assert call(app, "GET", f"/{webhook_id}/deliveries") == {"deliveries": [failed, tested], "next": None}


def test_the_log_has_pages(app: RunningApp, inbox: Inbox) -> None:
    """Each page continues after the one before."""
    webhook_id = register(app, inbox)
    made = [call(app, "POST", f"/{webhook_id}/test")["id"] for _ in range(5)]
    path, found = f"/{webhook_id}/deliveries?limit=2", list[str]()
    page = call(app, "GET", path)
    while True:
        found += [one["id"] for one in page["deliveries"]]
        if page["next"] is None:
            break
        page = call(app, "GET", f"{path}&before={page['next']}")
    assert found == made[::-1]


def test_a_rotation_signs_with_both_secrets(app: RunningApp, inbox: Inbox) -> None:
    """For the grace period a request has two signatures; without one, only the new secret counts."""
    webhook_id, old = register(app, inbox), inbox.secret
    new = call(app, "POST", f"/{webhook_id}/rotate", json={})["secret"]
    call(app, "POST", f"/{webhook_id}/test")
    headers, body = inbox.raw()
    assert Webhook(old).verify(body, headers) == Webhook(new).verify(body, headers)
    inbox.secret = call(app, "POST", f"/{webhook_id}/rotate", json={"grace_seconds": 0})["secret"]
    call(app, "POST", f"/{webhook_id}/test")
    headers, body = inbox.raw()
    assert len(headers["webhook-signature"].split()) == 1
    Webhook(inbox.secret).verify(body, headers)


def test_secrets_are_shown_once_and_never_logged(
    app: RunningApp, inbox: Inbox, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither the secret nor the path of the URL is in a log; only two responses contain a secret."""
    webhook_id, first = register(app, inbox), inbox.secret
    inbox.status = 410
    app.post(prompt="Hello!", **CONTINUE)
    inbox.raw()
    second = call(app, "POST", f"/{webhook_id}/rotate", json={})["secret"]
    call(app, "POST", f"/{webhook_id}/test")
    shown = json.dumps(
        [
            *(call(app, "GET", path) for path in ("", f"/{webhook_id}/deliveries")),
            call(app, "PATCH", f"/{webhook_id}", json={"description": "x"}),
        ]
    )
    out = capfd.readouterr()
    for secret in (first, second):
        assert secret[6:] not in shown + out.out + out.err
    assert "hook-canary-path" not in out.out + out.err
    assert "webhook.created" in out.out + out.err


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "https://10.0.0.1/"}, "url"),
        ({"url": "http://example.org/"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"events": []}, "events"),
        ({"events": ["run.started"]}, "events.0"),
        ({"secret": "mine"}, "secret"),
        ({"description": "Pa\x00ger"}, "description"),
    ],
)
def test_invalid_receivers_are_rejected(app: RunningApp, given: dict[str, object], field: str) -> None:
    """The error names the field."""
    sent = {"url": "https://example.org/hook", "events": ["run.ended"], **given}
    response = app.client.post("/api/webhooks", json=sent, headers=bearer(ADMIN))
    assert (response.status_code, error_of(response)["field"]) == (422, field)


def test_receivers_are_changed_and_deleted(app: RunningApp, inbox: Inbox) -> None:
    """Fields that are not named stay; a deleted receiver is unknown."""
    webhook_id = register(app, inbox)
    changed = call(app, "PATCH", f"/{webhook_id}", json={"events": ["rollout.promoted"], "description": "Pager"})
    assert (changed["events"], changed["description"], changed["active"]) == (["rollout.promoted"], "Pager", True)
    assert call(app, "GET")["webhooks"] == [changed]
    assert call(app, "PATCH", f"/{webhook_id}", 422, json={})["error"]["code"] == "INVALID_REQUEST"
    assert call(app, "PATCH", f"/{webhook_id}", 422, json={"url": None})["error"]["code"] == "INVALID_REQUEST"
    assert call(app, "DELETE", f"/{webhook_id}") == {"deleted": True}
    for method, path, body in (
        ("DELETE", "", None),
        ("PATCH", "", {"active": True}),
        ("POST", "/rotate", {}),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
    ):
        error = call(app, method, f"/{webhook_id}{path}", 404, json=body)
        assert error["error"]["code"] == "UNKNOWN_WEBHOOK"
