"""Converts between a RunRecord and a row of `runs`."""

from collections.abc import Collection
from typing import Any, TypeVar, cast

from msgspec import MsgspecError, json
from sqlalchemy import RowMapping

from signalbox.core.events import Flag
from signalbox.core.messages import JsonObject
from signalbox.core.parts import Usage
from signalbox.core.records import Figures, RunRecord, first_token_ms_of
from signalbox.store.message_codec import dumps, loads
from signalbox.store.tables import RUNS

# For search and spend; the attempts say which model answered.
_OTHERS = frozenset({"answer", "folded", "charged", "charge_estimated", "answered"})
COLUMNS = [column for column in RUNS.columns if column.name not in _OTHERS]
# For lists, without questions: a question may contain megabytes of images.
FIGURES = [column for column in COLUMNS if column.name not in ("request", "question")]

# The columns that change during a run, as `figure_columns` returns them.
CHANGING = (
    *("ended", "status", "code", "steps", "seq", "tools", "first_token_ms", "answered"),
    *("attempts", "usage", "cost", "cost_estimated", "settled_at"),
)

_Value = TypeVar("_Value")
_FLAG, _USAGE, _ATTEMPTS = json.Decoder(Flag), json.Decoder(Usage), json.Decoder(list[dict[str, Any]])
_ECHO = json.Decoder(dict[str, Any])


def opening_row(record: RunRecord, latest: Figures | None = None) -> dict[str, Any]:
    """Return the row of a new run, with its latest figures."""
    return {
        "id": record.id,
        "owner": record.owner,
        "group_name": record.group,
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
        "protocol": record.protocol,
        "echo": dumps(record.echo) if record.echo else None,
        "started": record.started,
        "reserved": record.reserved,
        **figure_columns(latest or record),
    }


def figure_columns(record: Figures) -> dict[str, Any]:
    """Return the columns that change during a run."""
    return {
        "ended": record.ended,
        "status": record.status,
        "code": record.code,
        "steps": record.steps,
        "seq": record.seq,
        "tools": tools_text(record.tools),
        "first_token_ms": record.first_token_ms,
        "answered": record.answered,
        **cost_columns(record),
    }


def cost_columns(record: Figures) -> dict[str, Any]:
    """Return the columns that may change after a run's end, when its cost is settled."""
    return {
        "attempts": dumps([*record.attempts]),
        "usage": json.encode(record.usage) if record.usage else None,
        "cost": record.cost,
        "cost_estimated": record.cost_estimated,
        "settled_at": record.settled_at,
    }


def record_of(row: RowMapping) -> RunRecord:
    """Convert a row to a record, without request and question if those were not selected.

    Damaged figures are left out, so that one bad row breaks neither a list nor the start of the server. If its attempts
    are damaged, the run's cost becomes an estimate.
    """
    attempts = _decode(_ATTEMPTS, row["attempts"])
    first_token_ms: int | None = row["first_token_ms"]  # missing in rows of earlier versions
    return RunRecord(
        id=row["id"],
        owner=row["owner"],
        group=row["group_name"],
        model=row["model"],
        loop=row["loop"],
        flag=_decode(_FLAG, row["flag"]),
        simulated=row["simulated"],
        conversation_id=row["conversation_id"],
        parent_id=row["parent_id"],
        key=row["key"],
        digest=row["digest"],
        request=cast(JsonObject, loads(row["request"])) if "request" in row else {},
        question=cast(JsonObject, loads(row["question"])) if "question" in row else {},
        protocol=row["protocol"],
        echo=_decode(_ECHO, row["echo"]) or {},
        started=row["started"],
        ended=row["ended"],
        status=row["status"],
        code=row["code"],
        steps=row["steps"],
        attempts=tuple(attempts or ()),
        usage=_decode(_USAGE, row["usage"]),
        cost_estimated=row["cost_estimated"] or attempts is None,
        settled_at=row["settled_at"],
        seq=row["seq"],
        tools=tuple((row["tools"] or "").split()),
        first_token_ms=first_token_ms_of(attempts or (), row["started"]) if first_token_ms is None else first_token_ms,
        reserved=row["reserved"],
    )


def tools_text(names: Collection[str]) -> str:
    """Return the column for the names of tools: each between line feeds, so that a search finds whole names."""
    return "".join(f"\n{name}\n" for name in names)


def _decode(decoder: json.Decoder[_Value], kept: bytes | None) -> _Value | None:
    """Decode a figure, None if it is missing or damaged."""
    try:
        return decoder.decode(kept) if kept else None
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
