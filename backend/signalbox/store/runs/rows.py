"""A run's record as a row of its table, and back."""

from typing import Any, TypeVar, cast

from msgspec import MsgspecError, json
from sqlalchemy import RowMapping

from signalbox.core.events import Flag
from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage
from signalbox.core.records import Figures, RunRecord
from signalbox.store.message_codec import dumps, loads
from signalbox.store.tables import RUNS

# What a listing needs no more than a trace: the search columns stay on disk.
COLUMNS = [column for column in RUNS.columns if column.name not in ("answer", "folded")]
# A list of runs reads no questions: one of them may hold megabytes of images.
FIGURES = [column for column in COLUMNS if column.name not in ("request", "question")]

# The columns that change while a run goes on, as `figures` returns them.
CHANGING = ("ended", "status", "code", "steps", "seq", "attempts", "usage", "cost", "cost_estimated", "settled_at")

_Value = TypeVar("_Value")
_FLAG, _USAGE, _ATTEMPTS = json.Decoder(Flag), json.Decoder(Usage), json.Decoder(list[dict[str, Any]])


def opening_row(record: RunRecord, latest: Figures | None = None) -> dict[str, Any]:
    """Return the whole row of a new run, with its figures as they are in its latest."""
    return {
        "id": record.id,
        "owner": record.owner,
        "conversation_id": record.conversation_id,
        "parent_id": record.parent_id,
        "key": record.key,
        "digest": record.digest,
        "model": record.model,
        "loop": record.loop,
        "flag": json.encode(record.flag) if record.flag else None,
        "simulated": record.simulated,
        "request": dumps(record.request),
        "question": dumps(record.question),
        "started": record.started,
        "reserved": record.reserved,
        **figures(latest or record),
    }


def figures(record: Figures) -> dict[str, Any]:
    """Return the columns that change while a run goes on."""
    return {
        "ended": record.ended,
        "status": record.status,
        "code": record.code,
        "steps": record.steps,
        "seq": record.seq,
        **bill(record),
    }


def bill(record: Figures) -> dict[str, Any]:
    """Return the columns that change also when a run is over: what it cost may be told later."""
    return {
        "attempts": dumps([*record.attempts]),
        "usage": json.encode(record.usage) if record.usage else None,
        "cost": record.cost,
        "cost_estimated": record.cost_estimated,
        "settled_at": record.settled_at,
    }


def record_of(row: RowMapping) -> RunRecord:
    """Return the record that a row holds; without what was asked, where that was not read.

    Figures that are damaged are left out: one bad row must keep neither a list nor the server's start from the others.
    Without its attempts a run's cost is an estimate.
    """
    attempts = _read(_ATTEMPTS, row["attempts"])
    return RunRecord(
        id=row["id"],
        owner=row["owner"],
        model=row["model"],
        loop=row["loop"],
        flag=_read(_FLAG, row["flag"]),
        simulated=row["simulated"],
        conversation_id=row["conversation_id"],
        parent_id=row["parent_id"],
        key=row["key"],
        digest=row["digest"],
        request=cast(JsonObject, loads(row["request"])) if "request" in row else {},
        question=cast(JsonObject, loads(row["question"])) if "question" in row else {},
        started=row["started"],
        ended=row["ended"],
        status=row["status"],
        code=row["code"],
        steps=row["steps"],
        attempts=tuple(attempts or ()),
        usage=_read(_USAGE, row["usage"]),
        cost_estimated=row["cost_estimated"] or attempts is None,
        settled_at=row["settled_at"],
        seq=row["seq"],
        reserved=row["reserved"],
    )


def _read(decoder: json.Decoder[_Value], kept: bytes | None) -> _Value | None:
    """Read a figure, None where there is none or where it is damaged."""
    try:
        return decoder.decode(kept) if kept else None
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
