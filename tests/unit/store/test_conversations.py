"""Conversations in the database: a constant number of queries, and content that round-trips."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import AssistantMessage, ImagePart, ReasoningDetail, TextPart, UserMessage
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.store.conversation_list import conversation_page
from signalbox.store.conversations import (
    add_conversation,
    add_nodes,
    bodies_of,
    change_conversation,
    delete_conversation,
    events_of_runs,
    events_since_turns,
    find_conversation,
    nodes_of,
    turns_of,
    unfinished_of,
)
from signalbox.store.runs.flush import PendingWrite, write_pending
from sqlalchemy import Connection, event

from tests.support.disk import BOTH, Disk

pytestmark = pytest.mark.anyio
DATABASES = BOTH

NEW = Conversation("c", "First", created=1.0, updated=1.0)


@contextmanager
def counted(connection: Connection) -> Iterator[list[str]]:
    """Count the statements that a connection is asked."""
    asked: list[str] = []

    def note(*given: Any) -> None:
        asked.append(given[2])

    event.listen(connection, "before_cursor_execute", note)
    yield asked
    event.remove(connection, "before_cursor_execute", note)


@pytest.fixture
async def written(disk: Disk) -> Any:
    """Hand over a database's `write`."""
    return disk.write


def user_message(node_id: str, parent_id: str | None, text: str, created: float = 2.0) -> ClientNode:
    """Return a node with a user's message."""
    return ClientNode(Node(node_id, parent_id, "user", created, text, digest="d"), (UserMessage(text),))


def answered(connection: Connection, run_id: str, parent_id: str, started: float, **given: Any) -> None:
    """Write a run with one turn and two events, one of them behind the turn."""
    record = RunRecord(run_id, "m", "v2", conversation_id="c", parent_id=parent_id, started=started, **given)
    events = [Stamped(1, 0, Content("text")), Stamped(2, 0, Content(" later"))]
    turn = AssistantMessage("text", reasoning_details=(ReasoningDetail({"b": 1, "a": "é"}),))
    last = record if record.is_over else None
    write_pending(
        connection,
        [PendingWrite(run_id, 1, 9, record, last, events[:1], [(0, 1, turn)], is_raised=False, is_answer=True)],
    )
    write_pending(
        connection,
        [PendingWrite(run_id, 2, 9, None, last, events[1:], [], is_raised=False, is_leased=True, is_answer=True)],
    )


def grow(connection: Connection, size: int) -> None:
    """Make a conversation of this many questions and answers, one behind the other."""
    parent = None
    for n in range(size):
        add_nodes(connection, NEW, [user_message(f"m{n}", parent, f"question {n}", 2.0 * n)])
        answered(connection, f"r{n}", f"m{n}", 2.0 * n + 1, status="cancelled", ended=1.0)
        parent = f"r{n}"


async def test_a_long_history_takes_as_many_queries_as_a_short_one(written: Callable[..., Any]) -> None:
    """Nodes, bodies, turns and events take one or two queries each, for three nodes and for hundreds."""

    def queries_of(size: int) -> Callable[[Connection], int]:
        def work(connection: Connection) -> int:
            grow(connection, size)
            with counted(connection) as asked:
                nodes = nodes_of(connection, "c", texts=True)
                runs = [node.id for node in nodes if node.run is not None]
                assert len(bodies_of(connection, [node.id for node in nodes if node.run is None])) == size
                assert len(turns_of(connection, runs)) == len(events_since_turns(connection, runs)) == size
                assert len(events_of_runs(connection, runs)) == size
                conversation_page(connection, "", 50, wanted="question")
            delete_conversation(connection, "c")
            return len(asked)

        return work

    assert await written(queries_of(2)) == await written(queries_of(60)) < 16


async def test_nodes_round_trip(written: Callable[..., Any]) -> None:
    """Nodes are returned in order of creation, with images, texts, instructions and figures."""

    def work(connection: Connection) -> None:
        image = UserMessage((TextPart("See"), ImagePart("https://e.org/a.png", "low")))
        node = Node("m0", None, "user", 2.0, "See", digest="x", system="Be brief.")
        add_nodes(connection, NEW, [ClientNode(node, (image,))])
        answered(connection, "r0", "m0", 3.0, status="length", code="LENGTH", ended=4.0, steps=2)
        first, second = nodes_of(connection, "c", texts=True)
        assert first == node
        assert (second.text, second.role, second.parent_id) == ("text later", "assistant", "m0")
        assert second.run is not None
        assert (second.run.status, second.run.code, second.run.steps) == ("length", "LENGTH", 2)
        assert [one.text for one in nodes_of(connection, "c")] == ["", ""]
        assert bodies_of(connection, ["m0", "r0", "unknown"]) == {"m0": (image,)}
        [(seq, turn)] = turns_of(connection, ["r0"])["r0"]
        assert seq == 1
        assert isinstance(turn, AssistantMessage)
        assert [*turn.reasoning_details[0].raw] == ["b", "a"]
        assert [s.seq for s in events_since_turns(connection, ["r0"])["r0"]] == [2]
        assert [s.seq for s in events_of_runs(connection, ["r0"])["r0"]] == [1, 2]

    await written(work)


async def test_a_simulated_cost_is_not_paid(written: Callable[..., Any]) -> None:
    """The list returns the sum of all costs and the sum of real ones; without any cost both are null."""

    def work(connection: Connection) -> None:
        add_nodes(connection, NEW, [user_message("m0", None, "a")])
        seen: list[tuple[float | None, float | None]] = []
        for run_id, cost, simulated in (
            ("r0", None, True),
            ("r1", 0.5, True),
            ("r2", 0.25, False),
            ("r3", None, False),
        ):
            answered(connection, run_id, "m0", 3.0, status="complete", usage=Usage(cost=cost), simulated=simulated)
            [line] = conversation_page(connection, "", 50)[0]
            seen.append((line.cost, line.paid))
        assert seen == [(None, None), (0.5, 0.0), (0.75, 0.25), (0.75, 0.25)]

    await written(work)


async def test_a_run_becomes_the_leaf_at_its_start(written: Callable[..., Any]) -> None:
    """A message is the leaf until its run is stored, and the conversation is as new as its newest node."""

    def work(connection: Connection) -> None:
        add_nodes(connection, NEW, [user_message("m0", None, "a"), user_message("m1", "m0", "b", 3.0)])
        known = find_conversation(connection, "c")
        assert known is not None
        assert (known.leaf_id, known.updated, known.title) == ("m1", 3.0, "First")
        answered(connection, "r0", "m1", 5.0)
        known = find_conversation(connection, "c")
        assert known is not None
        assert (known.leaf_id, known.updated) == ("r0", 5.0)
        assert unfinished_of(connection, "c") == ["r0"]

    await written(work)


async def test_a_title_is_set_once(written: Callable[..., Any]) -> None:
    """The first title stays when messages are added; a title set by the user replaces it."""

    def work(connection: Connection) -> None:
        assert add_conversation(connection, Conversation("c"))
        assert not add_conversation(connection, NEW)
        add_nodes(connection, NEW, [user_message("m0", None, "a")])
        add_nodes(connection, Conversation("c", "Second"), [user_message("m1", "m0", "b")])
        known = find_conversation(connection, "c")
        assert known is not None
        assert (known.title, known.is_titled) == ("First", False)
        known = change_conversation(connection, "c", "Mine", None)
        assert known is not None
        assert (known.title, known.is_titled, known.leaf_id) == ("Mine", True, "m1")
        assert change_conversation(connection, "unknown", "x", None) is None

    await written(work)


async def test_deleting_a_conversation_deletes_all_its_rows(written: Callable[..., Any]) -> None:
    """Deleting leaves no row in any table, and other conversations do not change."""

    def work(connection: Connection) -> None:
        grow(connection, 2)
        add_nodes(connection, Conversation("other", "x"), [user_message("o", None, "a")])
        deleted = delete_conversation(connection, "c")
        assert deleted is not None
        assert (sorted(deleted.run_ids), deleted.saves) == (["r0", "r1"], 0)
        left = {
            table: connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
            for table in ("conversations", "messages", "runs", "journal", "turns")
        }
        assert left == {"conversations": 1, "messages": 1, "runs": 0, "journal": 0, "turns": 0}
        assert delete_conversation(connection, "c") is None

    await written(work)
