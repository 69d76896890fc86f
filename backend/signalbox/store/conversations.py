"""Conversations on disk: a tree of what people said and what models answered, as rows of two tables."""

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import insert

from signalbox.store.tables import CONVERSATIONS


def keep_conversation(connection: Connection, conversation_id: str, now: float) -> None:
    """Keep a conversation, where it is not known yet."""
    row = {"id": conversation_id, "title": "", "is_titled": False, "created": now, "updated": now}
    connection.execute(insert(CONVERSATIONS).values(row).on_conflict_do_nothing())
