"""Resuming on an assistant-ui page: a running answer is found by its thread, and its stream is replayed."""

import httpx
import pytest

from tests.scenarios.assistant_ui.page import Page, message
from tests.scenarios.tool_loop.script import answers
from tests.support.assistant_client import state_after
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Exchange

FRAMINGS = {"data-stream": "text/plain", "assistant-transport": "text/event-stream"}
PATHS = {"data-stream": "/assistant/data-stream", "assistant-transport": "/assistant/transport"}


async def halfway(exchange: Exchange) -> None:
    """Answer with a text, then wait until the test opens the gate for the rest."""
    await exchange.head()
    await exchange.send_text("Half ")
    await exchange.gate_opened()
    await exchange.send_text("and whole.")
    await exchange.end()


async def never(exchange: Exchange) -> None:
    """Answer with a text, then wait for the client to leave."""
    await exchange.head()
    await exchange.send_text("Half ")
    await exchange.client_left()


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_framing_is_chosen(start_app: StartApp, framing: str) -> None:
    """By the query, by Accept and by the path; all three give the same bytes but for the ids."""
    app, _ = start_app(answers("Yes."))
    body = {"model": "openai/sim", "commands": [message("Hi", parentId=None)]}
    for path, headers in (
        (f"/assistant?protocol={framing}", {}),
        ("/assistant", {"accept": FRAMINGS[framing]}),
        (PATHS[framing], {"accept": "*/*"}),
    ):
        response = app.client.post(path, json=body, headers=headers)
        assert response.headers["content-type"].startswith(FRAMINGS[framing])
        assert response.text.startswith("aui-state:" if framing == "data-stream" else 'data: {"type":"update-state"')
        assert response.text.endswith("]\n" if framing == "data-stream" else "data: [DONE]\n\n")


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_finished_run_is_replayed(start_app: StartApp, framing: str) -> None:
    """The replay is byte-equal to the first response, and all of it existed before the request."""
    app, _ = start_app(answers("Hel", "lo."))
    body = {"model": "openai/sim", "commands": [message("Hi", parentId=None)]}
    first = app.client.post(f"/assistant?protocol={framing}", json=body)
    again = app.client.post(f"/assistant/resume?protocol={framing}", json={"runId": first.headers["x-run-id"]})
    assert again.content == first.content
    assert again.headers["aui-replay-content-length"] == str(len(first.content))


def test_a_cursor_after_every_event(start_app: StartApp) -> None:
    """With Last-Event-ID, a client gets the rest of the uninterrupted stream after any event."""
    app, _ = start_app(answers("Hel", "lo."))
    body = {"model": "openai/sim", "commands": [message("Hi", parentId=None)]}
    first = app.client.post("/assistant", json=body)
    run_id = first.headers["x-run-id"]
    rest = first.content
    for seq in range(1, 4):
        headers = {"last-event-id": f"{run_id}:{seq}"}
        resumed = app.client.post("/assistant", json=body, headers=headers)
        if resumed.status_code == 204:
            break
        assert rest.endswith(resumed.content)
        assert len(resumed.content) < len(rest)
        rest = resumed.content


def test_a_page_that_is_loaded_again(start_app: StartApp) -> None:
    """In mid-answer, the state ends before the answer, and the stream replays it and goes on."""
    app, upstream = start_app(halfway)
    body = {
        "model": "openai/sim",
        "threadId": "shop",
        "onDisconnect": "continue",
        "commands": [message("Hi", parentId=None)],
    }
    with httpx.stream("POST", f"{app.url}/assistant", json=body, timeout=10) as response:
        for line in response.iter_lines():
            if "Half" in line:
                break
    found = app.client.post("/assistant/resume-state?threadId=shop", json={"threadId": "__LOCALID_new1234"}).json()
    assert [one["type"] for one in found["state"]["messages"]] == ["human"]
    assert app.client.get("/assistant/state?threadId=shop").json() == found["state"]
    received = b""
    resuming = {"runId": found["runId"], "commands": [], "threadId": "__LOCALID_new1234"}
    with httpx.stream("POST", f"{app.url}/assistant/resume", json=resuming, timeout=10) as response:
        replayed = int(response.headers["aui-replay-content-length"])
        for piece in response.iter_bytes():
            received += piece
            if len(received) >= replayed:
                upstream.opened.set()
    assert b"Half " in received[:replayed]
    assert b"and whole." not in received[:replayed]
    assert received[:replayed].endswith(b"\n")
    state = state_after(received.decode().split("\n")[:-1], found["state"])
    assert [part["text"] for part in state["messages"][1]["content"]] == ["Half and whole."]
    assert len(upstream.asked) == 1
    assert app.client.post("/assistant/resume-state", json={"threadId": "shop"}).status_code == 204


def test_a_client_that_leaves_ends_the_run(start_app: StartApp) -> None:
    """A stop is a closed connection: the request to the upstream ends within a second."""
    app, upstream = start_app(never)
    body = {"model": "openai/sim", "threadId": "shop", "commands": [message("Hi", parentId=None)]}
    with httpx.stream("POST", f"{app.url}/assistant", json=body, timeout=10) as response:
        run_id = response.headers["x-run-id"]
        for line in response.iter_lines():
            if "Half" in line:
                break
    assert upstream.wait_until(lambda: bool(upstream.left), 1.0)
    app.over(run_id)
    page = Page(app, "shop")
    page.state = app.client.get("/assistant/state?threadId=shop").json()
    assert page.messages[1]["status"] == {"type": "incomplete", "reason": "cancelled"}
    assert page.texts == ["Hi", "Half "]
    assert len(upstream.asked) == 1


def test_unknown_threads_and_runs(start_app: StartApp) -> None:
    """A thread without a running answer is 204; a run of another page is a 404 with a reason."""
    app, _ = start_app(answers("Yes."))
    assert app.client.get("/assistant/state?threadId=none").json() == {"threadId": "none", "messages": []}
    assert app.client.post("/assistant/resume-state", json={"threadId": None}).status_code == 204
    for body in ({"runId": "f" * 32}, {"threadId": "none"}, {}):
        response = app.client.post("/assistant/resume", json=body)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "UNKNOWN_RUN")
    assert app.client.get("/assistant/state").status_code == 422
