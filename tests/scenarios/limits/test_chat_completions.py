"""Limits, budgets, owners and idempotency hold for chat completions, with the statuses that OpenAI's clients know."""

from typing import Any

import httpx
import pytest

from tests.scenarios.limits.conftest import Among
from tests.support.running_app import RunningApp, openai_error_of, settings_for
from tests.support.scripted_upstream import holds, says

ANNA, BERT = {"x-user": "anna"}, {"x-user": "bert"}
PATHS = ("/v1/chat/completions", "/api/v1/chat/completions")
HELLO = [{"role": "user", "content": "Hello!"}]


def post(app: RunningApp, headers: dict[str, str], path: str = PATHS[0], **body: Any) -> httpx.Response:
    """Send a question, and read the answer to its end."""
    return app.client.post(path, json={"model": "openai/sim", "messages": HELLO, **body}, headers=headers)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("path", PATHS)
def test_the_rate_limit(among: Among, path: str, stream: bool) -> None:
    """One question too many is a 429 with the time to wait; each user has a separate limit."""
    app, upstream = among(says("Hello."), signalbox_rate_limit="1/hour")
    assert post(app, ANNA, path, stream=stream).status_code == 200
    refused = post(app, ANNA, path, stream=stream)
    code = "rate_limit_exceeded" if path == PATHS[0] else 429  # OpenRouter's codes are the status
    assert (refused.status_code, openai_error_of(refused)["code"]) == (429, code)
    assert int(refused.headers["retry-after"]) > 3500
    assert post(app, BERT, path, stream=stream).status_code == 200
    assert len(upstream.asked) == 2


def test_runs_at_once(among: Among) -> None:
    """The limit counts runs of all protocols together."""
    app, upstream = among(holds, signalbox_max_runs_per_user=1)
    asked = {"model": "openai/sim", "prompt": "Hi", "tools": []}
    with app.client.stream("POST", "/api/chat/stream", json=asked, headers=ANNA) as running:
        refused = post(app, ANNA)
        assert refused.status_code == 429
        assert openai_error_of(refused)["type"] == "requests"
        assert refused.headers["retry-after"] == "2"
        assert app.client.post(f"/api/runs/{running.headers['x-run-id']}/stop", headers=ANNA).json()["stopped"]
    assert len(upstream.asked) <= 1


def test_a_large_body(among: Among) -> None:
    """The limit is checked while the body arrives; nothing is started."""
    app, upstream = among(says("Hello."), signalbox_max_body_mb=0.01)
    refused = post(app, ANNA, messages=[{"role": "user", "content": "x" * 20_000}])
    assert (refused.status_code, openai_error_of(refused)["code"]) == (413, "body_too_large")
    assert upstream.asked == []


def test_the_cost_limit_of_a_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A prompt that alone costs more than the server's limit is an error, and the run says so."""
    settings = settings_for(tmp_path_factory.mktemp("data"), signalbox_max_run_cost=0.000001)
    with RunningApp(settings) as app:
        ended = post(app, {})
        run = app.client.get(f"/api/runs/{ended.headers['x-run-id']}").json()
    assert run["code"] == "BUDGET_REACHED"
    assert (ended.status_code, openai_error_of(ended)["code"]) == (400, "budget_reached")


def test_a_run_belongs_to_its_owner(among: Among) -> None:
    """Another user neither reads it nor resumes it, and a conversation of the same name is another one."""
    app, _ = among(says("Hello."))
    headers = {"x-conversation-id": "chat-1"}
    run_id = post(app, {**ANNA, **headers}).headers["x-run-id"]
    assert app.client.get(f"/api/runs/{run_id}", headers=ANNA).status_code == 200
    assert app.client.get(f"/api/runs/{run_id}", headers=BERT).status_code == 404
    resumed = post(app, {**BERT, "last-event-id": f"{run_id}:1"})
    assert (resumed.status_code, openai_error_of(resumed)["code"]) == (404, "unknown_run")
    post(app, {**BERT, **headers})
    stored = [app.client.get("/api/conversations/chat-1", headers=user).json()["messages"] for user in (ANNA, BERT)]
    assert [len(messages) for messages in stored] == [2, 2]


def test_a_repeated_key_is_one_run(among: Among) -> None:
    """The same body again returns the same answer; another body is rejected, and keys of two users are two."""
    app, upstream = among(says("Hello."))
    key = {"idempotency-key": "one"}
    first = post(app, {**ANNA, **key})
    again = post(app, {**ANNA, **key})
    assert (again.headers["x-run-id"], again.content) == (first.headers["x-run-id"], first.content)
    other = post(app, {**ANNA, **key}, temperature=0.5)
    assert (other.status_code, openai_error_of(other)["code"]) == (400, "idempotency_key_reused")
    assert post(app, {**BERT, **key}).headers["x-run-id"] != first.headers["x-run-id"]
    assert len(upstream.asked) == 2
