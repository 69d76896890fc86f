"""Sessions: their cookies, CSRF protection, expiry, and their end."""

import sqlite3
from contextlib import closing
from http.cookies import Morsel, SimpleCookie
from pathlib import Path

import httpx
import pytest
from signalbox.app.sign_in.sessions import Sessions
from signalbox.core.security.api_tokens import new_token

from tests.scenarios.access.users import ADMIN, bearer
from tests.scenarios.sign_in.browser import COOKIE, Browser, browser, with_person
from tests.support.oidc_provider import OidcProvider
from tests.support.running_app import RunningApp, error_of, settings_for

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
HTTPS = {"x-forwarded-proto": "https"}
HOUR = 3600.0


def cookies_of(answer: httpx.Response) -> dict[str, Morsel[str]]:
    """Return the cookies that a response sets."""
    found: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        found.load(line)
    return dict(found)


def sessions_of(app: RunningApp) -> Sessions:
    """Return the sessions of an app."""
    return app.app.state.sign_in.provider.sessions


def test_cookies_are_out_of_reach_of_scripts(ada: Browser) -> None:
    """HttpOnly, SameSite=Lax, for all paths of this host; the cookie of the attempt ends with it."""
    answer = ada.sign_in()
    made = cookies_of(answer)
    session = made[COOKIE]
    assert (session["httponly"], session["samesite"], session["path"], session["domain"]) == (True, "lax", "/", "")
    assert session["max-age"] == str(14 * 12 * 3600)
    csrf = made["signalbox-csrf"]
    assert (csrf.value, csrf["httponly"], csrf["samesite"]) == (ada.state["csrf_token"], "", "lax"), "the page reads it"
    assert made["signalbox-sign-in"]["max-age"] == "0"
    assert len(session.value) >= 43, "256 random bits"


def test_over_https_cookies_belong_to_this_host_alone(provider: OidcProvider, app: RunningApp) -> None:
    """With `__Host-` and Secure, no other host can set them, and they are never sent over http."""
    with browser(app.url, headers=HTTPS) as secure:
        begun = secure.client.get("/auth/login")
        attempt = cookies_of(begun)["__Host-signalbox-sign-in"]
        assert "redirect_uri=https%3A%2F%2F127.0.0.1" in begun.headers["location"]
        assert (attempt["secure"], attempt["path"], attempt["max-age"]) == (True, "/", "600")
        back = secure.at_provider(begun.headers["location"]).replace("https://", "http://")
        answer = secure.finish(back, headers={"cookie": f"__Host-signalbox-sign-in={attempt.value}"})
        session = cookies_of(answer)[f"__Host-{COOKIE}"]
        assert (session["secure"], session["httponly"], session["samesite"]) == (True, True, "lax")
        for name, status in ((f"__Host-{COOKIE}", 200), (COOKIE, 401)):
            got = secure.client.get("/api/runs", headers={"cookie": f"{name}={session.value}"})
            assert got.status_code == status, "over https, a cookie without the prefix may come from another host"


def test_the_database_has_neither_ids_nor_tokens(app: RunningApp, ada: Browser, tmp_path: Path) -> None:
    """A copy of the database starts no session, and holds no token of the provider."""
    ada.sign_in()
    with closing(sqlite3.connect(tmp_path / "data/signalbox.db")) as file:
        dump = "\n".join(file.iterdump())
    assert "Ada Lovelace" in dump
    for secret in (ada.client.cookies[COOKIE], "provider-access-token", "provider-refresh-token", "eyJ"):
        assert secret not in dump


# --- CSRF -------------------------------------------------------------------------------------------------------------


def test_a_change_needs_the_csrf_token_and_the_origin(ada: Browser) -> None:
    """Without either, the request is rejected, whatever it is; reading needs neither."""
    ada.sign_in()
    good = ada.headers()

    def post(**headers: str | None) -> httpx.Response:
        merged = {name: value for name, value in {**good, **headers}.items() if value is not None}
        return ada.client.post("/api/chat", json=ASK, headers=merged)

    assert post().status_code == 200
    for wrong in (None, "", "wrong", good["x-csrf-token"][:-1], "é"):
        refused = ada.client.post(
            "/api/chat",
            json=ASK,
            headers={
                name: value.encode() for name, value in {**good, "x-csrf-token": wrong}.items() if value is not None
            },
        )
        assert (refused.status_code, error_of(refused)["code"], error_of(refused)["field"]) == (
            403,
            "CSRF",
            "x-csrf-token",
        )
    for headers in (
        {"origin": None},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        refused = post(**headers)
        assert (refused.status_code, error_of(refused)["code"]) == (403, "ORIGIN_NOT_ALLOWED")
    assert ada.client.get("/api/runs").status_code == 200
    assert len(ada.client.get("/api/runs").json()["runs"]) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/chat/stream"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/api/conversations"),
        ("PUT", "/api/conversations/x/files/a.html"),
        ("PATCH", "/api/conversations/x"),
        ("DELETE", "/api/conversations/x"),
        ("POST", "/assistant"),
        ("POST", "/agui"),
        ("POST", "/api/ai/chat"),
        ("POST", "/nowhere"),
        ("POST", "/auth/logout"),
    ],
)
def test_every_changing_method_needs_the_csrf_token(ada: Browser, method: str, path: str) -> None:
    """Also in the formats of other protocols, and for paths that do not exist."""
    ada.sign_in()
    refused = ada.client.request(method, path, json={}, headers={"origin": ada.url})
    assert refused.status_code == 403
    assert "csrf" in refused.text.lower()


def test_the_csrf_token_of_another_session_is_rejected(app: RunningApp, ada: Browser) -> None:
    """It belongs to one session, also if the same person has two."""
    ada.sign_in()
    with browser(app.url) as other:
        other.sign_in()
        refused = ada.client.post("/api/chat", json=ASK, headers=other.headers())
        assert error_of(refused)["code"] == "CSRF"
        assert other.state["csrf_token"] == other.state["csrf_token"], "it stays the same"


def test_requests_with_a_token_need_no_csrf_token(ada: Browser) -> None:
    """No other site can send a token. With a token, the cookie does not count, also if the token is wrong."""
    ada.sign_in()
    done = ada.client.post("/api/chat", json=ASK, headers=bearer(ADMIN))
    assert done.status_code == 200
    assert ada.client.get("/api/runs").json()["runs"] == [], "it belongs to the operator token"
    _, text = new_token("unknown", 0)
    for headers in (bearer("wrong"), bearer(text), {"x-api-key": "wrong"}):
        assert ada.client.get("/api/runs", headers=headers).status_code == 401
        assert ada.client.get("/api/session", headers=headers).status_code == 401


def test_the_session_of_a_token(ada: Browser) -> None:
    """GET /api/session says whose a token is; a token has no CSRF token."""
    ada.sign_in()
    state = ada.client.get("/api/session", headers=bearer(ADMIN)).json()
    assert (state["role"], state["method"], state["csrf_token"]) == ("operator", "token", None)


# --- fixation, redirects ----------------------------------------------------------------------------------------------


def test_a_sign_in_makes_a_new_session(app: RunningApp, ada: Browser) -> None:
    """An id that somebody else has planted does not become a session; the old session ends."""
    ada.client.cookies.set(COOKIE, "planted-planted-planted-planted", domain="127.0.0.1")
    assert ada.state["signed_in"] is False
    ada.client.cookies.clear()
    ada.sign_in()
    first = ada.client.cookies[COOKIE]
    ada.sign_in()
    second = ada.client.cookies[COOKIE]
    assert len({first, second, "planted-planted-planted-planted"}) == 3
    for old in ("planted-planted-planted-planted", first):
        assert httpx.get(f"{app.url}/api/runs", headers={"cookie": f"{COOKIE}={old}"}).status_code == 401


@pytest.mark.parametrize("path", ["/", "/?chat=1", "/operator", "/#chat", "/notes/a.md?x=//y", "/guide/"])
def test_the_page_that_was_left_is_shown_again(ada: Browser, path: str) -> None:
    """With its query and fragment."""
    assert ada.sign_in(path).headers["location"] == path


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/\t/evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/é",
        "/a b",
        "/\r\nx-evil: 1",
        "/auth/login",
        "/x/../../y",
        f"/{'x' * 2000}",
    ],
)
def test_no_other_site_is_shown_after_a_sign_in(ada: Browser, path: str) -> None:
    """Whatever `next` says, the browser stays at this server."""
    assert ada.sign_in(path).headers["location"] == "/"


def test_the_back_button_after_a_sign_in_shows_the_page(ada: Browser) -> None:
    """The address of the callback is in the browser's history."""
    address = ada.at_provider(ada.begin())
    ada.finish(address)
    again = ada.finish(address)
    assert (again.status_code, again.headers["location"]) == (303, "/")


# --- the end ----------------------------------------------------------------------------------------------------------


def test_signing_out_ends_the_session(app: RunningApp, ada: Browser) -> None:
    """The cookie is deleted, and a copy of it is worth nothing; signing out again is no error."""
    ada.sign_in()
    copy = ada.client.cookies[COOKIE]
    answer = ada.send("POST", "/auth/logout")
    assert answer.status_code == 204
    assert {name: one["max-age"] for name, one in cookies_of(answer).items()} == {COOKIE: "0", "signalbox-csrf": "0"}
    assert httpx.get(f"{app.url}/api/runs", headers={"cookie": f"{COOKIE}={copy}"}).status_code == 401
    assert ada.state["signed_in"] is False
    assert ada.send("POST", "/auth/logout").status_code == 204


def test_a_session_lasts_as_long_as_it_is_used_but_not_for_ever(app: RunningApp, ada: Browser) -> None:
    """It ends after 12 hours without a request, and after 14 times as long in any case."""
    sessions = sessions_of(app)
    start = sessions.clock()
    now = start

    def at(hours: float) -> bool:
        nonlocal now
        now = start + hours * HOUR
        return bool(ada.state["signed_in"])

    sessions.clock = lambda: now
    sessions.ticks = lambda: now
    ada.sign_in()
    assert all(at(hours) for hours in range(0, 168, 11))
    assert not at(168.1)
    ada.sign_in()
    start = now
    assert at(11.9)
    assert not at(11.9 + 12.1)


def test_ended_sessions_are_deleted(app: RunningApp, ada: Browser, tmp_path: Path) -> None:
    """The next sign-in of anybody deletes them."""
    sessions = sessions_of(app)
    ada.sign_in()
    ada.client.cookies.clear()
    then = sessions.clock() + 13 * HOUR
    sessions.clock = lambda: then
    ada.sign_in()
    with closing(sqlite3.connect(tmp_path / "data/signalbox.db")) as file:
        assert file.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_streams_work_with_the_cookie(ada: Browser) -> None:
    """An EventSource can send no headers, but it sends the cookie."""
    ada.sign_in()
    run_id = ada.ask().headers["x-run-id"]
    with ada.client.stream("GET", f"/api/runs/{run_id}/events") as answer:
        assert answer.status_code == 200
        assert b'"done"' in answer.read()


def test_the_same_person_has_the_same_conversations(app: RunningApp, provider: OidcProvider, ada: Browser) -> None:
    """Name and email address may change; another subject is another person, also with the same address."""
    ada.sign_in()
    ada.ask(conversation_id="chat")
    with browser(app.url) as later:
        with_person(provider, name="Ada King", email="ada@elsewhere.example")
        later.sign_in()
        assert later.state["name"] == "Ada King"
        assert [one["id"] for one in later.client.get("/api/conversations").json()["conversations"]] == ["chat"]
    with browser(app.url) as other:
        with_person(provider, sub="another", email="ada@example.org")
        other.sign_in()
        assert other.client.get("/api/conversations").json()["conversations"] == []


@pytest.mark.parametrize("path", ["/auth/login", "/auth/callback?code=x&state=y"])
def test_without_sign_in_there_is_nothing_to_sign_in_to(path: str, tmp_path: Path) -> None:
    """A server without a provider says which setting is missing."""
    with RunningApp(settings_for(tmp_path / "plain")) as plain:
        refused = plain.client.get(path)
        assert (refused.status_code, error_of(refused)["code"]) == (404, "NOT_FOUND")
        assert "SIGNALBOX_OIDC_ISSUER" in error_of(refused)["message"]
        state = plain.client.get("/api/session").json()
        assert (state["signed_in"], state["sign_in"], state["role"]) == (False, None, "user")
