"""People whom a trusted proxy has signed in: its headers count only from its address."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.support.running_app import WAIT, RunningApp, error_of, settings_for

USER, EMAIL, GROUPS = "x-forwarded-user", "x-forwarded-email", "x-forwarded-groups"
ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


@contextmanager
def behind_proxy(data: Path, **given: Any) -> Iterator[RunningApp]:
    """Serve an app whose proxy is on loopback, or at the given addresses."""
    chosen = {
        "signalbox_proxy_user_header": "X-Forwarded-User",
        "signalbox_proxy_email_header": EMAIL,
        "signalbox_proxy_groups_header": GROUPS,
        "signalbox_proxy_operators": "groups=operators, boss@example.org",
        "signalbox_trusted_proxies": "127.0.0.1",
        "signalbox_admin_token": ADMIN,
    }
    with RunningApp(settings_for(data, **{**chosen, **given})) as app:
        yield app


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve one app for the tests that change no settings."""
    with behind_proxy(tmp_path_factory.mktemp("data"), openrouter_base_url=simulator.base_url) as made:
        yield made


def test_the_proxy_names_the_user(app: RunningApp) -> None:
    """Each user is an owner; GET /api/session says who it is."""
    for name in ("ada", "bob"):
        asked = app.client.post("/api/chat", json={**ASK, "conversation_id": "chat"}, headers={USER: name})
        assert asked.status_code == 200, asked.text
    listed = app.client.get("/api/conversations", headers={USER: "ada"}).json()["conversations"]
    assert [one["id"] for one in listed] == ["chat"]
    assert app.client.get("/api/conversations", headers={USER: "carl"}).json()["conversations"] == []
    state = app.client.get("/api/session", headers={USER: "ada"}).json()
    assert state == {
        "signed_in": True,
        "name": "ada",
        "role": "user",
        "method": "proxy",
        "csrf_token": None,
        "sign_in": "proxy",
    }


@pytest.mark.parametrize(
    ("headers", "role"),
    [
        ({GROUPS: "staff, operators"}, "operator"),
        ({GROUPS: "staff"}, "user"),
        ({GROUPS: "operators-of-others"}, "user"),
        ({EMAIL: "Boss@Example.org"}, "operator"),
        ({EMAIL: "ada@example.org"}, "user"),
        ({GROUPS: ""}, "user"),
        ({}, "user"),
    ],
)
def test_groups_and_addresses_make_operators(app: RunningApp, headers: dict[str, str], role: str) -> None:
    """By the rules in SIGNALBOX_PROXY_OPERATORS."""
    assert app.client.get("/api/session", headers={USER: "ada", **headers}).json()["role"] == role
    status = app.client.get("/api/upstreams", headers={USER: "ada", **headers}).status_code
    assert (status == 200) == (role == "operator")


def test_without_the_header_no_user_is_signed_in(app: RunningApp) -> None:
    """The proxy has let the request pass without a login, or somebody has gone around it."""
    refused = app.client.get("/api/runs")
    assert (refused.status_code, error_of(refused)["code"]) == (401, "UNAUTHORIZED")
    assert USER in error_of(refused)["message"]
    assert app.client.get("/api/session").json()["signed_in"] is False


@pytest.mark.parametrize("value", ["", "x" * 201, "a\u200bb"])
def test_a_value_that_is_no_name_is_rejected(app: RunningApp, value: str) -> None:
    """Also one that could look like another user's."""
    assert app.client.get("/api/runs", headers={USER.encode(): value.encode()}).status_code == 401


@pytest.mark.parametrize("name", [USER, EMAIL, GROUPS])
def test_a_repeated_header_is_rejected(app: RunningApp, name: str) -> None:
    """If the proxy adds its header to one that the client has sent, it is not known which is true."""
    headers = [(USER, "ada"), (name, "boss@example.org"), (name, "operators")]
    refused = app.client.get("/api/runs", headers=headers)
    assert (refused.status_code, error_of(refused)["field"]) == (401, name)


def test_a_name_that_is_not_utf8_is_rejected(app: RunningApp) -> None:
    """Replaced by one sign, the names of two people would be one account."""
    for name in (b"J\xf6rg", b"J\xe4rg"):
        refused = app.client.get("/api/runs", headers=[(USER.encode(), name)])
        assert (refused.status_code, error_of(refused)["field"]) == (401, USER)
    named = app.client.get("/api/session", headers=[(USER.encode(), "Jörg".encode())])
    assert named.json()["name"] == "Jörg"


def test_tokens_still_count(app: RunningApp) -> None:
    """Programs send an API token; other tokens may be the proxy's and are ignored."""
    _, text = create_token(app, "program")
    assert app.client.get("/api/session", headers=bearer(text)).json()["method"] == "token"
    operator = app.client.get("/api/session", headers={USER: "ada", **bearer(ADMIN)}).json()
    assert (operator["role"], operator["method"]) == ("operator", "token")
    basic = app.client.get("/api/session", headers={USER: "ada", "authorization": "Basic YWRhOng="}).json()
    assert (basic["name"], basic["method"]) == ("ada", "proxy")
    assert app.client.get("/api/runs", headers={USER: "ada", **bearer(f"{text}x")}).status_code == 401


def test_no_other_site_sends_requests_through_the_proxy(app: RunningApp) -> None:
    """The proxy's login is in a cookie, so another site's page could use it; its origin gives it away."""
    for origin in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        refused = app.client.post("/api/chat", json=ASK, headers={USER: "ada", **origin})
        assert (refused.status_code, error_of(refused)["code"]) == (403, "ORIGIN_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("trusted", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.0/8", 200),
        ("10.0.0.0/8, 127.0.0.1/32", 200),
        ("10.0.0.0/8", 401),
        ("::1", 401),
        ("192.0.2.1", 401),
    ],
)
def test_only_trusted_addresses_name_users(tmp_path: Path, trusted: str, status: int) -> None:
    """The address of the connection counts, whatever X-Forwarded-For says, which uvicorn accepts from loopback."""
    with behind_proxy(tmp_path, signalbox_trusted_proxies=trusted) as app:
        for forged in ({}, {"x-forwarded-for": "10.0.0.1"}, {"x-forwarded-for": "192.0.2.1, 127.0.0.1"}):
            answer = app.client.get("/api/runs", headers={USER: "ada", GROUPS: "operators", **forged})
            assert answer.status_code == status
            if status == 401:
                assert "SIGNALBOX_TRUSTED_PROXIES" in error_of(answer)["message"]
        assert app.client.get("/", headers={USER: "ada"}).status_code in (200, 404), "public paths stay public"


def test_a_forged_header_beside_a_token_changes_nothing(tmp_path: Path) -> None:
    """The token says who it is."""
    with behind_proxy(tmp_path, signalbox_trusted_proxies="192.0.2.1") as app, ExitStack() as stack:
        client = stack.enter_context(httpx.Client(base_url=app.url, timeout=WAIT, trust_env=False, verify=False))
        state = client.get("/api/session", headers={USER: "ada", **bearer(ADMIN)}).json()
        assert (state["name"], state["role"]) == ("", "operator")
