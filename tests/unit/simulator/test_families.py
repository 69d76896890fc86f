"""The format of each family, read by a decoder that is not Signalbox's and by OpenRouter's SDK."""

import json
import re
from typing import Any

import httpx
import pytest
from openrouter.components import ChatResult, ChatStreamChunk

from tests.unit.simulator.requests import FAMILIES, SEARCH, ask, result, run_tool
from tests.unit.simulator.slow_decoder import Decoded, assistant_message, decode

QUESTION = "What time is it in Tokyo, what is 17 * 23 and how does the tool loop end?"
EXPECTED_CALLS = [
    ("get_current_time", {"timezone": "Asia/Tokyo"}),
    ("calculate", {"expression": "17 * 23"}),
    ("search_web", {"query": "tool loop end"}),
]
ID_FORMS = {
    "openai": r"call_[A-Za-z0-9]{24}",
    "anthropic": r"toolu_01[A-Za-z0-9]{22}",
    "google": r"tool_\d_\w+_[A-Za-z0-9]{20}",
    "x-ai": r"call_\d{8}",
    "deepseek": r"call_00_[A-Za-z0-9]{24}",
    "mistralai": r"[A-Za-z0-9]{9}",
    "moonshotai": r"functions\.\w+:\d",
    "qwen": r"call_[0-9a-f]{24}",
}
NATIVE_TOOLS = {"openai": "completed", "anthropic": "tool_use", "google": "STOP", "x-ai": "completed"}


def stream(client: httpx.Client, body: dict[str, Any]) -> Decoded:
    """Post a stream request and read the answer."""
    response = client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/event-stream"
    return decode(response.content)


def adapted_to_the_sdk(chunk: dict[str, Any]) -> dict[str, Any]:
    """Replace null ids and names of continuations (Qwen's provider), which the SDK rejects."""
    kept = json.loads(json.dumps(chunk))
    for choice in kept["choices"]:
        for call in choice["delta"].get("tool_calls") or []:
            call.update({"id": call.get("id") or ""})
            call["function"]["name"] = call["function"].get("name") or ""
    return kept


@pytest.mark.parametrize("family", FAMILIES)
def test_call_format(client: httpx.Client, family: str) -> None:
    """A question that needs three tools gives three calls, with the family's ids and finish reason."""
    decoded = stream(client, ask(f"{family}/sim", QUESTION))
    assert [(call["name"], json.loads(call["arguments"])) for call in decoded.calls] == EXPECTED_CALLS
    assert all(re.fullmatch(ID_FORMS[family], call["id"]) for call in decoded.calls)
    assert set(decoded.finishes) == {"tool_calls"}
    assert decoded.natives[0] == NATIVE_TOOLS.get(family, "tool_calls")
    assert decoded.comments >= 2
    assert decoded.done


@pytest.mark.parametrize("family", FAMILIES)
def test_usage_is_summed(client: httpx.Client, family: str) -> None:
    """The last chunk has the token counts and their cost at the listed price."""
    decoded = stream(client, ask(f"{family}/sim", QUESTION))
    price = next(m for m in client.get("/models").json()["data"] if m["id"] == f"{family}/sim")["pricing"]
    usage = decoded.usage
    assert usage is not None
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    expected = usage["prompt_tokens"] * float(price["prompt"]) + usage["completion_tokens"] * float(price["completion"])
    assert usage["cost"] == pytest.approx(expected)
    assert [chunk for chunk in decoded.chunks if "usage" in chunk] == decoded.chunks[-1:]


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_that_are_not_streamed(client: httpx.Client, family: str) -> None:
    """An answer that is not streamed has the same text, reasoning and calls, after white space."""
    body = ask(f"{family}/sim", QUESTION)
    decoded = stream(client, body)
    response = client.post("/chat/completions", json={**body, "stream": False})
    assert response.content[:1] == b"\n"
    message = response.json()["choices"][0]["message"]
    assert (message["content"] or "") == decoded.content
    assert (message["reasoning"] or "") == decoded.reasoning
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
    assert calls == EXPECTED_CALLS


@pytest.mark.parametrize("family", FAMILIES)
def test_the_openrouter_sdk_accepts_it(client: httpx.Client, family: str) -> None:
    """OpenRouter's generated models accept every chunk and the complete body."""
    body = ask(f"{family}/sim", QUESTION, reasoning={"effort": "low"})
    chunks = [ChatStreamChunk.model_validate(adapted_to_the_sdk(chunk)) for chunk in stream(client, body).chunks]
    assert "".join(choice.delta.reasoning or "" for chunk in chunks for choice in chunk.choices)
    whole = ChatResult.model_validate(client.post("/chat/completions", json={**body, "stream": False}).json())
    assert whole.choices[0].message.tool_calls is not None
    assert len(whole.choices[0].message.tool_calls) == 3


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_from_results(client: httpx.Client, family: str) -> None:
    """If a client sends everything back unchanged, the answer uses the tool results and their numbers."""
    asked = ask(f"{family}/sim", QUESTION, reasoning={"effort": "low"})
    decoded = stream(client, asked)
    results = [result(call["id"], run_tool(call["name"], json.loads(call["arguments"]))) for call in decoded.calls]
    answer = stream(client, {**asked, "messages": [*asked["messages"], assistant_message(decoded), *results]})
    assert "**391**" in answer.content
    assert "14:05 on Saturday, 21 November 2026" in answer.content
    assert "The loop" in answer.content
    assert "[7]" in answer.content
    assert set(answer.finishes) == {"stop"}


def test_reasoning_by_default(client: httpx.Client) -> None:
    """All families but Anthropic and Mistral reason by default; effort `none` turns reasoning off."""
    unasked = {family for family in FAMILIES if stream(client, ask(f"{family}/sim", QUESTION)).reasoning}
    assert unasked == set(FAMILIES) - {"anthropic", "mistralai"}
    for family in FAMILIES:
        assert stream(client, ask(f"{family}/sim", QUESTION, reasoning={"effort": "high"})).reasoning
        assert not stream(client, ask(f"{family}/sim", QUESTION, reasoning={"effort": "none"})).reasoning


def test_anthropic_signs_in_a_delta_without_text(client: httpx.Client) -> None:
    """The signature is in a last delta without text (quirk B3)."""
    decoded = stream(client, ask("anthropic/sim", QUESTION, reasoning={"max_tokens": 1024}))
    deltas = [choice["delta"] for chunk in decoded.chunks for choice in chunk["choices"]]
    details = [detail for delta in deltas for detail in delta.get("reasoning_details") or []]
    assert ["text" in detail for detail in details] == [True] * (len(details) - 1) + [False]
    assert len(decoded.details) == 1
    assert decoded.details[0]["text"] == decoded.reasoning
    assert decoded.details[0]["signature"]


def test_anthropic_sends_empty_arguments_as_an_empty_string(client: httpx.Client) -> None:
    """A call without arguments never has `{}` (quirk A9)."""
    decoded = stream(client, ask("anthropic/sim", "What time is it?"))
    assert [(call["name"], call["arguments"]) for call in decoded.calls] == [("get_current_time", "")]


def test_mistral_sends_every_call_in_one_delta_with_the_finish(client: httpx.Client) -> None:
    """Three complete calls are in one delta with the finish_reason; the usage chunk has none."""
    decoded = stream(client, ask("mistralai/sim", QUESTION))
    choices = [choice for chunk in decoded.chunks for choice in chunk["choices"] if choice["delta"].get("tool_calls")]
    assert [len(choice["delta"]["tool_calls"]) for choice in choices] == [3]
    assert choices[0]["finish_reason"] == "tool_calls"
    assert decoded.chunks[-1]["choices"][0]["finish_reason"] is None


def test_google_signatures_name_the_first_call(client: httpx.Client) -> None:
    """The encrypted detail of a step with calls has the id of the first call."""
    decoded = stream(client, ask("google/sim", QUESTION))
    assert [detail["type"] for detail in decoded.details] == ["reasoning.text", "reasoning.encrypted"]
    assert decoded.details[1]["id"] == decoded.calls[0]["id"]


def test_qwen_sends_null_ids_and_names(client: httpx.Client) -> None:
    """Continuations have `id: null` and `name: null`."""
    decoded = stream(client, ask("qwen/sim", "What is 2 + 2?"))
    deltas = [call for chunk in decoded.chunks for c in chunk["choices"] for call in c["delta"].get("tool_calls") or []]
    assert len(deltas) > 2
    assert all(call["id"] is None and call["function"]["name"] is None for call in deltas[1:])


def test_kimi_numbers_calls_through_the_conversation(client: httpx.Client) -> None:
    """The number in a Kimi id continues after the calls of the history."""
    first = {"id": "abc", "type": "function", "function": {"name": "calculate", "arguments": '{"expression": "1+1"}'}}
    history = [
        {"role": "user", "content": "1+1"},
        {"role": "assistant", "content": None, "tool_calls": [first]},
        result("abc", "2"),
        {"role": "assistant", "content": "2"},
    ]
    decoded = stream(client, ask("moonshotai/sim", *history, "What is 2 + 2?"))
    assert [call["id"] for call in decoded.calls] == ["functions.calculate:1"]


def test_anthropic_ends_text_without_choices(client: httpx.Client) -> None:
    """After plain text, the usage chunk has an empty list of choices."""
    decoded = stream(client, ask("anthropic/sim", "Hello!"))
    assert decoded.chunks[-1]["choices"] == []
    assert decoded.usage


def test_unlisted_models_of_a_family(client: httpx.Client) -> None:
    """An unlisted model of a known family has the family's format, and its own id and provider."""
    decoded = stream(client, ask("anthropic/claude-opus-9", "Search for replay"))
    assert decoded.calls[0]["id"].startswith("toolu_")
    assert {chunk["model"] for chunk in decoded.chunks} == {"anthropic/claude-opus-9"}
    assert {chunk["provider"] for chunk in decoded.chunks} == {"Anthropic"}


def test_provider_order_is_followed(client: httpx.Client) -> None:
    """A provider that the request names serves it."""
    body = ask("google/sim", "Hello!", provider={"order": ["google-vertex"], "allow_fallbacks": False})
    assert stream(client, body).chunks[0]["provider"] == "Google"


def test_parallel_tool_calls_false(client: httpx.Client) -> None:
    """With `parallel_tool_calls` false, three calls take three steps."""
    asked = ask("openai/sim", QUESTION, parallel_tool_calls=False)
    messages = list(asked["messages"])
    names = []
    for _ in range(3):
        decoded = stream(client, {**asked, "messages": messages})
        assert len(decoded.calls) == 1
        call = decoded.calls[0]
        names.append(call["name"])
        messages += [
            assistant_message(decoded),
            result(call["id"], run_tool(call["name"], json.loads(call["arguments"]))),
        ]
    assert names == [name for name, _ in EXPECTED_CALLS]
    assert "[7]" in stream(client, {**asked, "messages": messages}).content


def test_streams_are_utf8(client: httpx.Client) -> None:
    """Characters beyond ASCII are not escaped."""
    decoded = stream(client, ask("openai/sim", "Search for Zürich 🚲", tools=[SEARCH]))
    assert json.loads(decoded.calls[0]["arguments"]) == {"query": "Zürich 🚲"}
