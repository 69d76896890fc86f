"""Hand-over in a stored conversation: whatever part of the history a client sends, one branch continues."""

from collections.abc import Iterator
from typing import Any

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.conversations.conversation_client import broken_after
from tests.scenarios.hand_over.chat_client import QUESTION, ChatClient, Json, kind_of, results, user
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import says

ONCE = ["question", "answer", "results", "answer"]


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Serve the app over the simulator."""
    settings = settings_for(
        tmp_path_factory.mktemp("data"), openrouter_base_url=simulator.base_url, signalbox_allow_loop_header=True
    )
    with RunningApp(settings) as running:
        yield running


@pytest.fixture
def client(app: RunningApp, request: pytest.FixtureRequest) -> ChatClient:
    """Return a client of a new conversation."""
    return ChatClient(app, x_conversation_id=request.node.name[:60].replace("[", "-").replace("]", ""))


def sent(simulator: BackgroundSimulator) -> list[Json]:
    """Return the messages that the model received last."""
    return simulator.state.requests[-1].body["messages"]


@pytest.mark.parametrize("loop", ["v2", "legacy"])
@pytest.mark.parametrize("sends", ["history", "new"])
def test_a_conversation_is_one_straight_branch(
    client: ChatClient, simulator: BackgroundSimulator, sends: str, loop: str
) -> None:
    """A client may send its whole history each time, as SDKs do, or only what is new."""
    client.headers["x-tool-loop"] = loop
    history: list[Json] = [{"role": "system", "content": "Be brief."}]

    def add(*new: Json) -> Json:
        history.extend(new)
        answer = client.send(*(history if sends == "history" else new))
        history.append(answer)
        return answer

    called = add(user(QUESTION))
    before = simulator.state.served
    answer = add(*results(called, "09:41"))
    assert simulator.state.served == before + 1
    turn = next(one for one in sent(simulator) if one.get("tool_calls"))
    assert {call["function"]["name"] for call in turn["tool_calls"]} == {"wall_clock", "calculate", "search_web"}
    assert turn["reasoning_details"]
    assert [one["role"] for one in sent(simulator)[-3:]] == ["tool"] * 3
    assert answer["content"]
    assert client.branch() == ONCE
    add(user("Thanks."))
    add(*results(add(user(QUESTION)), "10:05"))
    assert client.branch() == [*ONCE, "question", "answer", *ONCE]
    assert client.nodes[2]["results"] == [
        {"call_id": called["tool_calls"][0]["id"], "name": "wall_clock", "content": "09:41"}
    ]
    assert [one["role"] for one in sent(simulator)].count("system") == (1 if sends == "history" else 0)


def test_a_history_sent_again_adds_nothing(client: ChatClient) -> None:
    """A repeated continuation is another answer to the same results."""
    called = client.send(user(QUESTION))
    history = [user(QUESTION), called, *results(called, "09:41")]
    client.send(*history)
    client.send(*history)
    client.send(*results(called, "09:41"))
    nodes = client.nodes
    assert [kind_of(node) for node in nodes] == [*ONCE, "answer", "answer"]
    assert {node["parent_id"] for node in nodes[3:]} == {nodes[2]["id"]}


def test_another_result_begins_a_branch(client: ChatClient) -> None:
    """Two results of one call do not mix: each follows the call."""
    called = client.send(user(QUESTION))
    for content in ("09:41", "10:05"):
        client.send(user(QUESTION), called, *results(called, content))
    nodes = client.nodes
    [one, other] = [node for node in nodes if kind_of(node) == "results"]
    assert one["parent_id"] == other["parent_id"] == nodes[1]["id"]


def edited(called: Json, **fields: Any) -> Json:
    """Return an assistant message with other fields."""
    return {**called, **fields}


@pytest.mark.parametrize("part", ["question", "text", "arguments"])
def test_an_edit_begins_a_branch_where_it_is(client: ChatClient, simulator: BackgroundSimulator, part: str) -> None:
    """The stored branch stays as it was; the edited one has what the client sent."""
    called = client.send(user(QUESTION))
    client.send(user(QUESTION), called, *results(called, "09:41"))
    function = {"name": "wall_clock", "arguments": '{"timezone": "Mars"}'}
    question, copy = {
        "question": (user(f"{QUESTION} Hurry!"), called),
        "text": (user(QUESTION), edited(called, content="I know the time.")),
        "arguments": (user(QUESTION), edited(called, tool_calls=[{**called["tool_calls"][0], "function": function}])),
    }[part]
    client.send(question, copy, *results(copy, "09:41"))
    nodes = client.nodes
    assert [kind_of(node) for node in nodes[:4]] == ONCE
    branch = nodes[4:]
    assert branch[0]["parent_id"] == (None if part == "question" else nodes[0]["id"])
    assert [kind_of(node) for node in branch] == (["question"] if part == "question" else []) + [
        "brought", "results", "answer"
    ]  # fmt: skip
    assert [node["parent_id"] for node in branch[1:]] == [node["id"] for node in branch[:-1]]
    calls_sent = [one for one in sent(simulator) if one.get("tool_calls")]
    assert bool(calls_sent) == (part == "question")
    assert "09:41" in str(sent(simulator))


def test_the_user_may_go_on_without_a_result(client: ChatClient, simulator: BackgroundSimulator) -> None:
    """A call that the client never answers is told as unanswered, however the next question is sent."""
    for n, whole in enumerate((False, True)):
        client.headers["x-conversation-id"] = f"without-result-{n}"
        called = client.send(user(QUESTION))
        client.send(*([user(QUESTION), called] if whole else []), user("Never mind. Hello!"))
        unanswered = next(one for one in sent(simulator) if "never answered" in str(one.get("content")))
        assert unanswered["role"] == "tool"
        assert client.branch() == ["question", "answer", "question", "answer"]


@pytest.mark.parametrize("where", ["unknown conversation", "another conversation", "no conversation"])
def test_results_alone_need_their_run(client: ChatClient, simulator: BackgroundSimulator, where: str) -> None:
    """The error names the result; nothing is stored or sent."""
    called = client.send(user(QUESTION))
    if where == "no conversation":
        del client.headers["x-conversation-id"]
    else:
        client.headers["x-conversation-id"] = f"results-{where[:7]}"
    if where == "another conversation":
        client.send(user("Hello!"))
    before = simulator.state.served
    error = client.rejected({"role": "system", "content": "Be brief."}, *results(called, "09:41"))
    assert error["param"] == "messages.1.tool_call_id"
    assert simulator.state.served == before
    if where == "another conversation":
        assert client.branch() == ["question", "answer"]


def test_an_answer_that_was_cut_off_matches_its_beginning(start_app: StartApp) -> None:
    """A client that disconnected has less text than the server; of a complete answer it has all."""
    app, _ = start_app(broken_after("It is 42, or nearly."), says("Sure."), says("Yes."))
    client = ChatClient(app, "openai/sim", x_conversation_id="cut")
    assert "error" in client.post(user("What is it?"), stream=True).text
    history = [user("What is it?"), {"role": "assistant", "content": "It is 42, or"}, user("Sure?")]
    client.send(*history)
    assert client.branch() == ["question", "answer"] * 2
    client.send(*history, {"role": "assistant", "content": "Su"}, user("Really?"))
    assert [kind_of(node) for node in client.nodes[4:]] == ["brought", "question", "answer"]


def test_exports_have_the_results(client: ChatClient) -> None:
    """As Markdown and as JSON, the branch has the call, its result and the answer in this order."""
    called = client.send(user(QUESTION))
    answer = client.send(*results(called, "09:41"))
    path = f"/api/conversations/{client.headers['x-conversation-id']}/export"
    text = client.app.client.get(path).text
    parts = ["called `wall_clock` with", ": handed to the client", "## Results", "`wall_clock` returned `09:41`"]
    places = [text.index(part) for part in [*parts, answer["content"].strip()[:40]]]
    assert places == sorted(places)
    exported = client.app.client.get(path, params={"format": "json"}).json()["messages"]
    assert [kind_of(node) for node in exported] == ONCE
    assert exported[2]["calls"] == [
        {"result_of": called["tool_calls"][0]["id"], "name": "wall_clock", "content": "09:41"}
    ]


def test_a_conversation_may_begin_with_a_loop_outside_of_it(client: ChatClient, simulator: BackgroundSimulator) -> None:
    """The turn of a run without a conversation is restored in one, as well."""
    headers, client.headers = client.headers, {}
    called = client.send(user(QUESTION))
    client.headers = headers
    client.send(user(QUESTION), called, *results(called, "09:41"))
    assert client.branch() == ["question", "brought", "results", "answer"]
    turn = next(one for one in sent(simulator) if one.get("tool_calls"))
    assert turn["reasoning_details"]
