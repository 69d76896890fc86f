"""Runs of shadow mode as rows: what each differed in, and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from msgspec import json
from sqlalchemy import Connection, delete, func, insert, select, update

from signalbox.core.messages import JsonObject
from signalbox.store.tables import SHADOW_RUNS

ShadowOutcome: TypeAlias = Literal["running", "same", "expected", "unexpected", "failed"]
_DIFFERENCES = json.Decoder(list[dict[str, Any]])
_ROW = SHADOW_RUNS.c


@dataclass(frozen=True, slots=True)
class ShadowRun:
    """The comparison of a run with its repetition on `loop`. While it is running, `cost` is what it may cost."""

    run_id: str
    at: float
    model: str
    loop: str
    outcome: ShadowOutcome
    cost: float
    differences: Sequence[JsonObject] = ()


def reserve_shadow(connection: Connection, run: ShadowRun, since: float, budget: float) -> bool:
    """Insert a run that is about to start; return False if it could exceed the budget of the time since `since`."""
    # Workers reserve in turn, so that together they stay within the budget.
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtext("shadow_runs"))))
    if cost_since(connection, since) + run.cost > budget:
        return False
    if connection.execute(select(_ROW.run_id).where(_ROW.run_id == run.run_id)).first() is not None:
        return False
    connection.execute(insert(SHADOW_RUNS).values(_values(run)))
    return True


def finish_shadow(connection: Connection, run: ShadowRun) -> None:
    """Store the result of a run that was reserved."""
    connection.execute(update(SHADOW_RUNS).where(_ROW.run_id == run.run_id).values(_values(run)))


def cost_since(connection: Connection, since: float) -> float:
    """Return what runs have cost since a time, with what running ones may cost."""
    return connection.execute(select(func.sum(_ROW.cost)).where(_ROW.at >= since)).scalar_one() or 0.0


def count_outcomes(connection: Connection) -> dict[str, int]:
    """Return the number of runs with each outcome."""
    found = connection.execute(select(_ROW.outcome, func.count()).group_by(_ROW.outcome))
    return {str(outcome): int(count) for outcome, count in found}


def newest_shadows(connection: Connection, outcome: ShadowOutcome | None, limit: int | None) -> list[ShadowRun]:
    """Return the newest runs, with an outcome or all; None is no limit."""
    asked = select(SHADOW_RUNS).order_by(_ROW.at.desc(), _ROW.run_id).limit(limit)
    if outcome is not None:
        asked = asked.where(_ROW.outcome == outcome)
    found: list[ShadowRun] = []
    for row in connection.execute(asked).mappings():
        values = {**row}
        differences = _DIFFERENCES.decode(values.pop("differences"))
        found.append(ShadowRun(**values, differences=differences))
    return found


def sweep_shadows(connection: Connection, before: float) -> None:
    """Delete the runs before a time."""
    connection.execute(delete(SHADOW_RUNS).where(_ROW.at < before))


def _values(run: ShadowRun) -> dict[str, object]:
    values = {name: getattr(run, name) for name in ShadowRun.__slots__}
    return {**values, "differences": json.encode([*run.differences])}
