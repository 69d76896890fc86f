"""A run's figures on their way to the disk and back: steps, attempts, usage, cost."""

from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.messages import JsonObject
from signalbox.core.records import Figures, RunRecord

Known = TypeVar("Known", bound=Figures)


def with_figures(figures: Known, progress: Progress) -> Known:
    """Return figures, or a whole record, with how far the run has come."""
    return replace(
        figures,
        steps=progress.steps,
        attempts=attempts_of(progress),
        usage=progress.usage,
        cost_estimated=progress.is_estimate,
        settled_at=progress.settled_at,
    )


def progress_of(record: RunRecord) -> Progress:
    """Return the ledger that a record tells of; attempts that cannot be read are left out, and it is short of them.

    So it is, ever after, where a cost is an estimate that none of the attempts accounts for.
    """
    found = [_attempt_of(attempt) for attempt in record.attempts]
    attempts = [attempt for attempt in found if attempt is not None]
    is_short = None in found or (record.cost_estimated and not any(attempt.is_owed for attempt in attempts))
    return Progress(
        started=record.started,
        steps=record.steps,
        attempts=attempts,
        settled_at=record.settled_at,
        is_short=is_short,
    )


def attempts_of(progress: Progress) -> tuple[JsonObject, ...]:
    """Return the attempts as they are kept."""
    # Not dataclasses.asdict: it copies every value deep down, and was a twelfth of a short stream.
    return tuple(cast(list[JsonObject], msgspec.to_builtins(progress.attempts)))


def _attempt_of(kept: JsonObject) -> Attempt | None:
    """Read an attempt, None where it is damaged; a field that a later version has written is left out."""
    try:
        return msgspec.convert(kept, Attempt)
    except msgspec.ValidationError:
        return None
