"""The audit log as rows, newest first: what operators and the rollout's guard have changed."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from msgspec import Struct, json
from sqlalchemy import Connection, insert, select

from signalbox.core.operation.audit import Entry
from signalbox.store.database import Bound
from signalbox.store.tables import AUDIT

P = ParamSpec("P")
Value = TypeVar("Value")
_DETAILS = json.Decoder(dict[str, Any])


class StoredEntry(Entry, frozen=True, kw_only=True):
    """An entry with its id; later entries have higher ids."""

    id: int


class AuditFilter(Struct, frozen=True):
    """Which entries to list; an empty set is any value. Times are epoch seconds, from `since` until before `until`."""

    actions: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    since: float | None = None
    until: float | None = None


ALL = AuditFilter()


def add_audit(connection: Connection, entry: Entry) -> None:
    """Add an entry."""
    details = json.encode(entry.details)
    connection.execute(insert(AUDIT).values(at=entry.at, actor=entry.actor, action=entry.action, details=details))


def audited(
    connection: Connection,
    entry_of: Callable[[Value], Entry | None],
    work: Bound[P, Value],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Value:
    """Change something and add the entry about it in one transaction; `entry_of` returns None if nothing changed."""
    value = work(connection, *args, **kwargs)
    if (entry := entry_of(value)) is not None:
        add_audit(connection, entry)
    return value


def audited_change(
    connection: Connection,
    entry_of: Callable[[Value, Value], Entry | None],
    change_row: Callable[[Connection, str, Callable[[Value], Value]], Value | None],
    row_id: str,
    change: Callable[[Value], Value],
) -> Value | None:
    """Change a row and add the entry about it; `entry_of` gets the values before and after, and may return None."""
    befores: list[Value] = []

    def noted(before: Value) -> Value:
        befores.append(before)
        return change(before)

    after = change_row(connection, row_id, noted)
    if after is not None and (entry := entry_of(befores[-1], after)) is not None:
        add_audit(connection, entry)
    return after


def list_audit(
    connection: Connection, limit: int, before: int | None = None, wanted: AuditFilter = ALL
) -> list[StoredEntry]:
    """Return entries, newest first, only those with an id below `before`."""
    asked = select(AUDIT).order_by(AUDIT.c.id.desc()).limit(limit)
    if before is not None:
        asked = asked.where(AUDIT.c.id < before)
    for column, values in ((AUDIT.c.action, wanted.actions), (AUDIT.c.actor, wanted.actors)):
        if values:
            asked = asked.where(column.in_(sorted(values)))
    if wanted.since is not None:
        asked = asked.where(AUDIT.c.at >= wanted.since)
    if wanted.until is not None:
        asked = asked.where(AUDIT.c.at < wanted.until)
    return [
        StoredEntry(row["at"], row["actor"], row["action"], _DETAILS.decode(row["details"]), id=row["id"])
        for row in connection.execute(asked).mappings()
    ]
