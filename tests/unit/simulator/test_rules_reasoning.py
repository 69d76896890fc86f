"""Reasoning on its way back: unaltered, only to its maker, and there where the host wants it."""

import copy
import json
from collections.abc import Callable

import httpx
import pytest

from tests.unit.simulator.refusing import Message, call, post, refusal, said_before, second_step, taken
from tests.unit.simulator.requests import FAMILIES, ask, result
from tests.unit.simulator.slow_decoder import hear, said

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
    """A detail names the call it belongs to; both may be renamed, not one without the other (quirk A15)."""
    body = json.loads(json.dumps(second_step(client, "google")))
    old = body["messages"][1]["tool_calls"][0]["id"]
    assert post(client, json.loads(json.dumps(body).replace(old, "abcdefghi"))).status_code == 200
    body["messages"][1]["tool_calls"][0]["id"] = body["messages"][2]["tool_call_id"] = "abcdefghi"
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


def answered_by(client: httpx.Client, model: str) -> list[Message]:
    """Play a whole chat without tools and give its messages with their details."""
    body = ask(model, "Hello!", reasoning={"effort": "medium"}, tools=[])
    return [*body["messages"], said(hear(taken(client, body).content)), {"role": "user", "content": "Thanks!"}]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("maker", SEALED)
def test_sealed_reasoning_goes_to_its_maker_alone(client: httpx.Client, maker: str, family: str) -> None:
    """What one family sealed is refused by every other in its words, in a turn that is over as well (quirk B4)."""
    messages = answered_by(client, f"{maker}/sim")
    assert messages[1]["reasoning_details"]
    body = ask(f"{family}/sim", *messages)
    if family == maker:
        taken(client, body)
    else:
        assert FOREIGN[family] in refusal(client, body)
    del messages[1]["reasoning_details"]
    taken(client, ask(f"{family}/sim", *messages))


@pytest.mark.parametrize("family", SEALED)
def test_a_seal_names_its_model(client: httpx.Client, family: str) -> None:
    """Another model of the same family refuses it too; a variant of the same model does not (quirk B4)."""
    messages = answered_by(client, f"{family}/sim")
    assert FOREIGN[family] in refusal(client, ask(f"{family}/another", *messages))
    taken(client, ask(f"{family}/sim:free", *messages))


@pytest.mark.parametrize("family", SEALED)
def test_unsealed_reasoning_is_refused_where_seals_are(client: httpx.Client, family: str) -> None:
    """An open model's plain reasoning bears no seal (quirk B4)."""
    messages = answered_by(client, "qwen/sim")
    assert FOREIGN[family] in refusal(client, ask(f"{family}/sim", *messages))


def test_a_plain_mistral_takes_no_reasoning(client: httpx.Client) -> None:
    """A model that does not reason refuses reasoning in every field; one that does takes its own (quirk B4)."""
    messages = ["a", said_before("b", reasoning="Hm."), "c"]
    assert "not enabled" in refusal(client, ask("mistralai/mistral-medium-3.1", *messages))
    taken(client, ask("mistralai/sim", *messages))


def test_claudes_last_turn_thinks(client: httpx.Client) -> None:
    """Thinking on, a turn with calls that another model made is refused, a user's word behind it or not (quirk B7)."""
    open_loop = ["a", call("abcdefghi"), result("abcdefghi", "2")]
    on = {"reasoning": {"effort": "low"}}
    words = "Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    assert words in refusal(client, ask("anthropic/sim", *open_loop, **on))
    assert words in refusal(client, ask("anthropic/sim", *open_loop, "b", **on))
    taken(client, ask("anthropic/sim", *open_loop, "b"))
    taken(client, ask("anthropic/sim", *open_loop, "b", reasoning={"effort": "none"}))
    taken(client, ask("anthropic/sim", *open_loop, said_before("2"), "b", **on))


def test_claudes_later_steps_keep_their_thinking(client: httpx.Client) -> None:
    """A call that Claude minted comes back with its thinking in every step of the loop (quirk B3)."""
    body = second_step(client, "anthropic")
    own = "toolu_01abcdefghijklmnopqrstuv"
    body["messages"] += [call(own), result(own, "2")]
    assert "Expected `thinking`" in refusal(client, body)


def test_claudes_turn_begins_with_thinking(client: httpx.Client) -> None:
    """Only the first step of a loop must think when another model made the later ones (quirk B7)."""
    body = second_step(client, "anthropic")
    later = [call("abcdefghi"), result("abcdefghi", "2")]
    taken(client, {**body, "messages": [*body["messages"], *later]})
    first, *rest = body["messages"]
    assert "Expected `thinking`" in refusal(client, {**body, "messages": [first, *later, *rest]})


@pytest.mark.parametrize("family", FAMILIES)
def test_who_wants_reasoning_for_calls_of_others(client: httpx.Client, family: str) -> None:
    """In a loop that another model began some hosts want reasoning, others only that of their own calls."""
    body = ask(f"{family}/sim", "a", call("abcdefghi"), result("abcdefghi", "2"), reasoning={"effort": "low"})
    if family in ("anthropic", "google", "deepseek", "moonshotai"):
        refusal(client, body)
    else:
        taken(client, body)
    asked = {**body, "messages": [*body["messages"], said_before("2"), {"role": "user", "content": "b"}]}
    taken(client, {**asked, "tool_choice": "none"})


@pytest.mark.parametrize("family", ["openai", "google", "x-ai", "deepseek", "moonshotai"])
def test_a_user_closes_the_loop(client: httpx.Client, family: str) -> None:
    """Behind the results of a run that was stopped a question begins anew, with tool_choice none as well."""
    body = second_step(client, family)
    for name in ("reasoning", "reasoning_details"):
        body["messages"][1].pop(name, None)
    refusal(client, body)
    taken(client, {**body, "messages": [*body["messages"], {"role": "user", "content": "b"}], "tool_choice": "none"})


def test_kimi_wants_its_reasoning(client: httpx.Client) -> None:
    """Kimi says at which message the reasoning of the open loop is missing (quirk B5)."""
    body = second_step(client, "moonshotai")
    for name in ("reasoning", "reasoning_details"):
        del body["messages"][1][name]
    assert "reasoning_content is missing in assistant tool call message at index 1" in refusal(client, body)
    body["messages"][1]["reasoning_content"] = ""
    taken(client, body)
    del body["messages"][1]["reasoning_content"]
    taken(client, {**body, "reasoning": {"effort": "none"}})


def test_a_model_that_does_not_reason_wants_none_back(client: httpx.Client) -> None:
    """DeepSeek's chat model takes a loop without reasoning."""
    taken(client, ask("deepseek/deepseek-chat", "a", call("abcdefghi"), result("abcdefghi", "2")))
