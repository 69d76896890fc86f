"""Converts between a run's progress and its stored figures: steps, attempts, usage, cost."""

from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.messages import JsonObject
from signalbox.core.records import Figures, RunRecord

Known = TypeVar("Known", bound=Figures)


def with_figures(figures: Known, progress: Progress) -> Known:
    """Return figures, or a whole record, with the current progress."""
    return replace(
        figures,
        steps=progress.steps,
        attempts=attempts_of(progress),
        usage=progress.usage,
        cost_estimated=progress.is_estimate,
        settled_at=progress.settled_at,
        first_token_ms=progress.first_token_ms,
    )


def progress_of(record: RunRecord) -> Progress:
    """Return the progress that a record describes, without damaged attempts.

    `lacks_attempts` is set if an attempt was left out, or if the cost is an estimate that no stored attempt explains.
    """
    found = [_attempt_of(attempt) for attempt in record.attempts]
    attempts = [attempt for attempt in found if attempt is not None]
    progress = Progress(
        started=record.started,
        steps=record.steps,
        attempts=attempts,
        settled_at=record.settled_at,
        lacks_attempts=None in found,
    )
    progress.lacks_attempts |= record.cost_estimated and not progress.is_estimate
    return progress


def attempts_of(progress: Progress) -> tuple[JsonObject, ...]:
    """Return the attempts as JSON for the store."""
    # Not dataclasses.asdict: it deep-copies every value, which took a twelfth of a short stream.
    return tuple(cast(list[JsonObject], msgspec.to_builtins(progress.attempts)))


def _attempt_of(stored: JsonObject) -> Attempt | None:
    """Return a stored attempt, None if it is damaged; fields written by a later version are ignored."""
    try:
        return msgspec.convert(stored, Attempt)
    except msgspec.ValidationError:
        return None
