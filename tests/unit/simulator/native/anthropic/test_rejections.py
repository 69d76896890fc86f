"""Requests that the Messages API rejects, with the words of the real one."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.native.anthropic.conversation import (
    HEADERS,
    THINKING,
    answered,
    ask,
    assistant,
    native_tools,
    rejected,
    results_of,
    user,
)

QUESTION = "What is 17 * 23?"
CALL = {"type": "tool_use", "id": "toolu_1", "name": "calculate", "input": {"expression": "1"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}
OPUS, SONNET = "claude-opus-4-8", "claude-sonnet-4-5"


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a body without a field."""
    return {key: value for key, value in body.items() if key != name}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": "hi"}, "messages: Input should be a valid array"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"max_tokens": 100_000}, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
        ({"parallel_tool_calls": False}, "parallel_tool_calls: Extra inputs are not permitted"),
        ({"thread": {"type": "create"}}, "thread: Threads are not supported"),
        ({"temperature": 1.5}, "temperature: range: 0..1"),
        ({"temperature": 1, "top_p": 0.5}, "`temperature` and `top_p` cannot both be specified for this model."),
        ({"stop_sequences": [" "]}, "stop_sequences: each stop sequence must contain non-whitespace"),
        ({"tool_choice": {"type": "required"}}, "tool_choice: Input tag 'required' found"),
        ({"tool_choice": {"type": "tool", "name": "other"}}, "Tool 'other' not found in provided tools"),
        (
            {"tool_choice": {"type": "auto"}, "tools": None},
            "tool_choice.auto may only be specified while providing tools",
        ),
        ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
        (
            {"thinking": {**THINKING, "budget_tokens": 100}},
            "thinking.enabled.budget_tokens: Input should be greater than",
        ),
        (
            {"thinking": {**THINKING, "budget_tokens": 2000}},
            "`max_tokens` must be greater than `thinking.budget_tokens`",
        ),
        ({"thinking": THINKING, "temperature": 0.5}, "`temperature` may only be set to 1 when thinking is enabled"),
        ({"thinking": THINKING, "tool_choice": {"type": "any"}}, "Thinking may not be enabled when tool_choice forces"),
        ({"output_config": {"format": {"type": "json_object"}}}, "output_config.format.type: Input should be"),
        ({"tools": [{"type": "function"}]}, ""),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, "tools.0.custom.name: String should match"),
        ({"tools": [{"name": "a"}]}, "tools.0.custom.input_schema: Field required"),
        ({"tools": [{"name": "a", "input_schema": {}}]}, "tools.0.custom.input_schema.type: Field required"),
        ({"tools": native_tools() * 2}, "tools: Tool names must be unique."),
    ],
)
def test_fields_and_options(claude: httpx.Client, fields: dict[str, Any], message: str) -> None:
    """Each invalid field has the API's own message."""
    if message:
        assert rejected(claude, ask("sim", QUESTION, **fields)).startswith(message)
    else:  # a tool of a type that the API runs itself is accepted
        answered(claude, ask("sim", QUESTION, **fields))


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([{"role": "system", "content": "Be brief."}], 'messages: Unexpected role "system".'),
        ([{"role": "tool", "content": "1"}], "messages.0.role: Input should be 'user' or 'assistant'"),
        ([assistant({"type": "text", "text": "Hi"}), user("Hi")], 'messages: first message must use the "user" role'),
        ([user()], "messages.0: user messages must have non-empty content"),
        ([user(""), user("Hi")], "messages: text content blocks must be non-empty"),
        ([user(" \n")], "messages: text content blocks must contain non-whitespace text"),
        ([user("Hi"), assistant(), user("Hi")], "messages.1: all messages must have non-empty content"),
        ([user({"type": "image_url"})], "messages.0.content.0: Input tag 'image_url' found using 'type'"),
        (
            [user({"type": "text", "text": "a", "id": 1})],
            "messages.0.content.0.text.id: Extra inputs are not permitted",
        ),
        ([user(CALL)], "messages.0: `tool_use` blocks can only be in `assistant` messages"),
        ([user("Hi"), assistant(RESULT)], "messages.1: `tool_result` blocks can only be in `user` messages"),
        ([user("Hi"), assistant(CALL)], "messages.1: `tool_use` ids were found without `tool_result` blocks"),
        ([user("Hi"), assistant(CALL), user("no", RESULT)], "messages.1: `tool_use` ids were found without"),
        ([user("Hi"), user(RESULT)], "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks"),
        ([user("Hi"), assistant(CALL), user(RESULT, RESULT)], "messages.2.content.1: each tool_use must have a single"),
        ([user("Hi"), assistant(CALL, CALL), user(RESULT)], "messages: `tool_use` ids must be unique"),
        ([user("Hi"), assistant({**CALL, "input": "{}"}), user(RESULT)], "messages.1.content.0.tool_use.input: Input"),
        (
            [user("Hi"), assistant({**CALL, "id": "a.b"}), user(RESULT)],
            "messages.1.content.0.tool_use.id: String should",
        ),
        (
            [user("Hi"), assistant({**CALL, "name": "a.b"}), user(RESULT)],
            "messages.1.content.0.tool_use.name: String should match pattern",
        ),
        (
            [user("Hi"), assistant(CALL), user({**RESULT, "content": "", "is_error": True})],
            "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
        ),
        (
            [user("Hi"), assistant({"type": "text", "text": "So"})],
            "This model does not support assistant message prefill.",
        ),
        (
            [user("Hi"), assistant({"type": "thinking", "thinking": "a"})],
            "messages.1.content.0.thinking.signature: Field",
        ),
    ],
)
def test_messages(claude: httpx.Client, messages: list[dict[str, Any]], message: str) -> None:
    """The order and the blocks of messages are checked, with the indexes of the request."""
    assert rejected(claude, ask("sim", *messages)).startswith(message)


@pytest.mark.parametrize("name", ["model", "max_tokens", "messages"])
def test_missing_fields(claude: httpx.Client, name: str) -> None:
    """These have no default."""
    assert rejected(claude, without(ask("sim", QUESTION), name)) == f"{name}: Field required"


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        (OPUS, {"thinking": THINKING}, '"thinking.type.enabled" is not supported for this model.'),
        (OPUS, {"temperature": 1}, "`temperature` is deprecated for this model."),
        (SONNET, {"thinking": {"type": "adaptive"}}, "adaptive thinking is not supported on this model"),
        (SONNET, {"output_config": {"effort": "low"}}, "This model does not support the effort parameter."),
        (
            "claude-sonnet-4-6",
            {"output_config": {"effort": "xhigh"}},
            "This model does not support effort level 'xhigh'.",
        ),
        ("sim-context-200", {"system": "word " * 200}, "prompt is too long: "),
        ("sim-afford-500", {}, "Your credit balance is too low to access the Anthropic API."),
    ],
)
def test_limits_of_models(claude: httpx.Client, model: str, fields: dict[str, Any], message: str) -> None:
    """Models differ in what they accept."""
    assert rejected(claude, ask(model, QUESTION, **fields)).startswith(message)


@pytest.mark.parametrize("model", ["gpt-4o", "anthropic/claude-sonnet-4-5", "sim-typo", "sim-quirk-a01"])
def test_unknown_models(claude: httpx.Client, model: str) -> None:
    """Ids of OpenRouter, of other families and of quirks that only OpenRouter has are not found."""
    assert rejected(claude, ask(model, QUESTION), 404) == f"model: {model}"


@pytest.mark.parametrize(("field", "value"), [("thinking", "I know it."), ("signature", "EqoB")])
def test_altered_thinking(claude: httpx.Client, field: str, value: str) -> None:
    """A changed text and a changed signature are found."""
    body = ask("sim", QUESTION, thinking=THINKING)
    blocks = answered(claude, body)["content"]
    altered = assistant({**blocks[0], field: value}, *blocks[1:])
    back = {**body, "messages": [*body["messages"], altered, results_of(blocks)]}
    assert rejected(claude, back) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_thinking_of_another_model(claude: httpx.Client) -> None:
    """A signature belongs to a model; a date in the id makes no other model."""
    body = ask("claude-sonnet-4-5-20250929", QUESTION, thinking=THINKING)
    blocks = answered(claude, body)["content"]
    back = {**body, "messages": [*body["messages"], assistant(*blocks), results_of(blocks)]}
    answered(claude, {**back, "model": "claude-sonnet-4-5"})
    assert "Invalid `signature`" in rejected(claude, {**back, "model": "claude-haiku-4-5"})


def test_missing_thinking(claude: httpx.Client) -> None:
    """With a budget the open loop begins with thinking; adaptive models accept it without."""
    body = ask("sim", QUESTION, thinking=THINKING)
    blocks = answered(claude, body)["content"]
    back = {**body, "messages": [*body["messages"], assistant(*blocks[1:]), results_of(blocks)]}
    assert rejected(claude, back).startswith("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`")
    answered(claude, {**back, "thinking": {"type": "adaptive"}})
    answered(claude, without(back, "thinking"))
    answered(
        claude, {**back, "messages": [*back["messages"], assistant({"type": "text", "text": "391."}), user("Thanks")]}
    )


def test_calls_need_tools(claude: httpx.Client) -> None:
    """A history with calls needs the tools, also if no more calls are wanted."""
    body = ask("sim", "Hi", assistant(CALL), user(RESULT))
    answered(claude, {**body, "tool_choice": {"type": "none"}})
    assert rejected(claude, without(body, "tools")).startswith("Requests which have `tool_use`")


def test_too_many_cache_breakpoints(claude: httpx.Client) -> None:
    """Four blocks may be marked."""
    marked = [{"type": "text", "text": str(at), "cache_control": {"type": "ephemeral"}} for at in range(5)]
    answered(claude, ask("sim", user(*marked[:4])))
    text = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert rejected(claude, ask("sim", user(*marked))) == text


def test_headers(claude: httpx.Client) -> None:
    """A request needs a key and a version; the key may be a bearer token."""
    body = ask("sim", QUESTION)
    url = str(claude.base_url.join("v1/messages"))
    bare = httpx.post(url, json=body, headers=without(HEADERS, "x-api-key"), verify=False)
    assert (bare.status_code, bare.json()["error"]["type"]) == (401, "authentication_error")
    unversioned = httpx.post(url, json=body, headers={"x-api-key": "a"}, verify=False)
    assert unversioned.json()["error"]["message"] == "anthropic-version: header is required"
    bearer = {"authorization": "Bearer a", "anthropic-version": "2026-10-21"}
    assert httpx.post(url, json=body, headers=bearer, verify=False).status_code == 200
    broken = claude.post("/v1/messages", content=b"{")
    assert broken.json()["error"]["message"].startswith("The request body is not valid JSON")
    assert claude.post("/v1/messages/count_tokens", content=b"[").status_code == 400


def test_scripted_errors(claude: httpx.Client) -> None:
    """`sim-error-N` has the API's error types; a rate limit says how long to wait."""
    types = {400: "invalid_request_error", 402: "billing_error", 429: "rate_limit_error", 529: "overloaded_error"}
    for status, kind in types.items():
        response = claude.post("/v1/messages", json=ask(f"sim-error-{status}", QUESTION, stream=True))
        assert (response.status_code, response.json()["error"]["type"]) == (status, kind)
        assert ("retry-after" in response.headers) == (status == 429)
