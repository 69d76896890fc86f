"""Starts the variants of a question: each is a run that answers the same message of a conversation."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from signalbox.app.asgi.streaming import until_disconnect
from signalbox.app.conversation_binding import Binding, bind, store_messages
from signalbox.app.deps import Services
from signalbox.app.start_run import Origin, begin, prepare
from signalbox.conversations.tree import Tree
from signalbox.core.ask import Ask, Position
from signalbox.core.errors import RequestError, StoreError
from signalbox.core.records import RunRecord
from signalbox.runs.run import Run, new_run_id
from signalbox.store.conversations import tree_of

T = TypeVar("T")
# A client that opens no stream for this long after the response has most likely left: nothing else would show it.
UNREAD_SECONDS = 5.0


@dataclass(slots=True)
class Variant:
    """One variant: what is asked, and the run that answers it or the error that refused it."""

    ask: Ask
    origin: Origin
    run_id: str = field(default_factory=new_run_id)
    node_id: str | None = None  # the message that the run answers; None: no run has started
    error: RequestError | None = None

    def accept(self, record: RunRecord) -> None:
        """Take a run that an equal request has started."""
        self.run_id, self.node_id = record.id, record.parent_id


async def start_variants(variants: Sequence[Variant], services: Services) -> None:
    """Start a run for each variant that has none; one that is refused gets its error, the others run.

    Raises RequestError and StoreError if the question is refused. It is stored at most once.
    """
    new = [one for one in variants if one.node_id is None]
    if not new:
        return
    node_id = next((one.node_id for one in variants if one.node_id is not None), None)
    if node_id is not None:
        _answer_again(new, node_id)
    first = new[0]
    binding = await bind(first.ask, services, first.origin.caller.owner, first.origin.size)
    assert binding is not None  # the intake rejects variants outside a conversation
    question = _Question(binding, services)
    await asyncio.gather(*(_start(one, question, services) for one in new))


def _answer_again(variants: Sequence[Variant], node_id: str) -> None:
    """Let variants answer a message that is stored already."""
    for one in variants:
        assert one.ask.position is not None
        position = Position(one.ask.position.conversation_id, node_id)
        one.ask = replace(one.ask, messages=(), system=None, position=position)


async def _start(variant: Variant, question: "_Question", services: Services) -> None:
    try:
        start = await prepare(variant.run_id, variant.ask, variant.origin, question.binding, services)
        await begin(start, services, question.store)
        variant.node_id = question.binding.path.node_id
    except RequestError as error:
        variant.error = error
    except StoreError as error:
        variant.error = RequestError(error.code)


class _Question:
    """The question that all variants answer; the first one that may start stores it."""

    def __init__(self, binding: Binding, services: Services) -> None:
        self.binding = binding
        self._store = partial(store_messages, binding, services)
        self._storing: asyncio.Task[None] | None = None

    async def store(self) -> None:
        """Store the question, or wait until another variant has stored it; raises RequestError and StoreError."""
        if self._storing is None:
            self._storing = asyncio.create_task(self._store())
        await self._storing


async def while_connected(work: Coroutine[Any, Any, T], receive: Receive, stop: Callable[[], None]) -> T:
    """Return the result of `work`, which starts runs. If it fails or the client leaves meanwhile, stop these runs.

    No subscriber has left them yet, so nothing else would stop them at once. Raises ClientDisconnect.
    """
    working, leaving = asyncio.create_task(work), asyncio.create_task(until_disconnect(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        has_left = leaving.done()
        if has_left:
            stop()
        result = await working  # not cancelled, because a start would be cut between the database and the run
    except BaseException:
        stop()
        raise
    finally:
        leaving.cancel()
    if has_left:
        stop()  # those that have started since
        raise ClientDisconnect
    return result


def stop_if_unread(runs: Sequence[Run]) -> None:
    """Stop the runs of one request if the client has read none of them.

    If it has read one, it is there, and may be waiting for free connections to read the others.
    """
    if not any(run.was_read for run in runs):
        for run in runs:
            run.stop()


async def numbers_of(conversation_id: str, node_id: str, services: Services) -> dict[str, int]:
    """Return the number of each run that answers a message, by its id: 1 for the oldest."""
    _, nodes = await services.database.read(tree_of, conversation_id)
    runs = (node.id for node in Tree(nodes).children(node_id) if node.run is not None)
    return {run_id: number for number, run_id in enumerate(runs, 1)}
