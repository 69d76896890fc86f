"""Sessions of people who have signed in, as rows: add, find, mark as used, end, delete old ones."""

from typing import cast

from sqlalchemy import Connection, delete, insert, or_, select, update

from signalbox.core.security.people import Person
from signalbox.core.security.sessions import Session
from signalbox.store.tables import SESSIONS
from signalbox.wire.json_text import dumps, loads


def add_session(connection: Connection, session: Session, replaced: bytes | None = None) -> None:
    """Insert a session; delete the one that it replaces."""
    person = session.person
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
    if row is None:
        return None
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
