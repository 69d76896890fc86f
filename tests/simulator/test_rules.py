"""What the hosts refuse is refused here, in their words; what came back unaltered is let through."""

import copy
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.simulator.requests import CALCULATE, FAMILIES, ask, result, run_tool
from tests.simulator.slow_decoder import hear, said

QUESTION = "What is 17 * 23 and what is 4 + 4?"
SEALED = ("openai", "anthropic", "google", "x-ai")
Message = dict[str, Any]


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request."""
    return client.post("/chat/completions", json=body)


def refusal(client: httpx.Client, body: dict[str, Any]) -> str:
    """Post a request that must be refused and give everything the refusal says."""
    response = post(client, body)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == 400
    return error["message"] + " " + error["metadata"].get("raw", "")


def call(call_id: str, arguments: str = '{"expression": "1 + 1"}') -> Message:
    """Write an assistant message with one call."""
    function = {"name": "calculate", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def second_step(client: httpx.Client, family: str) -> dict[str, Any]:
    """Play a first step and write the request a faithful client sends next."""
    body = ask(f"{family}/sim", QUESTION, reasoning={"effort": "medium"}, tools=[CALCULATE])
    heard = hear(post(client, body).content)
    results = [result(c["id"], run_tool(c["name"], json.loads(c["arguments"]))) for c in heard.calls]
    return {**body, "messages": [*body["messages"], said(heard), *results]}


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"messages": [{"role": "user", "content": "hi"}]}, "models"),
        ({"model": "openai/sim"}, "messages"),
        ({"model": "openai/sim", "messages": []}, "messages"),
        ({"model": "openai/sim", "messages": ["hi"]}, "messages[0]"),
        ({"model": "openai/sim", "messages": [{"role": "robot", "content": "hi"}]}, "role"),
        ({"model": "openai/sim", "messages": [{"role": "user", "content": 7}]}, "content"),
        ({"model": "openai/sim", "messages": [{"role": "user"}]}, "content"),
        ({"model": "openai/sim", "messages": [{"role": "tool", "content": "2"}]}, "tool_call_id"),
        ({"model": "openai/sim", "messages": [{"role": "user", "content": "x"}], "tools": {}}, "tools"),
        (ask("openai/sim", "x", tools=[{"type": "function", "function": {"name": "a b"}}]), "tools[0]"),
        (ask("openai/sim", "x", {"role": "assistant", "tool_calls": [{"id": 1}]}), "tool_calls[0]"),
        (ask("nobody/sim", "x"), "nobody/sim is not a valid model ID"),
        (ask("sim", "x"), "sim is not a valid model ID"),
        (ask("openai/sim", "x", tools=None, tool_choice="none"), "tool_choice"),
        (ask("openai/sim", "x", tools=None, parallel_tool_calls=False), "parallel_tool_calls"),
        (ask("openai/sim", "x", reasoning={"effort": "low", "max_tokens": 9}), "Only one of"),
        (["not", "an", "object"], "object"),
    ],
)
def test_shape(client: httpx.Client, body: dict[str, Any], word: str) -> None:
    """A body of the wrong shape is refused and the fault is named."""
    assert word in refusal(client, body)


def test_body_must_be_json(client: httpx.Client) -> None:
    """What does not parse is a 400."""
    assert client.post("/chat/completions", content=b'{"model": NaN}').status_code == 400


@pytest.mark.parametrize(
    "messages",
    [
        ["a", result("abcdefghi", "2")],
        ["a", call("abcdefghi")],
        ["a", call("abcdefghi"), "b"],
        ["a", call("abcdefghi"), result("abcdefghX", "2")],
        ["a", call("abcdefghi"), result("abcdefghi", "2"), result("abcdefghi", "2")],
        ["a", call("abcdefghi"), {"role": "assistant", "content": "so"}, result("abcdefghi", "2")],
        ["a", call("abcdefghi", '{"expression"'), result("abcdefghi", "2")],
        ["a", call("abcdefghi", "[1]"), result("abcdefghi", "2")],
    ],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_calls_and_results_belong_together(client: httpx.Client, family: str, messages: list[Any]) -> None:
    """Every call has one result right after it, and sound arguments."""
    off = {} if family == "google" else {"reasoning": {"effort": "none"}}
    refusal(client, ask(f"{family}/sim", *messages, **off))


@pytest.mark.parametrize(
    ("family", "call_id", "word"),
    [
        ("mistralai", "call_0123456789", "length of 9"),
        ("anthropic", "functions.calculate:0", "pattern"),
        ("openai", "x" * 41, "maximum length"),
    ],
)
def test_id_forms(client: httpx.Client, family: str, call_id: str, word: str) -> None:
    """Ids that another family minted are refused where the host has a form for them (quirk A16)."""
    history = ["a", call(call_id), result(call_id, "2"), {"role": "assistant", "content": "2"}, "b"]
    assert word in refusal(client, ask(f"{family}/sim", *history))


def test_anthropic_wants_unique_ids(client: httpx.Client) -> None:
    """An id that is used twice is refused (quirk A15)."""
    once = [call("abcdefghi"), result("abcdefghi", "2"), {"role": "assistant", "content": "2"}]
    assert "unique" in refusal(client, ask("anthropic/sim", "a", *once, "b", *once, "c"))


def test_anthropic_wants_words(client: httpx.Client) -> None:
    """An empty user message is refused (quirk C4)."""
    assert "non-empty" in refusal(client, ask("anthropic/sim", " "))


def test_mistral_refuses_user_after_tool(client: httpx.Client) -> None:
    """The host's code 3230 is in the refusal (quirk C7); other families take the same history."""
    history = ["a", call("abcdefghi"), result("abcdefghi", "2"), "b"]
    assert "3230" in refusal(client, ask("mistralai/sim", *history))
    assert post(client, ask("qwen/sim", *history)).status_code == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_what_comes_back_unaltered_is_accepted(client: httpx.Client, family: str) -> None:
    """The request of a faithful client passes."""
    response = post(client, second_step(client, family))
    assert response.status_code == 200, response.text


def drop(message: Message) -> None:
    """Send no details back."""
    del message["reasoning_details"]


def alter(message: Message) -> None:
    """Change one character of the seal."""
    detail = message["reasoning_details"][-1]
    name = "signature" if "signature" in detail else "data"
    detail[name] = detail[name][:-3] + ("AAA" if detail[name][-3:] != "AAA" else "BBB")


def retype(message: Message) -> None:
    """Change one word of the reasoning."""
    detail = message["reasoning_details"][0]
    name = "text" if "text" in detail else "summary"
    detail[name] = detail[name].replace("user", "User")


def split(message: Message) -> None:
    """Send fragments instead of the merged detail."""
    detail = message["reasoning_details"][0]
    name = "text" if "text" in detail else "summary"
    first, second = ({**detail, name: detail[name][:5]}, {**detail, name: detail[name][5:]})
    message["reasoning_details"][:1] = [first, second]


def double(message: Message) -> None:
    """Send the last detail twice."""
    message["reasoning_details"].append(dict(message["reasoning_details"][-1]))


@pytest.mark.parametrize("harm", [drop, alter, retype, split, double])
@pytest.mark.parametrize("family", SEALED)
def test_altered_reasoning_is_refused(client: httpx.Client, family: str, harm: Callable[[Message], None]) -> None:
    """Details that are missing, altered, cut or doubled are refused in the host's words (quirks B1-B4)."""
    body = copy.deepcopy(second_step(client, family))
    harm(body["messages"][1])
    assert any(
        words in refusal(client, body)
        for words in (
            "Invalid `signature`",
            "Expected `thinking`",
            "Corrupted thought",
            "preserved",
            "could not be",
            "without its",
        )
    )


def test_order_of_details_counts(client: httpx.Client) -> None:
    """The same details in another order are refused."""
    body = second_step(client, "openai")
    body["messages"][1]["reasoning_details"].reverse()
    assert "could not be verified" in refusal(client, body)


def test_gemini_seal_belongs_to_its_host(client: httpx.Client) -> None:
    """A seal of one host is refused by another (quirk B2), and taken by its own when that is pinned."""
    body = second_step(client, "google")
    assert "Corrupted" in refusal(client, {**body, "provider": {"order": ["Google Vertex"]}})
    assert post(client, {**body, "provider": {"order": ["Google AI Studio"]}}).status_code == 200


def test_gemini_seal_names_its_call(client: httpx.Client) -> None:
    """A call id that was replaced breaks the seal."""
    body = json.loads(json.dumps(second_step(client, "google")))
    old = body["messages"][1]["tool_calls"][0]["id"]
    body = json.loads(json.dumps(body).replace(old, "abcdefghi"))
    assert "Corrupted" in refusal(client, body)


def test_deepseek_wants_its_reasoning(client: httpx.Client) -> None:
    """Either field will do; without both the loop is refused (quirk B5)."""
    body = second_step(client, "deepseek")
    del body["messages"][1]["reasoning_details"]
    assert post(client, body).status_code == 200
    del body["messages"][1]["reasoning"]
    assert "reasoning_content" in refusal(client, body)


@pytest.mark.parametrize("family", [*SEALED, "deepseek"])
def test_only_the_open_loop_is_looked_at(client: httpx.Client, family: str) -> None:
    """In a finished loop the reasoning may be gone."""
    body = second_step(client, family)
    for name in ("reasoning", "reasoning_details"):
        del body["messages"][1][name]
    body["messages"] += [{"role": "assistant", "content": "391 and 8"}, {"role": "user", "content": "Thanks!"}]
    assert post(client, body).status_code == 200


def test_nudge_keeps_the_loop_open(client: httpx.Client) -> None:
    """A user message after tool results of a request without tools is no new question."""
    body = second_step(client, "anthropic")
    body = {**body, "tool_choice": "none", "messages": [*body["messages"], {"role": "user", "content": "Answer now."}]}
    answer = hear(post(client, body).content)
    assert "**391**" in answer.content
    del body["messages"][1]["reasoning_details"]
    assert "Expected `thinking`" in refusal(client, body)


def test_xai_takes_no_json_beside_tools(client: httpx.Client) -> None:
    """A response_format beside tools is refused; without tools it is taken."""
    format_ = {"response_format": {"type": "json_object"}}
    assert "response_format" in refusal(client, ask("x-ai/sim", QUESTION) | format_)
    assert post(client, ask("x-ai/sim", QUESTION, tools=[]) | format_).status_code == 200


def test_claude_takes_no_prefill(client: httpx.Client) -> None:
    """A conversation that ends with the assistant's words is refused (C6)."""
    body = ask("anthropic/sim", QUESTION)
    body["messages"] = [*body["messages"], {"role": "assistant", "content": "The answer is"}]
    assert "prefill" in refusal(client, body)


def test_claude_is_not_forced_while_it_thinks(client: httpx.Client) -> None:
    """A forced call and thinking go together nowhere; each alone does (B6)."""
    forced = {"tool_choice": "required"}
    thinking = {"reasoning": {"effort": "low"}}
    assert "Thinking" in refusal(client, ask("anthropic/sim", QUESTION) | forced | thinking)
    assert post(client, ask("anthropic/sim", QUESTION) | forced).status_code == 200
    assert post(client, ask("anthropic/sim", QUESTION) | thinking).status_code == 200
