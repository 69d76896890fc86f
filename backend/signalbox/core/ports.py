"""The Protocols through which chat, runs, services and store meet."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias, TypeVar

from msgspec import Struct

from signalbox.core.catalog import Prices
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Stamped
from signalbox.core.messages import JsonValue, Message
from signalbox.core.parts import Bill, Completion, Request, Served, StreamPart
from signalbox.core.records import ALL_RUNS, Figures, RunFilter, RunRecord
from signalbox.core.tools import ToolContext, ToolOutcome, ToolSpec

Batch = TypeVar("Batch")

Emit: TypeAlias = Callable[[Batch], None]
"""Delivers one batch downstream: the parts of one network read, events of a run, bytes.

A synchronous call, one per batch and in order. An exception that it raises ends the producer. It is a call and not a
generator, so that an event passes from the upstream's socket to the client's without waking a task (decision 0047).
"""

TryEmit: TypeAlias = Callable[[Batch], bool]
"""An `Emit` that may decline: False means that nothing was delivered, and the caller delivers the batch otherwise."""

OnHead: TypeAlias = Callable[[Served], None]
"""Called with the generation, model and provider in the response headers, before the body arrives (quirk F4)."""

OnDurable: TypeAlias = Callable[[int, int], None]
"""Called after a flush with the sequence number of a run's last event on disk and the last reserved one."""


class Loop(Protocol):
    """The loop of one run: turns a conversation into events."""

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        """Run once, to the end of the answer. Cancelling it closes the upstream request and every tool task.

        Raises UpstreamError if a step fails for good, BudgetReached if the next model call would cost too much.
        """
        ...


class ChatClient(Protocol):
    """Sends one request to a model. It never retries; raises UpstreamError."""

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Emit one list of parts per network read, to the end of the answer; cancelling it ends the request at once."""
        ...

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of one whole answer."""
        ...


class Destination(Struct, frozen=True):
    """The upstream that a run calls next.

    `upstream` is the upstream's name, empty if no file configures several. `model` is the id that this upstream uses
    for the run's model, and `requested` is the client's id without a forced upstream. `unsupported_params` are the
    fields of `Params` that its API does not have. `separates_calls`: its API never mixes up parallel calls.
    `prices` are those of the model there, None if they are not known. `fallback_prices` are those of the models that
    may answer in place of it, as far as they are known.
    """

    upstream: str = ""
    dialect: str = ""
    model: str = ""
    requested: str = ""
    unsupported_params: frozenset[str] = frozenset()
    separates_calls: bool = False
    prices: Prices | None = None
    fallback_prices: Mapping[str, Prices] = {}

    def prices_by_model(self, model: str) -> dict[str, Prices]:
        """Return the known prices of the models that may answer a request for `model`."""
        own = {model: self.prices} if self.prices is not None else {}
        return {**self.fallback_prices, **own}

    def prices_of_answer(self, fallback: str | None) -> Prices | None:
        """Return the prices of the model that answered: a fallback, or None for the requested one."""
        return self.prices if fallback is None else self.fallback_prices.get(fallback)


class RunRoute(ChatClient, Protocol):
    """The upstreams that may serve one run. Requests go to the current one, under its id of the model."""

    @property
    def current(self) -> Destination:
        """The current upstream."""
        ...

    def skip_failing(self) -> Sequence[str]:
        """Move past upstreams that have failed repeatedly, but never past the last one; return their names."""
        ...

    def fall_back(self) -> bool:
        """Move to the next upstream; return False if there is none."""
        ...

    def record(self, error: UpstreamError | None) -> None:
        """Record the outcome of a request to the current upstream."""
        ...

    def release(self) -> None:
        """Let go of the upstreams: the run has ended."""
        ...


class ModelCalls(Protocol):
    """Sends the model calls of a run's tools, whose usage and cost count for the run."""

    async def complete(self, call_id: str, route: RunRoute, request: Request, number: int = 1) -> Completion:
        """Send one request to the route's current upstream, and return the whole answer; cancelling this ends it.

        `call_id` is the tool call that sends it, `number` the attempt. Raises UpstreamError if the request fails,
        ToolError (BUDGET_REACHED, BUDGET_EXHAUSTED) without a request if it would exceed the run's limit or budget.
        """
        ...


class BillSource(Protocol):
    """Looks up the final cost of a generation."""

    async def bill(self, generation_id: str, upstream: str) -> Bill | None:
        """Return the bill, None while it is not available yet; raises UpstreamError.

        `upstream` is the name of the upstream that generated it, empty if no file configures several.
        """
        ...


class ToolRunner(Protocol):
    """Executes tools by name. It raises nothing but CancelledError."""

    def spec(self, name: str) -> ToolSpec | None:
        """Return a tool's spec, None for a name that is not offered."""
        ...

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return a failure if the arguments do not match the schema, else None."""
        ...

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Execute one call that passed `check`, within its timeout."""
        ...


class RunStore(Protocol):
    """Stores runs. The methods that a stream calls return at once; the coroutines may wait and raise StoreError."""

    @property
    def is_healthy(self) -> bool:
        """Whether the last write succeeded."""
        ...

    def open(self, record: RunRecord, durable: OnDurable) -> Awaitable[None]:
        """Insert a new run and reserve its first sequence numbers; `durable` is called after each flush of the run.

        The insert is queued at once. Awaiting the result waits until the run is on disk, and raises StoreError.
        """
        ...

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Append events to a run's journal; the next flush writes them to disk."""
        ...

    def append_turns(self, run_id: str, seq: int, messages: Sequence[Message]) -> None:
        """Append turns to a run's history; they cover the events up to `seq`."""
        ...

    def save_figures(self, run_id: str, figures: Callable[[], Figures]) -> None:
        """Save a run's figures with the next flush; `figures` is called then."""
        ...

    def resume(self, record: RunRecord) -> None:
        """Accept events again for a run on disk; they must be numbered above its reserved numbers."""
        ...

    def close(self, run_id: str) -> None:
        """Reject further events of a run; queued ones are still written."""
        ...

    async def flush(self, run_id: str | None = None) -> None:
        """Wait until everything queued so far is on disk, for one run or for all."""
        ...

    def discard(self, run_id: str) -> None:
        """Discard a run's events that are not on disk yet, and ignore later ones."""
        ...

    async def read_events(self, run_id: str, after: int) -> list[Stamped]:
        """Return the next events with seq > after, some thousands at most; an empty list at the end."""
        ...

    async def find(self, run_id: str) -> RunRecord | None:
        """Return a run, None for an unknown one."""
        ...

    async def is_over(self, run_id: str) -> bool:
        """Return whether a run's ending is stored; true for an unknown or deleted run."""
        ...

    async def find_by_key(self, key: str) -> RunRecord | None:
        """Return the run that was started with this Idempotency-Key."""
        ...

    async def recent(
        self, limit: int, before: tuple[float, str] | None = None, wanted: RunFilter = ALL_RUNS
    ) -> list[RunRecord]:
        """Return the runs that match, newest first.

        `before` is a run's start (epoch seconds) and id; only older runs are returned.
        """
        ...

    async def delete(self, run_id: str) -> None:
        """Delete a run and everything stored about it, and erase it from the disk."""
        ...

    async def erase_deleted(self) -> None:
        """Erase deleted runs and conversations from the disk."""
        ...

    def locked(self, name: str) -> AbstractAsyncContextManager[None]:
        """Hold a named lock among all workers."""
        ...

    async def claim_unfinished(self) -> list[RunRecord]:
        """Claim the unfinished runs that have no live worker; the caller must end them.

        Called once at startup, before any run starts; with several workers also periodically.
        """
        ...

    async def unsettled(self, since: float) -> list[RunRecord]:
        """Return the runs that ended since then (epoch seconds) and whose cost is still an estimate."""
        ...
