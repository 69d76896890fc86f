"""The Protocols that stand between the loops and the world: what others implement."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from signalbox.core.events import AnyEvent, Stamped
from signalbox.core.messages import JsonValue, Message
from signalbox.core.parts import Bill, Request, Served, StreamPart
from signalbox.core.records import Figures, RunRecord, Statuses
from signalbox.core.tools import ToolContext, ToolOutcome, ToolSpec

Batch = TypeVar("Batch")

Emit: TypeAlias = Callable[[Batch], None]
"""Delivers one batch downstream: the parts of one network read, events of a run, bytes.

A synchronous call, one per batch and in order. An exception that it raises ends the producer. It is a call and not a
generator, so that an event passes from the upstream's socket to the client's without waking a task (decision 0047).
"""

TryEmit: TypeAlias = Callable[[Batch], bool]
"""An `Emit` that may decline: False means that nothing was delivered, and the caller delivers the batch another way."""

OnHead: TypeAlias = Callable[[Served], None]
"""Called with what the head of an answer says, before the first byte of its body (quirk F4)."""

OnDurable: TypeAlias = Callable[[int, int], None]
"""Called after a flush with the numbers of a run's last event on disk and of the last one reserved there."""

Play: TypeAlias = Callable[[Emit[list[AnyEvent]]], Awaitable[None]]
"""One run, ready to be played; cancelling it ends the upstream's request and every tool."""


class ChatClient(Protocol):
    """Sends one request to a model. It never retries; raises UpstreamError."""

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Emit one list of parts per network read, to the end of the answer; cancelling it ends the request at once."""
        ...

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of one whole answer."""
        ...


class BillSource(Protocol):
    """Tells afterwards what a generation cost."""

    async def bill(self, generation_id: str) -> Bill | None:
        """Return the bill, None while it is not written yet; raises UpstreamError."""
        ...


class ToolRunner(Protocol):
    """Runs tools by name. Only cancellation ever leaves it as an exception."""

    def spec(self, name: str) -> ToolSpec | None:
        """Return what is known of a tool, None for a name that is not offered."""
        ...

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return what is wrong with these arguments, None when they fit the schema."""
        ...

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Run one call that passed `check`, within its timeout."""
        ...


class RunStore(Protocol):
    """Where runs last. What a stream calls never waits; what may wait is a coroutine and raises StoreError."""

    @property
    def is_well(self) -> bool:
        """Whether the last write went through."""
        ...

    def open(self, record: RunRecord, durable: OnDurable) -> Awaitable[None]:
        """Keep a new run, with its first numbers reserved; `durable` is told of that, and of how far it is filed.

        It is handed over at once; what is returned waits until it is kept, and raises StoreError.
        """
        ...

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Add events at the end of a run's journal; they are on disk at the next flush, soon."""
        ...

    def remember(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Add what the run's history grew by; the events up to `seq` are told by it."""
        ...

    def note(self, run_id: str, figures: Callable[[], Figures]) -> None:
        """Keep a run's figures as they are at the next flush."""
        ...

    def resume(self, record: RunRecord) -> None:
        """Take events of a run again that is on disk; numbered above every event that a client may have seen."""
        ...

    def close(self, run_id: str) -> None:
        """Take no more events of a run; what it handed over is still written."""
        ...

    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything handed over so far is on disk, of this run or of all."""
        ...

    def drop(self, run_id: str) -> None:
        """Take no more of a run, and forget what of it is not on disk yet."""
        ...

    async def read(self, run_id: str, after: int) -> list[Stamped]:
        """Return the next events with seq > after, some thousands at most; none when there are no more."""
        ...

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        ...

    async def is_over(self, run_id: str) -> bool:
        """Whether a run's ending is kept; so it is of a run that is not there (any more)."""
        ...

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        ...

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, owner: str | None = None, statuses: Statuses = ()
    ) -> list[RunRecord]:
        """Return the newest runs first, of those that began before this time (epoch seconds) and run.

        Those of one owner, and of these statuses (None: under way); of all where none is named.
        """
        ...

    async def delete(self, run_id: str) -> None:
        """Delete a run and everything stored about it, so that nothing of it is left on disk."""
        ...

    async def forget(self) -> None:
        """Leave nothing on disk of what was deleted, runs or conversations."""
        ...

    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Lock a name among all workers; others wait for it."""
        ...

    async def take_unfinished(self) -> list[RunRecord]:
        """Take over the runs without an ending and without a live worker; the caller must end them.

        Asked once at a start, before there are runs, and by a worker among others again and again.
        """
        ...

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return the runs ended since then (epoch seconds) whose cost is not known yet."""
        ...
