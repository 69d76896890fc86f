"""Runs a loop and guarantees its ending: a result for each announced call, the warning of its code, one `done`."""

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

from msgspec import UNSET, UnsetType

from signalbox.chat.answer.output_limit import TooLarge, count_fitting, size_of
from signalbox.chat.budget import BudgetReached
from signalbox.chat.context import ConversationContext, RunFlags
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.core.codes import CODES, CUT_OFF, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Failure,
    Preview,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.log import Log
from signalbox.core.parts import Usage
from signalbox.core.ports import Emit, Loop

_log = Log(__name__)
TOO_LARGE = Ending("interrupted", Code.RUN_TOO_LARGE, CODES[Code.RUN_TOO_LARGE].sentence)
_CANCELLED = Ending("cancelled")
_CONTENT_ALONE = frozenset({Content})

Value = TypeVar("Value")


async def drive(
    loop: Loop,
    context: ConversationContext,
    progress: Progress,
    emit: Emit[list[AnyEvent]],
    why_stopped: Callable[[], Ending] = lambda: _CANCELLED,
    *,
    most_bytes: float = inf,
) -> Done:
    """Run the loop and guarantee exactly one ending; return its `done`.

    Cancelling the task that awaits this stops the run: it cancels the loop, which closes the upstream request and the
    tools, and `why_stopped` gives the ending. Events that exceed `most_bytes` are not emitted, and end the run.
    """
    emitter = _Emitter(emit, most_bytes)
    ending = Ending("complete")
    try:
        await loop.run(emitter.emit)
        ending = progress.ending or ending
    except asyncio.CancelledError:
        _clear_cancellation()
        ending = TOO_LARGE if emitter.is_full else why_stopped()
    except TooLarge as full:
        ending = TOO_LARGE
        _release_frames(full)
    except BudgetReached as reached:
        ending = Ending("interrupted", reached.code, reached.message)
        _release_frames(reached)
    except UpstreamError as error:
        ending = ending_of(error)
        _release_frames(error)
    except Exception as error:  # noqa: BLE001 - the ending is emitted, whatever broke
        ids = {"run_id": context.run_id, "request_id": context.request_id or None}
        _log.error("run.internal_error", **ids, error=type(error).__name__, where=_location_of(error))
        ending = Ending("error", Code.INTERNAL, CODES[Code.INTERNAL].sentence, retryable=True)
        _release_frames(error)
    if ending.status == "complete" and not (emitter.has_content or ending.handed):
        ending = ending_of(UpstreamError(Code.EMPTY_ANSWER))
    done = done_of(ending, context.model, context.flags, progress)
    # If events did not fit, those that were held back would follow a gap.
    held_back = [] if emitter.is_full else progress.take_held_back()
    emit([*held_back, *emitter.open_calls.endings(ending), *warning_of(ending), done])
    return done


class _Emitter:
    """Emits a loop's events downstream up to `most_bytes`, and tracks which calls are open."""

    __slots__ = ("_emit_downstream", "_most_bytes", "_size", "_task", "has_content", "is_full", "open_calls")

    def __init__(self, emit: Emit[list[AnyEvent]], most_bytes: float) -> None:
        self._emit_downstream = emit
        self._most_bytes = most_bytes
        self._size = 0
        self._task = asyncio.current_task()
        self.open_calls = OpenCalls()
        self.has_content = False
        self.is_full = False

    def emit(self, events: list[AnyEvent]) -> None:
        """Emit a batch. Over the limit, raises TooLarge in the loop's own task, and cancels that task otherwise."""
        if not events or self.is_full:
            return
        self._size += size_of(events)
        if self._size <= self._most_bytes:
            self._emit_within_limit(events)
            return
        self._emit_within_limit(events[: count_fitting(events, self._most_bytes - self._size + size_of(events))])
        self.is_full = True
        if self._task is None or asyncio.current_task() is self._task:
            raise TooLarge
        self._task.cancel()  # a tool or the socket emits, while the loop awaits

    def _emit_within_limit(self, events: list[AnyEvent]) -> None:
        if not events:
            return
        self._emit_downstream(events)  # first: it may raise, and then nothing was emitted
        if not self.has_content:
            self.has_content = any(event.has_content for event in events if type(event) is Content)
        if len(events) == 1 and type(events[0]) is Content:  # nearly every batch of a slow stream
            return
        if not _CONTENT_ALONE.issuperset(map(type, events)):  # in C, without a Python step per event
            self.open_calls.track(events)


def ending_of(error: UpstreamError) -> Ending:
    """Return how a run ends that failed with this error."""
    status = "error"
    if error.code in (Code.STREAM_CUT, Code.UPSTREAM_STALLED):
        status = "interrupted"
    elif error.code is Code.CONTENT_FILTER:
        status = "content_filter"
    return Ending(status, error.code, error.message, error.retryable, error.retry_after)


def done_of(ending: Ending, model: str, flags: RunFlags, progress: Progress) -> Done:
    """Return the terminal event of the run."""
    usage = progress.usage
    served = progress.served
    return Done(
        done=True,
        status=ending.status,
        error=ending.message if ending.code else UNSET,
        code=str(ending.code) if ending.code else UNSET,
        retryable=_or_unset(_is_retryable(ending)),
        retry_after=_or_unset(ending.retry_after),
        usage=_totals(usage) if usage else UNSET,
        cost=_or_unset(usage.cost if usage else None),
        cost_estimated=True if progress.is_estimate else UNSET,
        requested_model=model,
        model=_or_unset(served.served_model if served else None),
        provider=_or_unset(served.provider if served else None),
        upstream=progress.upstream,
        loop=flags.loop,
        flag=_or_unset(flags.flag),
        steps=progress.steps,
        simulated=True if flags.simulated else UNSET,
        handed=[*ending.handed] or UNSET,
        duration_ms=_or_unset(progress.ms_since_start(progress.clock())),
        first_token_ms=_or_unset(progress.first_token_ms),
    )


def _totals(usage: Usage) -> UsageTotals:
    return UsageTotals(usage.input, usage.output, usage.reasoning or UNSET, usage.cached or UNSET)


def _is_retryable(ending: Ending) -> bool | None:
    if ending.retryable is None and ending.code is not None:
        return CODES[ending.code].retryable
    return ending.retryable


class OpenCalls:
    """Tracks which announced calls have no result yet, and which previewed calls are not announced."""

    def __init__(self) -> None:
        self._previewed: dict[str, None] = {}
        self._open: dict[str, Call] = {}
        self._executing: set[str] = set()

    def track(self, events: Sequence[AnyEvent]) -> None:
        """Update from a batch of emitted events."""
        for event in events:
            if isinstance(event, ToolCalls):
                self._open.update((call.id, call) for call in event.calls)
                for call in event.calls:
                    self._previewed.pop(call.id, None)
            elif isinstance(event, ToolExecuting):
                self._executing.add(event.id)
            elif isinstance(event, ToolResult):
                self._open.pop(event.id, None)
            elif isinstance(event, Preview):
                self._track_preview(event)

    def _track_preview(self, event: Preview) -> None:
        if event.withdrawn is True:
            self._previewed.pop(event.id, None)
        else:
            self._previewed[event.id] = None

    def endings(self, ending: Ending) -> list[AnyEvent]:
        """Withdraw open previews, and return an error result for each open call, so that no client shows it as running.

        Calls that are handed over get none.
        """
        code = Code.CANCELLED if ending.status == "cancelled" else Code.STEP_FAILED
        withdrawn: list[AnyEvent] = [Preview(call_id, withdrawn=True) for call_id in self._previewed]
        return withdrawn + [
            ToolResult(c.id, c.name, Failure(False, self._reason(c, code), str(code)), c.category, c.visibility)
            for c in self._open.values()
            if c.id not in ending.handed
        ]

    def _reason(self, call: Call, code: Code) -> str:
        return CUT_OFF if code is Code.STEP_FAILED and call.id in self._executing else CODES[code].sentence


def warning_of(ending: Ending) -> list[AnyEvent]:
    """Return the warning that precedes an ending with a code, for clients that only show warnings."""
    if ending.code is None:
        return []
    sentence = ending.message if ending.message.endswith((".", "!", "?", "…")) else f"{ending.message}."
    return [Warning(f"{sentence} {CODES[ending.code].todo}", str(ending.code))]


def _or_unset(value: Value | None) -> Value | UnsetType:
    return UNSET if value is None else value


def _clear_cancellation() -> None:
    """Let a cancelled task continue, so that it emits the ending."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def _release_frames(error: BaseException) -> None:
    """Drop the tracebacks of an error that is handled.

    A frame that holds the error it raised forms a cycle with it. It would keep a whole answer (10 MB) in memory until
    the next full garbage collection, which may be hours away.
    """
    seen: BaseException | None = error
    while seen is not None:
        seen, context = seen.with_traceback(None), seen.__context__
        seen.__context__, seen = None, context


def _location_of(error: Exception) -> str:
    """Return file and line, not the message: an exception's text may quote the prompt."""
    frames = extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
