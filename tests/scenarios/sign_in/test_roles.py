"""Who may sign in, who is an operator, and what each may see."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import time
from typing import Any

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.access import test_matrix as matrix
from tests.scenarios.access.test_tokens import Clock
from tests.scenarios.access.users import ACCESS, ADMIN, User, UserApp, bearer, create_resources
from tests.scenarios.sign_in.browser import COOKIE, Browser, browser, with_person
from tests.support.oidc_provider import ADA, OidcProvider
from tests.support.running_app import RunningApp, error_of, settings_for

FLAG = "/api/flags/tool_loop_v2"


def test_an_operator_has_the_rights_of_the_token_and_own_conversations(
    app: RunningApp, provider: OidcProvider, ada: Browser
) -> None:
    """The group makes the operator; conversations belong to the person."""
    with_person(provider, groups=["staff", "operators"])
    ada.sign_in()
    assert ada.state["role"] == "operator"
    ada.ask(conversation_id="chat")
    assert ada.send("PUT", FLAG, json={"state": "on"}).status_code == 200
    with browser(app.url) as bob:
        with_person(provider, sub="bob-1", name="Bob", groups=[])
        bob.sign_in()
        run_id = bob.ask(conversation_id="chat").headers["x-run-id"]
        refused = bob.send("PUT", FLAG, json={"state": "off"})
        assert (refused.status_code, error_of(refused)["code"]) == (401, "UNAUTHORIZED")
    runs = ada.client.get("/api/runs").json()["runs"]
    assert run_id in [one["run_id"] for one in runs], "an operator sees all runs"
    assert len(ada.client.get("/api/conversations").json()["conversations"]) == 1, "but only own conversations"


def test_the_role_changes_at_the_next_sign_in(provider: OidcProvider, ada: Browser) -> None:
    """Gained and lost; until then, the session keeps the role it began with."""
    ada.sign_in()
    assert ada.state["role"] == "user"
    with_person(provider, groups=["operators"])
    assert ada.state["role"] == "user"
    ada.sign_in()
    assert ada.state["role"] == "operator"
    with_person(provider, groups=[])
    ada.sign_in()
    assert ada.state["role"] == "user"
    assert ada.send("PUT", FLAG, json={"state": "on"}).status_code == 401


def test_a_person_whose_group_has_expired_is_told_so(app: RunningApp, ada: Browser) -> None:
    """At the sign-in, rather than by a page that asks for another one."""
    group = {"expires": time() + 100}
    assert app.client.put("/api/groups/staff", json=group, headers=bearer(ADMIN)).status_code == 200
    with Clock(app) as clock:
        clock.now += 101
        page = ada.finish(ada.at_provider(ada.begin()), headers={"accept": "text/html"})
    assert page.status_code == 403
    assert "The access of the group &#x27;staff&#x27; has expired. Ask the operator" in page.text
    assert ada.state["signed_in"] is False


@pytest.mark.parametrize(
    ("rules", "claims", "role"),
    [
        ("ada@example.org", {}, "operator"),
        ("ADA@Example.org", {}, "operator"),
        ("email=ada@example.org", {}, "operator"),
        ("ada@example.org", {"email_verified": False}, "user"),
        ("ada@example.org", {"email_verified": None}, "user"),
        ("bob@example.org, groups=staff", {}, "operator"),
        ("groups=staf", {}, "user"),
        ("groups=staff", {"groups": "staff"}, "operator"),
        ("realm_access.roles=ops", {"realm_access": {"roles": ["ops"]}}, "operator"),
        ("realm_access.roles=ops", {"realm_access": ["ops"]}, "user"),
        ("https://example.org/roles=ops", {"https://example.org/roles": ["ops"]}, "operator"),
        ("hd=example.org", {"hd": "example.org"}, "operator"),
    ],
)
def test_rules_for_operators(
    provider: OidcProvider, tmp_path: Path, rules: str, claims: dict[str, Any], role: str
) -> None:
    """An email address that is verified, a group, a nested claim, a claim whose name has dots."""
    settings = settings_for(tmp_path, **provider.settings(signalbox_oidc_operators=rules))
    with RunningApp(settings) as app, browser(app.url) as ada:
        with_person(provider, **claims)
        ada.sign_in()
        assert ada.state["role"] == role


def test_only_the_named_people_may_sign_in(provider: OidcProvider, tmp_path: Path) -> None:
    """With a provider for everyone, such as Google, a rule says who may use the server; operators may always."""
    rules = {"signalbox_oidc_users": "hd=example.org", "signalbox_oidc_operators": "groups=operators"}
    with RunningApp(settings_for(tmp_path, **provider.settings(**rules))) as app, browser(app.url) as ada:
        refused = ada.finish(ada.at_provider(ada.begin()))
        assert (refused.status_code, error_of(refused)["code"]) == (403, "SIGN_IN_FAILED")
        assert ada.state["signed_in"] is False
        for claims in ({"hd": "example.org"}, {"hd": None, "groups": ["operators"]}):
            with_person(provider, **claims)
            ada.sign_in()


# --- the access matrix with people ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def users(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app whose users are signed in; ada and the holder of the access token own one of everything."""
    with OidcProvider() as provider, ExitStack() as stack:
        given = provider.settings(signalbox_oidc_operators="groups=operators", openrouter_base_url=simulator.base_url)
        given |= {"signalbox_access_token": ACCESS, "signalbox_admin_token": ADMIN}
        app = stack.enter_context(RunningApp(settings_for(tmp_path_factory.mktemp("data"), **given)))
        people: dict[str, User] = {}
        for name in ("ada", "bob", "operator"):
            provider.person = {**ADA, "sub": name, "name": name, "groups": ["operators"] * (name == "operator")}
            person = stack.enter_context(browser(app.url))
            person.sign_in()
            person.client.headers.update(person.headers())
            people[name] = User(name, name, person.client, is_operator=name == "operator")
        guest = stack.enter_context(browser(app.url, headers=bearer(ACCESS)))
        people["guest"] = User("guest", "", guest.client)
        made = UserApp(app, people)
        for name in matrix.OWNERS:
            create_resources(made[name])
        yield made


@pytest.mark.parametrize("owned_by", matrix.OWNERS)
@pytest.mark.parametrize("asked_by", ["ada", "bob", "operator"])
def test_of_others_nothing_is_told_nor_changed(users: UserApp, asked_by: str, owned_by: str) -> None:
    """The same endpoints as with tokens: a resource of another owner gives the same bytes as a missing one."""
    matrix.test_of_others_nothing_is_told_nor_changed(users, asked_by, owned_by)


@pytest.mark.parametrize("operation", sorted(matrix.OF_THE_OPERATOR))
def test_only_operators_reach_their_endpoints(users: UserApp, operation: str) -> None:
    """A person with the role may, others may not."""
    for name in ("ada", "bob", "operator"):
        status = matrix.send(users[name], operation, "unknown").status_code
        assert (status == 401) == (name != "operator"), name


def test_an_operator_saves_only_own_runs(users: UserApp) -> None:
    """A save of another person's run would show the answer to the operator for good."""
    run_id = users["ada"].resources["run_id"]
    refused = users["operator"].client.post("/api/saves", json={"run_id": run_id})
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_RUN")
    assert users["operator"].client.get(f"/api/runs/{run_id}").status_code == 200


# --- groups of Signalbox ----------------------------------------------------------------------------------------------


def test_the_groups_of_the_provider_choose_the_limits(app: RunningApp, provider: OidcProvider, ada: Browser) -> None:
    """The first that exists here counts; without one, it is the group of all people."""
    for name in ("users", "second", "staff"):
        made = app.client.put(f"/api/groups/{name}", json={"max_runs": 1}, headers=bearer(ADMIN))
        assert made.status_code == 200, made.text

    def group() -> str:
        """Return the group of the request that the browser sends."""
        found = app.within(app.app.state.authenticator.caller_of("", scope_of(ada)))
        return found.group

    with_person(provider, groups=["unknown", "staff", "second"])
    ada.sign_in()
    assert group() == "staff"
    with_person(provider, groups=["unknown"])
    ada.sign_in()
    assert group() == "users"


def scope_of(person: Browser) -> dict[str, Any]:
    """Return the scope of a request with the cookie of a browser."""
    cookie = f"{COOKIE}={person.client.cookies[COOKIE]}".encode()
    return {"type": "http", "method": "GET", "scheme": "http", "headers": [(b"cookie", cookie)]}


def test_the_audit_log_names_the_operator_who_signed_in(app: RunningApp, provider: OidcProvider, ada: Browser) -> None:
    """By name and owner, also for the rollout; the operator token has no owner."""
    with_person(provider, groups=["operators"])
    ada.sign_in()
    ada.send("PUT", FLAG, json={"state": "on"})
    ada.send("PUT", "/api/rollout", json={"mode": "observe"})
    ada.send("DELETE", "/api/rollout")
    ada.send("PUT", "/api/groups/team", json={})
    app.client.delete("/api/groups/team", headers=bearer(ADMIN))
    entries = ada.client.get("/api/audit").json()["entries"][::-1]
    actions = ["flag.set", "rollout.started", "rollout.ended", "group.created", "group.deleted"]
    assert [one["action"] for one in entries] == actions
    assert [one["actor"] for one in entries] == ["Ada Lovelace"] * 4 + ["operator"]
    owners = {one["details"].get("actor_id", "") for one in entries}
    (session,) = ada.client.get("/api/sessions").json()["sessions"]
    assert owners == {session["owner"], ""}
