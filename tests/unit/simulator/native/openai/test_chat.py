"""OpenAI's own chat completions: chunks, endings, usage, and what OpenAI rejects although OpenRouter accepts it."""

import json
from typing import Any

import httpx
import pytest

from tests.unit.simulator.native.openai.conversation import rejected_by
from tests.unit.simulator.requests import ask, result

QUESTION = "What is 17 * 23?"
PATH = "/chat/completions"


def chunks_of(client: httpx.Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chunks of a stream, which `[DONE]` ends."""
    response = client.post(PATH, json=body)
    assert response.status_code == 200, response.text
    *frames, done = response.text.strip().split("\n\n")
    assert done == "data: [DONE]"
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


def deltas_of(client: httpx.Client, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the deltas of a stream."""
    return [choice["delta"] for chunk in chunks_of(client, body) for choice in chunk["choices"]]


def test_calls_are_streamed_in_pieces(openai: httpx.Client) -> None:
    """The first delta has the role, the second one the call's id and name, the others pieces of arguments."""
    first, header, *pieces, last = deltas_of(openai, ask("sim", QUESTION))
    assert first == {"role": "assistant", "content": None, "refusal": None}
    [call] = header["tool_calls"]
    assert (call["index"], call["type"], call["function"]) == (0, "function", {"name": "calculate", "arguments": ""})
    arguments = "".join(piece["tool_calls"][0]["function"]["arguments"] for piece in pieces)
    assert json.loads(arguments) == {"expression": "17 * 23"}
    assert last == {}


def test_usage_on_request(openai: httpx.Client) -> None:
    """Without `include_usage`, no chunk has usage; with it, the last one has no choices."""
    body = ask("gpt-5-mini", QUESTION)
    assert all("usage" not in chunk for chunk in chunks_of(openai, body))
    *others, last = chunks_of(openai, {**body, "stream_options": {"include_usage": True}})
    assert all(chunk["usage"] is None for chunk in others)
    assert last["choices"] == []
    assert last["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    assert last["model"] == "gpt-5-mini-2025-08-07"


def test_a_tool_loop(openai: httpx.Client) -> None:
    """A result is accepted without any reasoning, which chat completions do not have."""
    body = ask("gpt-5-mini", QUESTION, stream=False)
    [choice] = openai.post(PATH, json=body).json()["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert not any("reasoning" in name for name in choice["message"])
    [call] = choice["message"]["tool_calls"]
    body["messages"] += [choice["message"], result(call["id"], {"success": True, "result": {"value": "391"}})]
    answer = openai.post(PATH, json=body).json()
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert "391" in answer["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("sim-length", "length"),
        ("sim-length-tool", "length"),
        ("sim-filter", "content_filter"),
        ("sim-refusal", "stop"),
        ("sim-empty", "stop"),
        ("sim-late-stop", "stop"),
    ],
)
def test_endings(openai: httpx.Client, fault: str, reason: str) -> None:
    """Streamed and whole answers end for the same reason."""
    chunks = chunks_of(openai, ask(fault, QUESTION))
    assert chunks[-1]["choices"][0]["finish_reason"] == reason
    whole = openai.post(PATH, json=ask(fault, QUESTION, stream=False)).json()
    assert whole["choices"][0]["finish_reason"] == reason
    assert bool(whole["choices"][0]["message"]["refusal"]) == (fault == "sim-refusal")


def test_an_error_in_the_middle(openai: httpx.Client) -> None:
    """The stream ends with an error, without `[DONE]`."""
    text = openai.post(PATH, json=ask("sim-midstream-error", QUESTION)).text
    assert json.loads(text.strip().rpartition("data: ")[2])["error"]["type"] == "server_error"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"provider": {}}, "Unrecognized request argument supplied: provider"),
        ({"reasoning": {"effort": "low"}}, "Unrecognized request argument supplied: reasoning"),
        ({"model": "gpt-4o", "reasoning_effort": "low"}, "Unrecognized request argument supplied: reasoning_effort"),
        ({"model": "gpt-5-mini", "max_tokens": 50}, "Unsupported parameter: 'max_tokens' is not supported with this"),
        ({"model": "o4-mini", "temperature": 0.5}, "Unsupported value: 'temperature' does not support 0.5 with this"),
        ({"model": "gpt-5", "stop": ["a"]}, "Unsupported parameter: 'stop' is not supported with this model."),
        ({"messages": [{"role": "bot", "content": "Hi"}]}, "Invalid value: 'bot'. Supported values are: 'system'"),
        ({"messages": [{"role": "user", "content": "Hi", "x": 1}]}, "Unknown parameter: 'messages[0].x'."),
        ({"messages": [result("call_1", "1")]}, "messages[0]: Messages with role 'tool' must be a response to a"),
        ({"tools": None, "tool_choice": "auto"}, "'tool_choice' is only allowed when 'tools' are specified."),
        ({"temperature": 3}, "Invalid input: temperature must be a number from 0 to 2"),
    ],
)
def test_rejections(openai: httpx.Client, fields: dict[str, Any], message: str) -> None:
    """Each invalid request has a message of the API's format."""
    error = rejected_by(openai, PATH, {**ask("sim", QUESTION), **fields})
    assert error["message"].startswith(message)


def test_other_statuses(openai: httpx.Client) -> None:
    """Unknown models, missing keys, long prompts and scripted errors have their statuses."""
    assert rejected_by(openai, PATH, ask("gpt9", QUESTION), 404)["code"] == "model_not_found"
    assert rejected_by(openai, PATH, ask("sim-error-503", QUESTION), 503)["type"] == "server_error"
    assert rejected_by(openai, PATH, ask("sim-context-100", QUESTION))["code"] == "context_length_exceeded"
    assert openai.post(PATH, json=ask("sim", QUESTION), headers={"authorization": ""}).status_code == 401
