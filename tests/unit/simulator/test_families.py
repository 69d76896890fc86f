"""Every family speaks OpenRouter's wire in its own accent, and two readers that are not ours understand it."""

import json
import re
from typing import Any

import httpx
import pytest
from openrouter.components import ChatResult, ChatStreamChunk

from tests.unit.simulator.requests import FAMILIES, SEARCH, ask, result, run_tool
from tests.unit.simulator.slow_decoder import Heard, hear, said

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


def stream(client: httpx.Client, body: dict[str, Any]) -> Heard:
    """Post a stream request and read the answer."""
    response = client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/event-stream"
    return hear(response.content)


def as_known_by_the_sdk(chunk: dict[str, Any]) -> dict[str, Any]:
    """Drop what the SDK refuses but the real wire has: null ids and names on continuations (Qwen's host)."""
    kept = json.loads(json.dumps(chunk))
    for choice in kept["choices"]:
        for call in choice["delta"].get("tool_calls") or []:
            call.update({"id": call.get("id") or ""})
            call["function"]["name"] = call["function"].get("name") or ""
    return kept


@pytest.mark.parametrize("family", FAMILIES)
def test_streams_calls_in_its_accent(client: httpx.Client, family: str) -> None:
    """A question that needs three tools is asked as three calls, in the family's ids and finish."""
    heard = stream(client, ask(f"{family}/sim", QUESTION))
    assert [(call["name"], json.loads(call["arguments"])) for call in heard.calls] == EXPECTED_CALLS
    assert all(re.fullmatch(ID_FORMS[family], call["id"]) for call in heard.calls)
    assert set(heard.finishes) == {"tool_calls"}
    assert heard.natives[0] == NATIVE_TOOLS.get(family, "tool_calls")
    assert heard.comments >= 2
    assert heard.done


@pytest.mark.parametrize("family", FAMILIES)
def test_usage_is_summed(client: httpx.Client, family: str) -> None:
    """The last chunk counts tokens and costs what the listed price says."""
    heard = stream(client, ask(f"{family}/sim", QUESTION))
    price = next(m for m in client.get("/models").json()["data"] if m["id"] == f"{family}/sim")["pricing"]
    usage = heard.usage
    assert usage is not None
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    expected = usage["prompt_tokens"] * float(price["prompt"]) + usage["completion_tokens"] * float(price["completion"])
    assert usage["cost"] == pytest.approx(expected)
    assert [chunk for chunk in heard.chunks if "usage" in chunk] == heard.chunks[-1:]


@pytest.mark.parametrize("family", FAMILIES)
def test_whole_says_what_the_stream_says(client: httpx.Client, family: str) -> None:
    """The same request whole gives the same text, reasoning and calls, in a body that waits with white space."""
    body = ask(f"{family}/sim", QUESTION)
    heard = stream(client, body)
    response = client.post("/chat/completions", json={**body, "stream": False})
    assert response.content[:1] == b"\n"
    message = response.json()["choices"][0]["message"]
    assert (message["content"] or "") == heard.content
    assert (message["reasoning"] or "") == heard.reasoning
    calls = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message["tool_calls"]]
    assert calls == EXPECTED_CALLS


@pytest.mark.parametrize("family", FAMILIES)
def test_openrouter_sdk_reads_it(client: httpx.Client, family: str) -> None:
    """OpenRouter's own generated models accept every chunk and the whole body."""
    body = ask(f"{family}/sim", QUESTION, reasoning={"effort": "low"})
    chunks = [ChatStreamChunk.model_validate(as_known_by_the_sdk(chunk)) for chunk in stream(client, body).chunks]
    assert "".join(choice.delta.reasoning or "" for chunk in chunks for choice in chunk.choices)
    whole = ChatResult.model_validate(client.post("/chat/completions", json={**body, "stream": False}).json())
    assert whole.choices[0].message.tool_calls is not None
    assert len(whole.choices[0].message.tool_calls) == 3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_faithful_client_gets_an_answer(client: httpx.Client, family: str) -> None:
    """A client that sends everything back as it came is answered from the tool results, with their numbers."""
    asked = ask(f"{family}/sim", QUESTION, reasoning={"effort": "low"})
    heard = stream(client, asked)
    results = [result(call["id"], run_tool(call["name"], json.loads(call["arguments"]))) for call in heard.calls]
    answer = stream(client, {**asked, "messages": [*asked["messages"], said(heard), *results]})
    assert "**391**" in answer.content
    assert "14:05 on Saturday, 21 November 2026" in answer.content
    assert "The loop" in answer.content
    assert "[7]" in answer.content
    assert set(answer.finishes) == {"stop"}


def test_families_reason_as_they_do(client: httpx.Client) -> None:
    """Anthropic and Mistral reason only when asked; asked not to, nobody does."""
    unasked = {family for family in FAMILIES if stream(client, ask(f"{family}/sim", QUESTION)).reasoning}
    assert unasked == set(FAMILIES) - {"anthropic", "mistralai"}
    for family in FAMILIES:
        assert stream(client, ask(f"{family}/sim", QUESTION, reasoning={"effort": "high"})).reasoning
        assert not stream(client, ask(f"{family}/sim", QUESTION, reasoning={"effort": "none"})).reasoning


def test_anthropic_signs_in_a_delta_without_text(client: httpx.Client) -> None:
    """The signature comes last, alone, and belongs to the text before it (quirk B3)."""
    heard = stream(client, ask("anthropic/sim", QUESTION, reasoning={"max_tokens": 1024}))
    deltas = [choice["delta"] for chunk in heard.chunks for choice in chunk["choices"]]
    details = [detail for delta in deltas for detail in delta.get("reasoning_details") or []]
    assert ["text" in detail for detail in details] == [True] * (len(details) - 1) + [False]
    assert len(heard.details) == 1
    assert heard.details[0]["text"] == heard.reasoning
    assert heard.details[0]["signature"]


def test_anthropic_writes_no_arguments_as_an_empty_text(client: httpx.Client) -> None:
    """A call without arguments never writes `{}` (quirk A9)."""
    heard = stream(client, ask("anthropic/sim", "What time is it?"))
    assert [(call["name"], call["arguments"]) for call in heard.calls] == [("get_current_time", "")]


def test_mistral_sends_every_call_in_one_delta_with_the_finish(client: httpx.Client) -> None:
    """Three whole calls stand in one delta that carries finish_reason; the usage chunk has none."""
    heard = stream(client, ask("mistralai/sim", QUESTION))
    choices = [choice for chunk in heard.chunks for choice in chunk["choices"] if choice["delta"].get("tool_calls")]
    assert [len(choice["delta"]["tool_calls"]) for choice in choices] == [3]
    assert choices[0]["finish_reason"] == "tool_calls"
    assert heard.chunks[-1]["choices"][0]["finish_reason"] is None


def test_google_seals_name_the_first_call(client: httpx.Client) -> None:
    """The sealed detail of a step with calls carries the id of its first call."""
    heard = stream(client, ask("google/sim", QUESTION))
    assert [detail["type"] for detail in heard.details] == ["reasoning.text", "reasoning.encrypted"]
    assert heard.details[1]["id"] == heard.calls[0]["id"]


def test_qwen_sends_null_ids_and_names(client: httpx.Client) -> None:
    """Continuations carry `id: null` and `name: null`."""
    heard = stream(client, ask("qwen/sim", "What is 2 + 2?"))
    deltas = [call for chunk in heard.chunks for c in chunk["choices"] for call in c["delta"].get("tool_calls") or []]
    assert len(deltas) > 2
    assert all(call["id"] is None and call["function"]["name"] is None for call in deltas[1:])


def test_kimi_counts_calls_through_the_conversation(client: httpx.Client) -> None:
    """The number in a Kimi id goes on where the history ended."""
    first = {"id": "abc", "type": "function", "function": {"name": "calculate", "arguments": '{"expression": "1+1"}'}}
    history = [
        {"role": "user", "content": "1+1"},
        {"role": "assistant", "content": None, "tool_calls": [first]},
        result("abc", "2"),
        {"role": "assistant", "content": "2"},
    ]
    heard = stream(client, ask("moonshotai/sim", *history, "What is 2 + 2?"))
    assert [call["id"] for call in heard.calls] == ["functions.calculate:1"]


def test_plain_answer_of_anthropic_ends_without_choices(client: httpx.Client) -> None:
    """After plain text the usage chunk has an empty list of choices."""
    heard = stream(client, ask("anthropic/sim", "Hello!"))
    assert heard.chunks[-1]["choices"] == []
    assert heard.usage


def test_any_id_of_a_known_family_is_answered(client: httpx.Client) -> None:
    """Another model of a known family answers in its accent, under its own name and host."""
    heard = stream(client, ask("anthropic/claude-opus-9", "Search for replay"))
    assert heard.calls[0]["id"].startswith("toolu_")
    assert {chunk["model"] for chunk in heard.chunks} == {"anthropic/claude-opus-9"}
    assert {chunk["provider"] for chunk in heard.chunks} == {"Anthropic"}


def test_provider_order_is_followed(client: httpx.Client) -> None:
    """A host that the request pins is the one that answers."""
    body = ask("google/sim", "Hello!", provider={"order": ["google-vertex"], "allow_fallbacks": False})
    assert stream(client, body).chunks[0]["provider"] == "Google"


def test_unparallel_requests_get_one_call_a_step(client: httpx.Client) -> None:
    """With parallel_tool_calls false the three calls come in three steps."""
    asked = ask("openai/sim", QUESTION, parallel_tool_calls=False)
    messages = list(asked["messages"])
    names = []
    for _ in range(3):
        heard = stream(client, {**asked, "messages": messages})
        assert len(heard.calls) == 1
        call = heard.calls[0]
        names.append(call["name"])
        messages += [said(heard), result(call["id"], run_tool(call["name"], json.loads(call["arguments"])))]
    assert names == [name for name, _ in EXPECTED_CALLS]
    assert "[7]" in stream(client, {**asked, "messages": messages}).content


def test_stream_bytes_are_utf8_frames(client: httpx.Client) -> None:
    """Characters beyond ASCII go out as themselves."""
    heard = stream(client, ask("openai/sim", "Search for Zürich 🚲", tools=[SEARCH]))
    assert json.loads(heard.calls[0]["arguments"]) == {"query": "Zürich 🚲"}
