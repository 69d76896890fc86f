"""Owners over two workers on one PostgreSQL: both apply the same rules to runs of either."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.store.tokens import revoke_token

from tests.scenarios.access.users import ADMIN, bearer, create_token
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import Script, ScriptedUpstream, holds, says

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


@dataclass
class Two:
    """Two workers of one database, and the clients of their users."""

    one: RunningApp
    two: RunningApp

    def ask(self, app: RunningApp, text: str, headers: dict[str, str] | None = None) -> httpx.Response:
        """Send a question to one of them with a token."""
        response = app.client.post("/api/chat/stream", json=ASK, headers={**bearer(text), **(headers or {})})
        assert response.status_code == 200, response.text
        return response


@pytest.fixture
def workers(tmp_path: Path, postgres_url: str) -> Iterator[Any]:
    """Start two workers over a scripted provider."""
    with ExitStack() as stack:

        def start(*scripts: Script) -> Two:
            upstream = stack.enter_context(ScriptedUpstream(*scripts))
            given = {
                "openrouter_base_url": upstream.base_url,
                "database_url": postgres_url,
                "signalbox_require_token": True,
                "signalbox_admin_token": ADMIN,
            }
            made = (RunningApp(settings_for(tmp_path / name, **given)) for name in ("one", "two"))
            return Two(*[stack.enter_context(app) for app in made])

        yield start


def test_a_token_holds_at_every_worker_until_it_is_revoked(workers: Any) -> None:
    """Both workers accept a new token at once; one second after its revocation the next request to each is rejected."""
    two: Two = workers(says("Yes."))
    now = 100.0
    for app in (two.one, two.two):
        app.app.state.tokens.ticks = lambda: now
    token, text = create_token(two.one, "Ada")
    run_id = two.ask(two.one, text).headers["x-run-id"]
    assert two.two.client.get(f"/api/runs/{run_id}", headers=bearer(text)).status_code == 200
    two.one.within(two.one.parts.database.write(revoke_token, token.id, 5.0))
    now += 1.0
    for app in (two.one, two.two):
        assert app.client.get("/api/runs", headers=bearer(text)).status_code == 401


def test_a_run_of_another_worker_belongs_to_its_owner(workers: Any) -> None:
    """The owner reads and stops a run through the other worker; for other users it does not exist."""
    two: Two = workers(holds)
    (_, ada), (_, bob) = create_token(two.one, "Ada"), create_token(two.one, "Bob")
    with two.one.client.stream("POST", "/api/chat/stream", json=ASK, headers=bearer(ada)) as response:
        chunks = response.iter_raw()  # kept open: closing it would end the run's last subscription
        read_until(chunks, b"So far")
        path = f"/api/runs/{response.headers['x-run-id']}"
        far = two.two.client
        for method, address in (("GET", path), ("GET", f"{path}/events"), ("POST", f"{path}/stop"), ("DELETE", path)):
            refused = far.request(method, address, headers=bearer(bob))
            assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_RUN")
        assert far.get(path, headers=bearer(ada)).json()["status"] == "running"
        assert far.get(path, headers=bearer(ADMIN)).json()["owner"]["name"] == "Ada"
        stopped = far.post(f"{path}/stop", headers=bearer(ada))
        assert (stopped.json()["status"], stopped.json()["stopped"]) == ("cancelled", True)


def test_a_key_is_its_owners_at_every_worker(workers: Any) -> None:
    """A repeated key finds the run through the other worker; another owner's equal key starts a new run."""
    two: Two = workers(says("Yes."))
    (_, ada), (_, bob) = create_token(two.one, "Ada"), create_token(two.one, "Bob")
    key = {"idempotency-key": "once"}
    run_ids = {
        (text, app.port): two.ask(app, text, key).headers["x-run-id"]
        for app in (two.one, two.two)
        for text in (ada, bob)
    }
    assert len(set(run_ids.values())) == 2
    assert run_ids[ada, two.one.port] == run_ids[ada, two.two.port] != run_ids[bob, two.two.port]


def test_the_last_use_is_stored_once_by_both_workers(workers: Any) -> None:
    """A use at the other worker within the minute stores nothing; a later one does."""
    two: Two = workers(says("Yes."))
    token, text = create_token(two.one, "Ada")
    now = 1000.0

    def used(app: RunningApp, at: float) -> float | None:
        nonlocal now
        now = at
        app.app.state.tokens.clock = lambda: now
        two.ask(app, text)
        app.within(app.app.state.tokens.aclose())
        return two.one.client.get(f"/api/tokens/{token.id}", headers=bearer(ADMIN)).json()["last_used_at"]

    assert used(two.one, 1000.0) == 1000.0
    assert used(two.two, 1030.0) == 1000.0
    assert used(two.two, 1095.0) == 1095.0
    assert used(two.one, 1100.0) == 1095.0
