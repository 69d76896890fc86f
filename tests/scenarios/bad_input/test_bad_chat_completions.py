"""Invalid chat completion requests: OpenAI's error object with a 4xx; no run, no upstream request."""

import pytest

from tests.support.running_app import RunningApp, openai_error_of

pytestmark = pytest.mark.usefixtures("no_run_started")

PATHS = ("/v1/chat/completions", "/api/v1/chat/completions")
HEAD = b'{"model": "openai/sim", "messages": [{"role": "user", "content": "Hi"}]'
BODIES = {
    "nothing": b"",
    "no JSON": b"hello",
    "cut": b'{"model": "openai/sim"',
    "NaN": HEAD + b', "temperature": NaN}',
    "a number without end": HEAD + b', "temperature": 1e999}',
    "no UTF-8": b'{"model": "openai/sim", "messages": [{"role": "user", "content": "\xff"}]}',
    "a lone surrogate": b'{"model": "openai/sim", "messages": [{"role": "user", "content": "\\ud800"}]}',
    "no object": b"[]",
    "deep": HEAD + b', "x": ' + b"[" * 200 + b"]" * 200 + b"}",
    "too large": HEAD + b', "user": "' + b"a" * 9 * 1024 * 1024 + b'"}',
    "no model": b'{"messages": [{"role": "user", "content": "Hi"}]}',
    "no messages": b'{"model": "openai/sim", "messages": []}',
    "messages of another kind": b'{"model": "openai/sim", "messages": "Hi"}',
    "a message that is none": b'{"model": "openai/sim", "messages": [5]}',
    "content of another kind": b'{"model": "openai/sim", "messages": [{"role": "user", "content": {"a": 1}}]}',
    "no content": b'{"model": "openai/sim", "messages": [{"role": "user", "content": null}]}',
    "text for a number": HEAD + b', "temperature": "hot"}',
    "a number out of range": HEAD + b', "top_p": 2}',
    "a negative limit": HEAD + b', "max_tokens": -1}',
    "a stream of another kind": HEAD + b', "stream": "yes"}',
    "two answers": HEAD + b', "n": 2}',
    "a tool without a name": HEAD + b', "tools": [{"type": "function", "function": {}}]}',
    "a tool with spaces": HEAD + b', "tools": [{"type": "function", "function": {"name": "a b"}}]}',
    "a choice without its tool": HEAD
    + b', "tools": [], "tool_choice": {"type": "function", "function": {"name": "x"}}}',
    "a tool of an unknown server": HEAD + b', "tools": [{"type": "openrouter:web_search"}]}',
    "a call without an id": b'{"model": "openai/sim", "messages": [{"role": "assistant", "tool_calls": '
    b'[{"type": "function", "function": {"name": "x"}}]}]}',
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_is_rejected_with_openais_error(app: RunningApp, path: str, body: bytes) -> None:
    """The status says whose fault it is, and the message is a sentence without a trace of our code."""
    response = app.client.post(path, content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 413), response.text
    error = openai_error_of(response)
    assert error["message"]
    assert "Traceback" not in response.text


@pytest.mark.parametrize("path", PATHS)
def test_a_model_that_is_not_listed_is_a_404(app: RunningApp, path: str) -> None:
    """The client sees OpenAI's `model_not_found`, or OpenRouter's 404."""
    body = {"model": "unknown/model", "messages": [{"role": "user", "content": "Hi"}]}
    response = app.client.post(path, json=body)
    assert response.status_code == 404
    assert openai_error_of(response)["code"] in ("model_not_found", 404)
