"""A run's figures on their way to the disk and back: steps, attempts, usage, cost."""

from dataclasses import asdict, replace

import msgspec

from signalbox.chat.progress import Attempt, Progress
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord


def with_figures(record: RunRecord, progress: Progress) -> RunRecord:
    """Return the record with how far the run has come."""
    return replace(
        record,
        steps=progress.steps,
        attempts=tuple(_attempt(attempt) for attempt in progress.attempts),
        usage=progress.usage,
        cost_estimated=progress.is_estimate,
        settled_at=progress.settled_at,
    )


def progress_of(record: RunRecord) -> Progress:
    """Return the ledger that a record tells of."""
    attempts = [_attempt_of(attempt) for attempt in record.attempts]
    return Progress(steps=record.steps, attempts=attempts, settled_at=record.settled_at)


def _attempt(attempt: Attempt) -> JsonObject:
    usage = msgspec.to_builtins(attempt.usage) if attempt.usage else None
    return {**asdict(attempt), "usage": usage}


def _attempt_of(kept: JsonObject) -> Attempt:
    """Read an attempt; a field that a later version has written is left out."""
    return msgspec.convert(kept, Attempt)
