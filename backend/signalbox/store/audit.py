"""The audit log: what operators and the rollout's guard have changed, newest first."""

from typing import Any

from msgspec import Struct, json
from sqlalchemy import Connection, insert, select

from signalbox.core.messages import JsonObject
from signalbox.store.tables import AUDIT

_DETAILS = json.Decoder(dict[str, Any])


class Entry(Struct, frozen=True):
    """A change. `at` is in epoch seconds; `actor` is `operator`, or the part of Signalbox that acted."""

    at: float
    actor: str
    action: str
    details: JsonObject = {}


class StoredEntry(Entry, frozen=True, kw_only=True):
    """An entry with its id; later entries have higher ids."""

    id: int


def add_audit(connection: Connection, entry: Entry) -> None:
    """Add an entry."""
    details = json.encode(entry.details)
    connection.execute(insert(AUDIT).values(at=entry.at, actor=entry.actor, action=entry.action, details=details))


def list_audit(connection: Connection, limit: int, before: int | None = None) -> list[StoredEntry]:
    """Return entries, newest first, only those with an id below `before`."""
    asked = select(AUDIT).order_by(AUDIT.c.id.desc()).limit(limit)
    if before is not None:
        asked = asked.where(AUDIT.c.id < before)
    return [
        StoredEntry(row["at"], row["actor"], row["action"], _DETAILS.decode(row["details"]), id=row["id"])
        for row in connection.execute(asked).mappings()
    ]
