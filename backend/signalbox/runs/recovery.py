"""Ends the runs that a crashed process left unfinished."""

from collections.abc import Callable
from functools import partial

import msgspec
import structlog
from msgspec import UNSET
from msgspec.structs import replace

from signalbox.chat.context import RunFlags
from signalbox.chat.loops.driver import OpenCalls, done_of, warning_of
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.core.codes import CODES, Code
from signalbox.core.events import AnyEvent, Done, Stamped, ToolCalls, Unsaved
from signalbox.core.ports import RunStore
from signalbox.core.records import RunRecord
from signalbox.runs.attempts_codec import progress_of, with_figures
from signalbox.runs.journal import read_all

_log = structlog.get_logger()

CRASHED = Ending("interrupted", Code.SERVER_CRASH, CODES[Code.SERVER_CRASH].sentence)


def no_op(_: object) -> None:
    """Do nothing."""


async def recover(store: RunStore, on_ended: Callable[[RunRecord], None] = no_op) -> list[RunRecord]:
    """End every claimed run without an ending, and return their final records; raises StoreError.

    Stored events stay. After them, every open call gets its result, then the ending follows. `on_ended` is called for
    each run once all of them are on disk.
    """
    ended = [await _end(store, record) for record in await store.claim_unfinished()]
    if ended:
        await store.flush()
        _log.warning("runs.recovered", runs=len(ended))
        for record in ended:
            on_ended(record)
    return ended


async def _end(store: RunStore, record: RunRecord) -> RunRecord:
    events = await _read_events(store, record.id)
    progress = progress_of(record)
    ended = _last_activity(record, events, progress)
    progress.clock = lambda: ended
    for attempt in progress.attempts:
        if attempt.ended is None:
            attempt.ended, attempt.code = ended, str(Code.SERVER_CRASH)
    if progress.lacks_attempts:
        _log.error("runs.unreadable", run_id=record.id, error="attempts")
        # A bill for one of these would make the total look complete.
        progress.attempts = [attempt for attempt in progress.attempts if not attempt.is_cost_unknown]
    store.resume(record)
    last = events[-1] if events else None
    if last is None or not isinstance(last.event, Done):
        last = _append_ending(store, record, events, progress, round(ended * 1000))
    done = last.event
    assert isinstance(done, Done)
    over = replace(
        with_figures(record, progress),
        ended=ended,
        status=done.status,
        code=None if done.code is UNSET else done.code,
        seq=last.seq,
        tools=_called_tools(record, events),
    )
    store.save_figures(record.id, lambda: over)
    store.close(record.id)
    return over


def _called_tools(record: RunRecord, events: list[Stamped]) -> tuple[str, ...]:
    """Return the names of the tools that were called; those of the last step may not be in the record yet."""
    calls = [call for stamped in events if isinstance(stamped.event, ToolCalls) for call in stamped.event.calls]
    return tuple(dict.fromkeys([*record.tools, *(call.name for call in calls)]))


def _last_activity(record: RunRecord, events: list[Stamped], progress: Progress) -> float:
    """Return the time of the run's last recorded activity (epoch seconds); the server may have been down since."""
    times = [(one.started, one.first_part or 0.0, one.ended or 0.0) for one in progress.attempts]
    emitted = events[-1].at / 1000 if events else 0.0
    return max(record.started, emitted, *(at for of_attempt in times for at in of_attempt))


async def _read_events(store: RunStore, run_id: str) -> list[Stamped]:
    try:
        return await read_all(partial(store.read_events, run_id))
    except msgspec.MsgspecError as error:  # a damaged row must not prevent the start of the server
        _log.error("runs.unreadable", run_id=run_id, error=type(error).__name__)
        return []


def _append_ending(store: RunStore, record: RunRecord, events: list[Stamped], progress: Progress, at: int) -> Stamped:
    """Append the ending, numbered above everything that a client may have seen."""
    open_calls = OpenCalls()
    open_calls.track([stamped.event for stamped in events])
    flags = RunFlags(record.loop, record.flag, record.simulated)
    unsaved = Unsaved(after=events[-1].seq if events else 0, before=record.reserved + 1)
    done = replace(done_of(CRASHED, record.model, flags, progress), unsaved=unsaved)
    ending: list[AnyEvent] = [*open_calls.endings(CRASHED), *warning_of(CRASHED), done]
    batch = [Stamped(seq, at, event) for seq, event in enumerate(ending, record.reserved + 1)]
    store.append(record.id, batch)
    return batch[-1]
