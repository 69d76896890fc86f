"""Requests that OpenRouter rejects: no endpoint, too little context or credit."""

from typing import Any

import httpx
import pytest
from openrouter.components import ModelsListResponse

from tests.unit.simulator.requests import FAMILIES, SEARCH, ask, result
from tests.unit.simulator.rules.rejection import accepted, call, post, rejection

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
SEEN = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}
REQUIRED: dict[str, Any] = {"provider": {"require_parameters": True}}


def test_models_without_tools(client: httpx.Client) -> None:
    """Tools are a 404 that names the first; without tools, the model answers (quirk C2)."""
    said = rejection(client, ask("qwen/chat-only", "Hello!", tools=[SEARCH]), 404)
    assert said.startswith('No endpoints found that support tool use. Try disabling "search_web".')
    accepted(client, ask("qwen/chat-only", "Hello!", tools=[]))
    listed = ModelsListResponse.model_validate(client.get("/models").json()).data
    row = next(model for model in listed if model.id == "qwen/chat-only")
    assert not {"tools", "tool_choice"} & set(row.supported_parameters)


@pytest.mark.parametrize(
    ("name", "value", "limits"),
    [
        ("temperature", 9, "from 0 to 2"),
        ("temperature", -0.1, "from 0 to 2"),
        ("temperature", "hot", "from 0 to 2"),
        ("temperature", True, "from 0 to 2"),
        ("top_p", 1.5, "from 0 to 1"),
        ("presence_penalty", -3, "from -2 to 2"),
    ],
)
def test_sampling_parameters_have_limits(client: httpx.Client, name: str, value: Any, limits: str) -> None:
    """A value outside of OpenRouter's range is a 400 that names the parameter."""
    told = rejection(client, ask("openai/sim", "Hello!", **{name: value}))
    assert told.strip() == f"Invalid input: {name} must be a number {limits}"


def test_sampling_parameters_within_the_limits(client: httpx.Client) -> None:
    """The limits themselves are accepted, and so is null."""
    accepted(client, ask("openai/sim", "Hello!", temperature=2, top_p=1, presence_penalty=-2, min_p=None))


@pytest.mark.parametrize("family", FAMILIES)
def test_images_need_a_model_that_accepts_them(client: httpx.Client, family: str) -> None:
    """A model that accepts only text has no endpoint for images."""
    listed = {model["id"]: model["architecture"]["input_modalities"] for model in client.get("/models").json()["data"]}
    body = ask(f"{family}/sim", SEEN)
    if "image" in listed[f"{family}/sim"]:
        accepted(client, body)
    else:
        assert "No endpoints found that support image input" in rejection(client, body, 404)
    assert ("image" in listed[f"{family}/sim"]) == (family in ("openai", "anthropic", "google", "x-ai"))


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("openai/sim", {"max_completion_tokens": 100}),
        ("deepseek/sim", {"top_k": 1}),
        ("deepseek/sim", {"parallel_tool_calls": False}),
        ("openai/gpt-4o", {"reasoning": {"effort": "low"}}),
        ("anthropic/claude-opus-4.8", {"temperature": 1}),
    ],
)
def test_required_parameters_must_be_listed(client: httpx.Client, model: str, fields: dict[str, Any]) -> None:
    """With `require_parameters`, an unlisted parameter is a 404 (quirks C1, C13)."""
    said = rejection(client, ask(model, "Hello!") | fields | REQUIRED, 404)
    assert "can handle the requested parameters" in said
    assert post(client, ask(model, "Hello!") | fields).status_code != 404
    accepted(client, ask(model, "Hello!", max_tokens=500, session_id="one") | REQUIRED)


@pytest.mark.parametrize("family", FAMILIES)
def test_context_length(client: httpx.Client, family: str) -> None:
    """More text than the context window holds is a 400 with a separate error type."""
    body = ask(f"{family}/sim-context-300", "x" * 700, tools=[])
    accepted(client, body)
    response = post(client, ask(f"{family}/sim-context-300", "x" * 1300, tools=[]))
    error = response.json()["error"]
    assert (response.status_code, error["metadata"]["error_type"]) == (400, "context_length_exceeded")
    assert "maximum context length is 300 tokens. However, you requested about 325 tokens" in error["message"]
    assert "of tool input" in rejection(client, {**body, "tools": [SEARCH] * 5})


def test_results_count_towards_the_context(client: httpx.Client) -> None:
    """Tool results can exceed the context window."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "x" * 2000)]
    assert "maximum context length" in rejection(client, ask("qwen/sim-context-300", *history, tools=[]))
    accepted(client, ask("qwen/sim-context-600", *history, tools=[]))


def test_listed_context_length(client: httpx.Client) -> None:
    """The context window of a listed model is the one in the catalogue."""
    listed = {model["id"]: model for model in client.get("/models").json()["data"]}
    assert listed["openai/sim-context-2000"]["context_length"] == 2000
    assert listed["openai/sim-context-2000"]["hidden"]
    assert "is 2000 tokens" in rejection(client, ask("openai/sim-context-2000", "x" * 9000))


def test_credits_limit_max_tokens(client: httpx.Client) -> None:
    """Without max_tokens, the longest answer counts; a limit within the credit is accepted (quirk C13)."""
    said = rejection(client, ask("openai/sim-afford-300", "Hello!"), 402)
    assert "requires more credits, or fewer max_tokens" in said
    assert "You requested up to 16384 tokens, but can only afford 300." in said
    assert "up to 301 tokens" in rejection(client, ask("openai/sim-afford-300", "Hello!", max_tokens=301), 402)
    accepted(client, ask("openai/sim-afford-300", "Hello!", max_tokens=300))


def test_no_credits(client: httpx.Client) -> None:
    """Without any credit, every limit is rejected."""
    assert "afford 0" in rejection(client, ask("anthropic/sim-afford-0", "Hello!", max_tokens=1), 402)


def test_images_need_a_model_that_draws(client: httpx.Client) -> None:
    """A text model has no endpoint for a request for images; an image model accepts both (E14)."""
    said = rejection(client, ask("openai/sim", "Draw!", tools=[], modalities=["image", "text"]), 404)
    assert said.strip() == "No endpoints found that support the requested output modalities: image, text"
    accepted(client, ask("openai/sim", "Draw!", tools=[], modalities=["text"]))
    listed = {model["id"]: model["architecture"] for model in client.get("/models").json()["data"]}
    assert listed["google/gemini-2.5-flash-image"]["output_modalities"] == ["image", "text"]
    assert listed["google/gemini-2.5-flash-image"]["modality"] == "text+image->text+image"


@pytest.mark.parametrize(("modalities", "count"), [(["image", "text"], 1), (["text"], 0), (None, 0)])
def test_image_models_draw_only_on_request(client: httpx.Client, modalities: list[str] | None, count: int) -> None:
    """Without `image` in `modalities`, the model answers with text."""
    extra = {} if modalities is None else {"modalities": modalities}
    body = ask("google/gemini-2.5-flash-image", "Draw!", tools=[], stream=False, **extra)
    message = client.post("/chat/completions", json=body).json()["choices"][0]["message"]
    assert len(message.get("images", [])) == count
    assert message["content"]


def test_images_depend_on_the_prompt(client: httpx.Client) -> None:
    """Several images of one answer differ; equal prompts have equal images."""

    def drawn(prompt: str) -> str:
        body = ask("google/gemini-2.5-flash-image", prompt, tools=[], stream=False, modalities=["image", "text"])
        return client.post("/chat/completions", json=body).json()["choices"][0]["message"]["images"][0]["image_url"][
            "url"
        ]

    assert len({drawn(f"Draw animal {number}!") for number in range(5)}) == 5
    assert drawn("Draw a fox!") == drawn("Draw a fox!")
