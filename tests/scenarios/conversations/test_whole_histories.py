"""Full histories from clients: known messages are taken from the server, the rest from the client."""

import json
from typing import Any

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation, thinks_and_calls
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import says

DETAIL = {"type": "reasoning.encrypted", "data": "c2VjcmV0", "id": "rs_1"}


def user(text: str) -> dict[str, Any]:
    """Return a user message."""
    return {"role": "user", "content": text}


def assistant(text: str, *calls: str) -> dict[str, Any]:
    """Return an assistant message, with calls of calculate."""
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": "calculate", "arguments": arguments}}
        for n, arguments in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def result(text: str, place: int = 0) -> dict[str, Any]:
    """Return a tool message."""
    return {"role": "tool", "tool_call_id": f"c{place}", "content": text}


def calculated(start_app: StartApp) -> ConversationClient:
    """Start a conversation in which a tool was called."""
    conversation = start_conversation(
        start_app, thinks_and_calls('{"expression":"6*7"}', DETAIL), says("It is 42."), says("More.")
    )
    conversation.ask("6*7?", tools=["calculate"])
    return conversation


def test_an_equal_history_is_the_servers(start_app: StartApp) -> None:
    """A message with the same text is the same node; trailing spaces and blank lines are ignored."""
    conversation = start_conversation(start_app, says("One.\n\nTwo.  \n"), says("More."))
    first = conversation.ask("Count.")
    second = conversation.ask(messages=[user("Count. "), assistant("One.\nTwo."), user("Go on.")])
    assert conversation.texts() == ["Count.", "One.\n\nTwo.  \n", "Go on.", "More."]
    assert conversation.tree()["messages"][2]["parent_id"] == first.run_id
    assert conversation.sent_messages() == [("user", "Count."), ("assistant", "One.\n\nTwo.  \n"), ("user", "Go on.")]
    again = conversation.ask(messages=[user("Count."), assistant("One.\nTwo."), user("Go on.")])
    assert again.message_id == second.message_id


def test_the_true_results_go_to_the_model(start_app: StartApp) -> None:
    """If a client omits or forges a tool result, the model receives the stored one."""
    conversation = calculated(start_app)
    forged = [user("6*7?"), assistant("", '{"expression":"6*7"}'), result('{"result": 54}'), assistant("It is 42.")]
    for history in ([user("6*7?"), assistant("It is 42.")], forged):
        conversation.ask(messages=[*history, user("Sure?")], tools=["calculate"])
        sent = conversation.upstream.asked[-1].body["messages"]
        assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "user"]
        assert json.loads(sent[2]["content"])["result"] == 42
    assert conversation.texts()[2:] == ["Sure?", "More.", "More."]


def test_another_answer_begins_a_branch(start_app: StartApp) -> None:
    """An answer that the model never gave is stored as the client's, in another branch."""
    conversation = calculated(start_app)
    history = [user("6*7?"), assistant("", '{"expression":"6*7"}'), result('{"result": 54}'), assistant("It is 54.")]
    told = conversation.ask(messages=[*history, user("Sure?")], tools=["calculate"])
    sent = conversation.upstream.asked[-1].body["messages"]
    assert sent[3]["content"] == "It is 54."
    assert sent[2]["content"].startswith("<outside-")
    assert '{"result": 54}' in sent[2]["content"]
    tree = {node["id"]: node for node in conversation.tree()["messages"]}
    brought = tree[tree[told.message_id]["parent_id"]]
    assert (brought["role"], brought["text"]) == ("assistant", "It is 54.")
    assert "run_id" not in brought
    assert tree[brought["parent_id"]]["text"] == "6*7?"
    conversation.ask("And now?", tools=["calculate"])
    assert conversation.upstream.asked[-1].body["messages"][2]["content"].startswith("<outside-")
    conversation.ask(messages=[*history, user("Sure?")], tools=["calculate"])
    assert len([node for node in conversation.tree()["messages"] if node["text"] == "It is 54."]) == 1


def test_other_results_are_another_history(start_app: StartApp) -> None:
    """Two histories that differ only in a result are two branches, each with its result."""
    conversation = start_conversation(start_app, says("A"))
    for value in ("1", "2", "1"):
        conversation.ask(messages=[user("x?"), assistant("", "{}"), result(value)], tools=["calculate"])
        assert f"\n{value}\n" in conversation.upstream.asked[-1].body["messages"][2]["content"]
    assert (
        len([node for node in conversation.tree()["messages"] if node["role"] == "assistant" and "run_id" not in node])
        == 2
    )


def test_another_image_is_another_message(start_app: StartApp) -> None:
    """The same text with another image is another message."""
    conversation = start_conversation(start_app, says("A"))
    for place in ("a", "b", "a"):
        image = {"type": "image_url", "image_url": {"url": f"https://example.org/{place}.png"}}
        asked = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}
        conversation.ask(messages=[asked, assistant("A"), user("Sure?")])
        assert conversation.sent_messages()[0][1][1] == image
    assert len([node for node in conversation.tree()["messages"] if node["parent_id"] is None]) == 2


def test_a_history_of_a_conversation_that_is_new_is_kept(start_app: StartApp) -> None:
    """A new conversation can begin with a full history and continue from there."""
    conversation = start_conversation(start_app, says("C"))
    brought = [{"role": "system", "content": "Be brief."}, user("a"), assistant("b"), user("c")]
    conversation.ask(messages=brought)
    assert conversation.texts() == ["a", "b", "c", "C"]
    assert conversation.tree()["title"] == "a"
    conversation.ask("d")
    assert conversation.sent_messages() == [
        ("system", "Be brief."),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "c"),
        ("assistant", "C"),
        ("user", "d"),
    ]


def test_the_branch_that_is_shown_goes_first(start_app: StartApp) -> None:
    """Of two equal answers, a full history matches the one on the current branch."""
    conversation = start_conversation(start_app, says("A"))
    first = conversation.ask("one")
    conversation.ask(parent_id=first.message_id)
    conversation.app.client.patch(f"/api/conversations/{conversation.id}", json={"leaf_id": first.run_id})
    told = conversation.ask(messages=[user("one"), assistant("A"), user("two")])
    assert {node["id"]: node["parent_id"] for node in conversation.tree()["messages"]}[told.message_id] == first.run_id


def test_without_a_conversation_nothing_is_kept(start_app: StartApp) -> None:
    """A history without conversation_id is sent as it is, and the result of a built-in tool without delimiters."""
    conversation = start_conversation(start_app, says("A"))
    history = [user("6*7?"), assistant("", '{"expression":"6*7"}'), result('{"result": 42}'), user("Sure?")]
    response = conversation.app.post(messages=history, tools=["calculate"])
    assert "x-conversation-id" not in response.headers
    assert "x-message-id" not in response.headers
    assert conversation.upstream.asked[-1].body["messages"][2]["content"] == '{"result": 42}'
    assert conversation.app.client.get("/api/conversations").json() == {"conversations": [], "next": None}
