"""Log probabilities from the model to the client: in chunks and whole answers, for runs that ask for them."""

from typing import Any

import httpx
import pytest

from tests.scenarios.chat_completions.test_requests import app, chunks_of, post, text_in
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import DONE, call_chunk, calls_then, chunk, sends
from tests.support.stream_reader import check_stream

__all__ = ["app"]
ASKED: dict[str, Any] = {"logprobs": True, "top_logprobs": 2}


def choices_of(response: httpx.Response) -> list[dict[str, Any]]:
    """Return the choices of all chunks, or of the body."""
    bodies = chunks_of(response) if "event-stream" in response.headers["content-type"] else [response.json()]
    return [choice for body in bodies for choice in body["choices"]]


def tokens_in(response: httpx.Response) -> list[dict[str, Any]]:
    """Return the tokens of all choices."""
    found = [choice["logprobs"] for choice in choices_of(response) if choice["logprobs"]]
    assert all(logprobs["refusal"] is None for logprobs in found)
    return [token for logprobs in found for token in logprobs["content"]]


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/v1/chat/completions"])
def test_the_tokens_are_those_of_the_text(app: RunningApp, path: str, loop: str) -> None:
    """Streamed and whole give the same tokens, in OpenAI's shape; together they are the text."""
    asked: dict[str, Any] = {"path": path, "headers": {"x-tool-loop": loop}, **ASKED}
    streamed, whole = post(app, stream=True, **asked), post(app, **asked)
    tokens = tokens_in(whole)
    assert "".join(token["token"] for token in tokens) == whole.json()["choices"][0]["message"]["content"] != ""
    assert tokens_in(streamed) == tokens
    assert set(tokens[0]) == {"token", "logprob", "bytes", "top_logprobs"}
    first, _ = tokens[0]["top_logprobs"]
    assert first["token"] == tokens[0]["token"]
    if loop == "v2":
        for choice in choices_of(streamed):
            text = "".join(token["token"] for token in (choice["logprobs"] or {"content": []})["content"])
            assert text == (choice["delta"].get("content") or "")


@pytest.mark.parametrize("fields", [{}, {"logprobs": False}, {**ASKED, "model": "anthropic/sim"}])
def test_without_them_they_are_null(app: RunningApp, fields: dict[str, Any]) -> None:
    """They are not asked for, or the model has none."""
    for stream in (True, False):
        assert {str(choice["logprobs"]) for choice in choices_of(post(app, stream=stream, **fields))} == {"None"}


def test_the_events_of_the_contract_have_none(app: RunningApp) -> None:
    """A run's events in contract v1.1 are those of a run without them, and v1.1's own requests emit none."""
    run = post(app, **ASKED).json()
    events = app.client.get(f"/api/runs/{run['id']}/events")
    assert check_stream(events.content).text == run["choices"][0]["message"]["content"]
    assert b"logprob" not in events.content
    ours = app.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hello!", **ASKED})
    assert check_stream(ours.content).text == run["choices"][0]["message"]["content"]
    assert b"logprob" not in ours.content


@pytest.mark.parametrize("stream", [True, False])
def test_tools_of_the_server_in_between(start_app: StartApp, stream: bool) -> None:
    """The tokens of all steps' texts come with them; those of a call have no place in the answer."""

    def with_logprobs(text: str, delta: dict[str, Any]) -> bytes:
        token = {"token": text, "logprob": -0.5, "bytes": None, "top_logprobs": []}
        choice = {"index": 0, "delta": delta, "finish_reason": None, "logprobs": {"content": [token], "refusal": None}}
        return chunk({}, choices=[choice])

    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "calculate", "arguments": ""}}
    app, _ = start_app(
        calls_then(
            with_logprobs("Let me see.", {"content": "Let me see."}),
            with_logprobs("<call>", {"tool_calls": [call]}),
            call_chunk("calculate", '{"expression":"1+1"}', call_id="a"),
        ),
        sends(with_logprobs("2", {"content": "2"}), chunk({"content": "."}), chunk({}, finish="stop"), DONE),
    )
    response = post(app, stream=stream, **ASKED)
    assert [token["token"] for token in tokens_in(response)] == ["Let me see.", "2"]
    text = text_in(chunks_of(response)) if stream else response.json()["choices"][0]["message"]["content"]
    assert text == "Let me see.\n\n2."


@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_has_its_own(start_app: StartApp, stream: bool) -> None:
    """They are in `refusal`, as the text is; a provider that sends nonsense instead of a list has none."""
    token = {"token": "No.", "logprob": -0.1, "bytes": [78, 111, 46], "top_logprobs": []}
    choices = [
        [{"index": 0, "delta": {"content": "", "refusal": "No."}, "logprobs": {"content": None, "refusal": [token]}}],
        [{"index": 0, "delta": {"refusal": " Never."}, "logprobs": {"content": 7, "refusal": "x"}}],
        [{"index": 0, "delta": {}, "finish_reason": "stop", "logprobs": "x"}],
    ]
    app, _ = start_app(sends(*(chunk({}, choices=one) for one in choices), DONE))
    found = [choice["logprobs"] for choice in choices_of(post(app, stream=stream, **ASKED)) if choice["logprobs"]]
    assert found == [{"content": None, "refusal": [token]}]
