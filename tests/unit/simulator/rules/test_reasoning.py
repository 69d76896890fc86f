"""Rejected requests: reasoning that is altered, foreign or missing."""

import copy
import json
from collections.abc import Callable

import httpx
import pytest

from tests.unit.simulator.requests import FAMILIES, ask, result
from tests.unit.simulator.rules.rejection import Message, accepted, assistant_text, call, post, rejection, second_step
from tests.unit.simulator.slow_decoder import assistant_message, decode

SEALED = ("openai", "anthropic", "google", "x-ai")
FOREIGN = {
    "openai": "invalid_encrypted_content",
    "anthropic": "Invalid `signature` in `thinking` block",
    "google": "Corrupted thought signature",
    "x-ai": "encrypted content could not be verified",
    "deepseek": "another provider",
    "mistralai": "Reasoning input is not enabled",
    "moonshotai": "another provider",
    "qwen": "another provider",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_unaltered_reasoning_is_accepted(client: httpx.Client, family: str) -> None:
    """A request that sends everything back unchanged is accepted."""
    response = post(client, second_step(client, family))
    assert response.status_code == 200, response.text


def drop(message: Message) -> None:
    """Remove the details."""
    del message["reasoning_details"]


def alter(message: Message) -> None:
    """Change one character of the signature."""
    detail = message["reasoning_details"][-1]
    name = "signature" if "signature" in detail else "data"
    detail[name] = detail[name][:-3] + ("AAA" if detail[name][-3:] != "AAA" else "BBB")


def retype(message: Message) -> None:
    """Change one word of the reasoning."""
    detail = message["reasoning_details"][0]
    name = "text" if "text" in detail else "summary"
    detail[name] = detail[name].replace("user", "User")


def split(message: Message) -> None:
    """Send pieces instead of the merged detail."""
    detail = message["reasoning_details"][0]
    name = "text" if "text" in detail else "summary"
    first, second = ({**detail, name: detail[name][:5]}, {**detail, name: detail[name][5:]})
    message["reasoning_details"][:1] = [first, second]


def double(message: Message) -> None:
    """Send the last detail twice."""
    message["reasoning_details"].append(dict(message["reasoning_details"][-1]))


@pytest.mark.parametrize("harm", [drop, alter, retype, split, double])
@pytest.mark.parametrize("family", SEALED)
def test_altered_reasoning_is_rejected(client: httpx.Client, family: str, harm: Callable[[Message], None]) -> None:
    """Details that are missing, altered, split or doubled are rejected with the provider's message (quirks B1-B4)."""
    body = copy.deepcopy(second_step(client, family))
    harm(body["messages"][1])
    assert any(
        words in rejection(client, body)
        for words in (
            "Invalid `signature`",
            "Expected `thinking`",
            "Corrupted thought",
            "preserved",
            "could not be",
            "without its",
        )
    )


def test_order_of_details(client: httpx.Client) -> None:
    """The same details in another order are rejected."""
    body = second_step(client, "openai")
    body["messages"][1]["reasoning_details"].reverse()
    assert "could not be verified" in rejection(client, body)


def test_gemini_signatures_are_bound_to_the_provider(client: httpx.Client) -> None:
    """Another provider rejects a signature (quirk B2); the same one, named in the request, accepts it."""
    body = second_step(client, "google")
    assert "Corrupted" in rejection(client, {**body, "provider": {"order": ["Google Vertex"]}})
    assert post(client, {**body, "provider": {"order": ["Google AI Studio"]}}).status_code == 200


def test_gemini_signatures_name_their_call(client: httpx.Client) -> None:
    """A detail names its call: both may be renamed, but not only one of them (quirk A15)."""
    body = json.loads(json.dumps(second_step(client, "google")))
    old = body["messages"][1]["tool_calls"][0]["id"]
    assert post(client, json.loads(json.dumps(body).replace(old, "abcdefghi"))).status_code == 200
    body["messages"][1]["tool_calls"][0]["id"] = body["messages"][2]["tool_call_id"] = "abcdefghi"
    assert "Corrupted" in rejection(client, body)


def test_deepseek_requires_its_reasoning(client: httpx.Client) -> None:
    """Either field is enough; without both, an open loop is rejected (quirk B5)."""
    body = second_step(client, "deepseek")
    del body["messages"][1]["reasoning_details"]
    assert post(client, body).status_code == 200
    del body["messages"][1]["reasoning"]
    assert "reasoning_content" in rejection(client, body)


@pytest.mark.parametrize("family", [*SEALED, "deepseek"])
def test_only_the_open_loop_is_checked(client: httpx.Client, family: str) -> None:
    """A finished loop may lack its reasoning."""
    body = second_step(client, family)
    for name in ("reasoning", "reasoning_details"):
        del body["messages"][1][name]
    body["messages"] += [{"role": "assistant", "content": "391 and 8"}, {"role": "user", "content": "Thanks!"}]
    assert post(client, body).status_code == 200


def test_a_hint_keeps_the_loop_open(client: httpx.Client) -> None:
    """A user message after tool results, in a request without tools, is not a new question."""
    body = second_step(client, "anthropic")
    body = {**body, "tool_choice": "none", "messages": [*body["messages"], {"role": "user", "content": "Answer now."}]}
    answer = decode(post(client, body).content)
    assert "**391**" in answer.content
    del body["messages"][1]["reasoning_details"]
    assert "Expected `thinking`" in rejection(client, body)


def answered_by(client: httpx.Client, model: str) -> list[Message]:
    """Run a chat without tools, and return its messages with their details."""
    body = ask(model, "Hello!", reasoning={"effort": "medium"}, tools=[])
    return [
        *body["messages"],
        assistant_message(decode(accepted(client, body).content)),
        {"role": "user", "content": "Thanks!"},
    ]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("maker", SEALED)
def test_signed_reasoning_of_another_family(client: httpx.Client, maker: str, family: str) -> None:
    """Every other family rejects it with its own message, even in a finished turn (quirk B4)."""
    messages = answered_by(client, f"{maker}/sim")
    assert messages[1]["reasoning_details"]
    body = ask(f"{family}/sim", *messages)
    if family == maker:
        accepted(client, body)
    else:
        assert FOREIGN[family] in rejection(client, body)
    del messages[1]["reasoning_details"]
    accepted(client, ask(f"{family}/sim", *messages))


@pytest.mark.parametrize("family", SEALED)
def test_signatures_are_bound_to_the_model(client: httpx.Client, family: str) -> None:
    """Another model of the family rejects a signature; a variant of the same model accepts it (quirk B4)."""
    messages = answered_by(client, f"{family}/sim")
    assert FOREIGN[family] in rejection(client, ask(f"{family}/another", *messages))
    accepted(client, ask(f"{family}/sim:free", *messages))


@pytest.mark.parametrize("family", SEALED)
def test_unsigned_reasoning_is_rejected_by_families_that_sign(client: httpx.Client, family: str) -> None:
    """An open model's reasoning has no signature (quirk B4)."""
    messages = answered_by(client, "qwen/sim")
    assert FOREIGN[family] in rejection(client, ask(f"{family}/sim", *messages))


def test_mistral_models_that_do_not_reason(client: httpx.Client) -> None:
    """They reject reasoning in every field; a model that reasons accepts its own (quirk B4)."""
    messages = ["a", assistant_text("b", reasoning="Hm."), "c"]
    assert "not enabled" in rejection(client, ask("mistralai/mistral-medium-3.1", *messages))
    accepted(client, ask("mistralai/sim", *messages))


def test_claude_requires_thinking_in_the_open_turn(client: httpx.Client) -> None:
    """While thinking is on, an open turn with calls of another model is rejected (quirk B7)."""
    open_loop = ["a", call("abcdefghi"), result("abcdefghi", "2")]
    on = {"reasoning": {"effort": "low"}}
    words = "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    assert words in rejection(client, ask("anthropic/sim", *open_loop, **on))
    assert words in rejection(client, ask("anthropic/sim", *open_loop, "b", **on))
    accepted(client, ask("anthropic/sim", *open_loop, "b"))
    accepted(client, ask("anthropic/sim", *open_loop, "b", reasoning={"effort": "none"}))
    accepted(client, ask("anthropic/sim", *open_loop, assistant_text("2"), "b", **on))


def test_claude_requires_thinking_of_its_own_calls(client: httpx.Client) -> None:
    """In every step of the loop, Claude's calls need their thinking (quirk B3)."""
    body = second_step(client, "anthropic")
    own = "toolu_01abcdefghijklmnopqrstuv"
    body["messages"] += [call(own), result(own, "2")]
    assert "Expected `thinking`" in rejection(client, body)


def test_claude_requires_thinking_only_in_the_first_step(client: httpx.Client) -> None:
    """If another model made the later steps, only the first needs thinking (quirk B7)."""
    body = second_step(client, "anthropic")
    later = [call("abcdefghi"), result("abcdefghi", "2")]
    accepted(client, {**body, "messages": [*body["messages"], *later]})
    first, *rest = body["messages"]
    assert "Expected `thinking`" in rejection(client, {**body, "messages": [first, *later, *rest]})


@pytest.mark.parametrize("family", FAMILIES)
def test_reasoning_for_calls_of_another_model(client: httpx.Client, family: str) -> None:
    """Some families require reasoning for them, others only for their own calls."""
    body = ask(f"{family}/sim", "a", call("abcdefghi"), result("abcdefghi", "2"), reasoning={"effort": "low"})
    if family in ("anthropic", "google", "deepseek", "moonshotai"):
        rejection(client, body)
    else:
        accepted(client, body)
    asked = {**body, "messages": [*body["messages"], assistant_text("2"), {"role": "user", "content": "b"}]}
    accepted(client, {**asked, "tool_choice": "none"})


@pytest.mark.parametrize("family", ["openai", "google", "x-ai", "deepseek", "moonshotai"])
def test_a_user_message_ends_the_loop(client: httpx.Client, family: str) -> None:
    """After the results of a stopped run, a user message starts a new loop."""
    body = second_step(client, family)
    for name in ("reasoning", "reasoning_details"):
        body["messages"][1].pop(name, None)
    rejection(client, body)
    accepted(client, {**body, "messages": [*body["messages"], {"role": "user", "content": "b"}], "tool_choice": "none"})


def test_kimi_requires_its_reasoning(client: httpx.Client) -> None:
    """The error names the message whose reasoning is missing (quirk B5)."""
    body = second_step(client, "moonshotai")
    for name in ("reasoning", "reasoning_details"):
        del body["messages"][1][name]
    assert "reasoning_content is missing in assistant tool call message at index 1" in rejection(client, body)
    body["messages"][1]["reasoning_content"] = ""
    accepted(client, body)
    del body["messages"][1]["reasoning_content"]
    accepted(client, {**body, "reasoning": {"effort": "none"}})


def test_models_that_do_not_reason_require_none(client: httpx.Client) -> None:
    """DeepSeek's chat model accepts a loop without reasoning."""
    accepted(client, ask("deepseek/deepseek-chat", "a", call("abcdefghi"), result("abcdefghi", "2")))
