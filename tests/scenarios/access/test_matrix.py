"""Which users can read, change and delete which runs, conversations and saves: every endpoint, caller and owner."""

import json
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from signalbox.app import routers
from signalbox.app.metrics.router import router as metrics
from signalbox.app.protocols import PROTOCOLS
from signalbox.app.routers import chat

from tests.scenarios.access.users import FILE, User, UserApp, create_resources, serve_users
from tests.support.running_app import RunningApp, error_of

OWNERS = ("ada", "guest")
ASKERS = ("ada", "bob", "guest", "operator")
UNKNOWN = {"run_id": "UNKNOWN_RUN", "conversation_id": "UNKNOWN_CONVERSATION", "save_id": "UNKNOWN_SAVE"}
UNKNOWN_ID = "0" * 32
# Endpoints without an id in the path, by what they return. The first test fails for endpoints that are missing here.
LISTS = {"GET /api/runs": "runs", "GET /api/conversations": "conversations", "GET /api/saves": "saves"}
BY_BODY_OR_HEADER = {
    "POST /api/chat",
    "POST /api/chat/stream",
    "POST /api/chat/variants",
    "POST /api/saves",
    "POST /v1/chat/completions",
    "POST /agui",
    "POST /api/ai/chat",
    "POST /assistant",
    "POST /assistant/resume",
}
# The id of a thread names the caller's own conversation; another user's thread of the same id is another one.
BY_THREAD = {
    "GET /api/ai/chat/{chat_id}/stream": {"params": {"finished": True}},
    "POST /api/ai/chat/{chat_id}/stop": {},
    "GET /assistant/state": {"params": {"threadId": "{chat_id}"}},
    "POST /assistant/resume-state": {"json": {"threadId": "{chat_id}"}},
}
MAKES = {"POST /api/conversations"}
# Public like the API description: needs no token. The signature in an image's path allows exactly this image.
PUBLIC = {
    "GET /api/contract/v1.1.json",
    "GET /api/contract/data-table-v1.json",
    "GET /api/images/{signed}",
    "GET /health/live",
    "GET /health/ready",
    "GET /api/session",
    "GET /auth/callback",
    "GET /auth/login",
    "POST /auth/logout",
    "GET /metrics",
}
OF_EVERYBODY = {
    "GET /api/spend",  # each caller's own: tests/scenarios/spend/test_report.py
    "GET /api/sessions",  # each person's own: tests/scenarios/sign_in/test_session_list.py
    "DELETE /api/sessions/{session_id}",
    "GET /api/models",
    "GET /api/tools",
    "GET /api/flags/tool_loop_v2",
    "PUT /api/flags/tool_loop_v2",
    "GET /v1/models",
    "GET /v1/models/{model_id}",
}
OF_THE_OPERATOR = {
    "GET /api/rollout",
    "PUT /api/rollout",
    "DELETE /api/rollout",
    "GET /api/rollout/audit",
    "GET /api/audit",
    "GET /api/upstreams",
    "POST /api/upstreams/reload",
    "GET /api/tokens",
    "POST /api/tokens",
    "GET /api/tokens/{token_id}",
    "PATCH /api/tokens/{token_id}",
    "DELETE /api/tokens/{token_id}",
    "POST /api/tokens/{token_id}/rotate",
    "GET /api/groups",
    "GET /api/groups/{name}",
    "PUT /api/groups/{name}",
    "DELETE /api/groups/{name}",
    "GET /api/rollout/shadow",
    "GET /api/webhooks",
    "POST /api/webhooks",
    "PATCH /api/webhooks/{webhook_id}",
    "DELETE /api/webhooks/{webhook_id}",
    "POST /api/webhooks/{webhook_id}/rotate",
    "POST /api/webhooks/{webhook_id}/test",
    "GET /api/webhooks/{webhook_id}/deliveries",
}
# They return what GET /api/runs lists: tests/unit/runs/test_filters.py.
OF_LISTED_RUNS = {"GET /api/runs.ndjson", "GET /api/run-stats"}
PREFIXES = ("/api", "/v1", "/health", "/metrics", "/agui", "/assistant", "/auth")
BODIES: dict[str, Any] = {
    "PATCH /api/conversations/{conversation_id}": {"title": "Mine now"},
    "POST /api/conversations/{conversation_id}/file-versions/{path}": {"version": 1},
}


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserApp]:
    """Serve an app with two users who each own one of everything."""
    with serve_users(tmp_path_factory.mktemp("data")) as made:
        for name in OWNERS:
            create_resources(made[name])
        yield made


def operations(app: RunningApp) -> list[str]:
    """Return all operations of the API description; check that the routes have the same."""
    described = {
        f"{method.upper()} {path}" for path, methods in app.app.openapi()["paths"].items() for method in methods
    }
    names = [f"{routers.__name__}.{found.name}" for found in iter_modules(routers.__path__) if found.name != "chat"]
    names += [
        *("signalbox.app.sign_in.routes", "signalbox.app.webhooks.router", "signalbox.app.shadow.router"),
        *("signalbox.app.rollout.routes", "signalbox.app.audit.routes", "signalbox.app.sign_in.session_routes"),
    ]
    # Included routers are not among the app's own routes.
    groups = [chat.router_of(PROTOCOLS).routes, metrics.routes, *(import_module(name).router.routes for name in names)]
    routed = {
        f"{method} {route.path_format}"
        for route in [*app.app.routes, *chain(*groups)]
        if isinstance(route, APIRoute) and route.path.startswith(PREFIXES) and route.include_in_schema
        for method in (route.methods or set()) - {"HEAD"}  # as GET, without the body
    }
    assert routed == described
    return sorted(described)


def with_ids(app: RunningApp) -> list[tuple[str, str]]:
    """Return the operations on one resource, each with the name of its id."""
    found = [
        (one, re.findall(r"{((?!path})\w+)}", one))  # a path is within one resource
        for one in operations(app)
        if one not in OF_EVERYBODY | OF_THE_OPERATOR | PUBLIC | {*BY_THREAD}
    ]
    assert all(len(names) <= 1 for _, names in found)
    return [(operation, names[0]) for operation, names in found if names]


def send(user: User, operation: str, thing_id: str) -> httpx.Response:
    """Call an operation on a resource."""
    method, path = re.sub(r"{\w+}", thing_id, operation.replace("{path}", FILE)).split(" ")
    return user.client.request(method, path, json=BODIES.get(operation))


def may(asker: User, owner: User, name: str) -> bool:
    """Return whether access is allowed: to one's own resources, and for the operator to every run."""
    return asker.owner == owner.owner or (asker.is_operator and name == "run_id")


def test_every_endpoint_is_in_the_matrix(users: UserApp) -> None:
    """A new endpoint has an id in its path or is listed above."""
    by_id = dict(with_ids(users.app))
    assert set(by_id.values()) == set(UNKNOWN)
    listed = {*LISTS, *BY_THREAD} | BY_BODY_OR_HEADER | MAKES | OF_EVERYBODY | OF_LISTED_RUNS | OF_THE_OPERATOR | PUBLIC
    assert {*by_id} | listed == {*operations(users.app)}


@pytest.mark.parametrize("operation", sorted(OF_THE_OPERATOR))
def test_only_the_operator_reaches_these(users: UserApp, operation: str) -> None:
    """Any other token is a 401 that says which one is needed."""
    for asked_by in ASKERS:
        response = send(users[asked_by], operation, UNKNOWN_ID)
        if asked_by == "operator":
            # Nothing has this id, there is no file to reload, and the bodies of the table above are missing.
            assert response.status_code in (200, 404, 400, 422), response.text
        else:
            assert (response.status_code, error_of(response)["field"]) == (401, "Authorization")


@pytest.mark.parametrize("owned_by", OWNERS)
@pytest.mark.parametrize("asked_by", ASKERS)
def test_of_others_nothing_is_told_nor_changed(users: UserApp, asked_by: str, owned_by: str) -> None:
    """A resource of another user gives the same bytes as a missing one, and stays unchanged."""
    asker, owner = users[asked_by], users[owned_by]
    for operation, name in with_ids(users.app):
        if may(asker, owner, name):
            continue
        ids = [owner.resources[name]] + ([owner.resources["answer_id"]] if name == "run_id" else [])
        nothing = send(asker, operation, UNKNOWN_ID)
        assert (nothing.status_code, error_of(nothing)["code"]) == (404, UNKNOWN[name]), operation
        for thing_id in ids:
            refused = send(asker, operation, thing_id)
            assert (refused.status_code, refused.content) == (404, nothing.content), (operation, asked_by)
            assert set(refused.headers) == set(nothing.headers)
    for kind in LISTS.values():
        assert owner.listed(kind), "it is all there"
    assert owner.client.get(f"/api/conversations/{owner.resources['conversation_id']}").json()["title"] != "Mine now"


def in_thread(user: User, operation: str, thread: str) -> httpx.Response:
    """Call an operation on a thread."""
    method, path = operation.replace("{chat_id}", thread).split(" ")
    return user.client.request(
        method, path, **json.loads(json.dumps(BY_THREAD[operation]).replace("{chat_id}", thread))
    )


@pytest.mark.parametrize("operation", BY_THREAD)
def test_a_thread_is_ones_own(users: UserApp, operation: str) -> None:
    """The id of another user's thread gives the same response as an unknown one."""
    for asked_by in ("bob", "operator"):
        unknown = in_thread(users[asked_by], operation, UNKNOWN_ID)
        for owner in OWNERS:
            if users[owner].owner == users[asked_by].owner:  # the operator's conversations are those without a token
                continue
            other = in_thread(users[asked_by], operation, users[owner].resources["conversation_id"])
            texts = [one.text.replace(UNKNOWN_ID, "ID").replace(f"talk-of-{owner}", "ID") for one in (unknown, other)]
            assert (other.status_code, texts[1]) == (unknown.status_code, texts[0]), asked_by


def test_a_thread_has_the_answers_of_its_owner(users: UserApp) -> None:
    """The owner gets the state of its thread, and can replay its last answer."""
    state = in_thread(users["ada"], "GET /assistant/state", "talk-of-ada").json()
    assert [message["type"] for message in state["messages"]][:1] == ["human"]
    replayed = in_thread(users["ada"], "GET /api/ai/chat/{chat_id}/stream", "talk-of-ada")
    assert "text-delta" in replayed.text


@pytest.mark.parametrize("owned_by", OWNERS)
@pytest.mark.parametrize("asked_by", ASKERS)
def test_a_run_is_resumed_and_saved_by_its_id(users: UserApp, asked_by: str, owned_by: str) -> None:
    """Last-Event-ID resumes only visible runs; users, including the operator, can save only their own runs."""
    asker, owner = users[asked_by], users[owned_by]
    run_id = owner.resources["run_id"]
    for thing_id, is_seen, is_own in (
        (run_id, may(asker, owner, "run_id"), asker.owner == owner.owner),
        (UNKNOWN_ID, False, False),
    ):
        headers = {"last-event-id": f"{thing_id}:1"}
        resumed = asker.client.post("/api/chat/stream", headers=headers)
        assert resumed.status_code == (200 if is_seen else 404), asked_by
        other = asker.client.post("/v1/chat/completions", headers=headers)
        assert other.status_code == resumed.status_code, asked_by
        saved = asker.client.post("/api/saves", json={"run_id": thing_id})
        assert saved.status_code == (200 if is_own else 404), asked_by
        for refused in [resumed] * (not is_seen) + [saved] * (not is_own):
            assert error_of(refused)["code"] == "UNKNOWN_RUN"
    past = {"last-event-id": f"{run_id}:999999"}
    assert asker.client.post("/api/chat/stream", headers=past).status_code == (
        204 if may(asker, owner, "run_id") else 404
    )


@pytest.mark.parametrize("asked_by", ASKERS)
def test_lists_hold_ones_own(users: UserApp, asked_by: str) -> None:
    """Lists contain only the caller's resources; the operator's list of runs contains all runs with their owners."""
    asker = users[asked_by]
    for kind, name in (("runs", "run_id"), ("conversations", "conversation_id"), ("saves", "save_id")):
        listed = {line.get("run_id" if kind == "runs" else "id") for line in asker.listed(kind, limit=200)}
        for owner in OWNERS:
            assert (users[owner].resources[name] in listed) == may(asker, users[owner], name), (kind, owner)
    assert ("owner" in (asker.listed("runs") or [{}])[0]) == asker.is_operator


def test_the_operator_sees_whose_a_run_is(users: UserApp) -> None:
    """The operator sees the owner's token name; a run without a token has no owner."""
    ada, guest, operator = users["ada"], users["guest"], users["operator"]
    whose = {line["run_id"]: line["owner"] for line in operator.listed("runs", limit=200)}
    assert whose[ada.resources["run_id"]] == {"id": ada.owner, "name": "ada"}
    assert whose[guest.resources["run_id"]] is None
    trace = operator.client.get(f"/api/runs/{ada.resources['answer_id']}").json()
    assert trace["owner"] == {"id": ada.owner, "name": "ada"}
    assert trace["conversation_id"] == "talk-of-ada"
    own = ada.client.get(f"/api/runs/{ada.resources['answer_id']}").json()
    assert trace == {**own, "owner": trace["owner"]}


def test_search_finds_ones_own(users: UserApp) -> None:
    """Search finds only the caller's conversations."""
    for name in ASKERS:
        found = [line["id"] for line in users[name].listed("conversations", search="tool loop")]
        assert found == {"ada": ["talk-of-ada"], "bob": []}.get(name, ["talk-of-guest"])


def test_pages_of_a_list_stay_ones_own(users: UserApp) -> None:
    """A page cursor of another user continues in the caller's own list."""
    ada, bob = users["ada"], users["bob"]
    for number in range(3):
        made = ada.client.post("/api/conversations", json={"id": f"page-{number}"})
        assert made.status_code == 201
    seen: list[str] = []
    before: str | None = None
    while len(seen) < 10:  # an invalid cursor would start again from the first page, forever
        params = {"limit": 1} | ({"before": before} if before else {})
        page = ada.client.get("/api/conversations", params=params).json()
        seen += [line["id"] for line in page["conversations"]]
        if before:
            assert bob.client.get("/api/conversations", params=params).json()["conversations"] == []
        before = page["next"]
        if before is None:
            break
    assert len(seen) == len(set(seen))
    assert {"page-0", "page-1", "page-2", "talk-of-ada"} <= {*seen}


def last(operation: tuple[str, str]) -> tuple[bool, bool]:
    """Sort deletions last, and those of a conversation after those of its file."""
    return operation[0].startswith("DELETE"), "{path}" not in operation[0]


@pytest.mark.parametrize("asked_by", ["ada", "operator"])
def test_what_may_be_done_is_done(users: UserApp, asked_by: str) -> None:
    """Owners open, change and delete their resources; the operator reads, stops and deletes any run."""
    owner, asker = User("fresh", users["ada"].owner, users["ada"].client), users[asked_by]
    create_resources(owner)
    for operation, name in sorted(with_ids(users.app), key=last):
        if not may(asker, owner, name):
            continue
        done = send(asker, operation, owner.resources[name])
        assert done.status_code == 200, (operation, done.text)
    for name, path in (("run_id", "runs"), ("save_id", "saves"), ("conversation_id", "conversations")):
        left = owner.client.get(f"/api/{path}/{owner.resources[name]}")
        assert left.status_code == (404 if may(asker, owner, name) else 200)


def test_requests_without_a_token_are_rejected(users: UserApp) -> None:
    """Every endpoint that is not public requires a token."""
    anonymous = User("anonymous", "", users.app.client)
    for operation in operations(users.app):
        answer = send(anonymous, operation, UNKNOWN_ID)
        assert (answer.status_code == 401) == (operation not in PUBLIC), operation


def test_a_fault_in_a_request_tells_nothing_of_others(users: UserApp) -> None:
    """Ownership is checked before the cursor, so a wrong cursor does not reveal whether a run exists."""
    for run_id in (users["ada"].resources["run_id"], UNKNOWN_ID):
        refused = users["bob"].client.get(f"/api/runs/{run_id}/events", headers={"last-event-id": "no cursor"})
        assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_RUN")
    for save_id in (users["ada"].resources["save_id"], UNKNOWN_ID):
        refused = users["bob"].client.get(f"/api/saves/{save_id}/events", headers={"last-event-id": "no cursor"})
        assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_SAVE")
