"""One run as a task that appends to its journal, independent of client connections."""

import asyncio
from collections.abc import Callable
from math import inf
from os import urandom
from time import time

import structlog
from msgspec import UNSET, Struct
from msgspec.structs import replace

from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.driver import done_of, drive, warning_of
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import StoreError
from signalbox.core.events import AnyEvent, Done
from signalbox.core.messages import JsonObject
from signalbox.core.ports import Emit, Loop, RunStore
from signalbox.core.records import ORIGIN, V1, Figures, RunRecord
from signalbox.runs.attempts_codec import attempts_of
from signalbox.runs.journal import Journal

_log = structlog.get_logger()

STOPPED = Ending("cancelled")
DETACHED = Ending("interrupted", Code.DETACHED_TIMEOUT, CODES[Code.DETACHED_TIMEOUT].sentence)
SHUT_DOWN = Ending("interrupted", Code.SERVER_SHUTDOWN, CODES[Code.SERVER_SHUTDOWN].sentence)
BROKEN = Ending("error", Code.INTERNAL, CODES[Code.INTERNAL].sentence, retryable=True)

_TRACEPARENT = 55  # the characters of a traceparent of version 00, which are those that later versions begin with


def not_stored(error: StoreError) -> Ending:
    """Return how a run ends that could not be stored at its start."""
    return Ending("error", error.code, error.message)


def new_run_id() -> str:
    """Return a new run id: 128 random bits."""
    return urandom(16).hex()


def _no_op() -> None:
    """Ignore a change, because the run has ended."""


class StartOptions(Struct, frozen=True):
    """Options of a run besides its conversation.

    `continues_after_disconnect` is whether the run outlives its last subscriber. `request` is redacted, for the trace;
    `question` is complete, so that the run can be repeated. `parent_id` is the message that it answers. `key` and
    `digest` are the Idempotency-Key and the hash of the body. `owner` is the id of the API token, `group` its group.
    `protocol` is the client's, `echo` what its encoder needs of the request.
    """

    continues_after_disconnect: bool = False
    request: JsonObject = {}
    question: JsonObject = {}
    parent_id: str | None = None
    key: str | None = None
    digest: str | None = None
    owner: str = ""
    group: str = ""
    protocol: str = V1
    echo: JsonObject = {}


class Run(Struct, eq=False):
    """An active run and its journal; `opening` is its record at the start.

    `was_read`: a client has subscribed to it, or polled it.
    """

    id: str
    context: ConversationContext
    progress: Progress
    store: RunStore
    options: StartOptions
    started: float
    opening: RunRecord
    journal: Journal
    ended: float | None = None
    done: Done | None = None
    subscribers: int = 0
    was_read: bool = False
    detached_timer: asyncio.TimerHandle | None = None
    _task: asyncio.Task[None] | None = None
    _ending: Ending = STOPPED
    _has_begun: bool = False
    _stops_at_start: bool = False
    _has_ended: bool = False
    _turns_saved: int = 0

    def __post_init__(self) -> None:
        """Save the figures whenever they change."""
        self.progress.on_change = self.save_figures
        self._turns_saved = len(self.context.messages)

    def keep_origin(self) -> None:
        """Add the origin of its request to the record, once the listeners have chosen its trace."""
        context = self.context
        given = context.trace_headers.get("traceparent", "")
        origin = {
            "request_id": context.request_id,
            "trace_id": context.trace_id,
            "traceparent": given[:_TRACEPARENT] if context.trace_id and context.trace_id in given else "",
            "upstream": context.destination.upstream or "",
        }
        known: JsonObject = {name: value for name, value in origin.items() if value}
        if known:
            self.opening = replace(self.opening, echo={**self.opening.echo, ORIGIN: known})

    @property
    def seq(self) -> int:
        """The sequence number of its last event."""
        return self.journal.seq

    @property
    def is_over(self) -> bool:
        """Whether `done` is in the journal."""
        return self.done is not None

    @property
    def is_durable(self) -> bool:
        """Whether the run has ended and all of it is on disk."""
        return self.done is not None and self.journal.durable >= self.journal.seq

    def record(self) -> RunRecord:
        """Return its current record."""
        return replace(self.opening, reserved=self.journal.reserved).with_figures(self.figures())

    def figures(self) -> Figures:
        """Return its current figures."""
        done, progress, budget = self.done, self.progress, self.context.budget
        return Figures(
            ended=self.ended,
            status=done.status if done else None,
            code=done.code if done and done.code is not UNSET else None,
            seq=self.journal.seq,
            steps=progress.steps,
            attempts=attempts_of(progress),
            usage=progress.usage,
            cost_estimated=progress.is_estimate,
            settled_at=progress.settled_at,
            tools=tuple(progress.called),
            first_token_ms=progress.first_token_ms,
            estimate=budget.estimated(progress) if budget is not None else None,
        )

    def save_figures(self) -> None:
        """Save the figures with the next flush, unless another worker has taken over the run."""
        if not self.journal.is_lost:
            self.store.save_figures(self.id, self.figures)

    def start(self, loop: Loop, on_over: "Callable[[Run], None]", most_bytes: float = inf) -> None:
        """Start the task. `on_over` is called once, after the last event; `most_bytes` limits all events."""
        work = self._work(loop, on_over, most_bytes)
        self._task = asyncio.get_running_loop().create_task(work, name=f"run {self.id}")
        # A task that is cancelled before its first step runs no code, not even a `finally`.
        self._task.add_done_callback(lambda _: self._end(on_over))

    async def _work(self, loop: Loop, on_over: "Callable[[Run], None]", most_bytes: float) -> None:
        self._has_begun = True
        if self._stops_at_start and self._task is not None:
            self._task.cancel()
        try:
            # `drive` is the only await, so a cancellation is raised inside it, and it emits the ending.
            driven = drive(loop, self.context, self.progress, self._emit, lambda: self._ending, most_bytes=most_bytes)
            self._finish(await driven)
        except Exception as error:  # noqa: BLE001 - a journal that fails ends the run and releases its slot
            _log.error("run.journal_failed", run_id=self.id, error=type(error).__name__)
        finally:
            self._end(on_over)

    def _end(self, on_over: "Callable[[Run], None]") -> None:
        """Call `on_over` once, however the run ended (quirk F7)."""
        if self._has_ended:
            return
        self._has_ended = True
        if self.done is None:
            self._end_without_driver()
        on_over(self)
        self.progress.on_change = _no_op  # breaks a reference cycle, which only a garbage collection would free

    def _end_without_driver(self) -> None:
        """Emit the ending of a run if `drive` could not: its task never started, or its journal failed."""
        ending = BROKEN if self._has_begun else self._ending
        done = done_of(ending, self.context.model, self.context.flags, self.progress)
        try:
            self._emit([*warning_of(ending), done])
        except Exception as error:  # noqa: BLE001 - no more events are possible; subscribers are released anyway
            _log.error("run.ending_failed", run_id=self.id, error=type(error).__name__)
        self._finish(done)

    @property
    def _emit(self) -> Emit[list[AnyEvent]]:
        """The function that appends events to the journal. It also saves turns that a later request may continue."""
        return self._append_with_turns if self.context.keeps_turns else self.journal.append

    def _append_with_turns(self, events: list[AnyEvent]) -> None:
        self._append_turns()
        self.journal.append(events)

    def _append_turns(self) -> None:
        """Save the turns that the loop has added to its history; they cover all events so far."""
        messages = self.context.messages
        if len(messages) > self._turns_saved:
            self.store.append_turns(self.id, self.seq, messages[self._turns_saved :])
            self._turns_saved = len(messages)

    def _finish(self, done: Done) -> None:
        """Mark the run as ended, after the journal has accepted the last event."""
        self.done = done
        self.ended = time()
        self.journal.is_over = True
        self.journal.wake()
        self.save_figures()

    def stop(self, why: Ending = STOPPED) -> None:
        """Cancel the run with this ending; the upstream request and tools are closed. No effect on an ended run."""
        if self._task is None or self.is_over or self._task.cancelling():
            return
        self._ending = why
        if self._has_begun:
            self._task.cancel()
        else:  # a task that is cancelled before its first step never runs, and would emit no ending
            self._stops_at_start = True

    def cancel_timer(self) -> None:
        """Cancel the stop of a run without subscribers."""
        if self.detached_timer is not None:
            self.detached_timer.cancel()
            self.detached_timer = None

    async def wait(self) -> None:
        """Wait until the run has ended."""
        if self._task is not None:
            await asyncio.wait({self._task})


def new_run(context: ConversationContext, progress: Progress, store: RunStore, options: StartOptions) -> Run:
    """Return a run that has not started, with an empty journal."""
    run_id, flags, started = context.run_id, context.flags, time()
    progress.started = started
    opening = RunRecord(
        id=run_id,
        model=context.model,
        loop=flags.loop,
        owner=options.owner,
        group=options.group,
        flag=flags.flag,
        simulated=flags.simulated,
        conversation_id=context.session_id,
        parent_id=options.parent_id,
        key=options.key,
        digest=options.digest,
        request=options.request,
        question=options.question,
        protocol=options.protocol,
        echo=options.echo,
        started=started,
    )
    return Run(run_id, context, progress, store, options, started, opening, Journal(run_id, store))
