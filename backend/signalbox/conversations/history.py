"""Loads the history along a path of a conversation, as messages for a model."""

from collections.abc import Collection, Mapping, Sequence

from signalbox.conversations.continuing import joined
from signalbox.conversations.files.edit_notes import edit_notes, with_note
from signalbox.conversations.recall import recalled
from signalbox.conversations.restored_turns import Restored, StoredTurns, restored, runs_named_in
from signalbox.core.codes import Code
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.errors import RequestError
from signalbox.core.messages import Message
from signalbox.offload import offloaded
from signalbox.store.conversations import NodeContents, contents_of, own_contents_of
from signalbox.store.database import Database

# The work per node or event, as the number of bytes of JSON that take as long.
_EFFORT = 100


def conversation_gone() -> RequestError:
    """Return the error for a question whose conversation was deleted before its run started."""
    words = "The conversation was deleted, and this question was not saved. Leave out parent_id to start it again."
    return RequestError(Code.UNKNOWN_CONVERSATION, words, "conversation_id")


async def stored_turns(database: Database, run_ids: Sequence[str], owner: str, ours: Collection[str]) -> StoredTurns:
    """Return the turns of those runs that are over and belong to this owner; `ours` as in `history_of`."""
    if not run_ids:
        return {}
    found = await database.read(own_contents_of, run_ids, owner)
    known = found.turns.keys() | found.events.keys()

    def all_recalled() -> StoredTurns:
        return {run_id: recalled(found.turns.get(run_id, ()), found.events.get(run_id, ()), ours) for run_id in known}

    return await offloaded(all_recalled, size=_EFFORT * sum(map(len, found.events.values())))


async def history_of(
    database: Database,
    conversation: Conversation,
    path: Sequence[Node],
    ours: Collection[str],
    *,
    new: Sequence[ClientNode] = (),
    until: float | None = None,
) -> Restored:
    """Return the messages along a path, and those of `new` nodes; `ours` are tools whose results are trusted.

    Copies of turns that the client brought are replaced by the stored turns of the owner's runs. A user message begins
    with the changes that the user has made in files; those made after `until` do not count. Raises RequestError if a
    node was deleted meanwhile.
    """
    notes = await edit_notes(database, conversation.id, [*path, *(one.node for one in new)], until)
    stored = await database.read(
        contents_of,
        told=[node.id for node in path if node.run is None],
        runs=[node.id for node in path if node.run is not None],
        # The turns of a complete run cover all its events; any other run may have later events.
        cut=[node.id for node in path if node.run is not None and node.run.status != "complete"],
    )
    events = sum(map(len, stored.events.values()))
    effort = _EFFORT * (len(path) + sum(len(one.messages) for one in new) + events)
    history = await offloaded(lambda: _messages_of(stored, path, ours, notes), size=effort)
    history += [message for one in new for message in with_note(one.messages, notes.get(one.node.id))]
    turns = await stored_turns(database, runs_named_in(history), conversation.owner, ours)
    return await offloaded(lambda: restored(history, turns, ()), size=effort)


def _messages_of(
    stored: NodeContents, path: Sequence[Node], ours: Collection[str], notes: Mapping[str, str]
) -> list[Message]:
    history: list[Message] = []
    before: Node | None = None
    for node in path:
        if node.run is None:
            if node.id not in stored.bodies:  # deleted since the tree was read
                raise conversation_gone()
            history += with_note(stored.bodies[node.id], notes.get(node.id))
        else:
            answer = recalled(stored.turns.get(node.id, ()), stored.events.get(node.id, ()), ours)
            history = joined(before.run, history, answer) if before is not None and before.run else [*history, *answer]
        before = node
    return history
