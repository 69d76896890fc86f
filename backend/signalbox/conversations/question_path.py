"""Finds the path of a question in its conversation's tree: existing nodes, then new ones."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, takewhile
from typing import TypeAlias
from uuid import UUID, uuid5

from signalbox.conversations.continuing import appended
from signalbox.conversations.restored_turns import StoredTurns, is_copy, runs_named_in
from signalbox.conversations.tree import Tree, system_of
from signalbox.conversations.turns import digest_of, hand_over_side, role_of, text_of, turns_in, words_of
from signalbox.core.codes import Code
from signalbox.core.conversations import ClientNode, Node
from signalbox.core.errors import RequestError
from signalbox.core.messages import AssistantMessage, Message, ToolMessage

_MESSAGES = UUID("3b0c1f6e-58d1-4a9e-8d6d-7f2a9c3f0b52")
# Messages of one turn that are recognized as repeated: each more costs a hash of all before it.
_MOST_REPEATED = 8


@dataclass(frozen=True, slots=True)
class NewMessages:
    """New messages after `parent_id`, or with `follows_answer` after the end of that answer; None starts a new root."""

    messages: tuple[Message, ...]
    parent_id: str | None
    follows_answer: bool = False


@dataclass(frozen=True, slots=True)
class IdentifiedMessages:
    """New messages under their client's `ids`, after an answer; the first ones may be stored already.

    They are the user's, or begin with results of calls that the answer handed over. `key` is the stored id of the
    conversation.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    answer_id: str | None
    key: str


@dataclass(frozen=True, slots=True)
class Regeneration:
    """No new message: an existing one is answered again."""

    node_id: str


@dataclass(frozen=True, slots=True)
class Continuation:
    """No new message: an answer is continued."""

    node_id: str


@dataclass(frozen=True, slots=True)
class FullHistory:
    """A complete history, as a client sends it; with `after`, only what follows this node."""

    messages: tuple[Message, ...]
    after: str | None = None


Question: TypeAlias = NewMessages | IdentifiedMessages | Regeneration | Continuation | FullHistory


@dataclass(frozen=True, slots=True)
class QuestionPath:
    """The path from a root to the node to answer: `existing` nodes, then `new` ones."""

    existing: tuple[Node, ...]
    new: tuple[ClientNode, ...] = ()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the path."""
        return (*self.existing, *(one.node for one in self.new))

    @property
    def node_id(self) -> str:
        """The node that the run answers."""
        return self.nodes[-1].id


@dataclass(frozen=True, slots=True)
class PathFinder:
    """Finds paths in one tree; `now` and `new_id` provide times and ids of new nodes.

    `stored` are the turns of the runs whose calls the question sends back.
    """

    tree: Tree
    leaf_id: str | None
    now: float
    new_id: Callable[[], str]
    stored: StoredTurns = field(default_factory=dict[str, list[Message]])

    def find(self, question: Question, system: str | None = None) -> QuestionPath:
        """Return the path of a question; raises RequestError for an unknown node."""
        match question:
            case NewMessages():
                return self._path_after(question, system)
            case IdentifiedMessages():
                return self._path_of_identified(question, system)
            case Regeneration(node_id) | Continuation(node_id):
                return QuestionPath(tuple(self._path_to(node_id)))
            case FullHistory(messages, after):
                return self._matched(turns_in(messages), after, system)

    def _path_to(self, node_id: str | None) -> list[Node]:
        path = self.tree.path(node_id)
        if node_id is not None and not path:
            raise RequestError(Code.UNKNOWN_MESSAGE, field="parent_id")
        return path

    def _path_after(self, question: NewMessages, system: str | None) -> QuestionPath:
        path = self._path_to(question.parent_id)
        if question.follows_answer and path and path[-1].run is not None:
            path = self._path_to(self._last_leg(path[-1].id))
        here = path[-1].id if path else None
        new: list[ClientNode] = []
        for turn in turns_in(_unrepeated(question.messages, path)):
            new.append(self._client_node(turn, here, system))
            here = new[-1].node.id
        if len(new) == 1 and (same := self._unanswered(new[0].node, new[0].node.parent_id)) is not None:
            return QuestionPath(tuple(self.tree.path(same.id)))
        return QuestionPath(tuple(path), tuple(new))

    def _path_of_identified(self, question: IdentifiedMessages, system: str | None) -> QuestionPath:
        """Store only the messages behind the last one that is stored already; the path ends with the last one."""
        given = zip(question.ids, question.messages, strict=True)
        nodes = [self._identified_node(question.key, *turn, system) for turn in _identified_turns(given)]
        stored = max((place for place, one in enumerate(nodes) if one.node.id in self.tree.nodes), default=-1)
        answers_calls = isinstance(question.messages[0], ToolMessage)
        here = nodes[stored].node.id if stored >= 0 else self._last_leg(question.answer_id, is_exact=answers_calls)
        path, new = self._path_to(here), list[ClientNode]()
        for one in nodes[stored + 1 :]:
            new.append(replace(one, node=replace(one.node, parent_id=here)))
            here = one.node.id
        return QuestionPath(tuple(path), tuple(new))

    def _identified_node(self, key: str, message_id: str, turn: Sequence[Message], system: str | None) -> ClientNode:
        """Make the node of a turn. An edited message is another node, because its content is part of the id."""
        made = self._client_node(turn, None, system)
        given = self.tree.nodes.get(message_id)
        if given is not None and given.run is None and given.digest == made.node.digest:
            return replace(made, node=replace(made.node, id=given.id))
        derived = uuid5(_MESSAGES, f"{key}\0{message_id}\0{made.node.digest}").hex
        return replace(made, node=replace(made.node, id=derived))

    def _last_leg(self, answer_id: str | None, *, is_exact: bool = False) -> str | None:
        """Return the last node of an answer, which continues in other runs and in results of the client's tools.

        With `is_exact`, it is the answer itself.
        """
        if answer_id is None:
            return None
        if answer_id not in self.tree.nodes:
            words = "The answer before the last message is not stored here; it may have been deleted. Start a new chat."
            raise RequestError(Code.UNKNOWN_MESSAGE, words, "messages")
        current = {node.id for node in self.tree.path(self.leaf_id)}
        here = answer_id
        while not is_exact and (legs := [node for node in self.tree.children(here) if node.role == "assistant"]):
            here = max(legs, key=lambda node: (node.id in current, node.created)).id
        return here

    def _unanswered(self, asked: Node, parent_id: str | None) -> Node | None:
        """Return an equal question that has no answer: it was stored, but its run could not start.

        It may be the parent itself, since a stored question becomes the leaf.
        """
        siblings = self.tree.children(parent_id)
        parent = self.tree.nodes.get(parent_id) if parent_id is not None and parent_id == self.leaf_id else None
        for node in (parent, *reversed(siblings)):
            is_same = node is not None and node.digest == asked.digest and node.system == asked.system
            if node is not None and is_same and node.run is None and not self.tree.children(node.id):
                return node
        return None

    def _matched(self, turns: Sequence[Sequence[Message]], here: str | None, system: str | None) -> QuestionPath:
        """Match turns with the nodes behind `here`; the first turn that matches no node starts a branch."""
        existing = self._path_to(here)
        new: list[ClientNode] = []
        current = {node.id for node in self.tree.path(self.leaf_id)}
        for turn in turns:
            same = self._same(turn, here, current)  # new nodes have no children
            if same is not None:
                existing += self.tree.path(same.id, after=here)  # with the answer that it continues, if any
                here = same.id
            else:
                new.append(self._client_node(turn, here, None))
                here = new[-1].node.id
        if new and system != system_of(existing):
            new[-1] = ClientNode(replace(new[-1].node, system=system), new[-1].messages)
        return QuestionPath(tuple(existing), tuple(new))

    def _same(self, turn: Sequence[Message], here: str | None, current: set[str]) -> Node | None:
        """Return the child that equals a turn; prefer the current branch, then answers of runs, then the newest."""
        digest, role = digest_of(turn), role_of(turn)
        same = [
            node
            for node, text in self._continuations(here)
            if node.role == role and (node.digest == digest if node.run is None else self._is_answer(turn, node, text))
        ]
        return max(same, key=lambda node: (node.id in current, node.run is not None, node.created), default=None)

    def _is_answer(self, turn: Sequence[Message], node: Node, text: str) -> bool:
        """Whether a turn is a client's copy of a run's answer; `text` includes the answers that the run continues.

        Calls that were handed over name their run. A client that disconnected has only the beginning of a text.
        """
        match hand_over_side(turn[0]):
            case "results":
                return False
            case "calls":
                stored = self.stored.get(node.id)
                return stored is not None and runs_named_in(turn) == [node.id] and _is_copy(turn, stored)
            case None:
                pass
        words, whole = words_of(text_of(turn)), words_of(text)
        is_cut = node.run is not None and node.run.status not in (None, "complete")
        return words == whole or (is_cut and bool(words) and whole.startswith(words))

    def _continuations(self, here: str | None) -> Iterator[tuple[Node, str]]:
        """Yield the children of a node with their texts; answers also with each of their continuations."""
        waiting = [(node, node.text) for node in self.tree.children(here)]
        while waiting:
            node, text = waiting.pop(0)
            yield node, text
            waiting += [
                (more, text + appended(node.run, text, more.text))
                for more in self.tree.children(node.id)
                if node.run is not None and more.run is not None
            ]

    def _client_node(self, turn: Sequence[Message], parent_id: str | None, system: str | None) -> ClientNode:
        node = Node(
            self.new_id(), parent_id, role_of(turn), self.now, text_of(turn), digest=digest_of(turn), system=system
        )
        return ClientNode(node, tuple(turn))


def _identified_turns(given: Iterable[tuple[str, Message]]) -> Iterator[tuple[str, tuple[Message, ...]]]:
    """Yield the turns with their ids: each message of the user, and results together under the id of the first."""
    for _, turn in groupby(given, key=lambda one: "results" if isinstance(one[1], ToolMessage) else one[0]):
        messages = [*turn]
        yield messages[0][0], tuple(message for _, message in messages)


def _unrepeated(messages: tuple[Message, ...], path: Sequence[Node]) -> tuple[Message, ...]:
    """Leave out the leading messages that repeat the questions at the end of a path, if these got no whole answer.

    A client without an answer sends such questions again, before its new one.
    """
    end = takewhile(lambda node: node.run is None or node.run.status in ("error", "cancelled"), reversed(path))
    for asked in reversed([node for node in end if node.role == "user"]):
        counts = range(1, min(len(messages), _MOST_REPEATED + 1))
        messages = messages[next((n for n in counts if digest_of(messages[:n]) == asked.digest), 0) :]
    return messages


def _is_copy(turn: Sequence[Message], stored: Sequence[Message]) -> bool:
    return len(turn) == 1 and isinstance(turn[0], AssistantMessage) and is_copy(turn[0], stored)
