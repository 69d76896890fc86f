"""Binds a request to a conversation: its position there, the history that its model gets, what is stored of it."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import time

from signalbox.app.deps import Services
from signalbox.chat.plan import trusted_names
from signalbox.conversations.continuing import asked_behind, chain_of, cited
from signalbox.conversations.history import conversation_gone, history_of
from signalbox.conversations.placing import Again, Asking, Continued, Place, Placing, Whole, Words
from signalbox.conversations.titles import title_of
from signalbox.conversations.tree import Tree, system_of
from signalbox.conversations.turns import ends_openly, text_in
from signalbox.core.ask import Ask, Position
from signalbox.core.codes import Code
from signalbox.core.conversations import Conversation, Node, key_of
from signalbox.core.errors import RequestError
from signalbox.core.messages import AssistantMessage, Message, SystemMessage, ToolMessage
from signalbox.offload import offloaded
from signalbox.store.conversations import add_nodes, events_of_runs, has_node, tree_of

# The work of finding a position, per node, in bytes of a body that cost the same.
_NODE = 100


@dataclass(frozen=True, slots=True)
class Binding:
    """A request in a conversation; `messages` is everything that its model receives.

    `cited` are the numbered sources of the answer that is continued: title and address by number.
    """

    owner: str
    conversation_id: str
    place: Place
    messages: list[Message]
    cited: Mapping[int, tuple[str, str]]


def new_node_id() -> str:
    """Make the id of a node, or of a conversation: 128 random bits."""
    return secrets.token_hex(16)


async def bind(ask: Ask, services: Services, owner: str, size: int = 0) -> Binding | None:
    """Find the position of a request of `size` bytes, None for one without a conversation. Nothing is stored yet.

    Raises RequestError.
    """
    position = ask.position
    if position is None:
        return None
    system, told = await offloaded(lambda: _instructions(ask.system, ask.messages), size=size)
    is_whole = any(isinstance(message, AssistantMessage | ToolMessage) for message in told)
    if is_whole and position.parent_id is not None:
        words = "parent_id cannot be combined with a whole history: leave it out, or send only the new message."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")
    key = key_of(owner, position.conversation_id)
    conversation, nodes = await _tree(key, services, texts=is_whole)
    if conversation is None and position.parent_id is not None:
        words = "There is no conversation with that id; it may have been deleted. Leave out parent_id to start it."
        raise RequestError(Code.UNKNOWN_CONVERSATION, words, "conversation_id")
    leaf_id = conversation.leaf_id if conversation else None
    asking, now = _asking(position, told, leaf_id, is_whole=is_whole), time()
    place = await offloaded(
        lambda: Placing(Tree(nodes), leaf_id, now, new_node_id).place(asking, system),
        size=size + _NODE * len(nodes),
    )
    history = await history_of(services.database, place.known, trusted_names(services.executor.tools))
    if isinstance(asking, Continued):
        _check_continued(place, history, nodes)
        history += asked_behind(place.known)
    elif not place.new:
        _check_open(place, history)
    system = system if system is not None else system_of(place.known)
    messages: list[Message] = [SystemMessage(system)] if system else []
    messages += history
    messages += [message for one in place.new for message in one.messages]
    return Binding(owner, key, place, messages, await _cited(place, services) if isinstance(asking, Continued) else {})


def _instructions(system: str | None, told: Sequence[Message]) -> tuple[str | None, tuple[Message, ...]]:
    """Treat instructions before the first other message as `system`."""
    heads = [*takewhile(lambda message: isinstance(message, SystemMessage), told)]
    if not heads:
        return system, tuple(told)
    texts = [system or "", *(text_in(message.content) for message in heads if isinstance(message, SystemMessage))]
    return "\n\n".join(text for text in texts if text), tuple(told[len(heads) :])


def _asking(position: Position, told: tuple[Message, ...], leaf_id: str | None, *, is_whole: bool) -> Asking:
    if is_whole:
        return Whole(told)
    if not told and position.parent_id is not None:
        return Continued(position.parent_id) if position.continues else Again(position.parent_id)
    return Words(told, leaf_id if position.follows_newest else position.parent_id)


async def _tree(conversation_id: str, services: Services, *, texts: bool) -> tuple[Conversation | None, list[Node]]:
    """Read a conversation's nodes; what running runs have emitted so far is flushed to disk first."""
    conversation, nodes = await services.database.read(tree_of, conversation_id, texts=texts)
    if any(node.run is not None and node.run.status is None for node in nodes):
        await services.runs.store.flush()
        conversation, nodes = await services.database.read(tree_of, conversation_id, texts=texts)
    return conversation, nodes


def _check_open(place: Place, history: list[Message]) -> None:
    if place.known[-1].run is not None or not ends_openly(history):
        words = "parent_id names an answer: name the message that it answers, or send a new message."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")


def _check_continued(place: Place, history: list[Message], nodes: Sequence[Node]) -> None:
    """Reject what cannot be continued: a user's message, an unfinished answer, and an answer without text.

    An answer has one continuation at a time, or two tabs would pay for the same text twice.
    """
    run = place.known[-1].run
    if run is None:
        raise RequestError(
            Code.INVALID_REQUEST, "Only an answer can be continued: set parent_id to a run's id.", "parent_id"
        )
    if run.status is None:
        raise RequestError(Code.RUN_NOT_OVER, field="parent_id")
    after = place.known[-1].id
    if any(node.parent_id == after and node.run is not None and node.run.status is None for node in nodes):
        raise RequestError(Code.RUN_NOT_OVER, "This answer is already being continued.", "parent_id")
    if not history or not isinstance(history[-1], AssistantMessage | ToolMessage):
        words = "This answer has no text to continue: regenerate it instead."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")


async def _cited(place: Place, services: Services) -> dict[int, tuple[str, str]]:
    chain = chain_of(place.known)
    events = await services.database.read(events_of_runs, chain)
    return await offloaded(
        lambda: cited(events.get(run_id, ()) for run_id in chain), size=_NODE * sum(map(len, events.values()))
    )


async def store_messages(binding: Binding, services: Services) -> None:
    """Store the user's messages before the run starts, so that they are not lost if it cannot.

    Raises StoreError, and RequestError if the conversation was deleted since `bind` read it.
    """
    place = binding.place
    if not place.new:
        return
    first = next((one.node.text for one in place.new if one.node.role == "user" and one.node.text.strip()), "")
    now = place.new[-1].node.created
    conversation = Conversation(binding.conversation_id, title_of(first), created=now, updated=now, owner=binding.owner)
    try:
        await services.database.write(add_nodes, conversation, place.new)
    except RequestError as refused:  # the message that it follows was there, and goes only with its conversation
        raise conversation_gone() from refused


async def check_exists(binding: Binding, services: Services) -> None:
    """Raise RequestError if the message was deleted meanwhile with its conversation."""
    if not await services.database.read(has_node, binding.conversation_id, binding.place.node_id):
        raise conversation_gone()
