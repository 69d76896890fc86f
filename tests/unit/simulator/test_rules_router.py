"""What OpenRouter says no to by itself: no endpoint, no room, no credits."""

from typing import Any

import httpx
import pytest
from openrouter.components import ModelsListResponse

from tests.unit.simulator.refusing import call, post, refusal, taken
from tests.unit.simulator.requests import FAMILIES, SEARCH, ask, result

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
SEEN = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}
REQUIRED: dict[str, Any] = {"provider": {"require_parameters": True}}


def test_a_model_without_tools_has_no_endpoint_for_them(client: httpx.Client) -> None:
    """Tools are a 404 that names the first; without them it answers (quirk C2)."""
    said = refusal(client, ask("qwen/chat-only", "Hello!", tools=[SEARCH]), 404)
    assert said.startswith('No endpoints found that support tool use. Try disabling "search_web".')
    taken(client, ask("qwen/chat-only", "Hello!", tools=[]))
    listed = ModelsListResponse.model_validate(client.get("/models").json()).data
    row = next(model for model in listed if model.id == "qwen/chat-only")
    assert not {"tools", "tool_choice"} & set(row.supported_parameters)


@pytest.mark.parametrize("family", FAMILIES)
def test_pictures_need_a_model_that_sees(client: httpx.Client, family: str) -> None:
    """A family whose models are listed for text alone has no endpoint for a picture."""
    listed = {model["id"]: model["architecture"]["input_modalities"] for model in client.get("/models").json()["data"]}
    body = ask(f"{family}/sim", SEEN)
    if "image" in listed[f"{family}/sim"]:
        taken(client, body)
    else:
        assert "No endpoints found that support image input" in refusal(client, body, 404)
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
    """One unlisted parameter is one too many with require_parameters, and only then (quirks C1, C13)."""
    said = refusal(client, ask(model, "Hello!") | fields | REQUIRED, 404)
    assert "can handle the requested parameters" in said
    assert post(client, ask(model, "Hello!") | fields).status_code != 404
    taken(client, ask(model, "Hello!", max_tokens=500, session_id="one") | REQUIRED)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_context_has_an_end(client: httpx.Client, family: str) -> None:
    """Texts, results and tools count; what is over the context is a 400 of its own type, what fits is answered."""
    body = ask(f"{family}/sim-context-300", "x" * 700, tools=[])
    taken(client, body)
    response = post(client, ask(f"{family}/sim-context-300", "x" * 1300, tools=[]))
    error = response.json()["error"]
    assert (response.status_code, error["metadata"]["error_type"]) == (400, "context_length_exceeded")
    assert "maximum context length is 300 tokens. However, you requested about 325 tokens" in error["message"]
    assert "of tool input" in refusal(client, {**body, "tools": [SEARCH] * 5})


def test_results_fill_a_context_too(client: httpx.Client) -> None:
    """What makes a loop too long is what its tools brought."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "x" * 2000)]
    assert "maximum context length" in refusal(client, ask("qwen/sim-context-300", *history, tools=[]))
    taken(client, ask("qwen/sim-context-600", *history, tools=[]))


def test_a_listed_model_has_its_context(client: httpx.Client) -> None:
    """The context in the list is the one that counts."""
    listed = {model["id"]: model for model in client.get("/models").json()["data"]}
    assert listed["openai/sim-context-2000"]["context_length"] == 2000
    assert listed["openai/sim-context-2000"]["hidden"]
    assert "is 2000 tokens" in refusal(client, ask("openai/sim-context-2000", "x" * 9000))


def test_credits_cover_so_many_tokens(client: httpx.Client) -> None:
    """Without a cap the longest answer counts; a cap that is covered is answered (quirk C13)."""
    said = refusal(client, ask("openai/sim-afford-300", "Hello!"), 402)
    assert "requires more credits, or fewer max_tokens" in said
    assert "You requested up to 16384 tokens, but can only afford 300." in said
    assert "up to 301 tokens" in refusal(client, ask("openai/sim-afford-300", "Hello!", max_tokens=301), 402)
    taken(client, ask("openai/sim-afford-300", "Hello!", max_tokens=300))


def test_no_credits_at_all(client: httpx.Client) -> None:
    """With nothing left every cap is too high."""
    assert "afford 0" in refusal(client, ask("anthropic/sim-afford-0", "Hello!", max_tokens=1), 402)


def test_images_need_a_model_that_draws(client: httpx.Client) -> None:
    """A model of text alone has no endpoint for a request that wants images; an image model takes both (E14)."""
    said = refusal(client, ask("openai/sim", "Draw!", tools=[], modalities=["image", "text"]), 404)
    assert said.strip() == "No endpoints found that support the requested output modalities: image, text"
    taken(client, ask("openai/sim", "Draw!", tools=[], modalities=["text"]))
    listed = {model["id"]: model["architecture"] for model in client.get("/models").json()["data"]}
    assert listed["google/gemini-2.5-flash-image"]["output_modalities"] == ["image", "text"]
    assert listed["google/gemini-2.5-flash-image"]["modality"] == "text+image->text+image"


@pytest.mark.parametrize(("modalities", "count"), [(["image", "text"], 1), (["text"], 0), (None, 0)])
def test_an_image_model_draws_only_when_asked(client: httpx.Client, modalities: list[str] | None, count: int) -> None:
    """Without `modalities` it answers in words alone, as OpenRouter's do."""
    extra = {} if modalities is None else {"modalities": modalities}
    body = ask("google/gemini-2.5-flash-image", "Draw!", tools=[], stream=False, **extra)
    message = client.post("/chat/completions", json=body).json()["choices"][0]["message"]
    assert len(message.get("images", [])) == count
    assert message["content"]
