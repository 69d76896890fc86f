"""How a run counts for the rollout: which loop it used, and whether it failed, was slow or was expensive."""

from typing import Literal, TypeAlias

from msgspec import Struct

from signalbox.core.bounds.run_limits import RUN_LIMITS
from signalbox.core.codes import Code
from signalbox.core.events import LoopName
from signalbox.core.records import RunRecord
from signalbox.profiles import profile_for

Metric: TypeAlias = Literal["error", "interrupted", "empty", "first_token", "cost"]
METRICS: tuple[Metric, ...] = ("error", "interrupted", "empty", "first_token", "cost")

# Endings that say nothing about the loop: limits, and the end of the server.
_NOT_OF_THE_LOOP = RUN_LIMITS | {Code.SERVER_SHUTDOWN, Code.SERVER_CRASH}


class Outcome(Struct, frozen=True, kw_only=True):
    """The end of one run.

    `subject` is what the percentage assigns to a loop: the conversation, or the run if it has none. `first_token` is in
    milliseconds and `cost` in USD; None if unknown. `ended` is in epoch seconds.
    """

    run_id: str
    subject: str
    loop: LoopName
    family: str
    ended: float
    error: bool = False
    interrupted: bool = False
    empty: bool = False
    first_token: float | None = None
    cost: float | None = None


def outcome_of(record: RunRecord, reason: str = "SPLIT") -> Outcome | None:
    """Return how an ended run counts, or None if it does not.

    Only runs whose loop was chosen for this reason count. Those whose loop the percentage has chosen can be compared: a
    loop that a header or the kill switch has chosen is not random. Runs that a user has stopped are left out, too.
    """
    if record.flag is None or record.flag.reason != reason or record.ended is None:
        return None
    if record.status == "cancelled" or record.code in _NOT_OF_THE_LOOP:
        return None
    is_empty = record.code == Code.EMPTY_ANSWER
    return Outcome(
        run_id=record.id,
        subject=record.conversation_id or record.id,
        loop=record.loop,
        family=profile_for(record.model).family,
        ended=record.ended,
        error=record.status == "error" and not is_empty,
        interrupted=record.status == "interrupted",
        empty=is_empty,
        first_token=record.first_token_ms,
        cost=record.cost,
    )
