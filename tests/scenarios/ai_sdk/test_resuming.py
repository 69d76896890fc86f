"""Resuming and stopping the answer of a chat."""

from pathlib import Path

import httpx
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.ai_sdk.test_chats import CLOCK
from tests.scenarios.ai_sdk.ui_chat import UiChat
from tests.scenarios.tool_loop.script import Called, calls
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, read_until, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says
from tests.support.ui_message import UiMessageReader


async def waits(exchange: Exchange) -> None:
    """Send the beginning of an answer, and the rest once the test opens the gate."""
    await exchange.head()
    await exchange.send_text("Half. ")
    await exchange.gate_opened()
    await exchange.send_text("Whole.")
    await exchange.end()


async def stalls(exchange: Exchange) -> None:
    """Send the beginning of an answer, and wait until the client leaves."""
    await exchange.head()
    await exchange.send_text("Half. ")
    await exchange.client_left()


def resume(chat: UiChat, **query: str) -> httpx.Response:
    """Ask for the answer that is active."""
    return chat.app.client.get(f"{chat.url}/stream", params=query, headers=chat.headers)


def follow(chat: UiChat, upstream: ScriptedUpstream) -> bytes:
    """Resume the answer in its middle, and read it to its end."""
    with chat.app.client.stream("GET", f"{chat.url}/stream") as response:
        chunks = response.iter_bytes()
        seen = read_until(chunks, b"Half")
        upstream.opened.set()
        return seen + b"".join(chunks)


def leave(chat: UiChat) -> None:
    """Post the chat, and close the connection in the middle of the answer."""
    with (
        httpx.Client(base_url=chat.app.url, trust_env=False) as client,
        client.stream("POST", "/api/ai/chat", json=chat.request()) as response,
    ):
        read_until(response.iter_bytes(), b"Half")


def test_an_answer_is_resumed_from_its_first_event(start_app: StartApp) -> None:
    """A disconnect stops nothing; the stream is the one that the client would have read."""
    app, upstream = start_app(waits)
    chat = UiChat(app, "of/a page", tools=[])
    chat.add("Hello!")
    leave(chat)
    stream = follow(chat, upstream)
    message = chat.receive(stream)
    assert (message.text_of("text"), message.error) == ("Half. Whole.", None)
    assert resume(chat).status_code == 204
    again = resume(chat, finished="true")
    assert again.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert again.content == stream


def test_the_second_leg_is_resumed_with_the_first(start_app: StartApp) -> None:
    """The whole message: the run that called the client's tool, the output, and the run that is active."""
    app, upstream = start_app(calls(Called("wall_clock", "{}")), waits)
    chat = UiChat(app, "legs", tools=[], clientTools=[CLOCK])
    first = chat.send("What time is it?")
    chat.add_output({"time": "09:41"})
    leave(chat)
    message = UiMessageReader().read_stream(follow(chat, upstream))
    assert message.id == first.id
    [call] = message.tools
    assert (call["state"], call["output"]) == ("output-available", {"time": "09:41"})
    assert message.text_of("text") == "Half. Whole."
    assert len(message.metadata) == 2


def test_nothing_is_active_in_an_unknown_chat(app: RunningApp) -> None:
    """A page resumes each chat that it opens."""
    chat = UiChat(app, "unknown")
    assert resume(chat).status_code == resume(chat, finished="true").status_code == 204
    assert resume(chat, finshed="true").status_code == 422
    assert app.client.post(f"{chat.url}/stop").json() == {"stopped": []}


def test_a_chat_is_stopped_and_goes_on(start_app: StartApp) -> None:
    """Stopping ends the upstream request and every open stream, and the next message gets an answer."""
    app, upstream = start_app(stalls, says("Again."))
    chat = UiChat(app, "stopped", tools=[])
    chat.add("Hello!")
    leave(chat)
    [stopped] = app.client.post(f"{chat.url}/stop").json()["stopped"]
    assert upstream.wait_until(lambda: len(upstream.left) == 1, 1.0)
    assert app.client.get(f"/api/runs/{stopped}").json()["status"] == "cancelled"
    assert resume(chat).status_code == 204
    message = chat.receive(resume(chat, finished="true").content)
    assert (message.text_of("text"), message.is_aborted, message.finish_reason) == ("Half. ", True, "other")
    assert chat.send("Go on.").text_of("text") == "Again."
    sent = [(one["role"], one["content"]) for one in upstream.asked[-1].body["messages"]]
    assert sent == [("user", "Hello!"), ("assistant", "Half. "), ("user", "Go on.")]


def test_an_answer_is_the_same_after_a_restart(simulator: BackgroundSimulator, tmp_path: Path) -> None:
    """Its bytes depend only on the journal."""
    settings = settings_for(tmp_path, openrouter_base_url=simulator.base_url)
    with RunningApp(settings) as app:
        chat = UiChat(app, "restart")
        chat.send("What is the tool loop, and what is 17 * 23?")
        before = resume(chat, finished="true").content
    with RunningApp(settings) as app:
        assert resume(UiChat(app, "restart"), finished="true").content == before
