"""History from the server: what a model receives when a client sends only the new message."""

import json
from typing import Any

import pytest
from signalbox.runs.manager import RunManager

from tests.scenarios.conversations.conversation_client import (
    ConversationClient,
    start_conversation,
)
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, says, sends

IMAGE = "data:image/png;base64,iVBORw0KGgo="


def test_only_the_new_message_is_needed(start_app: StartApp) -> None:
    """The second request contains the first question and its answer."""
    conversation = start_conversation(start_app, says("One."), says("Two."))
    first = conversation.ask("Count.")
    second = conversation.ask("Go on.")
    assert conversation.sent_messages() == [("user", "Count."), ("assistant", "One."), ("user", "Go on.")]
    tree = conversation.tree()
    assert [(node["id"], node["parent_id"]) for node in tree["messages"]] == [
        (first.message_id, None),
        (first.run_id, first.message_id),
        (second.message_id, first.run_id),
        (second.run_id, second.message_id),
    ]
    assert tree["leaf_id"] == second.run_id
    assert tree["title"] == "Count."


def test_an_edit_is_a_branch(start_app: StartApp) -> None:
    """A message after the same parent begins a branch without the messages of the other one."""
    conversation = start_conversation(start_app, says("A"), says("B"), says("C"), says("D"))
    first = conversation.ask("one")
    conversation.ask("two")
    edited = conversation.ask("two, better", parent_id=first.run_id)
    assert conversation.sent_messages() == [("user", "one"), ("assistant", "A"), ("user", "two, better")]
    conversation.ask("three")
    assert conversation.sent_messages()[2:] == [("user", "two, better"), ("assistant", "C"), ("user", "three")]
    assert conversation.texts() == ["one", "A", "two", "B", "two, better", "C", "three", "D"]
    assert {node["id"] for node in conversation.tree()["messages"] if node["parent_id"] == first.run_id} >= {
        edited.message_id
    }


def test_the_first_message_can_be_edited(start_app: StartApp) -> None:
    """With parent_id null, a new first message begins a branch."""
    conversation = start_conversation(start_app, says("A"), says("B"))
    conversation.ask("one")
    edited = conversation.ask("uno", parent_id=None)
    assert conversation.sent_messages() == [("user", "uno")]
    assert [node["parent_id"] for node in conversation.tree()["messages"] if node["id"] == edited.message_id] == [None]


@pytest.mark.parametrize("model", ["openai/sim", "anthropic/sim"])
def test_a_question_is_answered_again(start_app: StartApp, model: str) -> None:
    """A message id without text sends the same question again, to any model; both answers stay."""
    conversation = start_conversation(start_app, says("A"), says("B"), says("C"), says("D"))
    conversation.ask("one")
    second = conversation.ask("two")
    again = conversation.ask(parent_id=second.message_id, model=model)
    assert (
        conversation.sent_messages()
        == conversation.sent_messages(1)
        == [("user", "one"), ("assistant", "A"), ("user", "two")]
    )
    assert conversation.upstream.asked[-1].body["model"] == model
    assert again.message_id == second.message_id
    answers = [node for node in conversation.tree()["messages"] if node["parent_id"] == second.message_id]
    assert [(node["id"], node["text"], node["model"]) for node in answers] == [
        (second.run_id, "B", "openai/sim"),
        (again.run_id, "C", model),
    ]
    conversation.ask("three")
    assert conversation.sent_messages()[3:] == [("assistant", "C"), ("user", "three")]


def test_another_branch_can_be_chosen(start_app: StartApp) -> None:
    """The next question follows the selected leaf."""
    conversation = start_conversation(start_app, says("A"), says("B"), says("C"))
    first = conversation.ask("one")
    conversation.ask(parent_id=first.message_id)
    assert (
        conversation.app.client.patch(
            f"/api/conversations/{conversation.id}", json={"leaf_id": first.run_id}
        ).status_code
        == 200
    )
    conversation.ask("two")
    assert conversation.sent_messages() == [("user", "one"), ("assistant", "A"), ("user", "two")]


def test_several_messages_are_one_node(start_app: StartApp) -> None:
    """Several messages without an answer between them are one node, including system messages."""
    conversation = start_conversation(start_app, says("A"), says("B"))
    told = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "one"}]
    conversation.ask(messages=[*told, {"role": "user", "content": "and more"}])
    assert conversation.texts() == ["one\n\nand more", "A"]
    conversation.ask("two")
    said = json.dumps(conversation.sent_messages())
    assert all(said.count(words) == 1 for words in ("Be kind.", "one", "and more", "two"))


def test_instructions_hold_until_others_come(start_app: StartApp) -> None:
    """`system` applies to its branch until the next one; an empty one removes it."""
    conversation = start_conversation(start_app, says("A"))
    first = conversation.ask("one", system="Be brief.")
    conversation.ask("two")
    assert conversation.sent_messages()[0] == ("system", "Be brief.")
    conversation.ask("three", system="Be long.")
    assert [said for role, said in conversation.sent_messages() if role == "system"] == ["Be long."]
    conversation.ask("four")
    assert conversation.sent_messages()[0] == ("system", "Be long.")
    conversation.ask("five", system="")
    conversation.ask("six")
    assert "system" not in [role for role, _ in conversation.sent_messages()]
    conversation.ask("two again", parent_id=first.run_id)
    assert conversation.sent_messages()[0] == ("system", "Be brief.")
    assert conversation.tree()["messages"][0]["system"] == "Be brief."


def test_a_system_message_alone_starts_no_conversation(start_app: StartApp) -> None:
    """The OpenAI endpoint says what is missing, and stores no conversation."""
    conversation = start_conversation(start_app, says("A"))
    body = {"model": "openai/sim", "messages": [{"role": "system", "content": "Be brief."}]}
    headers = {"X-Conversation-Id": conversation.id}
    refused = conversation.app.client.post("/v1/chat/completions", json=body, headers=headers)
    assert refused.status_code == 400
    assert "send a user message after the system message" in refused.json()["error"]["message"]
    assert conversation.app.client.get(f"/api/conversations/{conversation.id}").status_code == 404


def test_a_system_message_before_all_else_is_such_an_instruction(start_app: StartApp) -> None:
    """A leading system message equals the field `system`, so it is always visible."""
    conversation = start_conversation(start_app, says("A"))
    first, second = {"role": "system", "content": "Be brief."}, {"role": "system", "content": "Be kind."}
    conversation.ask(messages=[first, {"role": "user", "content": "one"}])
    conversation.ask("two")
    assert conversation.sent_messages()[0] == ("system", "Be brief.")
    conversation.ask(messages=[second, {"role": "user", "content": "three"}], system="Be long.")
    assert [said for role, said in conversation.sent_messages() if role == "system"] == ["Be long.\n\nBe kind."]
    conversation.ask("four", system="")
    assert "system" not in [role for role, _ in conversation.sent_messages()]
    assert [node.get("system") for node in conversation.tree()["messages"][::2]] == [
        "Be brief.",
        None,
        "Be long.\n\nBe kind.",
        None,
    ]


def test_images_and_files_stay(start_app: StartApp) -> None:
    """Images and files of earlier messages are sent again, and shown."""
    conversation = start_conversation(start_app, says("A"))
    parts = [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}},
    ]
    conversation.ask(messages=[{"role": "user", "content": parts}])
    conversation.ask("Sure?")
    assert conversation.sent_messages()[0] == ("user", parts)
    assert conversation.tree()["messages"][0]["parts"] == parts[1:]
    assert conversation.texts()[0] == "What is it?"


# --- what is stored, and when ---


def test_a_restart_keeps_it_all(start_app: StartApp, tmp_path: Any) -> None:
    """Another process on the same data folder continues the conversation."""
    with ScriptedUpstream(says("One."), says("Two.")) as upstream:
        made = settings_for(tmp_path / "data", openrouter_base_url=upstream.base_url)
        with RunningApp(made) as app:
            ConversationClient(app, upstream).ask("Count.")
            before = ConversationClient(app, upstream).tree()
        with RunningApp(made) as app:
            conversation = ConversationClient(app, upstream)
            assert conversation.tree() == before
            conversation.ask("Go on.")
            assert conversation.sent_messages() == [("user", "Count."), ("assistant", "One."), ("user", "Go on.")]


def test_a_repeated_request_adds_nothing(start_app: StartApp) -> None:
    """With an Idempotency-Key, a repeated request has the same run and nodes."""
    conversation = start_conversation(start_app, says("One."))
    key = {"idempotency-key": "k-1"}
    first, second = conversation.ask("Count.", headers=key), conversation.ask("Count.", headers=key)
    assert (first.run_id, first.message_id) == (second.run_id, second.message_id)
    assert conversation.texts() == ["Count.", "One."]


def test_what_was_typed_is_kept_when_no_run_can_start(start_app: StartApp) -> None:
    """A question that finds no slot is stored; a repetition does not store it twice."""
    conversation = start_conversation(start_app, says("One."), says("Two."))
    conversation.ask("Count.")
    conversation.app.parts.runs.max_active = 0
    assert error_of(conversation.post("Go on."))["code"] == "TOO_MANY_RUNS"
    assert conversation.texts() == ["Count.", "One.", "Go on."]
    conversation.app.parts.runs.max_active = 10
    conversation.ask("Go on.")
    assert conversation.texts() == ["Count.", "One.", "Go on.", "Two."]


@pytest.mark.parametrize("texts", [["One?"], ["One?", "Two?"]])
def test_questions_without_an_answer_are_stored_once(start_app: StartApp, texts: list[str]) -> None:
    """A client that got no answer sends its questions again before the next one; only that is new."""
    failed = sends(b'{"error": {"code": 400, "message": "No."}}', status=400, kind="application/json")
    conversation = start_conversation(start_app, failed, failed, says("Three."))
    asked = [{"role": "user", "content": text} for text in texts]
    for messages in (asked, [*asked, {"role": "user", "content": "And?"}]):
        conversation.post(messages=messages)
    conversation.ask(messages=[*asked, *({"role": "user", "content": text} for text in ("And?", "So?"))])
    assert [text for text in conversation.texts() if text] == ["\n\n".join(texts), "And?", "So?", "Three."]
    assert conversation.sent_messages() == [("user", text) for text in (*texts, "And?", "So?")]


def test_what_is_refused_leaves_nothing(start_app: StartApp) -> None:
    """An invalid request stores no message and creates no conversation."""
    conversation = start_conversation(start_app, says("One."))
    assert error_of(conversation.post("Hi", tools=["no_such_tool"]))["code"] == "UNKNOWN_TOOL"
    assert conversation.get().status_code == 404


def test_the_messages_are_kept_once(start_app: StartApp) -> None:
    """A run of a conversation has no copy of the tree's messages."""
    conversation = start_conversation(start_app, says("One."))
    run_id = conversation.ask("Count to one.").run_id
    question = conversation.app.within(conversation.app.parts.runs.store.find(run_id)).question
    assert "prompt" not in question
    assert question["conversation_id"] == conversation.id


# --- invalid requests ---


@pytest.mark.parametrize("body", [{"prompt": "x", "parent_id": "unknown"}, {"parent_id": "unknown"}])
def test_a_message_that_is_not_there_is_not_followed(start_app: StartApp, body: dict[str, Any]) -> None:
    """An unknown message or conversation gives its own error, and no request is sent."""
    conversation = start_conversation(start_app, says("One."))
    error = error_of(conversation.post(**body))
    assert (error["code"], error["field"]) == ("UNKNOWN_CONVERSATION", "conversation_id")
    assert conversation.get().status_code == 404
    assert conversation.upstream.asked == []
    conversation.ask("Count.")
    error = error_of(conversation.post(**body))
    assert (error["code"], error["field"]) == ("UNKNOWN_MESSAGE", "parent_id")
    assert len(conversation.upstream.asked) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"prompt": "x", "parent_id": "unknown", "conversation_id": None}, "INVALID_REQUEST"),
        ({"parent_id": "unknown", "conversation_id": None}, "INVALID_REQUEST"),
        (
            {
                "parent_id": "unknown",
                "messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}],
            },
            "INVALID_REQUEST",
        ),
    ],
)
def test_a_place_that_cannot_be_is_refused(start_app: StartApp, body: dict[str, Any], code: str) -> None:
    """The error names parent_id, and no request is sent."""
    conversation = start_conversation(start_app, says("One."))
    error = error_of(conversation.post(**body))
    assert (error["code"], error["field"]) == (code, "parent_id")
    assert conversation.upstream.asked == []


def test_neither_words_nor_place_is_refused(start_app: StartApp) -> None:
    """A conversation id alone is no question."""
    conversation = start_conversation(start_app, says("One."))
    for body in ({}, {"parent_id": None}, {"prompt": " ", "parent_id": "x"}):
        assert error_of(conversation.post(**body))["code"] == "INVALID_REQUEST"


def test_an_answer_is_not_answered(start_app: StartApp) -> None:
    """Without text only a message can be answered, not an answer; a message of another conversation is unknown."""
    conversation = start_conversation(start_app, says("One."))
    first = conversation.ask("Count.")
    assert error_of(conversation.post(parent_id=first.run_id))["field"] == "parent_id"
    other = ConversationClient(conversation.app, conversation.upstream, "talk-2")
    assert other.app.client.post("/api/conversations", json={"id": "talk-2"}).status_code == 201
    assert error_of(other.post("x", parent_id=first.run_id))["code"] == "UNKNOWN_MESSAGE"


def test_a_conversation_deleted_meanwhile_is_unknown(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the conversation is deleted while its run starts, the response is 404, not 500."""
    conversation = start_conversation(start_app, says("One."))
    first = conversation.ask("Count.")

    start = RunManager.start

    async def deleted_first(runs: RunManager, *given: Any) -> Any:
        await conversation.app.parts.database.write(lambda c: c.exec_driver_sql("DELETE FROM conversations"))
        return await start(runs, *given)

    monkeypatch.setattr(RunManager, "start", deleted_first)
    assert error_of(conversation.post(parent_id=first.message_id))["code"] == "UNKNOWN_CONVERSATION"
