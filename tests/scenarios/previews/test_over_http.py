"""Files appear in the stream while the model writes them, if the request asks for it."""

import json
from collections.abc import Sequence
from typing import Any

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.support.fixtures import StartApp
from tests.support.preview_client import PreviewClient
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, chunk
from tests.support.stream_reader import check_stream, parse_stream

PAGE = '<!doctype html>\n<title>Größe 😀</title>\n<p class="a">It\'s \\ here</p>\n'
CREATE = json.dumps({"path": "index.html", "content": PAGE})
EDIT = json.dumps({"path": "index.html", "edits": [{"old_text": "Größe", "new_text": "Länge"}]})
ASK: dict[str, Any] = {"tools": ["create_file", "edit_file"]}


def writes(name: str, arguments: str, size: int = 9) -> Script:
    """Make a script that calls a tool, whose arguments come in pieces."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk(name, ""))
        for at in range(0, len(arguments), size):
            function = {"arguments": arguments[at : at + size]}
            await exchange.send(chunk({"tool_calls": [{"index": 0, "function": function}]}))
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script


def breaks(name: str, arguments: str) -> Script:
    """Make a script that breaks in the middle of a call."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk(name, arguments))
        await exchange.send(b'data: {"error":{"code":502,"message":"Provider returned error"}}\n\n')
        await exchange.raw(b"0\r\n\r\n")

    return script


async def says_done(exchange: Exchange) -> None:
    """Answer in words."""
    await exchange.head()
    await exchange.send_text("Done.")
    await exchange.end()


def talk(start_app: StartApp, *scripts: Script, **given: Any) -> ConversationClient:
    """Start a conversation with a model that writes files, then answers."""
    return start_conversation(start_app, *(scripts or (writes("create_file", CREATE),)), says_done, **given)


def kinds(events: Sequence[dict[str, Any]]) -> set[str]:
    """Return the types of events."""
    return {event["type"] for event in events}


def test_sc03_a_file_is_in_the_stream_once(start_app: StartApp) -> None:
    """In its previews; the announced call leaves it out, and the tool gets all of it."""
    client = talk(start_app)
    heard = client.ask("Make a page.", previews=True, **ASK).heard
    kept = PreviewClient().add(heard.events)
    assert [*kept.calls.values()] == [{"path": "index.html", "content": PAGE}]
    assert heard.arguments == [{"path": "", "content": ""}]
    assert heard.raw.count(b"<!doctype") == 1
    assert heard.of("tool_result")[0]["result"]["result"]["size"] == len(PAGE.encode())


def test_edits_are_previewed_by_their_place(start_app: StartApp) -> None:
    """A JSON Pointer names the edit."""
    client = talk(start_app, writes("create_file", CREATE), writes("edit_file", EDIT, 4))
    kept = PreviewClient().add(client.ask("Change it.", previews=True, **ASK).heard.events)
    _, edit = kept.texts.values()
    assert edit == {"/path": "index.html", "/edits/0/old_text": "Größe", "/edits/0/new_text": "Länge"}
    assert [*kept.calls.values()][1] == json.loads(EDIT)


def test_a_run_that_does_not_ask_is_the_same_as_before(start_app: StartApp) -> None:
    """No previews, and whole arguments; `previews` has no effect on one answer at the end."""
    heard = talk(start_app).ask("Make a page.", **ASK).heard
    assert "preview" not in kinds(heard.events)
    assert heard.arguments == [{"path": "index.html", "content": PAGE}]
    assert "previewed" not in heard.calls[0]
    client = talk(start_app)
    asked = {"model": "openai/sim", "prompt": "Make a page.", "conversation_id": "talk-2", "previews": True, **ASK}
    answer = client.app.client.post("/api/chat", json=asked).json()
    assert json.loads(answer["calls"][0]["arguments"])["content"] == PAGE
    assert "previewed" not in answer["calls"][0]


def test_a_resumed_stream_continues_after_the_last_preview(start_app: StartApp) -> None:
    """From every event on, a client gets the same frames as one that stayed, also after the run."""
    edits = [{"old_text": f"old {n}", "new_text": f"new {n}"} for n in range(3)]
    arguments = {"path": "index.html", "edits": edits}
    client = talk(start_app, writes("edit_file", json.dumps(arguments)))
    answered = client.ask("Change it.", previews=True, **ASK)
    events, path = answered.heard.events, f"/api/runs/{answered.run_id}/events"
    assert len([event for event in events if event["type"] == "preview"]) > 5
    for place, name in enumerate(answered.heard.ids, 1):
        rest = client.app.client.get(path, headers={"last-event-id": name}).content
        assert parse_stream(rest).events == events[place:]
        kept = PreviewClient().add([*events[:place], *parse_stream(rest).events])
        assert [*kept.calls.values()] == [arguments]


def test_a_retry_withdraws_what_was_shown(start_app: StartApp, no_waiting: object) -> None:
    """The second attempt shows the file again, under another id."""
    client = talk(start_app, breaks("create_file", CREATE[:50]), writes("create_file", CREATE))
    heard = client.ask("Make a page.", previews=True, **ASK).heard
    kept = PreviewClient().add(heard.events)
    assert heard.done["status"] == "complete"
    assert len(kept.withdrawn) == 1
    assert [*kept.texts.values()] == [{"/path": "index.html", "/content": PAGE}]


def test_a_stopped_run_withdraws_what_was_shown(start_app: StartApp) -> None:
    """The client stops the run in the middle of a call."""

    async def waits(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk("create_file", CREATE[:50]))
        await exchange.gate_opened()

    client = start_conversation(start_app, waits)
    body = {"conversation_id": client.id, "previews": True, "on_disconnect": "continue", **ASK}
    with client.app.asking("Make a page.", **body) as response:
        run_id, received = response.headers["x-run-id"], b""
        for piece in response.iter_raw():
            received += piece
            if b'"key":"/content"' in received and b"withdrawn" not in received:
                client.app.client.post(f"/api/runs/{run_id}/stop")
    heard = check_stream(received)
    assert heard.done["status"] == "cancelled"
    assert PreviewClient().add(heard.events).texts == {}


def test_trace_and_snapshot_have_whole_arguments(start_app: StartApp) -> None:
    """Neither contains previews, so that no reader has to join them."""
    client = talk(start_app)
    answered = client.ask("Make a page.", previews=True, **ASK)
    http, run_id = client.app.client, answered.run_id
    trace = http.get(f"/api/runs/{run_id}").json()
    assert json.loads(trace["tools"][0]["arguments"])["content"] == PAGE
    saved = http.post("/api/saves", json={"run_id": run_id, "title": "A page"}).json()
    snapshot = http.get(f"/api/saves/{saved['id']}").json()
    assert "preview" not in kinds(snapshot["events"])
    [call] = next(event["calls"] for event in snapshot["events"] if event["type"] == "tool_calls")
    assert json.loads(call["arguments"])["content"] == PAGE
    assert "previewed" not in call


def test_the_legacy_loop_shows_no_previews(start_app: StartApp) -> None:
    """It reads calls as a whole: the call is announced with whole arguments."""
    client = talk(start_app, settings={"tool_loop_v2": False})
    heard = client.ask("Make a page.", previews=True, **ASK).heard
    assert heard.done["loop"] == "legacy"
    assert "preview" not in kinds(heard.events)
