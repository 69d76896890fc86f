"""The server answers as its OpenAPI document says: schemathesis sends requests inside and outside each schema."""

import re
from collections import Counter
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, assume, given, settings
from schemathesis import Case, GenerationMode, openapi
from schemathesis.checks import CHECKS
from schemathesis.core import NOT_SET

from tests.support.running_app import RunningApp
from tests.support.stream_reader import check_stream

QUICKLY = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[*HealthCheck],  # pyright: ignore[reportArgumentType]
)
# operation → what it answers to requests within its schema and, where there is something to get wrong, outside it
OPERATIONS: dict[str, tuple[set[int], set[int]]] = {
    "POST /api/chat/stream": ({200, 422}, {400, 422}),  # a model, a tool or an order of messages may be unknown
    "POST /api/chat": ({200, 422}, {400, 422}),
    "POST /api/chat/variants": ({200, 422}, {400, 422}),
    "POST /v1/chat/completions": ({200, 400, 404}, {400}),
    "POST /api/ai/chat": ({200, 422}, {400, 422}),
    "GET /api/ai/chat/{chat_id}/stream": ({204, 404}, {204, 404, 422}),
    "POST /api/ai/chat/{chat_id}/stop": ({200, 404}, set()),
    "POST /agui": ({200, 422}, {400, 422}),
    "POST /assistant": ({200, 404, 422}, {200, 400, 422}),  # a command that no schema has is accepted
    "GET /assistant/state": ({200}, {200, 422}),
    "POST /assistant/resume": ({404, 422}, {400, 404, 422}),
    "POST /assistant/resume-state": ({204}, {204, 400, 422}),
    "GET /api/runs": ({200, 422}, {200, 422}),  # a time that is none, an owner of others
    "GET /api/runs.ndjson": ({200, 422}, {200, 422}),
    "GET /api/run-stats": ({200, 422}, {200, 422}),
    "GET /api/runs/{run_id}": ({404}, set()),
    "POST /api/runs/{run_id}/stop": ({404}, set()),
    "GET /api/runs/{run_id}/events": ({404}, {404, 422}),
    "DELETE /api/runs/{run_id}": ({404}, set()),
    "GET /api/conversations": ({200}, {200, 422}),
    "POST /api/conversations": ({200, 201}, {400, 422}),
    "GET /api/conversations/{conversation_id}": ({404}, set()),
    "PATCH /api/conversations/{conversation_id}": ({404}, {404}),
    "DELETE /api/conversations/{conversation_id}": ({404}, set()),
    "GET /api/conversations/{conversation_id}/export": ({404}, {404, 422}),
    "GET /api/conversations/{conversation_id}/files": ({404}, {404, 422}),
    "GET /api/conversations/{conversation_id}/files.zip": ({404}, {404, 422}),
    "GET /api/conversations/{conversation_id}/files/{path}": ({404}, {404, 422}),
    "PUT /api/conversations/{conversation_id}/files/{path}": ({404}, {404, 422}),
    "DELETE /api/conversations/{conversation_id}/files/{path}": ({404}, {404, 422}),
    "GET /api/conversations/{conversation_id}/file-versions/{path}": ({404}, {404, 422}),
    "POST /api/conversations/{conversation_id}/file-versions/{path}": ({404}, {404, 422}),
    "GET /api/saves": ({200}, {200, 422}),
    "POST /api/saves": ({404, 422}, {400, 422}),
    "GET /api/saves/{save_id}": ({404}, set()),
    "GET /api/saves/{save_id}/events": ({404}, {404, 422}),
    "DELETE /api/saves/{save_id}": ({404}, set()),
    "GET /api/contract/v1.1.json": ({200}, set()),
    "GET /api/contract/data-table-v1.json": ({200}, set()),
    "GET /api/images/{signed}": ({404}, set()),
    "GET /api/models": ({200, 304}, {422}),
    "GET /v1/models": ({200, 304}, {200, 400}),
    "GET /v1/models/{model_id}": ({404}, set()),
    "GET /api/tools": ({200}, set()),
    "GET /api/flags/tool_loop_v2": ({200}, set()),
    "PUT /api/flags/tool_loop_v2": ({401}, {401}),
    "GET /api/rollout": ({401}, set()),
    "PUT /api/rollout": ({401}, {401}),
    "DELETE /api/rollout": ({401}, set()),
    "GET /api/rollout/audit": ({401}, {401, 422}),
    "GET /api/audit": ({401}, {401, 422}),
    "GET /api/tokens": ({401}, set()),
    "POST /api/tokens": ({401}, {401}),
    "GET /api/tokens/{token_id}": ({401}, set()),
    "PATCH /api/tokens/{token_id}": ({401}, {401}),
    "DELETE /api/tokens/{token_id}": ({401}, set()),
    "POST /api/tokens/{token_id}/rotate": ({401}, {401}),
    "GET /api/groups": ({401}, set()),
    "GET /api/groups/{name}": ({401}, set()),
    "PUT /api/groups/{name}": ({401}, {401, 422}),
    "DELETE /api/groups/{name}": ({401}, set()),
    "GET /api/spend": ({200, 422}, {200, 422}),  # the first day may be after the last
    "GET /api/rollout/shadow": ({401}, {401, 422}),
    "GET /api/webhooks": ({401}, set()),
    "POST /api/webhooks": ({401}, {401}),
    "PATCH /api/webhooks/{webhook_id}": ({401}, {401}),
    "DELETE /api/webhooks/{webhook_id}": ({401}, set()),
    "POST /api/webhooks/{webhook_id}/rotate": ({401}, {401}),
    "POST /api/webhooks/{webhook_id}/test": ({401}, set()),
    "GET /api/webhooks/{webhook_id}/deliveries": ({401}, {401, 422}),
    "GET /api/upstreams": ({401}, set()),
    "POST /api/upstreams/reload": ({401}, set()),
    "GET /api/session": ({200}, set()),
    "GET /api/sessions": ({200}, {422}),
    "DELETE /api/sessions/{session_id}": ({404}, set()),
    "GET /auth/login": ({404}, {404}),  # without a provider
    "GET /auth/callback": ({404}, set()),
    "POST /auth/logout": ({404}, set()),
    "GET /metrics": ({404}, set()),  # tests/scenarios/metrics sets its token
    "GET /health/live": ({200}, set()),
    "GET /health/ready": ({200}, set()),
}
# Requests are sent without the operator token. tests/unit/app/openapi/test_document.py sends it.
OF_THE_OPERATOR = ("{token_id}", "{name}", "{webhook_id}")
# Without a body they are within their schema.
OPTIONAL_BODY = {"POST /api/conversations"}


@pytest.fixture(scope="module")
def operations(app: RunningApp) -> dict[str, Any]:
    """Return the operations of the app's document by label; raises if it is not valid."""
    document: Any = openapi.from_dict(app.app.openapi())
    found = (one.ok() for one in document.get_all_operations())
    return {operation.label: operation for operation in found}


def statuses(app: RunningApp, operation: Any, mode: GenerationMode, **given_: Any) -> Counter[int]:
    """Send a dozen requests to an operation, check each response against the document, and count statuses."""
    seen: Counter[int] = Counter()
    needs_body = mode is GenerationMode.NEGATIVE and operation.label in OPTIONAL_BODY
    # The schema cannot say that a model exists: what fits it may still be refused.
    lenient: list[Any] = CHECKS.get_by_names(["positive_data_acceptance"])

    with requests.Session() as session:
        session.trust_env = False

        @QUICKLY
        @given(case=operation.as_strategy(mode, **given_))
        def ask(case: Case) -> None:
            assume(not needs_body or case.body is not NOT_SET)
            # Not case.call: it leaves a stream after its first events.
            answer = session.request(**case.as_transport_kwargs(base_url=app.url), timeout=10)
            if answer.status_code == 413:  # refused before it is read; schemathesis does not expect this status
                return
            seen[answer.status_code] += 1
            case.validate_response(answer, excluded_checks=lenient)
            if "x-chat-contract" in answer.headers and answer.status_code == 200:
                check_stream(answer.content, resumed=case.method == "GET")

        ask()
    return seen


def test_every_operation_is_asked(operations: dict[str, Any]) -> None:
    """The table above has every operation."""
    assert set(operations) == set(OPERATIONS)


@pytest.mark.parametrize("label", OPERATIONS)
def test_g06_what_fits_the_schema_is_answered_as_described(
    app: RunningApp, operations: dict[str, Any], label: str
) -> None:
    """Status, content type, headers and body are as described, without a 5xx."""
    seen = statuses(app, operations[label], GenerationMode.POSITIVE)
    assert seen
    assert set(seen) <= OPERATIONS[label][0]


@pytest.mark.parametrize("label", [label for label, (_, wrong) in OPERATIONS.items() if wrong])
def test_g06_what_does_not_fit_is_refused_as_described(app: RunningApp, operations: dict[str, Any], label: str) -> None:
    """Requests outside the schema are rejected, without a 5xx."""
    seen = statuses(app, operations[label], GenerationMode.NEGATIVE)
    assert seen
    assert set(seen) <= OPERATIONS[label][1]


@pytest.fixture(scope="module")
def ids(app: RunningApp) -> dict[str, str]:
    """Return the ids of a run, of its conversation and of its save."""
    asked = app.post(prompt="What is 17 * 23?", tools=["calculate"], conversation_id="chat-1")
    run_id = asked.headers["x-run-id"]
    save = app.client.post("/api/saves", json={"run_id": run_id}).json()
    assert app.client.put("/api/conversations/chat-1/files/index.html", content=b"<p>").status_code == 200
    return {
        "run_id": run_id,
        "conversation_id": "chat-1",
        "save_id": save["id"],
        "model_id": "openai/sim",
        "chat_id": "chat-1",
        "path": "index.html",
    }


# An image needs a source to be fetched from: tests/scenarios/products/test_images.py.
OF_ONE = [
    one
    for one in OPERATIONS
    if "{" in one and not one.startswith("DELETE") and not any(name in one for name in ("{signed}", *OF_THE_OPERATOR))
]


@pytest.mark.parametrize("label", OF_ONE)
def test_g06_what_exists_is_answered_as_described(
    app: RunningApp, operations: dict[str, Any], ids: dict[str, str], label: str
) -> None:
    """A run, a conversation, a file and a save match their schemas."""
    names = re.findall(r"{(\w+)}", label)
    given = {name: ids[name] for name in names}
    seen = statuses(app, operations[label], GenerationMode.POSITIVE, path_parameters=given)
    # The schema cannot say which versions a file has.
    assert set(seen) <= {200, 204, 422} | ({404, 409} if "path" in names else set())
    assert seen[200] + seen[204] > 0


def test_methods_that_are_none_are_refused_in_one_shape(app: RunningApp) -> None:
    """An unsupported method is a 405 that names the supported ones."""
    for label in OPERATIONS:
        template = label.partition(" ")[2]
        taken = {method for method, _, path in (one.partition(" ") for one in OPERATIONS) if path == template}
        path = re.sub(r"\{\w+\}", "x", template)
        for method in sorted({"DELETE", "PATCH", "TRACE", "PROPFIND"} - taken):
            answer = app.client.request(method, path)
            assert answer.status_code == 405, (method, path)
            if "/api/ai/" not in path:  # its errors are sentences
                assert answer.json()["error"]["code"].upper() == "METHOD_NOT_ALLOWED"
            assert {one.strip() for one in answer.headers["allow"].split(",")} - {"HEAD"} == taken
