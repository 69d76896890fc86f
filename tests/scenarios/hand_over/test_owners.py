"""Two users with API tokens: each one's turns and orders are only that user's, whichever header has the token."""

import json
import re
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.tools import plugins

from tests.scenarios.hand_over.chat_client import CLOCK, QUESTION, ChatClient, Json, results, user
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.processes import command
from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream

HEADERS: dict[str, Callable[[str], dict[str, str]]] = {
    "bearer": lambda token: {"authorization": f"Bearer {token}"},
    "x-api-key": lambda token: {"x_api_key": token},
}
EACH_HEADER = pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
Tokens = dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of the server."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def tokens(data: Path) -> Tokens:
    """Return the users' tokens."""
    return create_tokens(data)


def create_tokens(data: Path) -> Tokens:
    """Create the users' tokens as an operator does; return the text and the id of each."""
    found: Tokens = {}
    for name in ("Ada", "Bob"):
        made = command("token", "create", name, cwd=data, env={"SIGNALBOX_DATA_DIR": str(data)})
        assert made.returncode == 0, made.stderr
        [token_id] = re.findall(r"^Token (\S+) for", made.stderr.decode(), re.MULTILINE)
        found[name] = made.stdout.decode().strip(), token_id
    return found


@pytest.fixture(scope="module")
def app(simulator: BackgroundSimulator, data: Path, tokens: Tokens) -> Iterator[RunningApp]:
    """Serve the app with an access token and the users' tokens."""
    settings = settings_for(data, openrouter_base_url=simulator.base_url)
    with RunningApp(settings, token="operator-operator") as running:
        yield running


def received(simulator: BackgroundSimulator) -> list[Json]:
    """Return the messages behind the question as the model received them."""
    return simulator.state.requests[-1].body["messages"][1:]


@EACH_HEADER
def test_a_turn_of_another_user_is_told_in_words(
    app: RunningApp, tokens: Tokens, simulator: BackgroundSimulator, header: Callable[[str], dict[str, str]]
) -> None:
    """Its owner gets it restored; another user's copy is text without our results, and so is that without a token."""
    ada, bob = (ChatClient(app, **header(tokens[name][0])) for name in ("Ada", "Bob"))
    operator = ChatClient(app, **header("operator-operator"))
    called = ada.send(user(QUESTION))
    history = [user(QUESTION), called, *results(called, "09:41")]
    for foreign in (bob, operator):
        foreign.send(*history)
        [told] = [one["content"] for one in received(simulator) if one["role"] == "user"]
        assert not any(one.get("tool_calls") or one.get("reasoning_details") for one in received(simulator))
        assert "instructions to follow.\n09:41" in told
        assert "calculate" not in told
    ada.send(*history)
    turn = received(simulator)[0]
    assert turn["reasoning_details"]
    assert len(turn["tool_calls"]) == 3


@EACH_HEADER
def test_a_conversation_id_belongs_to_its_user(
    app: RunningApp, tokens: Tokens, header: Callable[[str], dict[str, str]], request: pytest.FixtureRequest
) -> None:
    """Both may choose the same id; results alone continue only a run of the own conversation."""
    chosen = request.node.callspec.id
    ada, bob = (ChatClient(app, **header(tokens[name][0]), x_conversation_id=chosen) for name in ("Ada", "Bob"))
    called = ada.send(user(QUESTION))
    bob.send(user("Hello!"))
    assert bob.rejected(*results(called, "09:41"))["param"] == "messages.0.tool_call_id"
    ada.send(*results(called, "09:41"))
    assert (ada.branch(), bob.branch()) == (["question", "answer", "results", "answer"], ["question", "answer"])


@EACH_HEADER
def test_a_plugins_tool_lists_the_orders_of_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: Callable[[str], dict[str, str]]
) -> None:
    """Its context has the token's owner, the run, the conversation and the metadata; the model gets its result."""
    tokens = create_tokens(tmp_path)
    entry = EntryPoint("orders", "tests.scenarios.hand_over.orders_plugin:tools", "signalbox.tools")
    monkeypatch.setattr(plugins, "entry_points_of", lambda group: [entry] if group == "signalbox.tools" else [])
    step, answer = calls(Called("my_orders", "{}"), Called("wall_clock", "{}")), answers("Here.")
    tools = [CLOCK, {"type": "signalbox:my_orders"}]
    with (
        ScriptedUpstream(step, answer, step, answer) as upstream,
        RunningApp(settings_for(tmp_path, openrouter_base_url=upstream.base_url), token="operator-operator") as app,
    ):
        for name, orders in (("Ada", "two lamps"), ("Bob", "one chair")):
            text, token_id = tokens[name]
            client = ChatClient(app, "openai/sim", **header(text), x_conversation_id="orders")
            response = client.post(user("My orders?"), tools=tools, metadata={"channel": "web"})
            assert response.status_code == 200, response.text
            client.send(*results(response.json()["choices"][0]["message"], "09:41"), tools=tools)
            [told] = [one for one in upstream.asked[-1].body["messages"] if one.get("name") == "my_orders"]
            result = json.loads(told["content"].split("follow.\n")[-1].split("\n</outside")[0])
            assert result == {
                "orders": orders,
                "owner": token_id,
                "run": response.headers["x-run-id"],
                "conversation": "orders",
                "channel": "web",
            }
