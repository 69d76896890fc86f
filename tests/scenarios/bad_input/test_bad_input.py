"""Invalid input gives a 4xx that names the field: no run, no upstream request, no stack trace."""

import socket
from typing import Any

import pytest

from tests.scenarios.bad_input.rejections import refused
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import says

pytestmark = pytest.mark.usefixtures("no_run_started")

USER = {"role": "user", "content": "Hello!"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "INVALID_JSON"),
        (b"{", "INVALID_JSON"),
        (b"hello", "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a",}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a"} x', "INVALID_JSON"),
        (b"{'model': 'openai/sim'}", "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a", "temperature": NaN}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a", "temperature": Infinity}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a", "temperature": 1e999}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "\xff\xfe"}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "\xed\xa0\x80"}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "\\ud800"}', "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "\\udc00 a"}', "INVALID_JSON"),
        (b"[" * 2000 + b"]" * 2000, "INVALID_JSON"),
        (b'{"model": "openai/sim", "prompt": "a", "metadata": ' + b"[" * 2000 + b"]" * 2000 + b"}", "INVALID_JSON"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "INVALID_JSON"),
    ],
)
def test_a_body_that_is_not_json(app: RunningApp, body: bytes, code: str) -> None:
    """A body that is not strict UTF-8 JSON gives 400 with a message about the body."""
    refused(app, body, 400, code, "body")


@pytest.mark.parametrize("body", [b"[]", b"null", b'"prompt"', b"5", b"true"])
def test_a_body_that_is_not_an_object(app: RunningApp, body: bytes) -> None:
    """JSON that is not an object is rejected."""
    refused(app, body, 422, "INVALID_REQUEST", "body")


def test_a_body_nested_too_deep(app: RunningApp) -> None:
    """Deep nesting is rejected before parsing, which would take many times its size in memory (quirk G6)."""
    body = b'{"model": "openai/sim", "prompt": "a", "provider": {"x": ' + b"[" * 100 + b"]" * 100 + b"}}"
    assert "nested" in refused(app, body, 422, "INVALID_REQUEST", "body")


def test_a_body_of_10_mb(app: RunningApp) -> None:
    """A large body gives 413, with or without a Content-Length; the next request on the connection works."""
    body = b'{"model": "openai/sim", "prompt": "' + b"a" * 10 * 1024 * 1024 + b'"}'
    assert "8 MB" in refused(app, body, 413, "BODY_TOO_LARGE", "body")

    def pieces() -> Any:
        for at in range(0, len(body), 65536):
            yield body[at : at + 65536]

    response = app.client.post("/api/chat/stream", content=pieces())
    assert (response.status_code, error_of(response)["code"]) == (413, "BODY_TOO_LARGE")
    assert app.client.get("/health/live").status_code == 200


def test_an_announced_length_beyond_the_limit_is_not_read(app: RunningApp) -> None:
    """A Content-Length of 10 GB is rejected without reading the body."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as raw:
        raw.sendall(b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000000000\r\n\r\n{")
        assert raw.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_an_upload_that_breaks_off_starts_nothing(app: RunningApp) -> None:
    """A client that disconnects in the middle of its body starts no run, and the server keeps working."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as raw:
        raw.sendall(
            b'POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60\r\n\r\n{"model": "openai/sim",'
        )
    assert app.client.get("/health/live").status_code == 200


WRONG: list[tuple[str, Any, str]] = [
    ("model", None, "model"),
    ("model", 5, "model"),
    ("model", "", "model"),
    ("model", "a b", "model"),
    ("model", "a\nb", "model"),
    ("model", "a" * 300, "model"),
    ("prompt", 5, "prompt"),
    ("prompt", ["a"], "prompt"),
    ("system", 5, "system"),
    ("messages", "hi", "messages"),
    ("messages", {}, "messages"),
    ("tools", "search_web", "tools"),
    ("tools", [5], "tools.0"),
    ("tools", [""], "tools.0"),
    ("tools", [{"type": "function"}], "tools.0"),
    ("tools", ["calculate"] * 129, "tools"),
    ("tool_choice", "banana", "tool_choice"),
    ("tool_choice", 5, "tool_choice"),
    ("tool_choice", {"type": "function"}, "tool_choice.function"),
    ("tool_choice", {"type": "function", "function": {"name": 5}}, "tool_choice.function.name"),
    ("parallel_tool_calls", "yes", "parallel_tool_calls"),
    ("max_steps", -1, "max_steps"),
    ("max_searches", -1, "max_searches"),
    ("max_searches", 101, "max_searches"),
    ("reasoning", "high", "reasoning"),
    ("reasoning", {"effort": "banana"}, "reasoning.effort"),
    ("reasoning", {"max_tokens": 0}, "reasoning.max_tokens"),
    ("reasoning_effort", "banana", "reasoning_effort"),
    ("max_tokens", -1, "max_tokens"),
    ("max_tokens", 0, "max_tokens"),
    ("max_tokens", 1.5, "max_tokens"),
    ("max_tokens", "100", "max_tokens"),
    ("max_tokens", 10**30, "max_tokens"),
    ("temperature", 2.1, "temperature"),
    ("temperature", -0.1, "temperature"),
    ("temperature", "hot", "temperature"),
    ("temperature", True, "temperature"),
    ("top_p", 1.1, "top_p"),
    ("top_k", -1, "top_k"),
    ("min_p", -1, "min_p"),
    ("top_a", 2, "top_a"),
    ("frequency_penalty", -2.1, "frequency_penalty"),
    ("presence_penalty", 3, "presence_penalty"),
    ("repetition_penalty", -1, "repetition_penalty"),
    ("seed", 1.5, "seed"),
    ("seed", 10**30, "seed"),
    ("seed", -(10**30), "seed"),
    ("logprobs", 1, "logprobs"),
    ("top_logprobs", 21, "top_logprobs"),
    ("logit_bias", [1], "logit_bias"),
    ("logit_bias", {"5": 101}, "logit_bias.5"),
    ("logit_bias", {"text": "x"}, "logit_bias.text"),
    ("response_format", "json", "response_format"),
    ("stop", 5, "stop"),
    ("stop", [], "stop"),
    ("stop", ["a"] * 17, "stop"),
    ("stop", [""], "stop.0"),
    ("provider", "openai", "provider"),
    ("models", "openai/sim", "models"),
    ("models", [], "models"),
    ("metadata", {"a": 5}, "metadata.a"),
    ("metadata", {str(n): "x" for n in range(17)}, "metadata"),
    ("modalities", "image", "modalities"),
    ("modalities", [], "modalities"),
    ("modalities", ["text", "audio"], "modalities.1"),
    ("modalities", ["text", "image", "text"], "modalities"),
    ("finalize_hint", "x" * 4001, "finalize_hint"),
    ("conversation_id", "a b", "conversation_id"),
    ("conversation_id", "", "conversation_id"),
    ("conversation_id", ".", "conversation_id"),
    ("conversation_id", "..", "conversation_id"),
    ("column", -1, "column"),
    ("column", 16, "column"),
    ("column", "1", "column"),
    ("on_disconnect", "maybe", "on_disconnect"),
    ("on_disconnect", None, "on_disconnect"),
]


@pytest.mark.parametrize(("name", "value", "field"), WRONG, ids=[f"{n}={str(v)[:20]}" for n, v, _ in WRONG])
def test_a_wrong_value_names_its_field(app: RunningApp, name: str, value: Any, field: str) -> None:
    """Each field rejects invalid values, and the error names it (seed row PS-02)."""
    body = {"model": "openai/sim", **({} if name == "messages" else {"prompt": "Hello!"}), name: value}
    assert field in refused(app, body, 422, "INVALID_REQUEST", field)


def test_the_model_must_be_named(app: RunningApp) -> None:
    """A request without a model is rejected; there is no default model."""
    refused(app, {"prompt": "Hello!"}, 422, "INVALID_REQUEST", "model")


def test_an_unknown_model_is_refused(app: RunningApp) -> None:
    """A model that the catalogue does not list is rejected without an upstream request."""
    assert "unknown/nothing" in refused(
        app, {"model": "unknown/nothing", "prompt": "Hello!"}, 422, "UNKNOWN_MODEL", "model"
    )


def test_an_unknown_tool_is_refused(app: RunningApp) -> None:
    """The message lists the existing tools."""
    body = {"model": "openai/sim", "prompt": "Hello!", "tools": ["calculate", "teleport"]}
    sentence = refused(app, body, 422, "UNKNOWN_TOOL", "tools.1")
    assert "teleport" in sentence
    assert "search_web" in sentence


def test_a_forced_tool_must_be_offered(app: RunningApp) -> None:
    """A tool choice that no offered tool satisfies is rejected."""
    forced = {"type": "function", "function": {"name": "search_web"}}
    body = {"model": "openai/sim", "prompt": "Hello!", "tools": ["calculate"], "tool_choice": forced}
    refused(app, body, 422, "INVALID_REQUEST", "tool_choice.function.name")
    refused(app, {**body, "tools": [], "tool_choice": "required"}, 422, "INVALID_REQUEST", "tool_choice")


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=201", "limit=many", "limit=" + "9" * 5000])
def test_a_limit_out_of_bounds(app: RunningApp, query: str) -> None:
    """Query parameters are validated like fields, and named as in the URL."""
    response = app.client.get(f"/api/runs?{query}")
    assert (response.status_code, error_of(response)["field"]) == (422, "limit")


def test_a_tool_that_is_not_set_up_cannot_be_asked_for(start_app: StartApp) -> None:
    """The message and GET /api/tools give the reason; a request that does not name the tool runs without it."""
    app, upstream = start_app(says("Hello."), settings={"search_backend": "none"})
    response = app.post(prompt="Hello!", tools=["search_web"])
    error = error_of(response)
    assert (response.status_code, error["code"], error["field"]) == (422, "TOOL_UNAVAILABLE", "tools.0")
    assert "SEARCH_BACKEND" in error["message"]
    assert upstream.asked == []
    listed = {tool["name"]: tool for tool in app.client.get("/api/tools").json()["tools"]}
    assert listed["search_web"]["available"] is False
    assert "SEARCH_BACKEND" in listed["search_web"]["unavailable"]
    assert listed["calculate"] == listed["calculate"] | {"available": True, "unavailable": None, "visibility": "hidden"}
    app.ask()
    offered = [t["function"]["name"] for t in upstream.asked[0].body["tools"]]
    assert offered == ["calculate", "get_current_time", "read_url", "save_note"]


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"a":' * 300 + "1" + "}" * 300, '{"a": 1' + "0" * 400 + "}"])
def test_broken_arguments_of_an_earlier_call_break_nothing(start_app: StartApp, arguments: str) -> None:
    """A history with broken, too deep or too large arguments is still sent (quirk A8)."""
    app, upstream = start_app(says("Fine."))
    call = {"id": "c1", "function": {"name": "calculate", "arguments": arguments}}
    messages = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    heard = app.ask(messages=[*messages, {"role": "user", "content": "And?"}])
    assert heard.done["status"] == "complete"
    sent = upstream.asked[0].body["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert sent.startswith("{")


def test_what_cannot_be_a_runs_id_is_said(start_app: StartApp) -> None:
    """A copied placeholder gives a message about ids; a well-formed unknown id does not."""
    app, _ = start_app()
    for run, hint in (("RUN", True), ("0" * 32, False)):
        refused = app.client.get(f"/api/runs/{run}")
        assert (refused.status_code, "32 hex digits" in refused.json()["error"]["message"]) == (404, hint)
