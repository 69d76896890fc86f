"""API tokens over HTTP, for the operator: create, change, rotate and revoke them, and put them into groups."""

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest
from signalbox.app import access
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

from tests.scenarios.access.test_tokens import Clock
from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.support.running_app import RunningApp, error_of, settings_for

NO_LIMITS = dict.fromkeys(("budget_day", "budget_month", "rate_limit", "max_runs", "models", "tools"))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve an app that requires a token."""
    settings = settings_for(tmp_path_factory.mktemp("data"), signalbox_require_token=True, signalbox_admin_token=ADMIN)
    with RunningApp(settings) as running:
        yield running


def call(app: RunningApp, method: str, path: str, status: int = 200, **given: Any) -> Any:
    """Call the API as the operator; check the status and return the body."""
    response = app.client.request(method, f"/api/{path}", headers=bearer(ADMIN), **given)
    assert response.status_code == status, response.text
    return response.json()


def create(app: RunningApp, **given: Any) -> dict[str, Any]:
    """Create a token over HTTP."""
    return call(app, "POST", "tokens", 201, json={"name": "Ada", **given})


def asked(app: RunningApp, text: str) -> httpx.Response:
    """Send a request with a token."""
    return app.client.get("/api/runs", headers=bearer(text))


def refusal(app: RunningApp, text: str) -> str:
    """Send a request with a token that is rejected; return the reason."""
    response = asked(app, text)
    assert response.status_code == 401
    return error_of(response)["message"].split(".")[0]


def test_a_token_is_shown_once(app: RunningApp) -> None:
    """The text is in the response that creates it, and never again; the token works at once."""
    made = create(app, budget_day=1, models=["openai/*"])
    text = made.pop("token")
    assert asked(app, text).status_code == 200
    listed = app.client.get("/api/tokens", headers=bearer(ADMIN))
    assert text.split("-", 2)[2] not in listed.text
    made |= {"last_used_at": last_use(app, made["id"])}
    assert call(app, "GET", f"tokens/{made['id']}") == made
    assert made in call(app, "GET", "tokens")["tokens"]
    assert made | {"id": "", "created": 0, "last_used_at": None} == {
        **NO_LIMITS,
        "id": "",
        "created": 0,
        "name": "Ada",
        "group": None,
        "expires": None,
        "revoked": None,
        "former_until": None,
        "last_used_at": None,
        "budget_day": 1.0,
        "models": ["openai/*"],
    }


def test_tokens_of_the_command_are_listed_too(app: RunningApp) -> None:
    """They have no limits, and keep their rights."""
    token, text = create_token(app, "Bob")
    assert asked(app, text).status_code == 200
    assert call(app, "GET", f"tokens/{token.id}") | NO_LIMITS == call(app, "GET", f"tokens/{token.id}")


def test_a_change_keeps_what_it_does_not_name(app: RunningApp) -> None:
    """Null removes a limit."""
    made = create(app, budget_day=1, max_runs=2)
    changed = call(app, "PATCH", f"tokens/{made['id']}", json={"name": "Eve", "max_runs": None, "tools": ["calculate"]})
    made.pop("token")
    assert changed == {**made, "name": "Eve", "max_runs": None, "tools": ["calculate"]}
    assert call(app, "GET", f"tokens/{made['id']}") == changed


def test_an_expiry_can_be_set_and_removed(app: RunningApp) -> None:
    """An expired token is rejected; a token whose expiry is removed works again."""
    made = create(app, expires=time() + 100)
    with Clock(app) as clock:
        assert asked(app, made["token"]).status_code == 200
        clock.now += 101
        assert refusal(app, made["token"]) == "This token has expired"
        call(app, "PATCH", f"tokens/{made['id']}", json={"expires": None})
        clock.now += 1.1
        assert asked(app, made["token"]).status_code == 200


def test_an_expired_token_may_get_a_later_expiry(app: RunningApp) -> None:
    """It is valid again, with the same text."""
    made = create(app)
    call(app, "PATCH", f"tokens/{made['id']}", json={"expires": 1.0})
    assert refusal(app, made["token"]) == "This token has expired"
    later = time() + 100
    with Clock(app) as clock:
        clock.now += 1.1
        assert call(app, "PATCH", f"tokens/{made['id']}", json={"expires": later})["expires"] == later
        clock.now += 1.1
        assert asked(app, made["token"]).status_code == 200


def test_a_revoked_token_stays_revoked(app: RunningApp) -> None:
    """It is rejected within a second, and cannot be changed; the second revocation keeps the time of the first."""
    made = create(app)
    with Clock(app) as clock:
        assert asked(app, made["token"]).status_code == 200
        assert last_use(app, made["id"]) is not None
        revoked = call(app, "DELETE", f"tokens/{made['id']}")
        assert revoked["revoked"] == pytest.approx(time(), abs=30)
        clock.now += 1.1
        assert refusal(app, made["token"]) == "This token has been revoked"
    assert call(app, "DELETE", f"tokens/{made['id']}") == revoked
    for method, path, body in (
        ("POST", "/rotate", {}),
        ("PATCH", "", {"name": "Bob"}),
        ("PATCH", "", {"expires": None}),
    ):
        refused = call(app, method, f"tokens/{made['id']}{path}", 409, json=body)["error"]
        assert refused["code"] == "TOKEN_REVOKED"
        assert refused["message"] == "This token is revoked, which is final. Create a new token."
    assert call(app, "GET", f"tokens/{made['id']}") == revoked


def last_use(app: RunningApp, token_id: str) -> float | None:
    """Return the last use of a token, once it is stored."""
    app.within(app.app.state.tokens.aclose())
    return call(app, "GET", f"tokens/{token_id}")["last_used_at"]


def test_the_last_use_is_stored_once_a_minute(app: RunningApp) -> None:
    """Unused, used, used again within the minute, and after it; a refused request is no use."""
    made = create(app)
    assert made["last_used_at"] is None
    with Clock(app) as clock:
        first = clock.now
        assert asked(app, made["token"][:-1]).status_code == 401
        assert last_use(app, made["id"]) is None
        for seconds, stored in ((0, first), (30, first), (29, first), (2, first + 61), (5, first + 61)):
            clock.now += seconds
            assert asked(app, made["token"]).status_code == 200
            assert last_use(app, made["id"]) == pytest.approx(stored)


def test_a_change_keeps_the_last_use(app: RunningApp) -> None:
    """A new name or secret says nothing about the use."""
    made = create(app)
    asked(app, made["token"])
    used = last_use(app, made["id"])
    assert used is not None
    assert call(app, "PATCH", f"tokens/{made['id']}", json={"name": "Bob"})["last_used_at"] == used
    assert call(app, "POST", f"tokens/{made['id']}/rotate", json={})["last_used_at"] == used


def test_a_use_that_cannot_be_stored_fails_no_request(app: RunningApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request does not wait for it; the next use after a minute is stored."""

    def broken(*_: Any) -> None:
        raise StoreError(Code.STORE_UNAVAILABLE)

    made = create(app)
    with Clock(app) as clock:
        with monkeypatch.context() as patch:
            patch.setattr(access, "mark_used", broken)
            assert asked(app, made["token"]).status_code == 200
            assert last_use(app, made["id"]) is None
        clock.now += 61
        assert asked(app, made["token"]).status_code == 200
        assert last_use(app, made["id"]) == pytest.approx(clock.now)


def test_a_rotation_replaces_the_secret(app: RunningApp) -> None:
    """Id and owner stay; the former secret is rejected within a second, or after its grace period."""
    made = create(app)
    with Clock(app) as clock:
        new = call(app, "POST", f"tokens/{made['id']}/rotate", json={})
        assert (new["id"], new["name"]) == (made["id"], "Ada")
        clock.now += 1.1
        assert asked(app, new["token"]).status_code == 200
        assert refusal(app, made["token"]) == "This token is not valid"
        newest = call(app, "POST", f"tokens/{made['id']}/rotate", json={"grace_seconds": 60})
        clock.now += 1.1
        assert {asked(app, one["token"]).status_code for one in (new, newest)} == {200}
        assert refusal(app, made["token"]) == "This token is not valid"
        clock.now += 60
        assert refusal(app, new["token"]) == "This token is not valid"
        assert asked(app, newest["token"]).status_code == 200


def test_a_group_is_replaced_as_a_whole(app: RunningApp) -> None:
    """Limits that are not given are removed; the time of creation stays."""
    first = call(app, "PUT", "groups/team", json={"budget_month": 5, "max_runs": 3})
    second = call(app, "PUT", "groups/team", json={"rate_limit": "9/minute"})
    assert second == {**first, "budget_month": None, "max_runs": None, "rate_limit": "9/minute"}
    assert second in call(app, "GET", "groups")["groups"]
    assert call(app, "GET", "groups/team") == second


def test_a_group_that_has_tokens_is_not_deleted(app: RunningApp) -> None:
    """They would lose their limits; a group without valid tokens can be deleted."""
    call(app, "PUT", "groups/crew", json={})
    made = create(app, group="crew")
    refused = call(app, "DELETE", "groups/crew", 422)
    assert refused["error"]["message"].startswith("1 token belongs to this group")
    call(app, "DELETE", f"tokens/{made['id']}")
    call(app, "DELETE", "groups/crew")
    assert call(app, "GET", "groups/crew", 404)["error"]["code"] == "UNKNOWN_GROUP"
    assert call(app, "GET", f"tokens/{made['id']}")["group"] is None


def test_a_token_needs_an_existing_group(app: RunningApp) -> None:
    """The error names the field and says what to do."""
    error = call(app, "POST", "tokens", 422, json={"name": "Ada", "group": "no-such"})["error"]
    assert (error["field"], error["message"].split(". ")[0]) == ("group", "There is no group 'no-such'")


def test_the_expiry_of_a_group_ends_the_access_of_its_tokens(app: RunningApp) -> None:
    """The message names the group."""
    call(app, "PUT", "groups/trial", json={"expires": time() + 100})
    made = create(app, group="trial")
    with Clock(app) as clock:
        assert asked(app, made["token"]).status_code == 200
        clock.now += 101
        assert refusal(app, made["token"]) == "The access of the group 'trial' has expired"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("budget_day", -1),
        ("budget_month", "5"),
        ("rate_limit", "often"),
        ("max_runs", 0),
        ("models", [""]),
        ("expires", 0),
        ("expires", 1.0),
        ("colour", "red"),
    ],
)
def test_an_invalid_field_is_named(app: RunningApp, field: str, value: object) -> None:
    """Nothing is created."""
    before = len(call(app, "GET", "tokens")["tokens"])
    error = call(app, "POST", "tokens", 422, json={"name": "Ada", field: value})["error"]
    assert error["field"].split(".")[0] == field
    assert len(call(app, "GET", "tokens")["tokens"]) == before


def test_unknown_tokens_are_a_404(app: RunningApp) -> None:
    """For every operation on one token."""
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/rotate")):
        body = {"name": "x"} if method == "PATCH" else {}
        assert call(app, method, f"tokens/none{path}", 404, json=body)["error"]["code"] == "UNKNOWN_TOKEN"


def test_changes_are_logged_without_the_secret(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The log names the token's id."""
    with RunningApp(settings_for(tmp_path, signalbox_admin_token=ADMIN)) as app:
        made = create(app)
        text = call(app, "POST", f"tokens/{made['id']}/rotate", json={})["token"]
        call(app, "DELETE", f"tokens/{made['id']}")
    logged = "".join(capfd.readouterr())
    for event in ("token.created", "token.rotated", "token.revoked"):
        assert event in logged
    assert made["id"] in logged
    assert made["token"][20:] not in logged
    assert text[20:] not in logged
