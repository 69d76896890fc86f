"""The list of conversations, newest first, page by page, with full-text search."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, case, func, literal, or_, select, tuple_

from signalbox.core.conversations import ListedConversation
from signalbox.store.conversations import conversation_of
from signalbox.store.engines.portable_sql import PortableText, position_of
from signalbox.store.tables import CONVERSATIONS, MESSAGES, RUNS

Cursor = tuple[float, str]


def conversation_page(
    connection: Connection, owner: str, limit: int, before: Cursor | None = None, wanted: str = ""
) -> tuple[list[ListedConversation], Mapping[str, str]]:
    """Return a page of an owner's conversations older than a cursor, and the matching text of each by its id.

    `wanted` is the case-folded search text. The number of queries does not depend on the size of the page.
    """
    own = select(CONVERSATIONS).where(CONVERSATIONS.c.owner == owner)
    asked = own.order_by(CONVERSATIONS.c.updated.desc(), CONVERSATIONS.c.id.desc()).limit(limit)
    if before is not None:
        asked = asked.where(tuple_(CONVERSATIONS.c.updated, CONVERSATIONS.c.id) < before)
    if wanted:
        asked = asked.where(_matches(owner, wanted))
    page = [conversation_of(row) for row in connection.execute(asked).mappings()]
    ids = [conversation.id for conversation in page]
    told, runs, open_ = _count(connection, ids), _runs(connection, ids), _unfinished(connection, ids)
    lines = [
        ListedConversation(
            conversation,
            messages=told.get(conversation.id, 0) + runs.get(conversation.id, {}).get("runs", 0),
            cost=runs.get(conversation.id, {}).get("cost"),
            paid=runs.get(conversation.id, {}).get("paid"),
            model=runs.get(conversation.id, {}).get("model"),
            unfinished=tuple(open_.get(conversation.id, ())),
        )
        for conversation in page
    ]
    return lines, _matching_texts(connection, ids, wanted) if wanted else {}


def _contains(table: Table, wanted: str) -> ColumnElement[bool]:
    """Return the condition that a row's text contains `wanted`; not LIKE, in which % and _ are wildcards."""
    return position_of(table.c.folded, literal(wanted, PortableText)) > 0


def _matches(owner: str, wanted: str) -> ColumnElement[bool]:
    own = select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.owner == owner)  # other owners' texts are never searched
    within = [
        CONVERSATIONS.c.id.in_(
            select(table.c.conversation_id).where(table.c.conversation_id.in_(own), _contains(table, wanted))
        )
        for table in (MESSAGES, RUNS)
    ]
    return or_(_contains(CONVERSATIONS, wanted), *within)


def _matching_texts(connection: Connection, ids: Collection[str], wanted: str) -> dict[str, str]:
    """Return the first matching text of each conversation; messages take precedence over answers and titles."""
    titled = select(CONVERSATIONS.c.id, CONVERSATIONS.c.title).where(CONVERSATIONS.c.id.in_(ids))
    found: dict[str, str] = {row.id: row.title for row in connection.execute(titled)}
    for table, text, order in (
        (RUNS, RUNS.c.answer, (RUNS.c.started, RUNS.c.id)),
        (MESSAGES, MESSAGES.c.text, (MESSAGES.c.created, MESSAGES.c.place)),
    ):
        place = func.row_number().over(partition_by=table.c.conversation_id, order_by=order)
        within = select(table.c.conversation_id, text.label("said"), place.label("place")).where(
            table.c.conversation_id.in_(ids), _contains(table, wanted)
        )
        firsts = within.subquery()
        rows = connection.execute(select(firsts).where(firsts.c.place == 1))
        found |= {row.conversation_id: row.said for row in rows}
    return found


def _count(connection: Connection, ids: Collection[str]) -> dict[str, int]:
    asked = select(MESSAGES.c.conversation_id, func.count()).where(MESSAGES.c.conversation_id.in_(ids))
    return {row[0]: row[1] for row in connection.execute(asked.group_by(MESSAGES.c.conversation_id))}


def _runs(connection: Connection, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    newest = RUNS.alias()
    model = (
        select(newest.c.model)
        .where(newest.c.conversation_id == RUNS.c.conversation_id)
        .order_by(newest.c.started.desc(), newest.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    asked = (
        select(
            RUNS.c.conversation_id,
            func.count().label("runs"),
            func.sum(RUNS.c.cost).label("cost"),
            func.sum(case((and_(RUNS.c.simulated, RUNS.c.cost.is_not(None)), 0.0), else_=RUNS.c.cost)).label("paid"),
            model.label("model"),
        )
        .where(RUNS.c.conversation_id.in_(ids))
        .group_by(RUNS.c.conversation_id)
    )
    return {row["conversation_id"]: dict(row) for row in connection.execute(asked).mappings()}


def _unfinished(connection: Connection, ids: Collection[str]) -> dict[str, list[str]]:
    asked = select(RUNS.c.conversation_id, RUNS.c.id).where(RUNS.c.conversation_id.in_(ids), RUNS.c.status.is_(None))
    out: dict[str, list[str]] = {}
    for conversation_id, run_id in connection.execute(asked):
        out.setdefault(conversation_id, []).append(run_id)
    return out
