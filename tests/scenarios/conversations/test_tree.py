"""The conversation tree stays consistent, and placing a question needs no further database queries."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.conversations.question_path import FullHistory, NewMessages, PathFinder, Question, Regeneration
from signalbox.conversations.search import excerpt
from signalbox.conversations.tree import Tree, system_of
from signalbox.conversations.turns import digest_of, turns_in, words_of
from signalbox.core.codes import Code
from signalbox.core.conversations import Answer, Conversation, Node
from signalbox.core.errors import RequestError
from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.records import RunRecord
from signalbox.store.conversations import add_nodes, delete_conversation, find_conversation, nodes_of
from signalbox.store.migrate import upgrade
from signalbox.store.runs.flush import PendingWrite, write_pending
from signalbox.store.schema import METADATA
from sqlalchemy import Connection, create_engine, event

RUN = Answer("complete", None, "m", "v2")
TALK = "talk"


@contextmanager
def database() -> Iterator[Connection]:
    """Open an in-memory database with foreign keys enforced."""
    engine = create_engine("sqlite://")

    @event.listens_for(engine, "connect")
    def _keys(connection: Any, record: object) -> None:
        connection.execute("PRAGMA foreign_keys=ON")

    METADATA.create_all(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


class TreeModel:
    """One conversation in a database, with the operations that the app uses."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._ids, self._clock = count(), count(1)

    def nodes(self) -> list[Node]:
        return nodes_of(self.connection, TALK, texts=True)

    def ask(self, asking: Question, *, starts: bool = True) -> None:
        """Place a question, store it, and add a run that answers it."""
        known = find_conversation(self.connection, TALK)
        now = float(next(self._clock))
        finder = PathFinder(Tree(self.nodes()), known.leaf_id if known else None, now, lambda: f"m{next(self._ids)}")
        path = finder.find(asking)
        if path.new:
            add_nodes(self.connection, Conversation(TALK, "t", created=now, updated=now), path.new)
        if starts:
            self.run(path.node_id, now)

    def run(self, node_id: str, now: float) -> None:
        run_id = f"r{next(self._ids)}"
        record = RunRecord(run_id, "m", "v2", conversation_id=TALK, parent_id=node_id, started=now, status="complete")
        write_pending(self.connection, [PendingWrite(run_id, 0, 0, record, None, [], [], is_raised=False)])

    def check(self) -> None:
        """Check parents (existing, older), paths (no cycles), the leaf (a node) and runs (answer messages)."""
        nodes = self.nodes()
        tree = Tree(nodes)
        assert len(tree.nodes) == len(nodes)
        for node in nodes:
            assert node.parent_id is None or node.parent_id in tree.nodes
            way = tree.path(node.id)
            assert way[-1] is tree.nodes[node.id]
            assert way[0].parent_id is None
            assert node.run is None or way[-2].run is None
        known = find_conversation(self.connection, TALK)
        assert bool(nodes) <= (known is not None)
        assert known is None or known.leaf_id is None or known.leaf_id in tree.nodes


TEXTS = st.sampled_from(["a", "b", "c"])
TURN: st.SearchStrategy[Sequence[Message]] = st.one_of(
    TEXTS.map(lambda text: [UserMessage(text)]),
    TEXTS.map(lambda text: [AssistantMessage(text)]),
    TEXTS.map(lambda text: [AssistantMessage("x"), ToolMessage("1", "calculate", text)]),
)
STEP = st.one_of(
    st.tuples(st.just("go on"), TEXTS, st.booleans()),
    st.tuples(st.just("behind"), TEXTS, st.integers(0, 30)),
    st.tuples(st.just("again"), st.integers(0, 30)),
    st.tuples(st.just("whole"), st.lists(TURN, min_size=1, max_size=4), TEXTS),
    st.tuples(st.just("delete")),
)


def execute_step(model: TreeModel, step: tuple[Any, ...]) -> None:
    """Execute one step on the conversation."""
    nodes = model.nodes()
    known = find_conversation(model.connection, TALK)
    match step:
        case ("go on", text, starts):
            model.ask(NewMessages((UserMessage(text),), known.leaf_id if known else None), starts=starts)
        case ("behind", text, place):
            parent = nodes[place % len(nodes)].id if nodes else None
            model.ask(NewMessages((UserMessage(text),), parent))
        case ("again", place) if told := [node for node in nodes if node.run is None and node.role == "user"]:
            model.ask(Regeneration(told[place % len(told)].id))
        case ("whole", turns, text):
            model.ask(FullHistory((*(message for turn in turns for message in turn), UserMessage(text))))
        case ("delete",):
            delete_conversation(model.connection, TALK)
        case _:
            pass


@settings(max_examples=60)
@given(st.lists(STEP, min_size=1, max_size=14))
def test_whatever_is_asked_the_tree_stays_whole(steps: list[tuple[Any, ...]]) -> None:
    """Questions, edits, branches, regenerations, full histories and deletions leave no node without its parent."""
    with database() as connection:
        model = TreeModel(connection)
        for step in steps:
            execute_step(model, step)
            model.check()


@given(st.lists(TURN, min_size=1, max_size=6))
def test_a_history_told_twice_is_kept_once(turns: list[Sequence[Message]]) -> None:
    """The same full history matches its own nodes again."""
    asking = FullHistory((*(message for turn in turns for message in turn), UserMessage("end")))
    with database() as connection:
        model = TreeModel(connection)
        model.ask(asking, starts=False)
        before = model.nodes()
        model.ask(asking, starts=False)
        assert model.nodes() == before


def test_a_parent_that_is_gone_meanwhile_is_refused() -> None:
    """If the conversation is deleted between placing and storing a message, nothing is stored."""
    with database() as connection:
        model = TreeModel(connection)
        model.ask(NewMessages((UserMessage("a"),), None))
        leaf = model.nodes()[-1].id
        finder = PathFinder(Tree(model.nodes()), leaf, 9.0, lambda: "new")
        path = finder.find(NewMessages((UserMessage("b"),), leaf))
        delete_conversation(connection, TALK)
        with pytest.raises(RequestError) as refused:
            add_nodes(connection, Conversation(TALK), path.new)
        assert (refused.value.code, refused.value.field) == (Code.UNKNOWN_MESSAGE, "parent_id")
        assert model.nodes() == []


class Counted(dict[str, Node]):
    """Nodes that count their lookups."""

    asked = 0

    def get(self, *key: Any) -> Any:
        self.asked += 1
        return super().get(*key)


def test_a_long_way_is_walked_in_linear_time() -> None:
    """Thousands of turns are placed with two lookups per node, and a cyclic tree terminates."""
    turns = [message for n in range(4000) for message in (UserMessage(f"u{n}"), AssistantMessage(f"a{n}"))]
    nodes = [
        Node(f"n{n}", f"n{n - 1}" if n else None, "user" if n % 2 == 0 else "assistant", n, digest=digest_of(turn))
        for n, turn in enumerate(turns_in(turns))
    ]
    tree = Tree(nodes)
    tree.nodes = counted = Counted(tree.nodes)
    path = PathFinder(tree, "n7999", 1.0, lambda: "new").find(FullHistory((*turns, UserMessage("end"))))
    assert counted.asked == 2 * len(nodes)
    assert (len(path.existing), [told.node.parent_id for told in path.new]) == (8000, ["n7999"])
    circle = Tree([Node("a", "b", "user"), Node("b", "a", "assistant", run=RUN)])
    assert {node.id for node in circle.path("a")} == {"a", "b"}


def test_the_newest_instructions_hold() -> None:
    """None keeps the system message, an empty one removes it."""
    way = [Node("1", None, "user", system="a"), Node("2", "1", "assistant"), Node("3", "2", "user", system="b")]
    assert system_of([]) is None
    assert system_of(way[:2]) == "a"
    assert system_of(way) == "b"
    assert system_of([*way, Node("4", "3", "user", system="")]) == ""


def test_what_a_turn_says() -> None:
    """Text parts equal one text with the same content; roles, order and system messages count."""
    said = [UserMessage("a\nb")]
    assert digest_of(said) == digest_of([UserMessage((TextPart("a "), TextPart("b")))])
    others = (
        [UserMessage("a b")],
        [SystemMessage("a\nb")],
        [AssistantMessage("a\nb")],
        [UserMessage("a"), UserMessage("b")],
    )
    assert len({digest_of(turn) for turn in (said, *others)}) == 5
    image = [SystemMessage((TextPart("a"), ImagePart("https://e.org/a.png")))]
    assert digest_of(image) != digest_of([SystemMessage("a")])
    assert words_of("  def f():\n\n      return 1 \n") == "def f():\n      return 1"


@pytest.mark.parametrize(
    ("text", "wanted", "shown"),
    [
        ("short", "short", "short"),
        ("x" * 50 + " word " + "y" * 200, "word", "…" + "x" * 39 + " word " + "y" * 99 + "…"),
        ("ß" * 100 + "Z", "z", "…" + "ß" * 40 + "Z"),
        ("a\n\n  b", "b", "a b"),
        ("nothing of it", "zzz", "nothing of it"),
    ],
)
def test_an_excerpt_shows_the_place(text: str, wanted: str, shown: str) -> None:
    """The excerpt shows the text around the match, also where case folding makes letters longer."""
    assert excerpt(text, wanted) == shown


def test_the_tables_are_the_migrations() -> None:
    """The tables of these tests equal those of a migrated database."""
    engine = create_engine("sqlite://")
    upgrade(engine)
    with engine.connect() as connection:
        assert nodes_of(connection, TALK) == []
    engine.dispose()
