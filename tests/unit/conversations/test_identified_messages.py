"""The position of a client that sends its whole chat each time, with an id for each message."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from signalbox.conversations.question_path import IdentifiedMessages, PathFinder, QuestionPath
from signalbox.conversations.tree import Tree
from signalbox.core.codes import Code
from signalbox.core.conversations import Answer, Node
from signalbox.core.errors import RequestError
from signalbox.core.messages import UserMessage

RUN, OTHER, LEG = ("a" * 32, "b" * 32, "c" * 32)


def run_node(node_id: str, parent_id: str | None, created: float) -> Node:
    """Make the node of a run."""
    return Node(node_id, parent_id, "assistant", created, run=Answer("complete", None, "openai/sim", "v2"))


def find(
    nodes: Sequence[Node], *messages: tuple[str, str], after: str | None = None, leaf: str | None = None
) -> QuestionPath:
    """Find the path of messages, each an id and a text."""
    ids, texts = zip(*messages, strict=True)
    question = IdentifiedMessages(tuple(map(UserMessage, texts)), ids, after, "chat")
    return PathFinder(Tree(nodes), leaf, 5.0, lambda: "random").find(question)


def asked(*messages: tuple[str, str]) -> list[Node]:
    """Return the nodes of messages that start a conversation."""
    return [one.node for one in find((), *messages).new]


def test_a_message_that_is_sent_again_is_stored_once() -> None:
    """Its id is derived from the client's, so a retry finds it; a later message follows it."""
    [first] = asked(("m1", "Hi"))
    again = find([first], ("m1", "Hi"))
    assert (again.new, again.node_id) == ((), first.id)
    later = find([first], ("m1", "Hi"), ("m2", "Hello?"))
    assert [one.node.parent_id for one in later.new] == [first.id]


def test_messages_that_are_all_new_follow_each_other() -> None:
    """A page may send one that failed before with the next one."""
    one, other = asked(("m1", "Hi"), ("m2", "Hello?"))
    assert (one.parent_id, other.parent_id) == (None, one.id)


def test_an_edited_message_is_another_branch() -> None:
    """It keeps its id in the client, but not its content; the first version stays as it is."""
    [first] = asked(("m1", "Hi"))
    [edited] = find([first, run_node(RUN, first.id, 1.0)], ("m1", "Good morning")).new
    assert (edited.node.parent_id, edited.node.id != first.id) == (None, True)
    stored = replace(first, id="d" * 32)  # loaded from the list of messages, under its stored id
    assert find([stored], ("d" * 32, "Hi")).new == ()
    assert len(find([stored], ("d" * 32, "Good morning")).new) == 1


def test_two_conversations_have_two_messages_of_one_id() -> None:
    """A client counts its messages from 1, in each of its chats."""
    question = IdentifiedMessages((UserMessage("Hi"),), ("m1",), None, "other")
    other = PathFinder(Tree(()), None, 5.0, lambda: "random").find(question)
    assert other.node_id != asked(("m1", "Hi"))[0].id


def test_a_message_follows_the_last_leg_of_an_answer() -> None:
    """The client has one answer, whose id is that of its first run; results of its tools lie between the runs."""
    [first] = asked(("m1", "Hi"))
    results = Node("e" * 32, RUN, "assistant", 2.0, digest="results")
    nodes = [first, run_node(RUN, first.id, 1.0), results, run_node(LEG, results.id, 3.0)]
    [new] = find(nodes, ("m2", "And?"), after=RUN).new
    assert new.node.parent_id == LEG


def test_of_two_continuations_the_current_one_is_followed() -> None:
    """Otherwise the newest."""
    [first] = asked(("m1", "Hi"))
    nodes = [first, run_node(RUN, first.id, 1.0), run_node(OTHER, RUN, 2.0), run_node(LEG, RUN, 3.0)]
    assert find(nodes, ("m2", "And?"), after=RUN).new[0].node.parent_id == LEG
    assert find(nodes, ("m2", "And?"), after=RUN, leaf=OTHER).new[0].node.parent_id == OTHER


def test_an_answer_that_is_not_stored_is_an_error() -> None:
    """The history of the client is not used instead: what it says may be made up."""
    with pytest.raises(RequestError) as error:
        find((), ("m2", "And?"), after=RUN)
    assert (error.value.code, error.value.field) == (Code.UNKNOWN_MESSAGE, "messages")
