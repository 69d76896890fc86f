"""Ended runs of both loops, written into a database as if they had been executed."""

from collections.abc import Sequence
from typing import Any

from signalbox.core.events import Flag, LoopName
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.store.database import Database
from signalbox.store.runs.rows import opening_row
from signalbox.store.tables import RUNS
from sqlalchemy import Connection, insert

BOTH: tuple[LoopName, ...] = ("legacy", "v2")


async def store_runs(
    database: Database,
    ends: Sequence[float],
    *,
    loops: Sequence[LoopName] = BOTH,
    reason: str = "SPLIT",
    prefix: str = "run",
    **of_v2: Any,
) -> None:
    """Store a run of each loop for each end; `of_v2` are fields of V2's runs."""
    rows: list[dict[str, Any]] = []
    for number, ended in enumerate(ends):
        for loop in loops:
            fields: dict[str, Any] = {"status": "complete", "usage": Usage(1, 1, cost=0.1), "first_token_ms": 200}
            fields |= {"started": ended - 0.5, "ended": ended} | (of_v2 if loop == "v2" else {})
            run_id = f"{prefix}-{loop}-{number}"
            rows.append(
                opening_row(RunRecord(id=run_id, model="openai/sim", loop=loop, flag=Flag(loop, reason), **fields))
            )
    await database.write(_insert, rows)


def _insert(connection: Connection, rows: list[dict[str, Any]]) -> None:
    connection.execute(insert(RUNS), rows)
