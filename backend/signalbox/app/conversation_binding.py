"""Binds a request to a conversation: its path in the tree, the model's history, the messages to store."""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from time import time

from signalbox.app.deps import Services
from signalbox.chat.plan import trusted_names
from signalbox.conversations.continuing import chain_of, cited, continuation_prompt
from signalbox.conversations.history import conversation_gone, history_of, stored_turns
from signalbox.conversations.question_path import (
    Continuation,
    FullHistory,
    IdentifiedMessages,
    NewMessages,
    PathFinder,
    Question,
    QuestionPath,
    Regeneration,
)
from signalbox.conversations.restored_turns import handed_in, runs_named_in
from signalbox.conversations.results_alone import after_their_run
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

# The time to process a node or an event, as the number of body bytes that take as long.
_EFFORT = 100


@dataclass(frozen=True, slots=True)
class Binding:
    """A request in a conversation. `messages` are all messages that the model receives.

    `cited` are the numbered sources of the answer or the tool loop that is continued: title and URL by number.
    `open_loop` is how many messages, the last ones, belong to that loop. `open_calls` is how many of its calls have no
    result yet.
    """

    owner: str
    conversation_id: str
    path: QuestionPath
    messages: list[Message]
    cited: Mapping[int, tuple[str, str]]
    open_loop: int = 0
    open_calls: int = 0


def new_node_id() -> str:
    """Make the id of a node, or of a conversation: 128 random bits."""
    return secrets.token_hex(16)


async def bind(ask: Ask, services: Services, owner: str, size: int = 0) -> Binding | None:
    """Bind a request of `size` bytes, or return None if it names no conversation. Stores nothing.

    Raises RequestError.
    """
    position = ask.position
    if position is None:
        return None
    system, sent = await offloaded(lambda: _split_system(ask.system, ask.messages), size=size)
    is_whole = any(isinstance(message, AssistantMessage) for message in sent)
    has_results = any(isinstance(message, ToolMessage) for message in sent)
    if is_whole and position.parent_id is not None:
        words = "parent_id cannot be combined with a whole history: leave it out, or send only the new message."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")
    key = key_of(owner, position.conversation_id)
    conversation, nodes = await read_tree(key, services, texts=is_whole or has_results)
    if conversation is None and position.parent_id is not None and not position.message_ids:
        words = "There is no conversation with that id; it may have been deleted. Leave out parent_id to start it."
        raise RequestError(Code.UNKNOWN_CONVERSATION, words, "conversation_id")
    leaf_id = conversation.leaf_id if conversation else None
    ours = trusted_names(services.executor.tools)
    stored = await stored_turns(services.database, runs_named_in(sent), owner, ours)
    finder = PathFinder(Tree(nodes), leaf_id, time(), new_node_id, stored)
    question = _question(position, sent, finder, key, len(ask.messages) - len(sent), is_whole=is_whole)
    path = await offloaded(lambda: finder.find(question, system), size=size + _EFFORT * len(nodes))
    whose = conversation or Conversation(key, owner=owner)
    history = await history_of(services.database, whose, path.existing, ours, new=path.new)
    messages, open_loop = history.messages, history.open_loop
    if isinstance(question, Continuation):
        _check_continued(path, messages, nodes)
        messages, open_loop = [*messages, *continuation_prompt(path.existing)], 0
    elif isinstance(question, NewMessages | IdentifiedMessages) and path.new:
        _check_results(sent, messages)
    elif not path.new:
        _check_open(path, messages)
    system = system if system is not None else system_of(path.existing)
    head = [SystemMessage(system)] if system else []
    continued = [*chain_of(path.nodes), *history.runs]
    sources = await cited_of(continued, services) if continued else {}
    open_calls = len(handed_in(messages[-open_loop:])) if open_loop else 0
    return Binding(owner, key, path, [*head, *messages], sources, open_loop, open_calls)


def _split_system(system: str | None, messages: Sequence[Message]) -> tuple[str | None, tuple[Message, ...]]:
    """Append the leading system messages to `system`; return it and the other messages."""
    heads = [*takewhile(lambda message: isinstance(message, SystemMessage), messages)]
    if not heads:
        return system, tuple(messages)
    texts = [system or "", *(text_in(message.content) for message in heads if isinstance(message, SystemMessage))]
    return "\n\n".join(text for text in texts if text), tuple(messages[len(heads) :])


def _question(
    position: Position, sent: tuple[Message, ...], finder: PathFinder, key: str, first: int, *, is_whole: bool
) -> Question:
    """Return what is asked; `first` is the place of the first message in the request."""
    if is_whole:
        return FullHistory(sent)
    if position.message_ids:
        return IdentifiedMessages(sent, position.message_ids, position.parent_id, key)
    if sent and isinstance(sent[0], ToolMessage) and position.follows_newest:
        return after_their_run(sent, finder, first)
    if not sent and position.parent_id is not None:
        return Continuation(position.parent_id) if position.continues else Regeneration(position.parent_id)
    parent_id = finder.leaf_id if position.follows_newest else position.parent_id
    return NewMessages(sent, parent_id, position.follows_answer)


async def read_tree(
    conversation_id: str, services: Services, *, texts: bool = False
) -> tuple[Conversation | None, list[Node]]:
    """Read a conversation's nodes; events of active runs are flushed to disk first."""
    conversation, nodes = await services.database.read(tree_of, conversation_id, texts=texts)
    if any(node.run is not None and node.run.status is None for node in nodes):
        await services.runs.store.flush()
        conversation, nodes = await services.database.read(tree_of, conversation_id, texts=texts)
    return conversation, nodes


def _check_open(path: QuestionPath, history: list[Message]) -> None:
    """Reject a request without a new message unless its path ends with a message that waits for an answer."""
    if not path.existing:
        words = "The conversation has no message to answer: send a user message after the system message."
        raise RequestError(Code.INVALID_REQUEST, words, "messages")
    if path.existing[-1].run is not None or not ends_openly(history):
        words = "parent_id names an answer: name the message that it answers, or send a new message."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")


def _check_results(sent: Sequence[Message], messages: Sequence[Message]) -> None:
    """Reject a result that answers no open call of the run: it has one already, or the client made it up."""
    answered = Counter(message.call_id for message in messages if isinstance(message, ToolMessage))
    calls = (call for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    names = {call.id: call.name for call in calls}
    for result in (message for message in sent if isinstance(message, ToolMessage)):
        if names.get(result.call_id) != result.name or answered[result.call_id] > 1:
            words = "A tool result belongs to no open call of the last answer: regenerate the answer."
            raise RequestError(Code.INVALID_REQUEST, words, "messages")


def _check_continued(path: QuestionPath, history: list[Message], nodes: Sequence[Node]) -> None:
    """Reject the continuation of a user's message, of an unfinished answer and of an answer without text.

    An answer has one continuation at a time. Otherwise two tabs would pay for the same text twice.
    """
    run = path.existing[-1].run
    if run is None:
        raise RequestError(
            Code.INVALID_REQUEST, "Only an answer can be continued: set parent_id to a run's id.", "parent_id"
        )
    if run.status is None:
        raise RequestError(Code.RUN_NOT_OVER, field="parent_id")
    after = path.existing[-1].id
    if any(node.parent_id == after and node.run is not None and node.run.status is None for node in nodes):
        raise RequestError(Code.RUN_NOT_OVER, "This answer is already being continued.", "parent_id")
    if not history or not isinstance(history[-1], AssistantMessage | ToolMessage):
        words = "This answer has no text to continue: regenerate it instead."
        raise RequestError(Code.INVALID_REQUEST, words, "parent_id")


async def cited_of(run_ids: Sequence[str], services: Services) -> dict[int, tuple[str, str]]:
    """Return the numbered sources of runs that form one answer: title and URL by number."""
    events = await services.database.read(events_of_runs, run_ids)
    return await offloaded(
        lambda: cited(events.get(run_id, ()) for run_id in run_ids), size=_EFFORT * sum(map(len, events.values()))
    )


async def store_messages(binding: Binding, services: Services) -> None:
    """Store the user's messages before the run starts, so that they are not lost if it cannot.

    Raises StoreError, and RequestError if the conversation was deleted since `bind` read it.
    """
    new = binding.path.new
    if not new:
        return
    first = next((one.node.text for one in new if one.node.role == "user" and one.node.text.strip()), "")
    now = new[-1].node.created
    conversation = Conversation(binding.conversation_id, title_of(first), created=now, updated=now, owner=binding.owner)
    try:
        await services.database.write(add_nodes, conversation, new)
    except RequestError as error:  # a parent message is deleted only with its conversation
        raise conversation_gone() from error


async def check_exists(binding: Binding, services: Services) -> None:
    """Raise RequestError if the message was deleted with its conversation since `bind` read it."""
    if not await services.database.read(has_node, binding.conversation_id, binding.path.node_id):
        raise conversation_gone()
