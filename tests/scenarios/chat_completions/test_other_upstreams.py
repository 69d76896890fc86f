"""Upstreams that are not OpenRouter (Ollama, vLLM, llama.cpp, LM Studio) get OpenAI's fields only."""

from typing import Any

from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import says

HELLO = {"model": "llama3.2", "messages": [{"role": "user", "content": "Hello!"}]}
OPENROUTERS: dict[str, Any] = {
    "provider": {"order": ["openai"]},
    "models": ["openai/other"],
    "top_a": 0.2,
    "reasoning": {"effort": "low", "exclude": True},
}
OPENAIS: dict[str, Any] = {
    "temperature": 0.5,
    "max_tokens": 9,
    "stop": ["END"],
    "seed": 1,
    "user": "u-1",
    "verbosity": "low",
    "response_format": {"type": "json_object"},
}


def test_a_compatible_server_gets_openais_fields(start_app: StartApp) -> None:
    """What only OpenRouter knows is left out with a warning; the effort is OpenAI's `reasoning_effort`."""
    app, upstream = start_app(says("Hi."), path="/v1")
    response = app.client.post("/v1/chat/completions", json={**HELLO, **OPENROUTERS, **OPENAIS})
    assert response.status_code == 200, response.text
    [asked] = [one for one in upstream.asked if one.method == "POST"]
    sent = {name: value for name, value in asked.body.items() if name not in ("model", "messages", "stream")}
    assert sent == {**OPENAIS, "reasoning_effort": "low", "stream_options": {"include_usage": True}}
    events = app.client.get(f"/api/runs/{response.headers['x-run-id']}/events").text
    assert "PARAM_DROPPED" in events
    for name in ("provider", "models", "top_a"):
        assert name in events


def test_openai_effort_reaches_it_unchanged(start_app: StartApp) -> None:
    """OpenAI's own parameter is not rewritten."""
    app, upstream = start_app(says("Hi."), path="/v1")
    app.client.post("/v1/chat/completions", json={**HELLO, "reasoning_effort": "high", "stream": True})
    [asked] = [one for one in upstream.asked if one.method == "POST"]
    assert (asked.body["reasoning_effort"], "reasoning" in asked.body) == ("high", False)


def test_openrouter_gets_all_fields(start_app: StartApp) -> None:
    """The same request keeps OpenRouter's fields there."""
    app, upstream = start_app(says("Hi."))
    app.client.post("/v1/chat/completions", json={**HELLO, **OPENROUTERS})
    [asked] = [one for one in upstream.asked if one.method == "POST"]
    assert {name: asked.body[name] for name in OPENROUTERS} == OPENROUTERS
