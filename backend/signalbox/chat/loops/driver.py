"""Drives a loop and guarantees the ending: every announced call answered, one warning where due, one `done`."""

import asyncio
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from traceback import extract_tb
from typing import TypeVar

import structlog
from msgspec import UNSET, UnsetType

from signalbox.chat.answer.output_limit import TooLarge, fitting, weight_of
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
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.parts import Usage
from signalbox.core.ports import Emit, Loop

_log = structlog.get_logger()
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
        _forgive_cancellation()
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
    except Exception as error:  # noqa: BLE001 - whatever breaks, the run's end is told
        ids = {"run_id": context.run_id, "request_id": context.request_id or None}
        _log.error("run.broke", **ids, error=type(error).__name__, where=_where(error))
        ending = Ending("error", Code.INTERNAL, CODES[Code.INTERNAL].sentence, retryable=True)
        _release_frames(error)
    if ending.status == "complete" and not emitter.has_content:
        ending = ending_of(UpstreamError(Code.EMPTY_ANSWER))
    done = done_of(ending, context.model, context.flags, progress)
    held_back = [] if emitter.is_full else progress.say()  # it would stand behind a gap
    emit([*held_back, *emitter.ledger.close(ending), *warning_of(ending), done])
    return done


class _Emitter:
    """Passes a loop's events on, notes what is still owed for them, and takes no more than `most_bytes`."""

    __slots__ = ("_emit_downstream", "_most_bytes", "_said", "_task", "has_content", "is_full", "ledger")

    def __init__(self, emit: Emit[list[AnyEvent]], most_bytes: float) -> None:
        self._emit_downstream = emit
        self._most_bytes = most_bytes
        self._said = 0
        self._task = asyncio.current_task()
        self.ledger = OpenCalls()
        self.has_content = False
        self.is_full = False

    def emit(self, events: list[AnyEvent]) -> None:
        """Emit a batch; raises TooLarge where the loop itself is at work."""
        if not events or self.is_full:  # loops tell what there is to emit, also where that is nothing
            return
        self._said += weight_of(events)
        if self._said <= self._most_bytes:
            self._pass_on(events)
            return
        self._pass_on(events[: fitting(events, self._most_bytes - self._said + weight_of(events))])
        self.is_full = True
        if self._task is None or asyncio.current_task() is self._task:
            raise TooLarge
        self._task.cancel()  # a tool or the socket emits: the loop waits somewhere

    def _pass_on(self, events: list[AnyEvent]) -> None:
        if not events:
            return
        self._emit_downstream(events)  # first: what is not taken has not been told
        if not self.has_content:
            self.has_content = any(event.says_something for event in events if type(event) is Content)
        if len(events) == 1 and type(events[0]) is Content:  # of a slow stream nearly all
            return
        if not _CONTENT_ALONE.issuperset(map(type, events)):  # of a burst, with no step for each of them
            self.ledger.follow(events)


def ending_of(error: UpstreamError) -> Ending:
    """Say how a run ends that failed with this error."""
    status = "error"
    if error.code in (Code.STREAM_CUT, Code.UPSTREAM_STALLED):
        status = "interrupted"
    elif error.code is Code.CONTENT_FILTER:
        status = "content_filter"
    return Ending(status, error.code, error.message, error.retryable, error.retry_after)


def done_of(ending: Ending, model: str, flags: RunFlags, progress: Progress) -> Done:
    """Make the one terminal event from the ending and the run's figures."""
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
        loop=flags.loop,
        flag=_or_unset(flags.flag),
        steps=progress.steps,
        simulated=True if flags.simulated else UNSET,
        duration_ms=_or_unset(progress.since_start(progress.clock())),
        first_token_ms=_or_unset(progress.since_start(progress.first_part)),
    )


def _totals(usage: Usage) -> UsageTotals:
    return UsageTotals(usage.input, usage.output, usage.reasoning or UNSET, usage.cached or UNSET)


def _is_retryable(ending: Ending) -> bool | None:
    if ending.retryable is None and ending.code is not None:
        return CODES[ending.code].retryable
    return ending.retryable


class OpenCalls:
    """Follows which announced calls still lack their result."""

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._begun: set[str] = set()

    def follow(self, events: Sequence[AnyEvent]) -> None:
        """Take in what was told."""
        for event in events:
            if isinstance(event, ToolCalls):
                self._open.update((call.id, call) for call in event.calls)
            elif isinstance(event, ToolExecuting):
                self._begun.add(event.id)
            elif isinstance(event, ToolResult):
                self._open.pop(event.id, None)

    def close(self, ending: Ending) -> list[AnyEvent]:
        """Answer what is still open, so that no client keeps a spinner."""
        code = Code.CANCELLED if ending.status == "cancelled" else Code.STEP_FAILED
        return [
            ToolResult(c.id, c.name, Failure(False, self._why(c, code), str(code)), c.category, c.visibility)
            for c in self._open.values()
        ]

    def _why(self, call: Call, code: Code) -> str:
        return CUT_OFF if code is Code.STEP_FAILED and call.id in self._begun else CODES[code].sentence


def warning_of(ending: Ending) -> list[AnyEvent]:
    """Return the warning that goes before this ending, for clients that know only the minimum."""
    if ending.code is None:
        return []
    said = ending.message if ending.message.endswith((".", "!", "?", "…")) else f"{ending.message}."
    return [Warning(f"{said} {CODES[ending.code].todo}", str(ending.code))]


def _or_unset(value: Value | None) -> Value | UnsetType:
    return UNSET if value is None else value


def _forgive_cancellation() -> None:
    """Go on in a task that was cancelled: the ending must still be told."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()


def _release_frames(error: BaseException) -> None:
    """Drop the tracebacks of an error that is handled.

    Frames that name the error they raised form a cycle with it, and keep a whole answer of 10 MB until the next full
    garbage collection, which may be hours away.
    """
    seen: BaseException | None = error
    while seen is not None:
        seen, context = seen.with_traceback(None), seen.__context__
        seen.__context__, seen = None, context


def _where(error: Exception) -> str:
    """Say where it broke, and not what was said: an exception's text may quote the prompt."""
    frames = extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
