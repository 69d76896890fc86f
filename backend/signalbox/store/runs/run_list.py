"""The list of runs, newest first, page by page, and the conditions of its filters."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_, func, literal, or_, select, tuple_

from signalbox.core.records import ALL_RUNS, RunFilter, RunRecord, Statuses
from signalbox.store.engines.portable_sql import PortableText, position_of
from signalbox.store.runs.rows import FIGURES, record_of, tools_text
from signalbox.store.tables import CONVERSATIONS, MESSAGES, RUNS

_RUNNING = "running"


def recent_runs(
    connection: Connection, limit: int, before: tuple[float, str] | None = None, wanted: RunFilter = ALL_RUNS
) -> list[RunRecord]:
    """Return the runs that match, newest first, that started before this time and run."""
    older = [] if before is None else [tuple_(RUNS.c.started, RUNS.c.id) < before]
    order = RUNS.c.started.desc(), RUNS.c.id.desc()
    # The ids come from an index alone; only the rows of the page are read.
    ids = select(RUNS.c.id).where(*older, *conditions_of(wanted)).order_by(*order).limit(limit)
    rows = connection.execute(select(*FIGURES).where(RUNS.c.id.in_(ids)).order_by(*order)).mappings()
    return [record_of(row) for row in rows]


def conditions_of(wanted: RunFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter."""
    among = (
        (RUNS.c.owner, wanted.owners),
        (RUNS.c.code, wanted.codes),
        (func.coalesce(RUNS.c.answered, RUNS.c.model), wanted.models),
        (RUNS.c.loop, wanted.loops),
        (RUNS.c.protocol, wanted.protocols),
    )
    found = [_is_among(column, values) for column, values in among if values]
    found += [RUNS.c.started >= wanted.since] if wanted.since is not None else []
    found += [RUNS.c.started < wanted.until] if wanted.until is not None else []
    found += [_has_status(wanted.statuses)] if wanted.statuses else []
    found += [or_(*(_contains(RUNS.c.tools, tools_text([name])) for name in wanted.tools))] if wanted.tools else []
    return [*found, _has_text(wanted.text, wanted.reader)] if wanted.text else found


def _is_among(column: ColumnElement[Any], values: Collection[str]) -> ColumnElement[bool]:
    return column.in_([*values])


def _has_status(statuses: Statuses) -> ColumnElement[bool]:
    """Return the condition on the status. As an expression, it does not tempt SQLite to read all `complete` runs."""
    return func.coalesce(RUNS.c.status, _RUNNING).in_([status or _RUNNING for status in statuses])


def _has_text(text: str, reader: str) -> ColumnElement[bool]:
    """Return the condition that the question or the answer of a run contains a text."""
    own = select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.owner == reader)  # other owners' texts are never searched
    questions = select(MESSAGES.c.id).where(MESSAGES.c.conversation_id.in_(own), _contains(MESSAGES.c.folded, text))
    is_found = or_(_contains(RUNS.c.folded, text), RUNS.c.parent_id.in_(questions))
    return and_(RUNS.c.conversation_id.in_(own), is_found)


def _contains(column: Column[Any], text: str) -> ColumnElement[bool]:
    """Return the condition that a column contains a text; not LIKE, in which % and _ are wildcards."""
    return position_of(column, literal(text, PortableText)) > 0
