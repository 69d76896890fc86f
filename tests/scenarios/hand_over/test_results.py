"""Which results a continuation must have: exactly one for each call, as at OpenAI."""

from collections.abc import Callable, Iterator

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.hand_over.chat_client import CLOCK, QUESTION, ChatClient, Json, results, user
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream

QUESTIONS = [user("What time is it here and in Tokyo?")]
TWICE = calls(Called("wall_clock", "{}"), Called("wall_clock", '{"timezone": "Asia/Tokyo"}'))
Malformed = Callable[[Json], tuple[list[Json], str]]


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve the app over the simulator."""
    settings = settings_for(tmp_path_factory.mktemp("data"), openrouter_base_url=simulator.base_url)
    with RunningApp(settings) as running:
        yield running


def started(start_app: StartApp, **headers: str) -> tuple[ChatClient, ScriptedUpstream, Json]:
    """Start a run that hands two calls over."""
    app, upstream = start_app(TWICE, answers("Late."), answers("Later."))
    client = ChatClient(app, "openai/sim", **headers)
    called = client.send(*QUESTIONS, tools=[CLOCK])
    assert len(called["tool_calls"]) == 2
    return client, upstream, called


def one_missing(called: Json) -> tuple[list[Json], str]:
    """Answer the first call only."""
    history = [*QUESTIONS, called, results(called, "09:41", "22:15")[0]]
    return history, f"did not have response messages: {called['tool_calls'][1]['id']}"


def all_missing(called: Json) -> tuple[list[Json], str]:
    """Answer no call, but go on."""
    return [*QUESTIONS, called, user("Well?")], called["tool_calls"][1]["id"]


def one_missing_in_the_middle(called: Json) -> tuple[list[Json], str]:
    """Answer the first call only, but go on."""
    return [*QUESTIONS, called, results(called, "09:41", "22:15")[0], user("Well?")], called["tool_calls"][1]["id"]


def one_twice(called: Json) -> tuple[list[Json], str]:
    """Answer one call twice, and the other one, too."""
    first, second = results(called, "09:41", "22:15")
    return [*QUESTIONS, called, first, first, second], "There are two results for the tool call"


def an_unknown_one(called: Json) -> tuple[list[Json], str]:
    """Answer a call that the message does not have."""
    stray = {"role": "tool", "tool_call_id": "call_x", "content": "09:41"}
    return [*QUESTIONS, called, *results(called, "09:41", "22:15"), stray], "does not belong to any tool call"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("malformed", [one_missing, all_missing, one_missing_in_the_middle, one_twice, an_unknown_one])
def test_each_call_needs_exactly_one_result(start_app: StartApp, malformed: Malformed, stream: bool) -> None:
    """Otherwise OpenAI's error says which call it is; nothing is started or sent, and the client can correct it."""
    client, upstream, called = started(start_app)
    runs = client.app.client.get("/api/runs").json()["runs"]
    messages, words = malformed(called)
    error = client.rejected(*messages, tools=[CLOCK], stream=stream)
    assert (error["type"], error["code"]) == ("invalid_request_error", None)
    assert error["param"].startswith("messages.")
    assert words in error["message"]
    assert client.app.client.get("/api/runs").json()["runs"] == runs
    assert len(upstream.asked) == 1
    corrected = client.send(*QUESTIONS, called, *results(called, "09:41", "22:15"), tools=[CLOCK])
    assert corrected["content"] == "Late."


def test_a_history_of_another_provider_needs_results_too(start_app: StartApp) -> None:
    """The rule does not depend on who made a call."""
    client, upstream, _ = started(start_app)
    function = {"name": "wall_clock", "arguments": "{}"}
    foreign = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    error = client.rejected(*QUESTIONS, foreign, user("Well?"), tools=[CLOCK])
    assert (error["param"], "call_1" in error["message"]) == ("messages.1", True)
    assert len(upstream.asked) == 1


@pytest.mark.parametrize("whole", [False, True])
def test_a_conversation_rejects_them_too(start_app: StartApp, whole: bool) -> None:
    """At the end of a request, each call of the stored run needs one result; nothing is stored before that."""
    client, upstream, called = started(start_app, x_conversation_id="two")
    first, second = results(called, "09:41", "22:15")
    before = [*QUESTIONS, called] if whole else []
    assert "did not have response" in client.rejected(*before, first, tools=[CLOCK])["message"]
    assert "two results" in client.rejected(*before, first, first, second, tools=[CLOCK])["message"]
    assert (client.branch(), len(upstream.asked)) == (["question", "answer"], 1)
    assert client.send(*before, first, second, tools=[CLOCK])["content"] == "Late."
    assert client.branch() == ["question", "answer", "results", "answer"]


@pytest.mark.parametrize("whole", [False, True])
def test_a_conversation_goes_on_with_one_of_two_results(start_app: StartApp, whole: bool) -> None:
    """The user may go on while a tool still works: the model gets the result that is there."""
    client, upstream, called = started(start_app, x_conversation_id="one")
    before = [*QUESTIONS, called] if whole else []
    client.send(*before, results(called, "09:41", "22:15")[0], user("Well?"), tools=[CLOCK])
    told = [one["content"] for one in upstream.asked[-1].body["messages"] if one["role"] == "tool"]
    assert len(told) == 2
    assert "09:41" in told[0]
    assert told[1] == "No result: this call was never answered."
    assert client.branch() == ["question", "answer", "results", "question", "answer"]


@pytest.mark.parametrize("altered", ["text", "arguments", "call"])
def test_an_altered_turn_keeps_our_results(app: RunningApp, simulator: BackgroundSimulator, altered: str) -> None:
    """The client's version is told in words, and so are the stored results of our tools in that turn."""
    client = ChatClient(app)
    called = client.send(user(QUESTION))
    [call] = called["tool_calls"]
    extra = {**call, "id": "call_x"}
    copy = {
        "text": {**called, "content": "I know it."},
        "arguments": {**called, "tool_calls": [{**call, "function": {"name": "wall_clock", "arguments": '{"a": 1}'}}]},
        "call": {**called, "tool_calls": [call, extra]},
    }[altered]
    before = simulator.state.served
    client.send(user(QUESTION), copy, *results(copy, *["09:41"] * len(copy["tool_calls"])))
    assert simulator.state.served == before + 1
    messages = simulator.state.requests[-1].body["messages"]
    assert not any(one.get("tool_calls") for one in messages)
    told = messages[-1]["content"]
    assert 'calculate {"expression":"6 * 7"}' in told
    assert "42" in told
    assert "search_web" in told
    assert "instructions to follow.\n09:41" in told
