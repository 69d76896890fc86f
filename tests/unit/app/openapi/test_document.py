"""The OpenAPI document is valid and complete, and the server's JSON is what it says, without undeclared fields."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31
from signalbox.app.openapi.examples import RESPONSES

from tests.scenarios.access.users import User, UserApp, serve_users
from tests.scenarios.files.every_endpoint import use_files
from tests.support.openapi import Conformance
from tests.support.running_app import RunningApp
from tests.unit.app.openapi.operation_ids import OPERATION_IDS
from tests.unit.app.openapi.operator_requests import manage_tokens, manage_webhooks, roll_out

Json = dict[str, Any]
# In Rust: the same check in Python takes ten seconds.
OPENAPI = jsonschema_rs.Draft202012Validator(OPENAPI_31)
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


@pytest.fixture(scope="module")
def document(app: RunningApp) -> Json:
    """Return the document as a client reads it."""
    return app.client.get("/openapi.json").json()


def operations(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield every operation with its method and path."""
    for path, found in document["paths"].items():
        for method, operation in found.items():
            yield f"{method.upper()} {path}", operation


def json_schemas(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield the schema of every JSON response, with the operation and the status."""
    for label, operation in operations(document):
        for status, response in operation["responses"].items():
            for kind, content in response.get("content", {}).items():
                if kind.endswith("json"):
                    yield f"{label} {status}", content["schema"]


def references(value: Any) -> Iterator[str]:
    """Yield every $ref."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_names_of_schemas_are_short(document: Json) -> None:
    """Pydantic puts the module before the name if two models have the same name."""
    assert [name for name in document["components"]["schemas"] if "__" in name] == []


def test_the_document_is_valid_openapi_3_1(document: Json) -> None:
    """It matches the specification's own schema, and every component is a JSON Schema (2020-12)."""
    assert document["openapi"].startswith("3.1")
    faults = [f"{error.instance_path}: {error.message}" for error in OPENAPI.iter_errors(document)]
    assert not faults
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": DIALECT, **schema})


def test_every_reference_resolves_and_every_component_is_used(document: Json) -> None:
    """Each $ref names a component, and no component is left over."""
    components = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) == components


def test_every_json_response_has_a_schema(document: Json) -> None:
    """Successes and errors of all operations."""
    schemas = dict(json_schemas(document))
    assert all(schemas.values()), [label for label, schema in schemas.items() if not schema]
    streams_and_texts = {OPERATION_IDS[name] for name in ("answerAiChat", "resumeAiChat")}
    assert {label.rpartition(" ")[0] for label in schemas} == set(OPERATION_IDS.values()) - streams_and_texts


def test_operation_ids_are_stable(document: Json) -> None:
    """Generated clients name their methods after them."""
    assert {operation["operationId"]: label for label, operation in operations(document)} == OPERATION_IDS


def test_every_operation_has_a_described_tag_a_summary_and_a_description(document: Json) -> None:
    """The reference page groups operations by tag."""
    tags = {tag["name"]: tag["description"] for tag in document["tags"]}
    for label, operation in operations(document):
        assert operation["summary"], label
        assert operation["description"], label
        assert [tags[tag] for tag in operation["tags"]], label


@pytest.mark.parametrize("name", RESPONSES)
def test_every_example_matches_its_schema(document: Json, name: str) -> None:
    """An example has no undeclared field."""
    assert name in document["components"]["schemas"]
    assert not Conformance(document).faults_in(RESPONSES[name], {"$ref": f"#/components/schemas/{name}"})


# --- responses --------------------------------------------------------------------------------------------------------


def ask(person: User, **body: Any) -> str:
    """Ask a question; return the id of its run."""
    response = person.client.post("/api/chat/stream", json={"model": "openai/sim", **body})
    assert response.status_code == 200, response.text
    return response.headers["x-run-id"]


def ask_whole(ada: User) -> None:
    """Ask for whole answers: with calls, of a failed run, rejected; and for variants, of which one is rejected."""
    for body in (
        {"prompt": "What is 17 * 23? Then search for the tool loop", "conversation_id": "chat-4"},
        {"prompt": "Hello!", "model": "openai/sim-error-401"},
        {"prompt": "What is the tool loop?", "model": "openai/sim-length"},
        {"prompt": "Draw a cat", "model": "google/gemini-2.5-flash-image"},
        {"prompt": ""},
    ):
        ada.client.post("/api/chat", json={"model": "openai/sim", **body})
    ada.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hello!", "stream": False})
    variants = {"conversation_id": "chat-5", "variants": [{}, {"model": "unknown/model"}]}
    ada.client.post("/api/chat/variants", json={"model": "openai/sim", "prompt": "Hello!", **variants})


def ask_everything(ada: User) -> dict[str, str]:
    """Make runs of every kind; return their ids."""
    chat = {"conversation_id": "chat-1"}
    image = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    history = [
        {"role": "user", "content": "What is 6*7?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "calculate", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
        {"role": "user", "content": "Thanks."},
    ]
    runs = {
        "plain": ask(ada, prompt="Hello!", tools=[]),
        "tools": ask(
            ada, prompt="What is 17 * 23? Then search for the tool loop", **chat, system="Be brief.", column=1
        ),
        "failed": ask(ada, prompt="Hello!", model="openai/sim-error-401", **chat),
        "call failed": ask(ada, prompt='Call calculate {"expression": "6*"}', **chat),
        "image": ask(ada, messages=[{"role": "user", "content": image}], model="google/sim", **chat),
        "history": ask(ada, messages=history, conversation_id="chat-2"),
        "cut": ask(ada, prompt="What is the tool loop?", model="openai/sim-length", conversation_id="chat-3"),
    }
    runs["continued"] = ask(
        ada, model="openai/sim-length", conversation_id="chat-3", parent_id=runs["cut"], **{"continue": True}
    )
    return runs


def read_runs(user_app: UserApp, runs: dict[str, str]) -> None:
    """Read every run and list them, as owner and as operator; stop and delete some."""
    ada, operator = user_app["ada"].client, user_app["operator"].client
    for run_id in runs.values():
        for client in (ada, operator):
            assert client.get(f"/api/runs/{run_id}").status_code == 200
        ada.get(f"/api/runs/{run_id}/events")
    ada.get(f"/api/runs/{runs['plain']}/events", params={"after": 1_000_000})
    for client in (ada, operator):
        client.get("/api/runs", params={"limit": 2})
        client.get("/api/runs", params={"status": ["error", "complete"]})
        client.get("/api/runs.ndjson")
        client.get("/api/run-stats")
    ada.get("/api/runs", params={"limit": 0})
    ada.get("/api/runs", params={"unknown": 1})
    for path in (f"/api/runs/{runs['tools']}", "/api/runs/none"):
        ada.post(f"{path}/stop")
        ada.delete(path)
        ada.get(path)
        ada.get(f"{path}/events")
    ada.delete(f"/api/runs/{runs['plain']}")


def read_conversations(ada: User) -> None:
    """Create, list, search, read, change, export and delete conversations."""
    client = ada.client
    for _ in range(2):
        client.post("/api/conversations", json={"title": "Empty", "id": "chat-0"})
    client.post("/api/conversations")
    client.post("/api/conversations", content=b"{")
    client.get("/api/conversations", params={"limit": 1})
    client.get("/api/conversations", params={"search": "tool"})
    for path in (f"/api/conversations/chat-{n}" for n in range(6)):  # the last one does not exist
        client.get(path)
        client.get(f"{path}/export")
        client.get(f"{path}/export", params={"format": "json"})
        client.patch(path, json={"title": "Renamed"})
    client.patch("/api/conversations/chat-1", json={"leaf_id": "none"})
    use_files(client)


def read_saves(ada: User, runs: dict[str, str]) -> None:
    """Save runs, read and replay the saves, delete one."""
    client = ada.client
    made = [
        client.post("/api/saves", json={"run_id": run_id, "data": {"tab": 1}}).json()["id"]
        for run_id in (runs["tools"], runs["failed"], runs["continued"])
    ]
    client.post("/api/saves", json={"run_id": "none"})
    client.post("/api/saves", json={})
    client.get("/api/saves", params={"limit": 1})
    for save_id in (*made, "none"):
        client.get(f"/api/saves/{save_id}")
        client.get(f"/api/saves/{save_id}/events")
    client.get(f"/api/saves/{made[0]}/events", params={"after": 1_000_000})
    client.delete("/api/conversations/chat-1")  # its saves are counted
    client.delete("/api/conversations/chat-1")
    for _ in range(2):
        client.delete(f"/api/saves/{made[0]}")


def read_the_rest(user_app: UserApp) -> None:
    """Read the lists, the flag and the probes; set the flag."""
    ada, operator = user_app["ada"].client, user_app["operator"].client
    hello = {"messages": [{"role": "user", "content": "Hello!"}]}
    for model in ("openai/sim", "openai/sim-error-402", "openai/sim-error-429-0", "unknown/model"):
        for stream in (True, False):
            ada.post("/v1/chat/completions", json={"model": model, "stream": stream, **hello})
    for path in ("/api/models", "/api/tools", "/api/contract/v1.1.json", "/api/contract/data-table-v1.json"):
        ada.get(path)
    for path in ("/health/live", "/health/ready", "/api/session", "/auth/login", "/auth/callback"):
        ada.get(path)
    ada.post("/auth/logout")
    ada.get("/api/sessions")
    operator.delete("/api/sessions/none")
    for client in (ada, operator):
        client.get("/api/upstreams")
        client.post("/api/upstreams/reload")
    ada.get("/api/models", headers={"if-none-match": "*"})
    for path in ("/v1/models", "/v1/models/openai%2Fsim", "/v1/models/nothing", "/v1/models?a=b"):
        ada.get(path)
    manage_tokens(operator)
    roll_out(operator)
    for client in (ada, operator):
        for by in ("owner", "model", "day", "group", "colour"):
            client.get("/api/spend", params={"group_by": by})
    manage_webhooks(operator)
    flag = "/api/flags/tool_loop_v2"
    ada.get(flag)
    ada.put(flag, json={"state": "off"})
    operator.put(flag, json={"state": "off", "percent": 3})
    for override in ({"state": "percent", "percent": 10}, {"state": "on"}):
        operator.put(flag, json=override)
        ada.get(flag)
        ada.get("/health/ready")


def ask_as_ai_sdk(ada: User) -> None:
    """Send, resume and stop a chat of the AI SDK, and make its errors."""
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello!"}]}
    for model in ("openai/sim", "no/such"):
        ada.client.post("/api/ai/chat", json={"id": "ai-1", "model": model, "messages": [message]})
    for query in ("", "?finished=true", "?a=b"):
        ada.client.get(f"/api/ai/chat/ai-1/stream{query}")
    ada.client.post("/api/ai/chat/ai-1/stop")


def run_agent(person: User) -> None:
    """Run an agent as a client of AG-UI does."""
    message = {"id": "m1", "role": "user", "content": "Hello!"}
    run = {"threadId": "agent", "runId": "run-1", "messages": [message]}
    for props in ({"model": "openai/sim"}, {}):
        person.client.post("/agui", json={**run, "forwardedProps": props})


def use_assistant(person: User) -> None:
    """Ask as a page of assistant-ui does, read its thread, and resume in mid-answer."""
    said = {"role": "user", "parts": [{"type": "text", "text": "Hello!"}]}
    body = {"model": "openai/sim", "threadId": "page", "commands": [{"type": "add-message", "message": said}]}
    first = person.client.post("/assistant", json=body)
    person.client.get("/assistant/state", params={"threadId": "page"})
    person.client.post("/assistant/resume", json={"runId": first.headers["x-run-id"]})
    with person.client.stream("POST", "/assistant", json={**body, "model": "openai/sim-long-20000"}) as response:
        lines = response.iter_lines()
        next(lines)
        person.client.post("/assistant/resume-state", json={"threadId": "page"})


def test_every_response_is_as_described(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs with tools, failures and continuations, conversations, saves, flags: every field is declared."""
    with serve_users(tmp_path_factory.mktemp("data"), signalbox_max_streams_per_user=8) as user_app:
        conformance = Conformance(user_app.app.app.openapi())
        for person in user_app.people.values():
            conformance.watch(person.client)
        runs = ask_everything(user_app["ada"])
        ask_whole(user_app["ada"])
        use_assistant(user_app["ada"])
        run_agent(user_app["ada"])
        read_conversations(user_app["ada"])
        read_runs(user_app, runs)
        read_saves(user_app["ada"], runs)
        ask_as_ai_sdk(user_app["ada"])
        read_the_rest(user_app)
        user_app["ada"].client.headers["authorization"] = "Bearer wrong"
        for path in ("/api/runs", "/v1/models"):
            user_app["ada"].client.get(path, headers={"authorization": "Bearer wrong"})
            user_app["ada"].client.get(path, headers={"authorization": "Bearer wrong", "x-api-key": "other"})
    seen = conformance.seen
    # An image needs a source outside, a reload a file, and metrics a token: tests/scenarios/products/test_images.py,
    # tests/scenarios/upstreams/test_operator.py and tests/scenarios/metrics/test_scrape.py have them. A sign-in needs a
    # provider: tests/scenarios/sign_in/.
    assert {name for name, statuses in seen.items() if statuses & {200, 201}} == set(OPERATION_IDS) - {
        "getImage",
        "getMetrics",
        "reloadUpstreams",
        "startSignIn",
        "finishSignIn",
        "signOut",
        "endSession",
    }
    assert seen["answerChat"] == {200, 422}
    assert seen["listRuns"] == {200, 400, 401, 422}
    assert seen["createConversation"] == {200, 201, 400}
    assert seen["deleteRun"] == {200, 404, 409}
    assert seen["getReadiness"] == {200}
