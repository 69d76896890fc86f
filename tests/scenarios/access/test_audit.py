"""The audit log: who has changed tokens, groups, webhooks, the flag and the upstreams, without any secret."""

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import time
from typing import Any

import pytest
from signalbox.core.operation.audit import person

from tests.scenarios.access.test_command import token as token_command
from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.scenarios.upstreams.test_operator import served
from tests.support.processes import WAIT
from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, says
from tests.support.workers import within

URL = "https://hooks.example.org/canary-path-51c8"
HOST = "hooks.example.org"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[RunningApp]:
    """Serve an app that allows the host of the receiver."""
    settings = settings_for(tmp_path, signalbox_admin_token=ADMIN, signalbox_webhook_allowed_hosts=HOST)
    with RunningApp(settings) as running:
        yield running


def call(app: RunningApp, method: str, path: str, **given: Any) -> dict[str, Any]:
    """Call the API as the operator."""
    response = app.client.request(method, f"/api/{path}", headers=bearer(ADMIN), **given)
    assert response.status_code < 300, response.text
    return response.json()


def entries(app: RunningApp, query: str = "") -> list[dict[str, Any]]:
    """Return the entries of the audit log, oldest first."""
    return call(app, "GET", f"audit?{query}")["entries"][::-1]


def test_changes_of_tokens_are_recorded(app: RunningApp) -> None:
    """Created, changed, rotated and revoked: with the fields, without the text; what changes nothing has no entry."""
    made = call(app, "POST", "tokens", json={"name": "Ada", "budget_day": 1})
    path = f"tokens/{made['id']}"
    for name in ("Bob", "Bob"):
        call(app, "PATCH", path, json={"name": name, "budget_day": 2})
    rotated = call(app, "POST", f"{path}/rotate", json={"grace_seconds": 5})
    for _ in range(2):
        call(app, "DELETE", path)
    found = entries(app)
    assert [one["action"] for one in found] == ["token.created", "token.changed", "token.rotated", "token.revoked"]
    assert {one["actor"] for one in found} == {"operator"}
    created, changed, rotation, revoked = (one["details"] for one in found)
    assert (created["token"], created["name"], created["budget_day"]) == (made["id"], "Ada", 1.0)
    assert changed["changed"] == {"name": {"from": "Ada", "to": "Bob"}, "budget_day": {"from": 1.0, "to": 2.0}}
    assert rotation == {"token": made["id"], "name": "Bob", "grace_seconds": 5.0}
    assert revoked == {"token": made["id"], "name": "Bob"}
    for text in (made["token"], rotated["token"]):
        assert text.split("-", 2)[2] not in json.dumps(found)


def test_a_refused_change_has_no_entry(app: RunningApp) -> None:
    """The entry is written in the transaction of the change."""
    for method, path, body in (
        ("POST", "tokens", {"name": "Ada", "group": "none"}),
        ("PATCH", "tokens/none", {"name": "Ada"}),
        ("DELETE", "tokens/none", None),
        ("DELETE", "groups/none", None),
        ("DELETE", "webhooks/none", None),
    ):
        assert app.client.request(method, f"/api/{path}", headers=bearer(ADMIN), json=body).status_code >= 400
    assert entries(app) == []


def test_changes_of_groups_are_recorded(app: RunningApp) -> None:
    """Created, changed and deleted; not the deletion of a group with tokens."""
    for budget in (5, 5, 7):
        call(app, "PUT", "groups/team", json={"budget_month": budget})
    made = call(app, "POST", "tokens", json={"name": "Ada", "group": "team"})
    app.client.delete("/api/groups/team", headers=bearer(ADMIN))
    call(app, "DELETE", f"tokens/{made['id']}")
    call(app, "DELETE", "groups/team")
    found = [one for one in entries(app) if one["action"].startswith("group.")]
    assert [one["action"] for one in found] == ["group.created", "group.changed", "group.deleted"]
    created, changed, deleted = (one["details"] for one in found)
    assert (created["group"], created["budget_month"]) == ("team", 5.0)
    assert changed == {"group": "team", "changed": {"budget_month": {"from": 5.0, "to": 7.0}}}
    assert deleted == {"group": "team"}


def test_changes_of_webhooks_are_recorded(app: RunningApp) -> None:
    """The host of the receiver, but neither the rest of the URL, which may be a secret, nor its secret."""
    made = call(app, "POST", "webhooks", json={"url": URL, "events": ["run.ended"]})
    path = f"webhooks/{made['id']}"
    call(app, "PATCH", path, json={"active": False, "url": f"{URL}-2", "description": "canary-words"})
    rotated = call(app, "POST", f"{path}/rotate", json={})
    call(app, "DELETE", path)
    found = entries(app)
    actions = ["webhook.created", "webhook.changed", "webhook.rotated", "webhook.deleted"]
    assert [one["action"] for one in found] == actions
    created, changed, _, deleted = (one["details"] for one in found)
    assert created == {"webhook": made["id"], "host": HOST, "events": ["run.ended"], "active": True}
    assert changed["changed"] == {"active": {"from": True, "to": False}}
    assert changed["also_changed"] == ["url", "description"]
    assert deleted == {"webhook": made["id"]}
    for secret in ("canary", made["secret"], rotated["secret"]):
        assert secret not in json.dumps(found)


def test_overrides_of_the_flag_are_recorded(app: RunningApp) -> None:
    """Set and removed; the log of the rollout has them too, and no other entry."""
    call(app, "POST", "tokens", json={"name": "Ada"})
    for body in ({"state": "percent", "percent": 10}, {"state": "default"}):
        call(app, "PUT", "flags/tool_loop_v2", json=body)
    found = entries(app, "action=flag.set")
    assert [one["details"] for one in found] == [{"state": "percent", "percent": 10}, {"state": "default"}]
    assert call(app, "GET", "rollout/audit")["entries"][::-1] == found


def test_filters_and_pages(app: RunningApp) -> None:
    """By action, actor and time, page by page."""
    began = time()
    for name in ("a", "b", "c"):
        call(app, "PUT", f"groups/{name}", json={})
    call(app, "DELETE", "groups/a")
    made = [one["details"]["group"] for one in entries(app, "action=group.created")]
    assert made == ["a", "b", "c"]
    assert len(entries(app, "action=group.created&action=group.deleted")) == 4
    assert len(entries(app, "actor=operator")) == 4
    assert entries(app, "actor=guard") == []
    assert len(entries(app, f"since={began}")) == 4
    assert entries(app, f"until={began}") == []
    first = call(app, "GET", "audit?limit=3&actor=operator")
    rest = call(app, "GET", f"audit?limit=3&actor=operator&before={first['next']}")
    assert [one["action"] for one in first["entries"]] == ["group.deleted", "group.created", "group.created"]
    assert [one["details"]["group"] for one in rest["entries"]] == ["a"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [("colour=red", "colour"), ("since=yesterday", "since"), ("limit=0", "limit"), ("action=none", "action")],
)
def test_wrong_filters_are_rejected(app: RunningApp, query: str, field: str) -> None:
    """A 422 names the parameter; an unknown action lists the known ones."""
    answer = app.client.get(f"/api/audit?{query}", headers=bearer(ADMIN))
    assert (answer.status_code, error_of(answer)["field"]) == (422, field)
    assert field != "action" or "token.created" in error_of(answer)["message"]


def test_only_the_operator_reads_the_log(app: RunningApp) -> None:
    """Any other token is a 401."""
    _, text = create_token(app, "Ada")
    for headers in ({}, bearer(text)):
        assert app.client.get("/api/audit", headers=headers).status_code == 401


def test_a_person_cannot_pass_for_a_part_of_signalbox() -> None:
    """Someone called `operator` at the identity provider is recorded by the owner."""
    assert person("user:1", "Ada").name == "Ada"
    for name in ("operator", " Guard", "SIGHUP", ""):
        assert person("user:1", name).name == "user:1"


@pytest.mark.e2e
def test_a_reload_by_an_operator_or_a_signal_is_recorded(tmp_path: Path) -> None:
    """Both have the names of the upstreams, without keys."""
    with (
        ScriptedUpstream(says("Hi."), path="/v1") as first,
        ScriptedUpstream(says("Hi.")) as second,
        served(tmp_path, first, second, SIGNALBOX_ADMIN_TOKEN=ADMIN) as process,
        process.client() as client,
    ):
        assert client.post("/api/upstreams/reload", headers=bearer(ADMIN)).status_code == 200
        os.kill(process.process.pid, signal.SIGHUP)

        def found() -> list[dict[str, Any]]:
            return client.get("/api/audit?action=upstreams.reloaded", headers=bearer(ADMIN)).json()["entries"]

        within(WAIT, lambda: len(found()) == 2)
        assert [one["actor"] for one in found()] == ["SIGHUP", "operator"]
        assert {str(one["details"]) for one in found()} == {"{'upstreams': ['first', 'second']}"}


@pytest.mark.e2e
def test_the_command_line_is_recorded(tmp_path: Path) -> None:
    """Creating and revoking a token with the command."""
    text, _ = token_command(tmp_path, "create", "Ada")
    token_command(tmp_path, "revoke", text[3:15])
    with closing(sqlite3.connect(tmp_path / "data" / "signalbox.db")) as database:
        rows = database.execute("SELECT actor, action, details FROM audit ORDER BY id").fetchall()
    assert [row[:2] for row in rows] == [("command line", "token.created"), ("command line", "token.revoked")]
    assert text.strip()[16:] not in str(rows)
