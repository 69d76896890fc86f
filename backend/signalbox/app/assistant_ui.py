"""The state of an assistant-ui client: the branch of the conversation, read from the store."""

from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import TypeAlias

from fastapi import Response

from signalbox.app.conversation_binding import read_tree
from signalbox.app.deps import Services
from signalbox.app.start_run import Stored
from signalbox.conversations.tree import Tree
from signalbox.core.conversations import shown_id
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.assistant_ui.branch import EMPTY, Branch, branch_of
from signalbox.encoders.assistant_ui.framings import DataStreamEncoder, TransportEncoder
from signalbox.encoders.encoder import Opening
from signalbox.intakes.assistant_ui import THREAD_FIELD
from signalbox.offload import offloaded
from signalbox.store.conversations import bodies_of, events_of_runs

AssistantEncoder: TypeAlias = type[DataStreamEncoder] | type[TransportEncoder]
# The time to process a node or an event, as the number of bytes that take as long.
_EFFORT = 100


def opening_with(encoder: AssistantEncoder) -> Callable[[RunRecord, Services], Awaitable[Opening]]:
    """Return what reads the opening of a run's stream in this framing."""

    async def opening(record: RunRecord, services: Services) -> Opening:
        state, branch = await state_before(record, services)
        return Opening(encoder.state(state), partial(encoder, branch=branch))

    return opening


def stored_with(encoder: AssistantEncoder) -> Callable[[Stored, Services], Awaitable[Response]]:
    """Return what answers a request that starts no run with the stored branch, in this framing."""

    async def answer(stored: Stored, services: Services) -> Response:
        state = await state_at(stored.conversation_id, stored.node_id, services)
        body = encoder.state(state) + encoder.end()
        return Response(body, headers={**encoder.headers, "content-type": encoder.content_type})

    return answer


async def state_before(record: RunRecord, services: Services) -> tuple[JsonObject, Branch]:
    """Return the state to which a run's events are added, and its branch.

    Versions of messages that were made after the start of the run are left out, so that the run always has one stream.
    """
    branch = EMPTY
    if record.conversation_id is not None:
        _, nodes = await read_tree(record.conversation_id, services)
        branch = await _branch(Tree(nodes), record.parent_id, services, run=record)
    state = _state(record.conversation_id, branch)
    return {**state, "warnings": [], "run": {"id": record.id, "status": "running"}}, branch


async def state_at(conversation_id: str, node_id: str | None, services: Services) -> JsonObject:
    """Return the state at a node, or at the newest one; empty if there is no such conversation."""
    conversation, nodes = await read_tree(conversation_id, services)
    leaf_id = conversation.leaf_id if conversation is not None else None
    branch = await _branch(Tree(nodes), node_id or leaf_id, services)
    return _state(conversation_id, branch)


def _state(conversation_id: str | None, branch: Branch) -> JsonObject:
    return {THREAD_FIELD: conversation_id and shown_id(conversation_id), "messages": branch.messages}


async def _branch(tree: Tree, node_id: str | None, services: Services, *, run: RunRecord | None = None) -> Branch:
    """Read the branch that ends at a node, and that this run follows, if any."""
    path = tree.path(node_id)
    bodies = await services.database.read(bodies_of, [node.id for node in path if node.run is None])
    events = await services.database.read(events_of_runs, [node.id for node in path if node.run is not None])
    run_id = run.id if run is not None else None
    versions = tree.versions_of([*(node.id for node in path), run_id or ""], inf if run is None else run.started)
    effort = _EFFORT * (len(path) + sum(map(len, events.values())))
    return await offloaded(lambda: branch_of(path, bodies, events, versions, followed_by=run_id), size=effort)
