"""C9 to C16: tool schemas, fields beside tools, tool results, and stable request prefixes."""

import json
import re

import pytest

from tests.scenarios.quirks.sim_runs import (
    Asker,
    Body,
    call,
    calling,
    calls,
    question,
    refuses,
    result,
    said_by,
    user,
)
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import says

FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
JSON = {"type": "json_object"}
# The keywords of Gemini's schema object (its API reference), without those that other providers reject.
SAFE_WORDS = {"type", "description", "properties", "required", "items", "enum"}
PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}


@pytest.mark.parametrize("family", ["google", "x-ai"])
def test_c09_json_is_not_asked_for_beside_tools(ask_sim: Asker, family: str) -> None:
    """response_format is left out with a warning; without tools it is sent."""
    observed = ask_sim(f"{family}/sim", response_format=JSON)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert not [body for body in observed.requests if "response_format" in body]
    [warning] = observed.heard.of("warning")
    assert "response_format" in warning["message"]
    assert ask_sim(f"{family}/sim", response_format=JSON, tools=[]).last["response_format"] == JSON


def test_c09_families_that_take_both_get_both(ask_sim: Asker) -> None:
    """OpenAI's models accept JSON mode with tools."""
    observed = ask_sim("openai/sim", response_format=JSON)
    assert [body["response_format"] for body in observed.requests] == [JSON, JSON]


def test_c10_our_tools_use_the_words_that_every_host_knows(ask_sim: Asker) -> None:
    """Every schema uses only portable keywords; Gemini's strict model accepts them."""
    observed = ask_sim("google/sim", save_everything := "What is the time in Tokyo?")
    assert save_everything
    assert (observed.status, set(observed.statuses)) == (("complete", None), {200})
    schemas = [tool["function"]["parameters"] for tool in observed.last["tools"]]
    assert len(schemas) >= 5
    for schema in schemas:
        assert _words(schema) <= SAFE_WORDS


def _words(schema: Body) -> set[str]:
    """Return the keywords of a schema and its nested schemas."""
    assert all(isinstance(value, str) for value in schema.get("enum", []))
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return set(schema) | {word for one in inner for word in _words(one)}


@pytest.mark.parametrize("family", FAMILIES)
def test_c11_strict_is_never_sent(ask_sim: Asker, family: str) -> None:
    """Arguments are validated here: a call without a required field has a result that says so."""
    observed = ask_sim(f"{family}/sim-bad-args")
    assert (observed.status[0], set(observed.statuses)) == ("complete", {200})
    assert not [tool for body in observed.requests for tool in body["tools"] if "strict" in tool["function"]]
    assert "INVALID_ARGUMENTS" in observed.heard.result_codes()


@pytest.mark.parametrize("family", FAMILIES)
def test_c12_parallel_calls_are_left_to_the_model(ask_sim: Asker, family: str) -> None:
    """parallel_tool_calls is sent only if a profile sets it; parallel calls are executed anyway."""
    observed = ask_sim(f"{family}/sim-parallel")
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    said = False if family in ("anthropic", "x-ai") else None
    assert [body.get("parallel_tool_calls") for body in observed.requests] == [said, said]
    assert len(observed.heard.calls) == 3
    assert observed.heard.result_codes() == [None, None, None]


def test_c12_a_model_that_refuses_the_parameter_does_not_get_it(ask_sim: Asker) -> None:
    """o4-mini does not list parallel_tool_calls; other models receive the client's value."""
    observed = ask_sim("openai/o4-mini", parallel_tool_calls=True)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert "parallel_tool_calls" not in observed.last
    assert ask_sim("openai/gpt-4o", parallel_tool_calls=False).last["parallel_tool_calls"] is False


@pytest.mark.parametrize("family", FAMILIES)
def test_c13_a_cap_is_sent_under_one_name_and_only_when_asked_for(ask_sim: Asker, family: str) -> None:
    """Only `max_tokens` is sent, and only if the client set it."""
    plain, capped = ask_sim(f"{family}/sim", "Hello!").last, ask_sim(f"{family}/sim", "Hello!", max_tokens=4000).last
    assert not {"max_tokens", "max_completion_tokens"} & plain.keys()
    assert capped["max_tokens"] == 4000
    assert "max_completion_tokens" not in capped


# --- C14 to C16


@pytest.mark.parametrize("family", ["openai", "deepseek"])
def test_c14_a_result_is_one_string(ask_sim: Asker, family: str) -> None:
    """Text parts of a client's result are joined, and its images are not sent."""
    parts = [{"type": "text", "text": "one"}, PICTURE, {"type": "text", "text": "two"}]
    history = [user("a"), calls(call("call_0001")), result("call_0001", parts), user("Hello!")]
    observed = ask_sim(f"{family}/sim", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    [sent] = said_by(observed.last, "tool")
    assert isinstance(sent["content"], str)
    assert "one" in sent["content"]
    assert "two" in sent["content"]
    assert "image_url" not in str(observed.last["messages"])


def test_c14_pictures_for_a_model_that_reads_none_become_a_word(ask_sim: Asker) -> None:
    """The catalogue lists which models read images; others receive a placeholder, with a warning."""
    seen = [user([{"type": "text", "text": "Hello!"}, PICTURE])]
    observed = ask_sim("deepseek/sim", messages=seen)
    assert (observed.status[0], observed.heard.warnings) == ("complete", ["CONTENT_DROPPED"])
    assert "image_url" not in str(observed.last["messages"])
    assert "image_url" in str(ask_sim("openai/sim", messages=seen).last["messages"])


@LOOPS
def test_c14_a_host_that_reads_no_pictures_is_asked_again_without(start_app: StartApp, loop: str) -> None:
    """If the catalogue does not list it, a retry without images follows."""
    no_pictures = refuses(404, "No endpoints found that support image input")
    app, upstream = start_app(no_pictures, says("Hello."), settings={"signalbox_allow_loop_header": True})
    seen = [user([{"type": "text", "text": "What is it?"}, PICTURE])]
    body = {"model": "openai/sim", "messages": seen, "tools": []}
    response = app.client.post("/api/chat/stream", json=body, headers={"x-tool-loop": loop})
    assert b"CONTENT_DROPPED" in response.content
    assert [b"image_url" in asked.raw for asked in upstream.asked] == [True, False]


def test_c15_requests_of_a_conversation_share_their_beginning(ask_sim: Asker) -> None:
    """Successive requests have equal prefixes, tool order and session id, and no times."""
    asked = question()
    anew = {"conversation_id": "talk-15", "parent_id": None}
    observed = ask_sim("openai/sim-steps-2", asked, **anew, system="Be brief.")
    before: list[Body] = []
    for body in observed.requests:
        assert body["session_id"] == "talk-15"
        assert json.dumps(body["tools"]) == json.dumps(observed.requests[0]["tools"])
        assert json.dumps(body["messages"][: len(before)]) == json.dumps(before)
        before = body["messages"]
    names = [tool["function"]["name"] for tool in observed.last["tools"]]
    assert names == sorted(names)
    assert observed.last["messages"][0] == {"role": "system", "content": "Be brief."}
    again = ask_sim("openai/sim-steps-2", asked, **anew, system="Be brief.").requests[0]
    assert json.dumps(again) == json.dumps(observed.requests[0])


def test_c15_the_trace_tells_host_and_cached_tokens(ask_sim: Asker) -> None:
    """Every attempt of the trace has the provider and the cached tokens."""
    for attempt in ask_sim("openai/sim").trace(ask_sim.app)["attempts"]:
        assert attempt["provider"] == "OpenAI"
        assert isinstance(attempt["usage"]["cached"], int)


def test_c16_names_of_tools_are_legal_everywhere(ask_sim: Asker) -> None:
    """Offered tools and those of a history have names that every provider accepts."""
    name = "multi_tool_use.parallel:" + "x" * 80
    history = [user("a"), calls(call("call_0001", name)), result("call_0001"), user("Hello!")]
    observed = ask_sim("openai/sim", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    offered = [tool["function"]["name"] for tool in observed.last["tools"]]
    assert all(re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,63}", one) for one in offered)
    [sent] = calling(observed.last)[0]["tool_calls"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sent["function"]["name"])
    assert said_by(observed.last, "tool")[0]["name"] == sent["function"]["name"]
