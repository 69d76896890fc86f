"""API tokens over HTTP: which are accepted, what the rejections say, how soon a revocation takes effect."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any, Self

import pytest
from signalbox.app import access
from signalbox.app.access import TokenCache
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.database import Database
from signalbox.store.tokens import revoke_token

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.support.running_app import RunningApp, error_of, settings_for

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve an app that requires a token and has no access token."""
    settings = settings_for(tmp_path_factory.mktemp("data"), signalbox_require_token=True, signalbox_admin_token=ADMIN)
    with RunningApp(settings) as app:
        yield app


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve an app that requires no token."""
    with RunningApp(settings_for(tmp_path_factory.mktemp("data"))) as app:
        yield app


class Clock:
    """Both clocks of the token cache, set by the test."""

    def __init__(self, app: RunningApp) -> None:
        self.book: TokenCache = app.app.state.tokens
        self.now = time()
        self._clock, self._ticks = self.book.clock, self.book.ticks

    def __enter__(self) -> Self:
        self.book.clock = self.book.ticks = lambda: self.now
        return self

    def __exit__(self, *error: object) -> None:
        self.book.clock, self.book.ticks = self._clock, self._ticks


def status(app: RunningApp, text: str, path: str = "/api/runs") -> int:
    """Send a request with a token; return the status."""
    return app.client.get(path, headers=bearer(text)).status_code


def said(app: RunningApp, text: str) -> str:
    """Send a request with an invalid token; return the error message."""
    response = app.client.get("/api/runs", headers=bearer(text))
    assert response.status_code == 401
    error = error_of(response)
    assert (error["code"], error["field"]) == ("UNAUTHORIZED", "Authorization")
    return error["message"]


def test_a_required_token_is_asked_of_everybody(asking: RunningApp) -> None:
    """With SIGNALBOX_REQUIRE_TOKEN, API tokens and the operator token are accepted without an access token."""
    assert asking.client.get("/api/runs").status_code == 401
    assert asking.client.post("/api/chat/stream", json=ASK).status_code == 401
    assert said(asking, "letmein") == said(asking, "")
    _, text = create_token(asking, "Ada")
    assert status(asking, text) == status(asking, ADMIN) == 200
    assert asking.client.get("/health/live").status_code == 200


@pytest.mark.parametrize("which", ["asking", "bare"])
def test_a_token_that_is_none_of_ours_is_refused(which: str, request: pytest.FixtureRequest) -> None:
    """An unknown id, a wrong secret and a cut secret give the same message, also where no token is required."""
    app: RunningApp = request.getfixturevalue(which)
    (one, text), (_, other) = create_token(app, "Ada"), create_token(app, "Bob")
    wrong = [f"sb-{'0' * 12}-{text[16:]}", f"sb-{one.id}-{other[16:]}", text[:-1], f"{text}x", f"sb-{one.id}-"]
    assert {said(app, given) for given in wrong} == {"This token is not valid. Send Authorization: Bearer TOKEN."}
    assert status(app, text) == status(app, other) == 200


def test_where_no_token_is_asked_for_any_other_word_is_passed_over(bare: RunningApp) -> None:
    """Where no token is required, other credentials and old tokens of a page are ignored."""
    for given in ("", "sk-whatever", "letmein", "eyJhbGci.eySb-x.dsb-gS", "sb", "\xe4"):
        headers = [(b"authorization", f"Bearer {given}".strip().encode("latin-1"))]
        assert bare.client.get("/api/runs", headers=headers).status_code == 200
        assert bare.client.post("/api/chat/stream", json=ASK, headers=headers).status_code == 200


@pytest.mark.parametrize("form", ["bearer {}", "BEARER {}", "Bearer\t{}", "bEarer  \t {}", "{}"])
def test_a_token_counts_however_its_scheme_is_written(bare: RunningApp, form: str) -> None:
    """The scheme is case-insensitive, and the run belongs to the token's owner, also for the operator token."""
    _, text = create_token(bare, "Ada")
    sent = {"authorization": form.format(text)}
    run_id = bare.client.post("/api/chat/stream", json=ASK, headers=sent).headers["x-run-id"]
    path = f"/api/runs/{run_id}"
    assert status(bare, text, path) == bare.client.get(path, headers=sent).status_code == 200
    assert bare.client.get(path).status_code == 404
    admin = {"authorization": form.format(bare.app.state.admin_token.value)}
    assert bare.client.get(path, headers=admin).status_code == 200
    assert bare.client.put("/api/flags/tool_loop_v2", json={"state": "on"}, headers=admin).status_code == 200


@pytest.mark.parametrize("which", ["asking", "bare"])
@pytest.mark.parametrize(
    "form", ["Token {}", "Basic {}", 'Bearer "{}"', "Bearer '{}'", "Bearer Bearer {}", "Bearer: {}", "Bearer{}", "x={}"]
)
def test_a_token_in_a_wrong_place_is_refused(which: str, form: str, request: pytest.FixtureRequest) -> None:
    """A token in a wrong header is rejected, so that the run does not become public; also in capitals, and cut."""
    app: RunningApp = request.getfixturevalue(which)
    _, text = create_token(app, "Ada")
    for given in (form.format(text), form.format(text.upper()), form.format(text)[: -len(text) + 16]):
        refused = app.client.post("/api/chat/stream", json=ASK, headers={"authorization": given})
        assert (refused.status_code, error_of(refused)["code"]) == (401, "UNAUTHORIZED"), given


@pytest.mark.parametrize("cut", ["sb-", "sb-12", "SB-", "sb-0123456789ab", "sb-0123456789AB-x", "sb_", "sb"])
def test_what_begins_like_a_token_is_refused(bare: RunningApp, cut: str) -> None:
    """A cut token is rejected; words that only resemble a token are ignored."""
    assert status(bare, cut) == (401 if cut.lower().startswith("sb-") else 200)


@pytest.mark.parametrize("which", ["asking", "bare"])
def test_two_tokens_are_refused(which: str, request: pytest.FixtureRequest) -> None:
    """Two tokens are rejected, even equal ones, because the intended one is unknown."""
    app: RunningApp = request.getfixturevalue(which)
    text, admin = create_token(app, "Ada")[1], app.app.state.admin_token.value
    for pair in ((text, admin), (admin, text), (text, text), ("", text), ("x", "y")):
        twice = [("authorization", f"Bearer {given}".strip()) for given in pair]
        for method, path in (("GET", "/api/runs"), ("PUT", "/api/flags/tool_loop_v2")):
            refused = app.client.request(method, path, headers=twice, json={"state": "on"})
            assert (refused.status_code, error_of(refused)["field"]) == (422, "Authorization")


def test_a_token_counts_where_none_is_asked_for(bare: RunningApp) -> None:
    """A run with a token belongs to its owner; clients without one see what was public before."""
    _, text = create_token(bare, "Ada")
    run_id = bare.client.post("/api/chat/stream", json=ASK, headers=bearer(text)).headers["x-run-id"]
    path = f"/api/runs/{run_id}"
    assert status(bare, text, path) == 200
    assert bare.client.get(path).status_code == 404
    assert status(bare, "letmein", path) == 404
    assert status(bare, bare.app.state.admin_token.value, path) == 200


def test_only_the_operator_changes_the_override(asking: RunningApp) -> None:
    """An API token can read the flag override but not change it."""
    _, text = create_token(asking, "Ada")
    assert status(asking, text, "/api/flags/tool_loop_v2") == 200
    pulled = asking.client.put("/api/flags/tool_loop_v2", json={"state": "on"}, headers=bearer(text))
    assert pulled.status_code == 401
    assert "operator token" in error_of(pulled)["message"]


def test_a_revoked_token_is_taken_for_a_second_at_most(asking: RunningApp) -> None:
    """The token cache is reread after a second; then the revoked token's message says so."""
    token, text = create_token(asking, "Ada")
    with Clock(asking) as clock:
        assert status(asking, text) == 200
        asking.within(asking.parts.database.write(revoke_token, token.id, clock.now))
        clock.now += 0.99
        assert status(asking, text) == 200
        clock.now += 0.02
        assert said(asking, text).startswith("This token has been revoked.")
        assert said(asking, text[:-1]).startswith("This token is not valid.")


def test_a_token_expires_at_once(asking: RunningApp) -> None:
    """Expiry is cached with the token, so no reread is needed."""
    _, text = create_token(asking, "Ada", 60.0)
    with Clock(asking) as clock:
        clock.now = time() + 50
        assert status(asking, text) == 200
        clock.now += 10.1
        assert said(asking, text).startswith("This token has expired.")


def test_a_new_token_is_taken_at_once(asking: RunningApp) -> None:
    """Unknown ids are not cached: a new token works at once, and invented ids use no memory."""
    book: TokenCache = asking.app.state.tokens
    with Clock(asking):
        before = len(book._tokens)
        for number in range(20):
            said(asking, f"sb-{number:012x}-x")
        assert len(book._tokens) == before
        _, text = create_token(asking, "Ada")
        assert status(asking, text) == 200


def test_revoking_twice_keeps_the_first_time(asking: RunningApp) -> None:
    """The second revocation keeps the time of the first; an unknown token cannot be revoked."""
    token, _ = create_token(asking, "Ada")
    write = asking.parts.database.write
    times = [asking.within(write(revoke_token, token.id, now)).revoked for now in (5.0, 9.0)]
    assert times == [5.0, 5.0]
    assert asking.within(write(revoke_token, "0" * 12, 5.0)) is None


def test_only_the_hash_is_on_disk(tmp_path: Path) -> None:
    """No file of the data folder contains the secret, neither while the server runs nor after."""
    with RunningApp(settings_for(tmp_path)) as app:
        token, text = create_token(app, "Ada")
        secret = text.removeprefix(f"sb-{token.id}-").encode()
        assert status(app, text) == 200
        during = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    after = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for content in (during, after):
        assert token.digest in content, "else the test looks into the wrong files"
        assert secret not in content
        assert text.encode() not in content


class Ill:
    """A database that fails, or never answers."""

    def __init__(self, *, is_silent: bool) -> None:
        self._is_silent = is_silent

    async def read(self, *asked: Any) -> Any:
        if self._is_silent:
            await asyncio.Event().wait()
        raise StoreError(Code.STORE_UNAVAILABLE)


@pytest.mark.parametrize("is_silent", [False, True])
def test_an_ill_database_is_told_as_one(
    asking: RunningApp, monkeypatch: pytest.MonkeyPatch, *, is_silent: bool
) -> None:
    """A failing database gives 503 with Retry-After, not 401 and not a hang; endpoints without a database work."""
    _, text = create_token(asking, "Ada")
    monkeypatch.setattr(access, "_TIMEOUT_SECONDS", 0.05)
    ill: Database = Ill(is_silent=is_silent)  # type: ignore[assignment]
    monkeypatch.setattr(asking.app.state.tokens, "_database", ill)
    for method, path in (("GET", "/api/models"), ("POST", "/api/chat/stream")):
        refused = asking.client.request(method, path, headers=bearer(text))
        assert (refused.status_code, error_of(refused)["code"]) == (503, "STORE_UNAVAILABLE")
        assert refused.headers["retry-after"]
    assert status(asking, ADMIN, "/api/models") == 200
    assert asking.client.get("/api/models").status_code == 401
