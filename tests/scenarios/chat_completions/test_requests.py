"""POST /v1/chat/completions over HTTP: streams, whole answers, errors, and what runs have in common."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.running_app import RunningApp, settings_for

PATHS = ("/v1/chat/completions", "/api/v1/chat/completions")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve the app over the simulator."""
    with RunningApp(settings_for(tmp_path_factory.mktemp("data"), signalbox_allow_loop_header=True)) as running:
        yield running


def post(app: RunningApp, prompt: str = "Hello!", *, path: str = PATHS[0], **fields: Any) -> httpx.Response:
    """Ask one question."""
    headers = fields.pop("headers", {})
    body = {"model": "openai/sim", "messages": [{"role": "user", "content": prompt}], **fields}
    return app.client.post(path, json=body, headers=headers)


def chunks_of(response: httpx.Response) -> list[Json]:
    """Return the chunks of a stream, which ends with `[DONE]`."""
    assert response.headers["content-type"].startswith("text/event-stream")
    frames = [frame for frame in response.text.split("\n\n") if frame.startswith("data: ")]
    assert frames.pop() == "data: [DONE]"
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def text_in(chunks: list[Json]) -> str:
    """Return the text of the answer."""
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize("path", PATHS)
def test_a_stream_and_a_whole_answer_say_the_same(app: RunningApp, path: str, loop: str) -> None:
    """Both have the run's id, the text, the finish reason, and the usage with its cost."""
    headers = {"x-tool-loop": loop}
    streamed = post(app, path=path, stream=True, headers=headers)
    whole = post(app, path=path, headers=headers).json()
    chunks = chunks_of(streamed)
    assert {chunk["id"] for chunk in chunks} == {streamed.headers["x-run-id"]}
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert text_in(chunks) == whole["choices"][0]["message"]["content"] != ""
    last = chunks[-1]
    assert [last["choices"][0]["finish_reason"], whole["choices"][0]["finish_reason"]] == ["stop", "stop"]
    assert last["usage"] == whole["usage"]
    assert last["usage"]["cost"] > 0
    run = app.client.get(f"/api/runs/{whole['id']}").json()
    assert (run["status"], run["protocol"], run["loop"]) == ("complete", "chat-completions", loop)


@pytest.mark.parametrize("loop", ["v2", "legacy"])
def test_our_tools_run_inside_the_answer(app: RunningApp, loop: str) -> None:
    """The client sees the answer that was made with a tool, and no call that it might execute."""
    response = post(app, "What is 17 * 23?", stream=True, headers={"x-tool-loop": loop})
    chunks = chunks_of(response)
    assert ": tool_result calculate" in response.text
    assert "391" in text_in(chunks)
    assert not any("tool_calls" in choice["delta"] for chunk in chunks for choice in chunk["choices"])
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_include_usage_is_an_extra_chunk(app: RunningApp) -> None:
    """With `stream_options.include_usage`, the last chunk has no choices, and no other has the usage."""
    *chunks, usage = chunks_of(post(app, stream=True, stream_options={"include_usage": True}))
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] > 0
    assert not any("usage" in chunk for chunk in chunks)


def test_reasoning_arrives_under_all_names(app: RunningApp) -> None:
    """Clients of OpenRouter, DeepSeek and vLLM each read another field."""
    whole = post(app, model="anthropic/sim", reasoning_effort="low").json()["choices"][0]["message"]
    assert whole["reasoning"] == whole["reasoning_content"] == whole["reasoning_details"][0]["text"] != ""
    deltas = [
        one["choices"][0]["delta"]
        for one in chunks_of(post(app, model="anthropic/sim", reasoning_effort="low", stream=True))
    ]
    assert "".join(delta.get("reasoning", "") for delta in deltas) == whole["reasoning"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("model", "status", "code"),
    [
        ("openai/sim-error-401", 502, "upstream_auth"),
        ("openai/sim-error-402", 429, "insufficient_quota"),
        ("openai/sim-error-403", 403, "permission_denied"),
        ("openai/sim-error-404", 404, "model_not_found"),
        ("openai/sim-error-413", 413, "request_too_large"),
        ("unknown/model", 404, "model_not_found"),
    ],
)
def test_a_run_that_fails_at_once_is_an_http_error(
    app: RunningApp, model: str, status: int, code: str, stream: bool
) -> None:
    """The status and OpenAI's code come before any head of a stream."""
    response = post(app, model=model, stream=stream)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    assert response.headers["content-type"] == "application/json"
    assert "x-request-id" in response.headers
    if model != "unknown/model":
        assert app.client.get(f"/api/runs/{response.headers['x-run-id']}").json()["status"] == "error"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        (b'{"model":"openai/sim"}', "messages"),
        (b'{"model":"openai/sim","messages":[{"role":"user","content":"Hi"}],"n":2}', "n"),
        (b'{"model":"openai/sim","messages":[{"role":"robot","content":"Hi"}]}', "messages.0"),
        (
            b'{"model":"openai/sim","messages":[{"role":"user","content":[{"type":"input_audio"}]}]}',
            "messages.0.content.0",
        ),
    ],
)
def test_a_malformed_body_is_openais_400(app: RunningApp, body: bytes, param: str | None) -> None:
    """The error object names the parameter, and no run is started."""
    before = app.client.get("/api/runs").json()["runs"]
    response = app.client.post(PATHS[0], content=body, headers={"content-type": "application/json"})
    assert response.status_code == 400
    error = response.json()["error"]
    assert (set(error), error["type"], error["param"]) == (
        {"message", "type", "param", "code"}, "invalid_request_error", param,
    )  # fmt: skip
    assert app.client.get("/api/runs").json()["runs"] == before


def test_a_failure_after_the_first_token_ends_the_stream(app: RunningApp) -> None:
    """The head is sent by then: the last chunk has the error, as OpenRouter writes it."""
    response = post(app, model="openai/sim-cut-3000", prompt="What is the tool loop?", stream=True)
    assert response.status_code == 200
    last = chunks_of(response)[-1]
    assert last["error"]["metadata"]["error_type"]
    assert last["choices"][0]["finish_reason"] == "error"


def test_an_idempotency_key_answers_with_the_same_run(app: RunningApp) -> None:
    """A request that is repeated gets the same bytes; another body under the key is an error."""
    headers = {"idempotency-key": "k-1"}
    first, again = (post(app, stream=True, headers=headers) for _ in range(2))
    assert first.content == again.content
    other = post(app, "Something else", stream=True, headers=headers)
    assert (other.status_code, other.json()["error"]["code"]) == (400, "idempotency_key_reused")


@pytest.mark.parametrize("name", ["x-signalbox-tools", "x-conversation-id"])
def test_a_key_covers_the_headers_that_change_the_question(app: RunningApp, name: str) -> None:
    """The same body with other tools, or in another conversation, is another question."""
    key = {"idempotency-key": f"covers-{name}"}
    assert post(app, headers={**key, name: "calculate"}).status_code == 200
    other = post(app, headers={**key, name: "get_current_time"})
    assert (other.status_code, other.json()["error"]["code"]) == (400, "idempotency_key_reused")


def test_a_wrong_method_and_an_unknown_parameter(app: RunningApp) -> None:
    """All errors of the path have OpenAI's shape."""
    for response, status in ((app.client.get(PATHS[0]), 405), (app.client.post(f"{PATHS[0]}?x=1", json={}), 400)):
        assert response.status_code == status
        assert set(response.json()["error"]) == {"message", "type", "param", "code"}


def test_a_token_is_needed_where_it_is_configured(tmp_path: Path) -> None:
    """Without one the answer is the 401 of OpenAI, or of OpenRouter below its path."""
    with RunningApp(settings_for(tmp_path / "data", signalbox_access_token="secret")) as closed:
        for path, code in zip(PATHS, ("invalid_api_key", 401), strict=True):
            response = post(closed, path=path, headers={"authorization": "Bearer wrong"})
            assert (response.status_code, response.json()["error"]["code"]) == (401, code)


@pytest.mark.parametrize("stream", [True, False])
def test_a_hopeless_retry_is_advised_against(app: RunningApp, stream: bool) -> None:
    """OpenAI's clients retry a 429 on their own; without credit they would only wait."""
    response = post(app, model="openai/sim-error-402", stream=stream)
    assert (response.status_code, response.headers["x-should-retry"]) == (429, "false")


@pytest.mark.parametrize("stream", [True, False])
def test_openrouters_errors_have_a_number_as_code(app: RunningApp, stream: bool) -> None:
    """OpenRouter's SDK rejects any other code; OpenAI's is in the metadata."""
    for model in ("unknown/model", "openai/sim-error-404"):
        response = post(app, path=PATHS[1], model=model, stream=stream)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (404, 404)
        assert error["metadata"] == {"error_type": "not_found", "code": "model_not_found"}
