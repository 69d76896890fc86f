"""POST /api/chat over HTTP: one JSON object per run, and the same run as a stream of events."""

import json
import socket
from typing import Any

import httpx
import pytest
from signalbox.chat.loops.retry import Retry

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import holds, says, sends
from tests.support.stream_reader import check_stream

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}


def chat(
    app: RunningApp, path: str = "/api/chat", headers: dict[str, str] | None = None, **body: Any
) -> httpx.Response:
    """Send a question."""
    return app.client.post(path, json={**ASK, **body}, headers=headers)


def test_an_answer_is_what_its_stream_says(app: RunningApp) -> None:
    """Text, reasoning, calls and their results, usage and cost are those of the run's events."""
    whole = chat(app, prompt="What is 17 * 23?", tools=["calculate"])
    assert (whole.status_code, whole.headers["content-type"]) == (200, "application/json")
    told = whole.json()
    assert told["run_id"] == whole.headers["x-run-id"]
    stream = check_stream(app.client.get(f"/api/runs/{told['run_id']}/events").content)
    assert told["text"] == stream.text
    assert told["reasoning"].replace("\n\n", "") == stream.reasoning.replace("\n\n", "")
    assert [one["arguments"] for one in told["calls"]] == [one["arguments"] for one in stream.calls]
    assert told["calls"][0]["result"] == stream.of("tool_result")[0]["result"]
    fields = {name: value for name, value in stream.done.items() if name not in ("type", "done", "ts")}
    assert {name: told[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("path", "stream", "is_streamed"),
    [
        ("/api/chat", None, False),
        ("/api/chat", False, False),
        ("/api/chat", True, True),
        ("/api/chat/stream", None, True),
        ("/api/chat/stream", True, True),
        ("/api/chat/stream", False, False),
    ],
)
def test_stream_decides_on_both_paths(app: RunningApp, path: str, stream: bool | None, is_streamed: bool) -> None:
    """The field is stronger than the path, and null counts as absent."""
    answer = chat(app, path, stream=stream)
    assert answer.headers["content-type"].startswith("text/event-stream" if is_streamed else "application/json")
    if is_streamed:
        assert check_stream(answer.content).done["status"] == "complete"
    else:
        assert answer.json()["status"] == "complete"


def test_a_failed_run_has_status_200(start_app: StartApp, no_waiting: list[Retry]) -> None:
    """It exists, may have cost something, and has its text so far; the fields say how it ended and when to retry."""
    limit = sends(b'{"error":{"message":"Slow down.","code":429}}', status=429, kind="application/json")
    app, _ = start_app(limit)
    answer = chat(app)
    told = answer.json()
    assert (answer.status_code, told["status"], told["code"], told["retryable"]) == (200, "error", "RATE_LIMIT", True)
    assert told["error"]
    assert [one["code"] for one in told["warnings"]] == ["RATE_LIMIT"]


def test_a_rejected_question_is_an_http_error(app: RunningApp) -> None:
    """No run is started, and the body is an error of the API."""
    refused = chat(app, models=[])
    assert (refused.status_code, error_of(refused)["field"]) == (422, "models")
    assert "x-run-id" not in refused.headers


def test_a_conversation_is_named_in_the_answer(app: RunningApp) -> None:
    """With the ids that the next question needs."""
    told = chat(app, conversation_id="whole-1").json()
    assert told["conversation_id"] == "whole-1"
    stored = app.client.get("/api/conversations/whole-1").json()
    assert [(node["id"], node["role"]) for node in stored["messages"]] == [
        (told["message_id"], "user"),
        (told["run_id"], "assistant"),
    ]


def test_a_repeated_key_returns_the_same_answer(app: RunningApp) -> None:
    """Also as a stream: how it is sent is not part of the question."""
    key = {"idempotency-key": "whole-key"}
    first = chat(app, headers=key)
    assert chat(app, headers=key).content == first.content
    streamed = chat(app, headers=key, stream=True)
    assert streamed.headers["x-run-id"] == first.headers["x-run-id"]
    assert check_stream(streamed.content).text == first.json()["text"]
    other = chat(app, headers=key, prompt="Something else")
    assert (other.status_code, error_of(other)["code"]) == (422, "KEY_REUSED")


def test_a_client_that_leaves_ends_the_run(start_app: StartApp) -> None:
    """A closed connection cancels the run and the request upstream, though nothing was sent yet."""
    app, upstream = start_app(holds)
    body = json.dumps(ASK).encode()
    with socket.create_connection(("127.0.0.1", app.port)) as client:
        head = f"POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        assert upstream.wait_until(lambda: bool(upstream.asked))
        [run] = app.client.get("/api/runs").json()["runs"]
    assert upstream.wait_until(lambda: bool(upstream.left))
    app.over(run["run_id"])
    assert app.client.get(f"/api/runs/{run['run_id']}").json()["status"] == "cancelled"


# --- further fields of a question ---


def sent(start_app: StartApp, **body: Any) -> dict[str, Any]:
    """Ask with these fields; return the body that the upstream received."""
    app, upstream = start_app(says("Hello."))
    assert chat(app, **body).json()["status"] == "complete"
    return upstream.asked[0].body


@pytest.mark.parametrize(
    ("body", "forwarded"),
    [
        ({"stop": "END"}, {"stop": ["END"]}),
        ({"user": "user-7"}, {"user": "user-7"}),
        ({"max_completion_tokens": 7}, {"max_tokens": 7}),
        ({"max_completion_tokens": 7, "max_tokens": 7}, {"max_tokens": 7}),
    ],
)
def test_names_of_other_apis_are_understood(
    start_app: StartApp, body: dict[str, Any], forwarded: dict[str, Any]
) -> None:
    """One stop sequence as text, the end user's id, and the newer name of max_tokens."""
    assert sent(start_app, **body).items() >= forwarded.items()
    assert "max_completion_tokens" not in forwarded


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_tokens": 7, "max_completion_tokens": 8}, "max_completion_tokens"),
        ({"max_completion_tokens": 0}, "max_completion_tokens"),
        ({"stop": ""}, "stop"),
        ({"stop": []}, "stop"),
        ({"stop": ["a", 1]}, "stop.1"),
        ({"user": ""}, "user"),
        ({"user": 7}, "user"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_what_has_no_clear_meaning_is_refused(app: RunningApp, body: dict[str, Any], field: str) -> None:
    """Two different limits, and values of another type; each error names its field."""
    refused = chat(app, **body)
    assert (refused.status_code, error_of(refused)["field"]) == (422, field)
