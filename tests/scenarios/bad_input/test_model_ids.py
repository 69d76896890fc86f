"""Model ids that could evade a token's list of models are rejected by every protocol; real ids are accepted."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from signalbox.intakes.v1_schema import ModelId

from tests.support.running_app import RunningApp, error_of

_USER = {"role": "user", "content": "Hello!"}
_PARTS = [{"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hello!"}]}]
_VARIANTS = {"conversation_id": "c", "prompt": "Hello!", "model": "openai/sim"}
_AG_UI = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": []}
_COMMAND = {"type": "add-message", "message": {"role": "user", "parts": [{"type": "text", "text": "Hello!"}]}}

BAD = (
    *("anthropic/../openai/sim", "anthropic/./sim", "../sim", "anthropic/..", "anthropic//sim", "anthropic/sim/"),
    *("//sim", "anthropic/..:free", "first@../sim", "openai/:free", "openai/si m", " openai/sim", "openai/sim\n"),
    *("openai/\x00sim", "openai/s\u200bim", "openai/\u00a0sim", "openai/\x7fsim", "/", ".", "first@"),
)
REAL = (
    *("openai/gpt-5:free", "openai/gpt-4.1-mini", "first@openai/gpt-5", "~vendor/model", "@preset/x", "gpt-4o", "a.b"),
    *("openrouter/auto", "llama3:8b", "/models/llama-3.gguf", "claude-3-7-sonnet@20250219", "accounts/x/models/y"),
    *("anthropic.claude-3-5-sonnet-20241022-v2:0", "hf.co/org/model-GGUF:Q4_K_M", "x-ai/grok-4..1", "openai/模型"),
)


@pytest.mark.parametrize("model", BAD)
def test_ids_that_name_no_model_are_rejected(app: RunningApp, model: str) -> None:
    """A 422 with the field and a sentence; nothing is sent to the upstream."""
    answer = app.client.post("/api/chat", json={"model": model, "prompt": "Hello!"})
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["field"]) == (422, "INVALID_REQUEST", "model")
    assert "must be a model id such as openai/gpt-5" in error["message"]


@pytest.mark.parametrize("model", REAL)
def test_real_ids_are_accepted(model: str) -> None:
    """Variants, upstreams, presets, versions and paths."""
    assert TypeAdapter(ModelId).validate_python(model) == model


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/chat", {"model": BAD[0], "prompt": "Hello!"}),
        ("/api/chat", {"model": "openai/sim", "models": [BAD[0]], "prompt": "Hello!"}),
        ("/api/chat/variants", {**_VARIANTS, "variants": [{}, {"model": BAD[0]}]}),
        ("/v1/chat/completions", {"model": BAD[0], "messages": [_USER]}),
        ("/v1/chat/completions", {"model": "openai/sim", "models": [BAD[0]], "messages": [_USER]}),
        ("/api/v1/chat/completions", {"model": BAD[0], "messages": [_USER]}),
        ("/api/ai/chat", {"id": "c", "model": BAD[0], "messages": _PARTS}),
        ("/assistant", {"commands": [_COMMAND], "model": BAD[0]}),
        ("/assistant", {"commands": [_COMMAND], "config": {"modelName": BAD[0]}}),
        ("/agui", {**_AG_UI, "messages": [{"id": "1", **_USER}], "forwardedProps": {"model": BAD[0]}}),
    ],
)
def test_every_protocol_rejects_them(app: RunningApp, path: str, body: dict[str, Any]) -> None:
    """The response says what a model id is, in the format of the protocol."""
    answer = app.client.post(path, json=body)
    assert answer.status_code == (400 if "/v1/" in path else 422), answer.text
    assert "must be a model id" in answer.text
