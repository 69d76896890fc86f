"""Conversations on disk: a tree of messages and runs, as rows of two tables."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Connection, RowMapping, Select, delete, func, select, update

from signalbox.core.codes import Code
from signalbox.core.conversations import Answer, ClientNode, Conversation, Node, answer_of, case_folded
from signalbox.core.errors import RequestError
from signalbox.core.events import Stamped
from signalbox.core.messages import JsonObject, Message
from signalbox.store.engines.portable_sql import id_subquery, insert_into
from signalbox.store.message_codec import from_json, load_message, to_json
from signalbox.store.runs.format_0_1 import read_events
from signalbox.store.runs.rows import FIGURES, record_of
from signalbox.store.tables import CONVERSATIONS, JOURNAL, MESSAGES, RUNS, SAVES, TURNS
from signalbox.wire.json_text import dumps, loads

_FIELDS = [CONVERSATIONS.c[name] for name in Conversation.__slots__]
_TOLD = [MESSAGES.c[name] for name in ("id", "parent_id", "role", "created", "digest", "system")]
# The columns that place a run in the tree; the whole record is read only for display.
_ANSWER = ("status", "code", "model", "loop", "cost", "cost_estimated", "steps", "ended", "simulated")
_RUN = [RUNS.c[name] for name in ("id", "parent_id", "started", *_ANSWER)]


@dataclass(frozen=True, slots=True)
class Deleted:
    """The runs deleted with a conversation, and how many saves of them stay."""

    run_ids: tuple[str, ...]
    saves: int


@dataclass(frozen=True, slots=True)
class NodeContents:
    """The content of nodes by id: clients' messages, turns of runs, and events after the turns of interrupted runs."""

    bodies: Mapping[str, tuple[Message, ...]]
    turns: Mapping[str, list[tuple[int, Message]]]
    events: Mapping[str, list[Stamped]]


# --- one conversation --------------------------------------------------------------------------------------------


def find_conversation(connection: Connection, conversation_id: str) -> Conversation | None:
    """Return a conversation, None for an unknown one."""
    row = connection.execute(select(*_FIELDS).where(CONVERSATIONS.c.id == conversation_id)).mappings().first()
    return conversation_of(row) if row else None


def conversation_of(row: RowMapping) -> Conversation:
    """Convert a row to a conversation."""
    return Conversation(**{name: row[name] for name in Conversation.__slots__})


def add_conversation(connection: Connection, conversation: Conversation) -> bool:
    """Insert a conversation unless its id exists; return whether it is new."""
    row = {name: getattr(conversation, name) for name in Conversation.__slots__}
    row["folded"] = case_folded(conversation.title)
    return connection.execute(insert_into(connection, CONVERSATIONS).values(row).on_conflict_do_nothing()).rowcount > 0


def change_conversation(
    connection: Connection, conversation_id: str, title: str | None, leaf_id: str | None
) -> Conversation | None:
    """Set the title or the leaf and return the conversation, None if it is unknown.

    Raises RequestError if the node does not exist.
    """
    if find_conversation(connection, conversation_id) is None:
        return None
    if leaf_id is not None:
        _check_node(connection, conversation_id, leaf_id, "leaf_id")
    given: dict[str, Any] = {}
    if title is not None:
        given |= {"title": title, "folded": case_folded(title), "is_titled": True}
    if leaf_id is not None:
        given["leaf_id"] = leaf_id
    connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation_id).values(given))
    return find_conversation(connection, conversation_id)


def delete_conversation(connection: Connection, conversation_id: str) -> Deleted | None:
    """Delete a conversation with all its messages and runs; return None for an unknown one."""
    run_ids = select(RUNS.c.id).where(RUNS.c.conversation_id == conversation_id)
    deleted = tuple(connection.execute(run_ids).scalars())
    saves = connection.execute(select(func.count()).select_from(SAVES).where(SAVES.c.run_id.in_(run_ids))).scalar_one()
    gone = connection.execute(delete(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation_id)).rowcount
    return Deleted(deleted, saves) if gone else None


def unfinished_of(connection: Connection, conversation_id: str) -> list[str]:
    """Return the ids of a conversation's runs without an ending on disk."""
    asked = select(RUNS.c.id).where(RUNS.c.conversation_id == conversation_id, RUNS.c.status.is_(None))
    return [*connection.execute(asked).scalars()]


# --- its nodes ---------------------------------------------------------------------------------------------------


def add_nodes(connection: Connection, conversation: Conversation, told: Sequence[ClientNode]) -> None:
    """Insert the nodes that a client sent, and the conversation if it is new; the last node becomes the leaf.

    Raises RequestError if the node that they follow was deleted meanwhile.
    """
    add_conversation(connection, conversation)
    if not told:
        return
    first, last = told[0].node, told[-1].node
    if first.parent_id is not None:
        _check_node(connection, conversation.id, first.parent_id, "parent_id")
    rows = [_row(conversation.id, one, place) for place, one in enumerate(told)]
    # A node under a client's id may have been inserted by an equal request meanwhile.
    connection.execute(insert_into(connection, MESSAGES).on_conflict_do_nothing(), rows)
    here = update(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation.id)
    connection.execute(here.values(leaf_id=last.id, updated=last.created))
    if conversation.title:
        titled = here.where(CONVERSATIONS.c.title == "")
        connection.execute(titled.values(title=conversation.title, folded=case_folded(conversation.title)))


def _check_node(connection: Connection, conversation_id: str, node_id: str, field: str) -> None:
    if not has_node(connection, conversation_id, node_id):
        raise RequestError(Code.UNKNOWN_MESSAGE, field=field)


def has_node(connection: Connection, conversation_id: str, node_id: str) -> bool:
    """Return whether a conversation has a message or a run of this id."""
    return any(
        connection.execute(
            select(table.c.id).where(table.c.id == node_id, table.c.conversation_id == conversation_id)
        ).first()
        is not None
        for table in (MESSAGES, RUNS)
    )


def _row(conversation_id: str, told: ClientNode, place: int) -> dict[str, Any]:
    node = told.node
    return {
        "id": node.id,
        "conversation_id": conversation_id,
        "parent_id": node.parent_id,
        "role": node.role,
        "created": node.created,
        "system": node.system,
        "body": dumps([to_json(message) for message in told.messages]),
        "text": node.text,
        "folded": case_folded(node.text),
        "digest": node.digest,
        "place": place,
    }


def nodes_of(connection: Connection, conversation_id: str, *, texts: bool = False) -> list[Node]:
    """Return all nodes in order of creation; with `texts`, also their texts."""
    told = [*_TOLD, MESSAGES.c.text] if texts else _TOLD
    runs = [*FIGURES, RUNS.c.question, RUNS.c.answer] if texts else _RUN
    by_client = select(*told).where(MESSAGES.c.conversation_id == conversation_id)
    by_model = select(*runs).where(RUNS.c.conversation_id == conversation_id)
    nodes = [_message_node(row) for row in _rows(connection, by_client.order_by(MESSAGES.c.created, MESSAGES.c.place))]
    nodes += [_run_node(row) for row in _rows(connection, by_model.order_by(RUNS.c.started, RUNS.c.id))]
    return sorted(nodes, key=lambda node: node.created)


def _rows(connection: Connection, asked: Select[Any]) -> Iterable[RowMapping]:
    return connection.execute(asked).mappings()


def _message_node(row: RowMapping) -> Node:
    return Node(**row)


def _run_node(row: RowMapping) -> Node:
    is_whole = "question" in row
    answer = answer_of(record_of(row)) if is_whole else Answer(**{name: row[name] for name in _ANSWER})
    return Node(row["id"], row["parent_id"], "assistant", row["started"], row.get("answer") or "", run=answer)


# --- content of nodes --------------------------------------------------------------------------------------------


def bodies_of(connection: Connection, ids: Collection[str]) -> dict[str, tuple[Message, ...]]:
    """Return the messages of nodes that clients sent."""
    rows = connection.execute(select(MESSAGES.c.id, MESSAGES.c.body).where(MESSAGES.c.id.in_(id_subquery(ids))))
    return {node_id: tuple(from_json(one) for one in cast(list[JsonObject], loads(body))) for node_id, body in rows}


def turns_of(connection: Connection, run_ids: Collection[str]) -> Mapping[str, list[tuple[int, Message]]]:
    """Return the turns of runs, each with the seq of the last event that it covers."""
    asked = select(TURNS.c.run_id, TURNS.c.seq, TURNS.c.message).where(TURNS.c.run_id.in_(id_subquery(run_ids)))
    out: defaultdict[str, list[tuple[int, Message]]] = defaultdict(list)
    for run_id, seq, message in connection.execute(asked.order_by(TURNS.c.run_id, TURNS.c.place)):
        out[run_id].append((seq, load_message(message)))
    return out


def own_contents_of(connection: Connection, run_ids: Collection[str], owner: str) -> NodeContents:
    """Return the content of those runs that are over and belong to this owner."""
    own = select(RUNS.c.id, RUNS.c.status).where(
        RUNS.c.id.in_(id_subquery(run_ids)), RUNS.c.owner == owner, RUNS.c.status.is_not(None)
    )
    found = [(run_id, status) for run_id, status in connection.execute(own)]
    cut = [run_id for run_id, status in found if status != "complete"]
    return contents_of(connection, told=(), runs=[run_id for run_id, _ in found], cut=cut)


def events_since_turns(connection: Connection, run_ids: Collection[str]) -> Mapping[str, list[Stamped]]:
    """Return the events of runs after their last turns; a few events that the turns cover may be included."""
    told = select(func.coalesce(func.max(TURNS.c.seq), 0)).where(TURNS.c.run_id == JOURNAL.c.run_id).scalar_subquery()
    return _events_of(connection, run_ids, JOURNAL.c.last_seq > told)


def events_of_runs(connection: Connection, run_ids: Collection[str]) -> Mapping[str, list[Stamped]]:
    """Return all events of runs."""
    return _events_of(connection, run_ids)


def _events_of(connection: Connection, run_ids: Collection[str], *where: Any) -> Mapping[str, list[Stamped]]:
    asked = select(JOURNAL.c.run_id, JOURNAL.c.frames).where(JOURNAL.c.run_id.in_(id_subquery(run_ids)), *where)
    out: defaultdict[str, list[Stamped]] = defaultdict(list)
    for run_id, frames in connection.execute(asked.order_by(JOURNAL.c.run_id, JOURNAL.c.first_seq)):
        out[run_id] += read_events(frames)
    return out


# --- several reads in one transaction ----------------------------------------------------------------------------


def tree_of(
    connection: Connection, conversation_id: str, *, texts: bool = False
) -> tuple[Conversation | None, list[Node]]:
    """Return a conversation, None for an unknown one, and its nodes."""
    return find_conversation(connection, conversation_id), nodes_of(connection, conversation_id, texts=texts)


def whole_of(
    connection: Connection, conversation_id: str
) -> tuple[Conversation | None, list[Node], Mapping[str, tuple[Message, ...]]]:
    """Return a conversation, its nodes with their texts, and the messages that clients sent."""
    conversation, nodes = tree_of(connection, conversation_id, texts=True)
    return conversation, nodes, bodies_of(connection, [node.id for node in nodes if node.run is None])


def contents_of(
    connection: Connection, told: Collection[str], runs: Collection[str], cut: Collection[str]
) -> NodeContents:
    """Return the content of nodes in three queries; `cut` are the interrupted runs among `runs`."""
    return NodeContents(bodies_of(connection, told), turns_of(connection, runs), events_since_turns(connection, cut))
