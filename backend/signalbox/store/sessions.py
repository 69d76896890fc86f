"""Sessions of people who have signed in, and their names, as rows."""

from typing import cast

from sqlalchemy import Connection, RowMapping, and_, delete, insert, or_, select, update

from signalbox.core.security.people import Person
from signalbox.core.security.sessions import Session
from signalbox.store.engines.portable_sql import insert_into
from signalbox.store.tables import PEOPLE, SESSIONS
from signalbox.wire.json_text import dumps, loads


def add_session(connection: Connection, session: Session, replaced: bytes | None = None) -> None:
    """Insert a session, and store the name of its person; delete the session that it replaces."""
    person = session.person
    named = {"label": person.label, "signed_in": session.created}
    known = insert_into(connection, PEOPLE).values(owner=person.owner, **named)
    connection.execute(known.on_conflict_do_update(index_elements=["owner"], set_=named))
    if replaced is not None:
        end_session(connection, replaced)
    connection.execute(
        insert(SESSIONS).values(
            digest=session.digest,
            owner=person.owner,
            name=person.name,
            is_operator=person.is_operator,
            groups=dumps([*person.groups]),
            created=session.created,
            used=session.used,
        )
    )


def find_session(connection: Connection, digest: bytes) -> Session | None:
    """Return a session, None for an unknown one."""
    row = connection.execute(select(SESSIONS).where(SESSIONS.c.digest == digest)).mappings().first()
    return _session_of(row) if row else None


def list_sessions(
    connection: Connection,
    active: tuple[float, float],
    limit: int,
    before: tuple[float, bytes] | None = None,
    owner: str | None = None,
) -> list[Session]:
    """Return sessions, newest first, of this owner if given, those older than the cursor.

    `active` are the times after which they must have been used and created.
    """
    used, created = active
    asked = select(SESSIONS).where(SESSIONS.c.used > used, SESSIONS.c.created > created)
    if owner is not None:
        asked = asked.where(SESSIONS.c.owner == owner)
    if before is not None:
        at, digest = before
        asked = asked.where(or_(SESSIONS.c.created < at, and_(SESSIONS.c.created == at, SESSIONS.c.digest < digest)))
    asked = asked.order_by(SESSIONS.c.created.desc(), SESSIONS.c.digest.desc()).limit(limit)
    return [_session_of(row) for row in connection.execute(asked).mappings()]


def labels_of_people(connection: Connection) -> dict[str, str]:
    """Return the names of all people who have ever signed in, by owner."""
    return {row["owner"]: row["label"] for row in connection.execute(select(PEOPLE)).mappings()}


def _session_of(row: RowMapping) -> Session:
    groups = tuple(cast(list[str], loads(row["groups"])))
    person = Person(row["owner"], row["name"], row["is_operator"], groups)
    return Session(row["digest"], person, row["created"], row["used"])


def mark_used(connection: Connection, digest: bytes, now: float) -> None:
    """Store that a session was used."""
    connection.execute(update(SESSIONS).where(SESSIONS.c.digest == digest).values(used=now))


def end_session(connection: Connection, digest: bytes) -> bool:
    """Delete a session; return whether it existed."""
    return connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == digest)).rowcount > 0


def delete_ended(connection: Connection, unused_since: float, created_before: float) -> int:
    """Delete sessions that have ended; return how many."""
    ended = or_(SESSIONS.c.used <= unused_since, SESSIONS.c.created <= created_before)
    return connection.execute(delete(SESSIONS).where(ended)).rowcount
