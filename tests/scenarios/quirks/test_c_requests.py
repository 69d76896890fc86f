"""C1 to C8: every request is valid for its provider, whatever the conversation contains and the client asks for."""

import pytest
from signalbox.simulator.catalog import row_of

from tests.scenarios.quirks.sim_runs import (
    Asker,
    Body,
    call,
    calling,
    calls,
    calls_either,
    refuses,
    result,
    roles,
    said_by,
    says_either,
    scripted,
    user,
)
from tests.support.fixtures import StartApp
from tests.support.running_app import error_of
from tests.support.scripted_upstream import says

FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
SAMPLING = {"temperature": 0.4, "top_p": 0.9, "top_k": 20}
OURS = {"model", "messages", "stream", "provider", "session_id", "usage", "models", "metadata"}


def _finals(requests: list[Body]) -> list[Body]:
    return [body for body in requests if body.get("tool_choice") == "none"]


# --- C1, C2, C5, C12, C13: parameters that the catalogue lists


@pytest.mark.parametrize(
    "model", ["openai/o4-mini", "anthropic/claude-opus-4.8", "google/sim", "deepseek/deepseek-chat", "qwen/sim"]
)
def test_c01_only_parameters_that_the_catalogue_lists_are_sent(ask_sim: Asker, model: str) -> None:
    """Other parameters are left out with a warning, and `require_parameters` is not sent."""
    wanted = {**SAMPLING, "min_p": 0.1, "frequency_penalty": 0.5, "seed": 7, "parallel_tool_calls": True}
    observed = ask_sim(model, max_tokens=4000, reasoning={"effort": "low"}, **wanted)
    assert observed.status == ("complete", None)
    listed = set(row_of(model).parameters)
    of_profile = {"parallel_tool_calls"} if model.startswith("anthropic/") else set[str]()
    for body in observed.requests:
        assert set(body) - OURS <= listed | of_profile
        assert "require_parameters" not in body.get("provider", {})
    dropped = {name for name in wanted if name not in listed}
    [warning] = observed.heard.of("warning")
    assert warning["code"] == "PARAM_DROPPED"
    assert all(name in warning["message"] for name in dropped)


@pytest.mark.parametrize("family", FAMILIES)
def test_c01_who_requires_parameters_finds_a_host(ask_sim: Asker, family: str) -> None:
    """With `require_parameters`, profiles add no unlisted parameter, which would cause a 404."""
    observed = ask_sim(f"{family}/sim", provider={"require_parameters": True}, parallel_tool_calls=True, top_k=4)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])


@LOOPS
def test_c01_a_host_without_a_parameter_is_told_by_its_own_code(start_app: StartApp, loop: str) -> None:
    """The 404 of `require_parameters` has its own code and is not retried."""
    lacks = refuses(404, "No endpoints found that can handle the requested parameters.")
    app, upstream = start_app(lacks, settings={"signalbox_allow_loop_header": True})
    observed = scripted(app, upstream.asked, loop, provider={"require_parameters": True}, tools=[])
    assert observed.status == ("error", "UPSTREAM_NO_PARAMS")
    assert len(observed.requests) == 1


def test_c02_tools_are_not_offered_to_a_model_that_takes_none(ask_sim: Asker) -> None:
    """The catalogue shows it before a request is sent; the client gets a warning."""
    observed = ask_sim("qwen/chat-only", tool_choice="auto", parallel_tool_calls=True)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert "TOOLS_DROPPED" in observed.heard.warnings
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & observed.last.keys()


def test_c02_calls_of_another_model_are_told_in_words(ask_sim: Asker) -> None:
    """A history with calls is sent as text to a model without tools."""
    history = [user("a?"), calls(call("call_0001")), result("call_0001", "Two loops."), user("Hello!")]
    observed = ask_sim("qwen/chat-only", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert "tool" not in roles(observed.last)
    assert not calling(observed.last)
    assert "Two loops." in str(observed.last["messages"])


@LOOPS
def test_c02_a_404_for_tools_drops_them_once(start_app: StartApp, loop: str) -> None:
    """If the catalogue does not list it, one retry without tools follows, with a warning."""
    no_tools = refuses(404, 'No endpoints found that support tool use. Try disabling "search_web".')
    app, upstream = start_app(no_tools, says_either("Hello."), settings={"signalbox_allow_loop_header": True})
    observed = scripted(app, upstream.asked, loop)
    assert observed.status == ("complete", None)
    assert observed.heard.warnings == ["TOOLS_DROPPED"]
    assert [bool(body.get("tools")) for body in observed.requests] == [True, False]
    assert "tool_choice" not in observed.last


@LOOPS
def test_c02_a_404_without_tools_is_an_error(start_app: StartApp, loop: str) -> None:
    """Without tools there is nothing to drop, so the 404 is an error."""
    no_tools = refuses(404, "No endpoints found that support tool use.")
    app, upstream = start_app(no_tools, settings={"signalbox_allow_loop_header": True})
    observed = scripted(app, upstream.asked, loop, tools=[])
    assert observed.status == ("error", "UPSTREAM_NO_TOOLS")
    assert len(observed.requests) == 1


# --- C3: tools, tool choice, and a history with calls


@pytest.mark.parametrize("family", FAMILIES)
def test_c03_finalize_keeps_the_tools_and_allows_none(ask_sim: Asker, family: str) -> None:
    """Every request has the same tools, the last one with choice `none`; tool fields never occur without tools."""
    observed = ask_sim(f"{family}/sim-steps-5", max_steps=3)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200, 200])
    assert _finals(observed.requests) == [observed.last]
    assert all(body["tools"] == observed.requests[0]["tools"] for body in observed.requests)


@pytest.mark.parametrize("family", FAMILIES)
def test_c03_no_choice_without_tools(ask_sim: Asker, family: str) -> None:
    """A request without tools has no tool fields, whatever the client sent."""
    observed = ask_sim(f"{family}/sim", "Hello!", tools=[], parallel_tool_calls=True, tool_choice="auto")
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & observed.last.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_c03_calls_in_the_history_bring_their_tools(ask_sim: Asker, family: str) -> None:
    """If no tools are offered, those of the history are defined with choice `none`."""
    history = [user("a?"), calls(call("call_0001")), result("call_0001"), {"role": "assistant", "content": "b."}]
    observed = ask_sim(f"{family}/sim", messages=[*history, user("Hello!")], tools=[])
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert [tool["function"]["name"] for tool in observed.last["tools"]] == ["search_web"]
    assert observed.last["tool_choice"] == "none"
    assert observed.heard.calls == []


@LOOPS
def test_c03_a_host_that_refuses_tools_in_finalize_gets_words(start_app: StartApp, loop: str) -> None:
    """One retry has calls and results as text, and no tool fields."""
    app, upstream = start_app(
        calls_either("calculate", '{"expression": "1 + 1"}'),
        refuses(400, "tool_choice none is not supported"),
        says("Two."),
        settings={"signalbox_allow_loop_header": True},
    )
    observed = scripted(app, upstream.asked, loop, max_steps=2, model="anthropic/sim")
    assert observed.status == ("complete", None)
    assert observed.heard.text == "Two."
    assert [body.get("tool_choice") for body in observed.requests] == [None, "none", None]
    assert not {"tools", "parallel_tool_calls"} & observed.last.keys()
    assert "tool" not in roles(observed.last)
    assert "calculate" in str(observed.last["messages"])


# --- C4, C6, C7, C8: turns


@pytest.mark.parametrize("family", FAMILIES)
def test_c04_blank_turns_and_results_are_never_sent(ask_sim: Asker, family: str) -> None:
    """Every family's strict model accepts a conversation with blanks, without padding."""
    history = [
        user("First?"),
        {"role": "assistant", "content": ""},
        user("Second?"),
        {"role": "assistant", "content": " \n"},
        user(""),
        calls(call("call_0001"), content=""),
        result("call_0001", ""),
        {"role": "assistant", "content": "Done."},
        user([{"type": "text", "text": " "}, {"type": "text", "text": "Hello there!"}]),
    ]
    observed = ask_sim(f"{family}/sim", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    [made] = calling(observed.last)
    assert made["content"] is None
    assert [m["content"] for m in said_by(observed.last, "assistant") if "tool_calls" not in m] == ["Done."]
    assert "(no output)" in said_by(observed.last, "tool")[0]["content"]
    assert observed.last["messages"][-1]["content"] == [{"type": "text", "text": "Hello there!"}]
    assert "(no text)" in str(said_by(observed.last, "user"))


@pytest.mark.parametrize("model", ["anthropic/claude-opus-4.7", "anthropic/claude-opus-4.8"])
def test_c05_sampling_is_left_out_where_the_catalogue_does_not_list_it(ask_sim: Asker, model: str) -> None:
    """Unlisted sampling parameters are left out with a warning."""
    observed = ask_sim(model, **SAMPLING)
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    assert not [body for body in observed.requests if SAMPLING.keys() & body.keys()]
    [warning] = observed.heard.of("warning")
    assert all(name in warning["message"] for name in SAMPLING)


def test_c05_no_sampling_is_sent_unless_it_was_asked_for(ask_sim: Asker) -> None:
    """No default is sent; listed parameters are sent unchanged."""
    assert not SAMPLING.keys() & ask_sim("anthropic/sim", "Hello!").last.keys()
    asked = ask_sim("anthropic/sim", "Hello!", temperature=0.4, top_p=0.9)
    assert (asked.last["temperature"], asked.last["top_p"], asked.heard.warnings) == (0.4, 0.9, [])


def test_c06_a_conversation_never_ends_with_the_assistant(ask_sim: Asker) -> None:
    """Such a request is rejected, and every request of a run ends with a user message or a result."""
    body = {"model": "anthropic/sim", "messages": [user("Hi"), {"role": "assistant", "content": "The answer is"}]}
    response = ask_sim.app.client.post("/api/chat/stream", json=body)
    assert response.status_code == 422
    assert "last message" in error_of(response)["message"]
    for model in ("anthropic/sim-quirk-d02", "mistralai/sim-quirk-d02-early", "anthropic/sim-quirk-a13"):
        observed = ask_sim(model, max_steps=3)
        assert observed.status == ("complete", None)
        assert {message["role"] for message in (sent["messages"][-1] for sent in observed.requests)} <= {"user", "tool"}


def test_c06_a_cut_answer_is_gone_on_from_by_the_user(ask_sim: Asker) -> None:
    """After a cut, the client sends what it has and asks to continue."""
    cut = [user("Hi"), {"role": "assistant", "content": "The answer is"}, user("Go on.")]
    observed = ask_sim("anthropic/sim", messages=cut)
    assert observed.status == ("complete", None)
    assert observed.last["messages"][1]["content"] == "The answer is"


def test_c07_mistral_gets_a_bridge_behind_a_result(ask_sim: Asker) -> None:
    """A user message after a tool result, and two user messages in a row, are accepted by Mistral."""
    history = [user("One?"), calls(call("call_0001")), result("call_0001"), user("Stop."), user("Hello!")]
    observed = ask_sim("mistralai/sim", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert roles(observed.last) == ["user", "assistant", "tool", "assistant", "user"]
    assert observed.last["messages"][-1]["content"] == "Stop.\n\nHello!"
    assert roles(ask_sim("openai/sim", messages=history).last) == ["user", "assistant", "tool", "user", "user"]


def test_c07_the_words_of_finalize_are_no_turn_of_the_users(ask_sim: Asker) -> None:
    """The final instruction is in the system message, so results stay last."""
    observed = ask_sim("mistralai/sim-quirk-d02", max_steps=2)
    assert (observed.status[0], set(observed.statuses)) == ("complete", {200})
    for body in _finals(observed.requests):
        assert roles(body) == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("family", ["google", "openai", "mistralai"])
def test_c08_as_many_results_as_calls_in_their_order(ask_sim: Asker, family: str) -> None:
    """Results that are out of order, repeated or missing are repaired."""
    made = calls(*(call(f"call_000{n}") for n in (1, 2, 3)))
    results = [result("call_0002", "two"), result("call_0001", "one"), result("call_0001", "again")]
    history = [user("One?"), made, *results, {"role": "assistant", "content": "Hm."}, user("Hello!")]
    observed = ask_sim(f"{family}/sim", messages=history)
    assert (observed.status, observed.statuses) == (("complete", None), [200])
    assert roles(observed.last) == ["user", "assistant", "tool", "tool", "tool", "assistant", "user"]
    ids = [one["id"] for one in calling(observed.last)[0]["tool_calls"]]
    sent = said_by(observed.last, "tool")
    assert [message["tool_call_id"] for message in sent] == ids
    for message, word in zip(sent, ("\none\n", "\ntwo\n", "No result"), strict=True):
        assert word in message["content"]


@pytest.mark.parametrize("family", ["google", "anthropic"])
def test_c08_eight_calls_in_one_step_have_eight_results(ask_sim: Asker, family: str) -> None:
    """All eight calls of a step have results, also those beyond the search limit."""
    observed = ask_sim(f"{family}/sim-searches-8")
    assert (observed.status, observed.statuses) == (("complete", None), [200, 200])
    ids = [one["id"] for one in calling(observed.last)[0]["tool_calls"]]
    assert len(ids) == 8
    assert [message["tool_call_id"] for message in said_by(observed.last, "tool")] == ids
