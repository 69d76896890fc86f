"""Deleting a conversation removes all of it, on disk and in unfinished runs."""

from pathlib import Path
from typing import Any

import pytest
from signalbox.app import conversation_binding, start_run
from signalbox.conversations import history
from signalbox.core.codes import Code
from signalbox.core.conversations import Conversation
from signalbox.core.errors import RequestError
from signalbox.runs.manager import RunManager
from signalbox.runs.run import Run
from signalbox.store.conversations import NodeContents, add_conversation, change_conversation, delete_conversation
from signalbox.store.runs.journal import JournalStore
from sqlalchemy import Connection

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation, thinks_and_calls
from tests.support.fixtures import StartApp
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import holds, says

PROMPT, ANSWER, FORGOTTEN = "Zauberwort-4711", "Hexenspruch-0815", "Geheimnis-2342"


def on_disk(folder: Path) -> bytes:
    """Return the bytes of all files of the database."""
    files = [*folder.glob("signalbox.db*")]
    assert files
    return b"".join(file.read_bytes() for file in files)


def delete(conversation: ConversationClient) -> dict[str, object]:
    """Delete the conversation."""
    response = conversation.app.client.delete(f"/api/conversations/{conversation.id}")
    assert response.status_code == 200, response.text
    return response.json()


def test_nothing_is_left_in_the_files(start_app: StartApp, tmp_path: Path) -> None:
    """No file of the database contains the prompt, answer, title, reasoning, detail or result."""
    detail = {"type": "reasoning.encrypted", "data": FORGOTTEN}
    conversation = start_conversation(
        start_app, thinks_and_calls('{"expression":"1+1"}', detail), says(f"It is {ANSWER}."), says("NodeContents.")
    )
    conversation.ask(f"What is {PROMPT}?" + " long" * 5000, tools=["calculate"], system=PROMPT)
    ConversationClient(conversation.app, conversation.upstream, "other").ask("Stay-1234.")
    run_id = conversation.ask(f"And {PROMPT}?").run_id
    conversation.app.within(conversation.app.parts.runs.store.flush())
    before = on_disk(tmp_path / "data")
    assert all(word.encode() in before for word in (PROMPT, ANSWER, FORGOTTEN, "Stay-1234."))
    assert delete(conversation) == {"deleted": True, "saves_kept": 0}
    after = on_disk(tmp_path / "data")
    assert not any(word.encode() in after for word in (PROMPT, PROMPT.casefold(), ANSWER, ANSWER.casefold(), FORGOTTEN))
    assert b"Stay-1234." in after
    assert conversation.get().status_code == 404
    assert error_of(conversation.app.client.get(f"/api/runs/{run_id}"))["code"] == "UNKNOWN_RUN"
    assert (
        error_of(conversation.app.client.delete(f"/api/conversations/{conversation.id}"))["code"]
        == "UNKNOWN_CONVERSATION"
    )
    assert [line["id"] for line in conversation.app.client.get("/api/conversations").json()["conversations"]] == [
        "other"
    ]


def test_what_is_under_way_is_stopped(start_app: StartApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unfinished run ends: its upstream is closed, its subscriber receives the end, and nothing is written later."""
    refused: list[object] = []
    monkeypatch.setattr(JournalStore, "_discard_rejected", lambda _, run: refused.append(run))
    conversation = start_conversation(start_app, holds)
    with conversation.app.asking(PROMPT, conversation_id=conversation.id, on_disconnect="continue") as response:
        pieces = response.iter_raw()
        heard = read_until(pieces, b"So far")
        delete(conversation)
        heard += b"".join(pieces)
    assert b'"status":"cancelled"' in heard
    assert conversation.upstream.wait_until(lambda: len(conversation.upstream.left) == 1)
    parts = conversation.app.parts
    conversation.app.within(parts.runs.store.flush())
    conversation.app.within(parts.database.erase_deleted())
    assert PROMPT.encode() not in on_disk(tmp_path / "data")
    assert conversation.app.client.get("/api/runs").json()["runs"] == []
    assert refused == []
    assert conversation.app.call(lambda: parts.runs.live(response.headers["x-run-id"])) is None


def test_saves_stay(start_app: StartApp) -> None:
    """Saves of the conversation's runs are counted in the response, and still open."""
    conversation = start_conversation(start_app, says(ANSWER))
    run_id = conversation.ask("one").run_id
    other = ConversationClient(conversation.app, conversation.upstream, "other").ask("two").run_id
    assert conversation.app.client.post("/api/saves", json={"run_id": other}).status_code == 200
    saved = conversation.app.client.post("/api/saves", json={"run_id": run_id}).json()
    assert delete(conversation) == {"deleted": True, "saves_kept": 1}
    assert ANSWER in conversation.app.client.get(f"/api/saves/{saved['id']}").text


def test_the_id_is_free_again(start_app: StartApp) -> None:
    """The same id begins a new, empty conversation."""
    conversation = start_conversation(start_app, says("A"))
    conversation.ask("one")
    delete(conversation)
    conversation.ask("two")
    assert conversation.sent_messages() == [("user", "two")]
    assert conversation.texts() == ["two", "A"]


def test_an_answer_to_what_was_deleted_is_unknown(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new conversation with the same id does not accept an answer to a deleted question."""
    conversation = start_conversation(start_app, says("A"), says("B"))
    first = conversation.ask("one")
    started = RunManager.start

    async def deleted_meanwhile(self: RunManager, *given: Any) -> Run:
        def renew(connection: Connection) -> None:
            delete_conversation(connection, conversation.id)
            add_conversation(connection, Conversation(conversation.id))

        await conversation.app.parts.database.write(renew)
        return await started(self, *given)

    monkeypatch.setattr(RunManager, "start", deleted_meanwhile)
    refused = conversation.post(parent_id=first.message_id)
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_CONVERSATION")
    monkeypatch.undo()
    assert conversation.tree()["messages"] == []
    conversation.ask("new")
    assert conversation.texts()[0] == "new"


# Where a question may be when its conversation is deleted: the functions that it passes, in order.
PASSED = ["history_of", "store_messages"]


@pytest.mark.parametrize("passed", PASSED)
@pytest.mark.parametrize("kind", ["new message", "named parent", "same question", "whole history", "first message"])
def test_a_question_whose_conversation_goes_meanwhile(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch, passed: str, kind: str
) -> None:
    """A question during the deletion is rejected without a trace, or begins the conversation anew, completely."""
    conversation = start_conversation(start_app, says(ANSWER), says("New."))
    first = conversation.ask("one")
    bodies: dict[str, dict[str, Any]] = {
        "new message": {"prompt": PROMPT},
        "named parent": {"prompt": PROMPT, "parent_id": first.run_id},
        "same question": {"parent_id": first.message_id},
        "whole history": {
            "messages": [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": ANSWER},
                {"role": "user", "content": PROMPT},
            ]
        },
        "first message": {"prompt": PROMPT, "parent_id": None},
    }
    module = conversation_binding if passed == "history_of" else start_run
    passes = getattr(module, passed)

    async def deleted_meanwhile(*given: Any, **named: Any) -> Any:
        monkeypatch.undo()
        assert await conversation.app.parts.database.write(delete_conversation, conversation.id) is not None
        return await passes(*given, **named)

    monkeypatch.setattr(module, passed, deleted_meanwhile)
    answer = conversation.post(**bodies[kind])
    if kind == "first message":
        assert answer.status_code == 200
        assert conversation.texts() == [PROMPT, "New."]
        return
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["field"]) == (404, "UNKNOWN_CONVERSATION", "conversation_id")
    assert "was deleted" in error["message"]
    assert "Leave out parent_id" in error["message"]
    assert conversation.get().status_code == 404
    assert conversation.app.client.get("/api/runs").json()["runs"] == []
    assert conversation.app.parts.runs._live == {}
    assert conversation.app.client.get(f"/api/conversations?search={PROMPT}").json()["conversations"] == []


def test_a_question_to_a_conversation_that_is_gone(start_app: StartApp) -> None:
    """A question after a deleted message is rejected; a question without a parent begins the conversation anew."""
    conversation = start_conversation(start_app, says("A"), says("B"))
    first = conversation.ask("one")
    delete(conversation)
    for body in ({"prompt": "two", "parent_id": first.run_id}, {"parent_id": first.message_id}):
        refused = conversation.post(**body)
        assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_CONVERSATION")
    assert conversation.get().status_code == 404
    conversation.ask("two")
    assert conversation.texts() == ["two", "B"]


def test_looking_at_a_conversation_that_goes(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening, exporting or switching the branch during the deletion gives 404."""
    conversation = start_conversation(start_app, holds)
    with conversation.app.asking(conversation_id=conversation.id, on_disconnect="continue") as response:
        read_until(response.iter_raw(), b"So far")
        leaf_id = response.headers["x-run-id"]
    find = RunManager.find

    async def gone(self: RunManager, run_id: str) -> Any:
        raise RequestError(Code.UNKNOWN_RUN)

    monkeypatch.setattr(RunManager, "find", gone)
    for path in ("", "/export"):
        assert error_of(conversation.get(path))["code"] == "UNKNOWN_CONVERSATION"
    monkeypatch.setattr(RunManager, "find", find)
    delete(conversation)
    changed = conversation.app.parts.database.write(change_conversation, conversation.id, None, leaf_id)
    assert conversation.app.within(changed) is None


def test_a_history_that_goes_while_it_is_read_is_unknown(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nodes disappear between two reads, the response is 404, not 500."""
    conversation = start_conversation(start_app, says("A"))
    conversation.ask("one")
    monkeypatch.setattr(history, "contents_of", lambda connection, **asked: NodeContents({}, {}, {}))
    refused = conversation.post("two")
    assert (refused.status_code, error_of(refused)["code"]) == (404, "UNKNOWN_CONVERSATION")
