"""Saves: snapshots of runs, which outlive the run."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from msgspec import json
from sqlalchemy import Connection, RowMapping, delete, insert, select, tuple_

from signalbox.core.events import LoopName, Stamped
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.records import RunRecord
from signalbox.store.runs.format_0_1 import read_events, trace_from
from signalbox.store.tables import MESSAGES, SAVES
from signalbox.wire.json_text import dumps, loads

_encoder = json.Encoder()
_LINE = [SAVES.c[name] for name in ("id", "title", "created", "run_id", "model", "loop", "status", "seq", "owner")]


@dataclass(frozen=True, slots=True)
class ListedSave:
    """A save in a list; `created` in epoch seconds, `seq` is the run's last event."""

    id: str
    title: str
    created: float
    run_id: str
    model: str
    loop: LoopName
    status: str
    seq: int
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot without the events: the question, the trace, and `data` that the client stores with it.

    `earlier` are the runs that the saved one continues, oldest first, each with its id, trace and events.
    """

    question: JsonObject
    trace: JsonObject
    data: JsonObject
    earlier: list[JsonValue] = field(default_factory=list[JsonValue])


def new_save_id() -> str:
    """Return a new save id: 128 random bits."""
    return secrets.token_hex(16)


def add_save(connection: Connection, line: ListedSave, snapshot: Snapshot, events: Sequence[Stamped]) -> None:
    """Insert a save."""
    row = {name: getattr(line, name) for name in ListedSave.__slots__}
    kept: JsonObject = {"question": snapshot.question, "trace": snapshot.trace, "data": snapshot.data}
    if snapshot.earlier:
        kept["earlier"] = snapshot.earlier
    connection.execute(insert(SAVES).values(**row, snapshot=dumps(kept), frames=_encoder.encode(events)))


def list_saves(
    connection: Connection, owner: str, limit: int, before: tuple[float, str] | None = None
) -> list[ListedSave]:
    """Return an owner's saves, newest first; only those older than `before`, a time (epoch seconds) and id."""
    asked = (
        select(*_LINE).where(SAVES.c.owner == owner).order_by(SAVES.c.created.desc(), SAVES.c.id.desc()).limit(limit)
    )
    if before is not None:
        asked = asked.where(tuple_(SAVES.c.created, SAVES.c.id) < before)
    return [_line_of(row) for row in connection.execute(asked).mappings()]


def find_save(connection: Connection, save_id: str, owner: str | None = None) -> ListedSave | None:
    """Return a save, None for an unknown one or one of another owner than `owner`."""
    own = [] if owner is None else [SAVES.c.owner == owner]
    row = connection.execute(select(*_LINE).where(SAVES.c.id == save_id, *own)).mappings().first()
    return _line_of(row) if row else None


def snapshot_of(connection: Connection, save_id: str) -> Snapshot | None:
    """Return a save's snapshot, None for an unknown save."""
    kept = connection.execute(select(SAVES.c.snapshot).where(SAVES.c.id == save_id)).scalar()
    if kept is None:
        return None
    snapshot = Snapshot(**cast(dict[str, Any], loads(kept)))
    return replace(snapshot, trace=trace_from(snapshot.trace))


def events_of(connection: Connection, save_id: str, after: int = 0) -> list[Stamped]:
    """Return a save's events with seq > after; an empty list for an unknown save."""
    frames = connection.execute(select(SAVES.c.frames).where(SAVES.c.id == save_id)).scalar()
    return [stamped for stamped in read_events(frames) if stamped.seq > after] if frames is not None else []


def delete_save(connection: Connection, save_id: str, owner: str) -> bool:
    """Delete an owner's save; return whether it existed."""
    return connection.execute(delete(SAVES).where(SAVES.c.id == save_id, SAVES.c.owner == owner)).rowcount > 0


def question_of(connection: Connection, record: RunRecord) -> JsonObject:
    """Return a run's question, completed with the text of the message that it answers if it has no messages."""
    if "messages" in record.question or "prompt" in record.question or record.parent_id is None:
        return record.question
    asked = select(MESSAGES.c.text).where(MESSAGES.c.id == record.parent_id, MESSAGES.c.role == "user")
    text = connection.execute(asked).scalar()
    return record.question if text is None else {**record.question, "prompt": text}


def _line_of(row: RowMapping) -> ListedSave:
    return ListedSave(**row)
