"""The model receives a note about the files that a person has changed."""

from typing import Any

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.scenarios.files.file_writer import done, note_tool, notes
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp

DATABASES = BOTH
NOTE = (
    "<user_changes>\nThe user changed a.txt (version 2):\n--- a.txt\n+++ a.txt\n"
    "@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n</user_changes>"
)


def talk_with_a_file(start_app: StartApp) -> ConversationClient:
    """Start a conversation whose first answer has written a.txt."""
    talk = start_conversation(start_app, notes(path="a.txt", text="one"), done, extra_tools=[note_tool()])
    talk.ask("Write", tools=["note"])
    return talk


def change(talk: ConversationClient, text: str, **params: Any) -> None:
    """Change a.txt as a person."""
    found = talk.app.client.put(f"/api/conversations/{talk.id}/files/a.txt", content=text, params=params)
    assert found.status_code == 200, found.text


def sent(talk: ConversationClient, place: int = -1) -> list[Any]:
    """Return the contents of the user's messages in a request to the provider."""
    return [content for role, content in talk.sent_messages(place) if role == "user"]


def test_the_next_question_tells_what_has_changed(start_app: StartApp) -> None:
    """SC-16: the note stands before the words of the next question, in the stored conversation are only the words."""
    talk = talk_with_a_file(start_app)
    change(talk, "two")
    talk.ask("Go on")
    assert sent(talk) == ["Write", f"{NOTE}\n\nGo on"]
    assert talk.texts()[2] == "Go on"


def test_later_requests_send_the_same_bytes(start_app: StartApp) -> None:
    """SC-22: a request begins with the messages of the one before, also after further changes and on a new branch."""
    talk = talk_with_a_file(start_app)
    change(talk, "two")
    second = talk.ask("Go on")
    change(talk, "three")
    talk.ask("And on")
    before, after = (talk.upstream.asked[place].body["messages"] for place in (-2, -1))
    assert after[: len(before)] == before
    assert "-two" in sent(talk)[-1]
    assert "+three" in sent(talk)[-1]
    change(talk, "four", node_id=second.run_id)  # after that branch has gone on
    talk.ask("Once more")
    assert talk.upstream.asked[-1].body["messages"][: len(after)] == after
    assert sent(talk)[-1] == "Once more"


def test_an_answer_that_is_made_again_knows_the_changes_at_its_question(start_app: StartApp) -> None:
    """A regenerated answer gets the same note, and a change at the question itself."""
    talk = talk_with_a_file(start_app)
    change(talk, "two")
    asked = talk.ask("Go on")
    talk.ask(parent_id=asked.message_id)
    assert sent(talk) == ["Write", f"{NOTE}\n\nGo on"]
    change(talk, "three", node_id=asked.message_id)
    talk.ask(parent_id=asked.message_id)
    assert "+three" in sent(talk)[-1]
    assert "version 3" in sent(talk)[-1]


def test_clients_of_openai_tell_it_too(start_app: StartApp) -> None:
    """In every protocol, the model receives the note if the conversation is stored."""
    talk = talk_with_a_file(start_app)
    change(talk, "two")
    body = {"model": "openai/sim", "messages": [{"role": "user", "content": "Go on"}], "stream": True}
    headers = {"x-conversation-id": talk.id}
    assert talk.app.client.post("/v1/chat/completions", json=body, headers=headers).status_code == 200
    assert sent(talk)[-1] == f"{NOTE}\n\nGo on"


def test_without_changes_nothing_is_told(start_app: StartApp) -> None:
    """What the model itself has written is not told again."""
    talk = talk_with_a_file(start_app)
    talk.ask("Go on")
    assert sent(talk) == ["Write", "Go on"]
