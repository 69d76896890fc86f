"""Users of the host: each has separate runs and conversations, over every client protocol."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response
from signalbox.app import signalbox_app

from tests.scenarios.access.users import bearer
from tests.scenarios.embedding.hosts import serving_host
from tests.scenarios.embedding.requests import QUESTIONS
from tests.support.running_app import error_of, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, no_models, says

ADMIN = "operator-operator"
ADA, BOB = ({"cookie": f"session={name}"} for name in ("ada", "bob"))
# The same thread or chat for every user, and where a client reads it.
THREADS: dict[str, dict[str, Any]] = {
    "/api/chat/stream": {"conversation_id": "same"},
    "/api/chat": {"conversation_id": "same"},
    "/api/ai/chat": {"id": "same"},
    "/assistant": {"threadId": "same"},
    "/assistant/transport": {"threadId": "same"},
    "/agui": {"threadId": "same"},
}


async def _owner_of(request: Request) -> str | None:
    """Return the user whom the host's middleware found."""
    return request.state.user


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    """Serve a provider that always gives the same answer."""
    with ScriptedUpstream(says("Yes."), models=no_models) as made:
        yield made


@pytest.fixture(scope="module")
def client(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Serve a host whose middleware finds the user of a session."""
    settings = settings_for(
        tmp_path_factory.mktemp("data"), openrouter_base_url=upstream.base_url, signalbox_admin_token=ADMIN
    )
    chat = signalbox_app(settings, owner_of=_owner_of)
    host = FastAPI(lifespan=chat.lifespan)

    @host.middleware("http")
    async def find_user(request: Request, call_next: Any) -> Response:
        request.state.user = request.cookies.get("session")
        return await call_next(request)

    host.mount("/chat", chat)
    with serving_host(host) as served:
        served.base_url = f"{served.base_url}/chat"
        yield served


@pytest.mark.parametrize("path", QUESTIONS)
def test_a_run_belongs_to_its_user(client: httpx.Client, path: str) -> None:
    """A request without a login is a 401, and another user's run is a 404, as one that does not exist."""
    assert client.post(path, json=QUESTIONS[path]).status_code == 401
    answer = client.post(path, json=QUESTIONS[path], headers=ADA)
    assert answer.status_code == 200, answer.text
    run_id = answer.headers["x-run-id"]
    for end in ("", "/events"):
        assert client.get(f"/api/runs/{run_id}{end}", headers=ADA).status_code == 200
        assert client.get(f"/api/runs/{run_id}{end}").status_code == 401
        foreign = client.get(f"/api/runs/{run_id}{end}", headers=BOB)
        missing = client.get(f"/api/runs/{'0' * 32}{end}", headers=BOB)
        assert (foreign.status_code, foreign.content) == (404, missing.content)
    assert client.post(f"/api/runs/{run_id}/stop", headers=BOB).status_code == 404
    assert client.delete(f"/api/runs/{run_id}", headers=BOB).status_code == 404
    assert run_id in _listed(client, "runs", "run_id", ADA)
    assert run_id not in _listed(client, "runs", "run_id", BOB)


@pytest.mark.parametrize("path", THREADS)
def test_a_thread_of_the_same_name_is_another_one(client: httpx.Client, upstream: ScriptedUpstream, path: str) -> None:
    """Two users may choose the same id: no message of one reaches the model, or the page, of the other."""
    thread = {**QUESTIONS[path], **THREADS[path]}
    thread.pop("state", None)
    for headers in (ADA, BOB):
        client.delete("/api/conversations/same", headers=headers)
        answer = client.post(path, json=thread, headers=headers)
        assert answer.status_code == 200, answer.text
        texts = [one["content"] for one in upstream.asked[-1].body["messages"] if one["role"] == "user"]
        assert texts == ["Hello!"]
    for headers in (ADA, BOB):
        assert "same" in _listed(client, "conversations", "id", headers)
    assert client.delete("/api/conversations/same", headers=ADA).status_code == 200
    for read in ("/api/conversations/same", "/assistant/state?threadId=same", "/api/ai/chat/same/stream"):
        assert client.get(read).status_code == 401
    assert client.get("/api/conversations/same", headers=ADA).status_code == 404
    assert "Yes." not in client.get("/assistant/state?threadId=same", headers=ADA).text
    assert len(client.get("/api/conversations/same", headers=BOB).json()["messages"]) == 2
    assert "Yes." in client.get("/assistant/state?threadId=same", headers=BOB).text


def test_saves_and_keys_belong_to_a_user(client: httpx.Client) -> None:
    """Two users may send the same Idempotency-Key, and cannot read or save what belongs to the other."""
    ids = [
        client.post(
            "/api/chat", json=QUESTIONS["/api/chat"], headers={**headers, "idempotency-key": "same-key-of-two"}
        ).headers["x-run-id"]
        for headers in (ADA, BOB)
    ]
    assert ids[0] != ids[1]
    assert client.post("/api/saves", json={"run_id": ids[0]}, headers=BOB).status_code == 404
    save_id = client.post("/api/saves", json={"run_id": ids[0]}, headers=ADA).json()["id"]
    assert client.get(f"/api/saves/{save_id}/events", headers=ADA).status_code == 200
    assert client.get(f"/api/saves/{save_id}/events", headers=BOB).status_code == 404
    assert _listed(client, "saves", "id", BOB) == []


def test_tokens_of_signalbox_stay_valid(client: httpx.Client) -> None:
    """The operator sees all users' runs. A token of another service is the host's business."""
    run_id = client.post("/api/chat", json=QUESTIONS["/api/chat"], headers=ADA).headers["x-run-id"]
    (run,) = (one for one in client.get("/api/runs", headers=bearer(ADMIN)).json()["runs"] if one["run_id"] == run_id)
    assert run["owner"] == {"id": "user:ada", "name": None}
    assert client.get("/api/runs", headers=bearer("eyJ.of.the-host")).status_code == 401
    assert client.get("/api/runs", headers={**ADA, **bearer("eyJ.of.the-host")}).status_code == 200
    gateway = {**ADA, **bearer("eyJ.of.the-host"), "x-api-key": "key-of-a-gateway"}
    assert client.get("/api/runs", headers=gateway).status_code == 200
    assert client.get("/api/runs", headers={**gateway, "x-api-key": ADMIN}).json()["all_owners"]
    rejected = client.get("/api/runs", headers={**ADA, **bearer("sb-0123456789ab-wrong")})
    assert (rejected.status_code, error_of(rejected)["code"]) == (401, "UNAUTHORIZED")


def test_pages_need_no_user(client: httpx.Client) -> None:
    """The public paths are those of a server that requires a token; the user's documents are not among them."""
    for path, status in (("/", 200), ("/health/ready", 200), ("/openapi.json", 200), ("/notes/x.md", 401)):
        assert client.get(path).status_code == status, path


def _listed(client: httpx.Client, what: str, name: str, headers: dict[str, str]) -> list[str]:
    return [one[name] for one in client.get(f"/api/{what}", headers=headers).json()[what]]
