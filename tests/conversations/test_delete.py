"""Deleting a conversation: nothing of it is left, on disk or under way."""

from pathlib import Path
from typing import Any

import pytest
from signalbox.conversations import history
from signalbox.core.conversations import Conversation
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run
from signalbox.store.conversations import Kept, add_conversation, delete_conversation
from signalbox.store.journal import JournalStore
from sqlalchemy import Connection

from tests.conversations.talk import Talk, talk_behind, thinks_and_calls
from tests.support.fixtures import Behind
from tests.support.serving import error_of, read_until
from tests.support.upstream import holds, says

PROMPT, ANSWER, FORGOTTEN = "Zauberwort-4711", "Hexenspruch-0815", "Geheimnis-2342"


def on_disk(folder: Path) -> bytes:
    """Read all files of the database."""
    files = [*folder.glob("signalbox.db*")]
    assert files
    return b"".join(file.read_bytes() for file in files)


def delete(talk: Talk) -> dict[str, object]:
    """Delete the conversation."""
    response = talk.app.client.delete(f"/api/conversations/{talk.id}")
    assert response.status_code == 200, response.text
    return response.json()


def test_nothing_is_left_in_the_files(behind: Behind, tmp_path: Path) -> None:
    """Neither prompt nor answer, title, reasoning, detail or result is in any file of the database."""
    detail = {"type": "reasoning.encrypted", "data": FORGOTTEN}
    talk = talk_behind(
        behind, thinks_and_calls('{"expression":"1+1"}', detail), says(f"It is {ANSWER}."), says("Kept.")
    )
    talk.ask(f"What is {PROMPT}?" + " long" * 5000, tools=["calculate"], system=PROMPT)
    Talk(talk.app, talk.upstream, "other").ask("Stay-1234.")
    run_id = talk.ask(f"And {PROMPT}?").run_id
    talk.app.within(talk.app.parts.runs.store.flush())
    before = on_disk(tmp_path / "data")
    assert all(word.encode() in before for word in (PROMPT, ANSWER, FORGOTTEN, "Stay-1234."))
    assert delete(talk) == {"deleted": True, "saves_kept": 0}
    after = on_disk(tmp_path / "data")
    assert not any(word.encode() in after for word in (PROMPT, PROMPT.casefold(), ANSWER, ANSWER.casefold(), FORGOTTEN))
    assert b"Stay-1234." in after
    assert talk.get().status_code == 404
    assert error_of(talk.app.client.get(f"/api/runs/{run_id}"))["code"] == "UNKNOWN_RUN"
    assert error_of(talk.app.client.delete(f"/api/conversations/{talk.id}"))["code"] == "UNKNOWN_CONVERSATION"
    assert [line["id"] for line in talk.app.client.get("/api/conversations").json()["conversations"]] == ["other"]


def test_what_is_under_way_is_stopped(behind: Behind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that streams ends, its provider is left, its watcher hears the end, and nothing is written behind it."""
    refused: list[object] = []
    monkeypatch.setattr(JournalStore, "_refused", lambda _, run: refused.append(run))
    talk = talk_behind(behind, holds)
    with talk.app.asking(PROMPT, conversation_id=talk.id, on_disconnect="continue") as response:
        pieces = response.iter_raw()
        heard = read_until(pieces, b"So far")
        delete(talk)
        heard += b"".join(pieces)
    assert b'"status":"cancelled"' in heard
    assert talk.upstream.wait_until(lambda: len(talk.upstream.left) == 1)
    parts = talk.app.parts
    talk.app.within(parts.runs.store.flush())
    talk.app.within(parts.database.forget())
    assert PROMPT.encode() not in on_disk(tmp_path / "data")
    assert talk.app.client.get("/api/runs").json()["runs"] == []
    assert refused == []
    assert talk.app.call(lambda: parts.runs.live(response.headers["x-run-id"])) is None


def test_saves_stay(behind: Behind) -> None:
    """Saves of its runs are counted, and open as before."""
    talk = talk_behind(behind, says(ANSWER))
    run_id = talk.ask("one").run_id
    other = Talk(talk.app, talk.upstream, "other").ask("two").run_id
    assert talk.app.client.post("/api/saves", json={"run_id": other}).status_code == 200
    saved = talk.app.client.post("/api/saves", json={"run_id": run_id}).json()
    assert delete(talk) == {"deleted": True, "saves_kept": 1}
    assert ANSWER in talk.app.client.get(f"/api/saves/{saved['id']}").text


def test_the_id_is_free_again(behind: Behind) -> None:
    """The same id begins a conversation that knows nothing of the old one."""
    talk = talk_behind(behind, says("A"))
    talk.ask("one")
    delete(talk)
    talk.ask("two")
    assert talk.told() == [("user", "two")]
    assert talk.texts() == ["two", "A"]


def test_an_answer_to_what_was_deleted_is_unknown(behind: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new conversation of the same id takes no answer to a question of the old one."""
    talk = talk_behind(behind, says("A"), says("B"))
    first = talk.ask("one")
    started = RunManager.start

    async def deleted_meanwhile(self: RunManager, *given: Any) -> Run:
        def renew(connection: Connection) -> None:
            delete_conversation(connection, talk.id)
            add_conversation(connection, Conversation(talk.id))

        await talk.app.parts.database.write(renew)
        return await started(self, *given)

    monkeypatch.setattr(RunManager, "start", deleted_meanwhile)
    refused = talk.post(parent_id=first.message_id)
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_CONVERSATION")
    monkeypatch.undo()
    assert talk.tree()["messages"] == []
    talk.ask("new")
    assert talk.texts()[0] == "new"


def test_a_history_that_goes_while_it_is_read_is_unknown(behind: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree was there, what its nodes hold is not: that is no fault of the server."""
    talk = talk_behind(behind, says("A"))
    talk.ask("one")
    monkeypatch.setattr(history, "kept_of", lambda connection, **asked: Kept({}, {}, {}))
    refused = talk.post("two")
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_CONVERSATION")
