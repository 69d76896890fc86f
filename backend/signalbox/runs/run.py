"""One run as a separate task: it writes its journal and wakes subscribers; it belongs to no connection."""

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
from signalbox.core.events import AnyEvent, Done
from signalbox.core.messages import JsonObject
from signalbox.core.ports import Emit, Loop, RunStore
from signalbox.core.records import Figures, RunRecord
from signalbox.runs.attempts_codec import attempts_of
from signalbox.runs.journal import Journal

_log = structlog.get_logger()

STOPPED = Ending("cancelled")
DETACHED = Ending("interrupted", Code.DETACHED_TIMEOUT, CODES[Code.DETACHED_TIMEOUT].sentence)
SHUT_DOWN = Ending("interrupted", Code.SERVER_SHUTDOWN, CODES[Code.SERVER_SHUTDOWN].sentence)
BROKEN = Ending("error", Code.INTERNAL, CODES[Code.INTERNAL].sentence, retryable=True)


def new_run_id() -> str:
    """Make a run id: 128 random bits."""
    return urandom(16).hex()


def _nothing() -> None:
    """Hear of a change in a run that is over."""


class StartOptions(Struct, frozen=True):
    """What a caller asked for, beside the conversation itself.

    `goes_on`: the run outlives its last watcher. `request` is redacted, for the trace; `question` is whole, to ask it
    again. `parent_id` is the message that it answers; `key` and `digest` are of an Idempotency-Key; `owner` is whose
    API token came with it.
    """

    continues_after_disconnect: bool = False
    request: JsonObject = {}
    question: JsonObject = {}
    parent_id: str | None = None
    key: str | None = None
    digest: str | None = None
    owner: str = ""


class Run(Struct, eq=False):
    """A run under way and its journal; `opening` is its record as it began."""

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
    detached_timer: asyncio.TimerHandle | None = None
    _task: asyncio.Task[None] | None = None
    _why: Ending = STOPPED
    _has_begun: bool = False
    _stops_at_start: bool = False
    _has_ended: bool = False
    _remembered: int = 0

    def __post_init__(self) -> None:
        """Have figures kept as they change."""
        self.progress.on_change = self.save_figures
        self._remembered = self.context.loop_start

    @property
    def seq(self) -> int:
        """The number of its last event."""
        return self.journal.seq

    @property
    def is_over(self) -> bool:
        """Whether `done` is in the journal."""
        return self.done is not None

    @property
    def is_written(self) -> bool:
        """Whether it is over, and all of it on disk."""
        return self.done is not None and self.journal.durable >= self.journal.seq

    def record(self) -> RunRecord:
        """Return what is to be kept of it, as of now."""
        return replace(self.opening, reserved=self.journal.reserved).with_figures(self.figures())

    def figures(self) -> Figures:
        """Return how far it has come, as of now."""
        done, progress = self.done, self.progress
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
        )

    def save_figures(self) -> None:
        """Have the figures kept; those of a lost run come from the worker that ended it."""
        if not self.journal.is_lost:
            self.store.save_figures(self.id, self.figures)

    def start(self, loop: Loop, on_over: "Callable[[Run], None]", most_bytes: float = inf) -> None:
        """Begin; `on_over` is called once, right after the run's last event. It may say `most_bytes` in all."""
        work = self._work(loop, on_over, most_bytes)
        self._task = asyncio.get_running_loop().create_task(work, name=f"run {self.id}")
        # A task that is cancelled before its first step runs none of its code, not even a `finally`.
        self._task.add_done_callback(lambda _: self._end(on_over))

    async def _work(self, loop: Loop, on_over: "Callable[[Run], None]", most_bytes: float) -> None:
        self._has_begun = True
        if self._stops_at_start and self._task is not None:
            self._task.cancel()
        try:
            # Nothing is awaited here but `drive`: a cancellation lands inside it, and it tells the ending.
            driven = drive(loop, self.context, self.progress, self._emit, lambda: self._why, most_bytes=most_bytes)
            self._over(await driven)
        except Exception as error:  # noqa: BLE001 - a journal that cannot be written ends the run, and frees its place
            _log.error("run.unrecorded", run_id=self.id, error=type(error).__name__)
        finally:
            self._end(on_over)

    def _end(self, on_over: "Callable[[Run], None]") -> None:
        """Be over, whatever happened, and say so once (quirk F7)."""
        if self._has_ended:
            return
        self._has_ended = True
        if self.done is None:
            self._end_untold()
        on_over(self)
        self.progress.on_change = _nothing  # else the two hold each other until garbage is looked for

    def _end_untold(self) -> None:
        """End a run whose ending `drive` could not tell: its task never began, or its journal broke."""
        ending = BROKEN if self._has_begun else self._why
        done = done_of(ending, self.context.model, self.context.flags, self.progress)
        try:
            self._emit([*warning_of(ending), done])
        except Exception as error:  # noqa: BLE001 - nothing more can be told; who watches is let go all the same
            _log.error("run.untold", run_id=self.id, error=type(error).__name__)
        self._over(done)

    @property
    def _emit(self) -> Emit[list[AnyEvent]]:
        """What takes the run's events: its journal; only a conversation is ever asked for its turns."""
        return self.journal.append if self.context.session_id is None else self._record

    def _record(self, events: list[AnyEvent]) -> None:
        self._remember()
        self.journal.append(events)

    def _remember(self) -> None:
        """Have the turns kept that the loop took into its history; all events so far are told by them."""
        messages = self.context.messages
        if len(messages) > self._remembered:
            self.store.append_turns(self.id, self.seq, messages[self._remembered :])
            self._remembered = len(messages)

    def _over(self, done: Done) -> None:
        """Be over, behind the last event: what the journal does not take has not happened."""
        self.done = done
        self.ended = time()
        self.journal.is_over = True
        self.journal.wake()
        self.save_figures()

    def stop(self, why: Ending = STOPPED) -> None:
        """End the run now; upstream and tools end with it. A run that is over stays as it is."""
        if self._task is None or self.is_over or self._task.cancelling():
            return
        self._why = why
        if self._has_begun:
            self._task.cancel()
        else:  # a task that is cancelled before its first step never runs, and could not tell its end
            self._stops_at_start = True

    async def wait(self) -> None:
        """Wait until the run is over."""
        if self._task is not None:
            await asyncio.wait({self._task})


def new_run(context: ConversationContext, progress: Progress, store: RunStore, options: StartOptions) -> Run:
    """Make a run that has not begun, with an empty journal."""
    run_id, flags, started = context.run_id, context.flags, time()
    progress.started = started
    opening = RunRecord(
        id=run_id,
        model=context.model,
        loop=flags.loop,
        owner=options.owner,
        flag=flags.flag,
        simulated=flags.simulated,
        conversation_id=context.session_id,
        parent_id=options.parent_id,
        key=options.key,
        digest=options.digest,
        request=options.request,
        question=options.question,
        started=started,
    )
    return Run(run_id, context, progress, store, options, started, opening, Journal(run_id, store))
