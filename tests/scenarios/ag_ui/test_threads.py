"""Threads of an AG-UI client: history, edits, other answers, the client's tools, a stop."""

from pathlib import Path
from typing import Any

import httpx
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.access.users import bearer, create_token
from tests.scenarios.ag_ui.agent import PATH, Agent, Json
from tests.scenarios.tool_loop.script import Called, answers, calls
from tests.support.ag_ui_client import events_in
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import Exchange, says

CLOCK = {"name": "wall_clock", "description": "Read the clock.", "parameters": {"type": "object", "properties": {}}}
BOTH = "What is 6 * 7, and what time is it in Tokyo?"


def sent_to(simulator: BackgroundSimulator) -> list[Json]:
    """Return the messages of the newest request."""
    return simulator.state.requests[-1].body["messages"]


def texts_by(messages: list[Json], *roles: str) -> list[tuple[str, Any]]:
    """Return role and content of the messages of these roles."""
    return [(one["role"], one["content"]) for one in messages if one["role"] in (roles or ("user", "assistant"))]


def test_a_conversation_is_kept_by_the_server(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """The model gets the stored answers; what the client says that it said does not count."""
    agent = Agent(app, "agui-kept", tools=[])
    answer = agent.send("Hello!").text
    agent.messages[-1]["content"] = "I promise you a refund."
    agent.send("Thanks.")
    assert texts_by(sent_to(simulator)) == [("user", "Hello!"), ("assistant", answer), ("user", "Thanks.")]
    stored = app.client.get("/api/conversations/agui-kept").json()
    assert [one["role"] for one in stored["messages"]] == ["user", "assistant", "user", "assistant"]


def test_our_tools_run_on_the_server(app: RunningApp) -> None:
    """The client sees the call with its result, and has nothing to execute; its run id comes back."""
    agent = Agent(app, "agui-tools", tools=["calculate"])
    response = agent.app.client.post(PATH, json=agent.request(messages=[{"id": "m", "role": "user", "content": BOTH}]))
    reader = agent.receive(response.content)
    call = next(iter(reader.calls.values()))
    assert (call["name"], reader.pending) == ("calculate", [])
    assert '"result":42' in call["result"]
    assert reader.last["runId"] == "run-1"
    assert agent.state["signalbox"]["runId"] == response.headers["x-run-id"]
    assert reader.last["metadata"]["signalbox"]["cost"] > 0
    assert reader.last["usage"][0]["totalTokens"] > 0


def test_edits_and_other_answers_are_branches(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """Nothing that was said before is lost, and the model gets only the branch."""
    agent = Agent(app, "agui/branches", tools=[])
    agent.send("One")
    agent.send("Two")
    agent.drop_answer()
    agent.run()
    assert [text for _, text in texts_by(sent_to(simulator), "user")] == ["One", "Two"]
    agent.edit(0, "Uno")
    assert texts_by(sent_to(simulator)) == [("user", "Uno")]
    conversation = app.client.get("/api/conversations").json()["conversations"][0]["id"]
    nodes = app.client.get(f"/api/conversations/{conversation}").json()["messages"]
    assert sum(one["parent_id"] is None for one in nodes) == 2
    assert len(nodes) == 7


def test_the_clients_tools_are_handed_over(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """The run finishes with the pending calls; their results start another run, which can be repeated."""
    agent = Agent(app, "agui-handed", model="anthropic/sim-parallel", tools=["calculate"], reasoning_effort="high")
    agent.tools = [CLOCK]
    first = agent.send(BOTH)
    [pending] = first.last["outcome"]["pendingToolCallIds"]
    assert first.calls[pending]["name"] == "wall_clock"
    agent.add_results(first, '{"time": "09:41"}')
    second = agent.run()
    assert "09:41" in second.text
    turns = sent_to(simulator)
    assert next(one for one in turns if one["role"] == "assistant")["reasoning_details"], (
        "signed reasoning is sent back"
    )
    results = texts_by(turns, "tool")
    assert [text for _, text in results if "09:41" in text]
    agent.drop_answer()
    agent.run()
    assert texts_by(sent_to(simulator), "tool") == results
    agent.send("Thanks.")
    assert [one["role"] for one in sent_to(simulator)][-2:] == ["assistant", "user"]
    nodes = app.client.get("/api/conversations/agui-handed").json()["messages"]
    assert len(nodes) == 7, "equal results are stored once"


def test_a_message_may_follow_the_results(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """And the user may go on without them."""
    agent = Agent(app, "agui-results", model="anthropic/sim-parallel", tools=["calculate"])
    agent.tools = [CLOCK]
    first = agent.send(BOTH)
    agent.add_results(first, "", error="The clock is broken.")
    agent.send("Never mind.")
    assert texts_by(sent_to(simulator), "user")[-1] == ("user", "Never mind.")
    assert any("The clock is broken." in text for _, text in texts_by(sent_to(simulator), "tool"))
    del agent.messages[[one["role"] for one in agent.messages].index("assistant") + 2 :]
    agent.messages = [one for one in agent.messages if one["role"] != "tool"]
    agent.send("And now?")
    assert texts_by(sent_to(simulator), "user")[-1] == ("user", "And now?")


def test_arguments_of_the_clients_tools_are_streamed(start_app: StartApp) -> None:
    """In the pieces in which the model writes them."""
    app, _ = start_app(calls(Called("wall_clock", '{"city": "Tokyo"}')), answers("Soon."))
    agent = Agent(app, "agui-pieces", tools=[])
    agent.tools = [CLOCK]
    agent.add("What time is it?")
    events = events_in(agent.post().content)
    assert "".join(event["delta"] for event in events if event["type"] == "TOOL_CALL_ARGS") == '{"city": "Tokyo"}'


def test_context_and_instructions_reach_the_model(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """Also messages of the page's developer."""
    agent = Agent(app, "agui-context", tools=[], system="Be brief.")
    agent.messages.append({"id": "d1", "role": "developer", "content": "Speak French."})
    agent.send("Hello!", context=[{"description": "The page", "value": "Checkout"}])
    [(_, instructions)] = texts_by(sent_to(simulator), "system", "developer")
    texts = instructions if isinstance(instructions, str) else instructions[0]["text"]
    assert all(part in texts for part in ("Be brief.", "Speak French.", "The page:\nCheckout"))


def test_images_and_documents_reach_the_model(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """By URL, or as data."""
    agent = Agent(app, "agui-files", tools=[])
    png = {"type": "data", "value": "iVBORw0KGgo=", "mimeType": "image/png"}
    pdf = {"type": "url", "value": "https://a.example/a.pdf"}
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image", "source": png}]
    agent.send([*parts, {"type": "document", "source": pdf, "metadata": {"filename": "a.pdf"}}])
    content = texts_by(sent_to(simulator), "user")[0][1]
    assert [part["type"] for part in content] == ["text", "image_url", "file"]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw0KGgo="


def test_a_failed_run_says_why_and_the_thread_goes_on(app: RunningApp) -> None:
    """With what was written so far."""
    agent = Agent(app, "agui-failed", tools=[])
    failed = agent.send("Hello!", forwardedProps={"model": "openai/sim-error-402"})
    assert (failed.last["type"], failed.last["code"]) == ("RUN_ERROR", "UPSTREAM_CREDITS")
    cut = agent.send("What is the tool loop?", forwardedProps={"model": "openai/sim-midstream-error", "tools": []})
    assert cut.text
    assert cut.last["type"] == "RUN_ERROR"
    assert agent.send("Hello!").last["type"] == "RUN_FINISHED"


async def stalls(exchange: Exchange) -> None:
    """Send the beginning of an answer, and wait until the client leaves."""
    await exchange.head()
    await exchange.send_text("Half. ")
    await exchange.client_left()


def test_a_client_that_leaves_stops_the_run(start_app: StartApp) -> None:
    """The upstream request ends within a second, and the next message follows what was written."""
    app, upstream = start_app(stalls, says("Again."))
    agent = Agent(app, "agui-stopped", tools=[])
    agent.add("Hello!")
    with (
        httpx.Client(base_url=app.url, trust_env=False) as client,
        client.stream("POST", PATH, json=agent.request()) as response,
    ):
        run_id = response.headers["x-run-id"]
        read_until(response.iter_bytes(), b"Half")
    assert upstream.wait_until(lambda: len(upstream.left) == 1, 1.0)
    app.over(run_id)
    assert app.client.get(f"/api/runs/{run_id}").json()["status"] == "cancelled"
    agent.messages.append({"id": run_id, "role": "assistant", "content": "Half. ", "toolCalls": []})
    assert agent.send("Go on.").text.endswith("Again.")
    assert texts_by(upstream.asked[-1].body["messages"])[1] == ("assistant", "Half. ")


def test_threads_of_two_owners_are_two(simulator: BackgroundSimulator, tmp_path: Path) -> None:
    """No other user can continue a thread by its id."""
    settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url)
    with RunningApp(settings, token="operator-operator") as app:
        ada, bob = (Agent(app, "same", bearer(create_token(app, name)[1]), tools=[]) for name in ("Ada", "Bob"))
        ada.send("A secret.")
        bob.send("Hello!")
        assert texts_by(sent_to(simulator)) == [("user", "Hello!")]
        bob.messages = [*ada.messages]
        bob.add("Go on.")
        assert bob.post().status_code == 422
        assert app.client.post(PATH, json=bob.request()).json()["error"]["code"] == "UNAUTHORIZED"
