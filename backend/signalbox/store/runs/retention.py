"""Deletes old runs and conversations in small batches, never an active one."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, exists, func, or_, select

from signalbox.store.tables import CONVERSATIONS, RUNS


@dataclass(frozen=True, slots=True)
class Swept:
    """How many runs and conversations were deleted."""

    runs: int = 0
    conversations: int = 0

    def __add__(self, other: "Swept") -> "Swept":
        return Swept(self.runs + other.runs, self.conversations + other.conversations)


def sweep_runs(connection: Connection, before: float, most: int) -> Swept:
    """Delete runs without a conversation that ended before a time (epoch seconds)."""
    # A run that started later also ended later, so the index on `started` limits the search.
    old = (RUNS.c.started < before, RUNS.c.conversation_id.is_(None), RUNS.c.status.is_not(None), RUNS.c.ended < before)
    ids = select(RUNS.c.id).where(*old).order_by(RUNS.c.started).limit(most)
    return Swept(runs=connection.execute(delete(RUNS).where(RUNS.c.id.in_(ids))).rowcount)


def sweep_conversations(connection: Connection, before: float, most: int) -> Swept:
    """Delete conversations, with their runs, without activity since a time (epoch seconds)."""
    chosen = select(CONVERSATIONS.c.id).where(*_is_old(before)).order_by(CONVERSATIONS.c.updated).limit(most)
    ids = [*connection.execute(chosen).scalars()]
    runs = connection.execute(select(func.count()).where(RUNS.c.conversation_id.in_(ids))).scalar_one()
    # The condition is repeated: another worker may have stored a message since they were chosen.
    gone = connection.execute(delete(CONVERSATIONS).where(CONVERSATIONS.c.id.in_(ids), *_is_old(before))).rowcount
    return Swept(runs, gone)


def _is_old(before: float) -> tuple[ColumnElement[bool], ...]:
    lately = or_(RUNS.c.status.is_(None), RUNS.c.ended >= before)
    return CONVERSATIONS.c.updated < before, ~exists().where(RUNS.c.conversation_id == CONVERSATIONS.c.id, lately)
