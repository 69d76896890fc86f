"""Sessions over HTTP: the operator lists and ends those of all people, a person the own ones."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.scenarios.sign_in.browser import COOKIE, Browser, browser, with_person
from tests.support.oidc_provider import OidcProvider
from tests.support.openapi import Conformance
from tests.support.running_app import RunningApp, error_of


@pytest.fixture
def bob(app: RunningApp, provider: OidcProvider, ada: Browser) -> Iterator[Browser]:
    """Sign Ada in, then Bob in another browser."""
    ada.sign_in()
    with_person(provider, sub="bob-1", name="Bob", email="bob@example.org", groups=[])
    with browser(app.url) as opened:
        opened.sign_in()
        yield opened


def listed(app: RunningApp, query: str = "") -> dict[str, Any]:
    """List sessions with the operator token."""
    answer = app.client.get(f"/api/sessions{query}", headers=bearer(ADMIN))
    assert answer.status_code == 200, answer.text
    return answer.json()


def own(browser: Browser) -> list[dict[str, Any]]:
    """List sessions as a person."""
    return browser.client.get("/api/sessions").json()["sessions"]


def test_the_operator_lists_the_sessions_of_all_people(app: RunningApp, ada: Browser, bob: Browser) -> None:
    """Newest first, page by page, without the value of a cookie."""
    page = listed(app)
    assert [one["name"] for one in page["sessions"]] == ["Bob", "Ada Lovelace"]
    assert (page["next"], page["all_owners"]) == (None, True)
    first = page["sessions"][0]
    assert first["owner"].startswith("user:")
    assert (first["role"], first["current"]) == ("user", False)
    assert first["created"] <= first["used"]
    assert first["ends"] == pytest.approx(first["used"] + 12 * 3600)
    for one in (ada, bob):
        assert one.client.cookies[COOKIE] not in str(page)
    half = listed(app, "?limit=1")
    rest = listed(app, f"?limit=1&before={half['next']}")
    assert half["sessions"] + rest["sessions"] == page["sessions"]
    assert rest["next"] is None


def test_the_operator_ends_a_session(app: RunningApp, ada: Browser, bob: Browser) -> None:
    """The person must sign in again; the audit log has the name; a second time, there is no such session."""
    found = listed(app)["sessions"][0]
    path = f"/api/sessions/{found['id']}"
    assert app.client.delete(path, headers=bearer(ADMIN)).json() == {"deleted": True}
    assert bob.client.get("/api/runs").status_code == 401
    assert ada.client.get("/api/runs").status_code == 200
    refused = app.client.delete(path, headers=bearer(ADMIN))
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_SESSION")
    (entry,) = app.client.get("/api/audit?action=session.ended", headers=bearer(ADMIN)).json()["entries"]
    assert entry["details"] == {"owner": found["owner"], "name": "Bob"}


def test_a_person_lists_and_ends_own_sessions(app: RunningApp, provider: OidcProvider, bob: Browser) -> None:
    """Those of another browser; the one of the request is marked, and other people's do not exist."""
    Conformance(app.app.openapi()).watch(bob.client)
    with browser(app.url) as phone:
        phone.sign_in()
        other, this = own(bob)
        assert ([one["name"] for one in (other, this)], other["current"], this["current"]) == (["Bob"] * 2, False, True)
        assert bob.client.delete(f"/api/sessions/{other['id']}").status_code == 403, "without the CSRF token"
        assert bob.send("DELETE", f"/api/sessions/{other['id']}").status_code == 200
        assert phone.client.get("/api/runs").status_code == 401
    assert [one["id"] for one in own(bob)] == [this["id"]]
    adas = next(one["id"] for one in listed(app)["sessions"] if one["name"] == "Ada Lovelace")
    assert bob.send("DELETE", f"/api/sessions/{adas}").status_code == 404
    assert len(listed(app)["sessions"]) == 2
    assert app.client.get("/api/audit?action=session.ended", headers=bearer(ADMIN)).json()["entries"] == []


@pytest.mark.parametrize("session_id", ["none", "z" * 64, "0" * 64])
def test_an_unknown_session_is_a_404(app: RunningApp, session_id: str) -> None:
    """Whatever its id looks like."""
    answer = app.client.delete(f"/api/sessions/{session_id}", headers=bearer(ADMIN))
    assert (answer.status_code, error_of(answer)["code"]) == (404, "UNKNOWN_SESSION")


def test_a_token_has_no_sessions(app: RunningApp, bob: Browser) -> None:
    """It lists none and ends none."""
    _, text = create_token(app, "Program")
    assert app.client.get("/api/sessions", headers=bearer(text)).json()["sessions"] == []
    found = listed(app)["sessions"][0]
    assert app.client.delete(f"/api/sessions/{found['id']}", headers=bearer(text)).status_code == 404


def test_spend_and_runs_name_people_for_the_operator_alone(app: RunningApp, ada: Browser, bob: Browser) -> None:
    """Also after their sessions have ended; a person sees only the own name."""
    run_id = bob.ask().headers["x-run-id"]
    app.within(app.parts.runs.store.flush())
    own_rows = bob.client.get("/api/spend?group_by=owner").json()["rows"]
    assert [row["name"] for row in own_rows] == ["Bob"]
    bob.send("POST", "/auth/logout")
    (row,) = app.client.get("/api/spend?group_by=owner", headers=bearer(ADMIN)).json()["rows"]
    assert row["name"] == "Bob <bob@example.org>"
    listed_run = app.client.get(f"/api/runs/{run_id}", headers=bearer(ADMIN)).json()
    assert listed_run["owner"] == {"id": row["key"], "name": "Bob <bob@example.org>"}
    assert ada.client.get("/api/spend?group_by=owner").json()["rows"] == []


def test_an_email_address_that_is_not_verified_is_not_shown(
    app: RunningApp, provider: OidcProvider, ada: Browser
) -> None:
    """The person may have invented it; a new name replaces the old one."""
    ada.sign_in()
    with_person(provider, name="Ada King", email="boss@example.org", email_verified=False)
    ada.sign_in()
    ada.ask()
    app.within(app.parts.runs.store.flush())
    (row,) = app.client.get("/api/spend?group_by=owner", headers=bearer(ADMIN)).json()["rows"]
    assert row["name"] == "Ada King"
