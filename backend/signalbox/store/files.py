"""Versions of the files of conversations, as rows of one table."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection, insert, select, update

from signalbox.core.codes import Code
from signalbox.core.conversations import Node
from signalbox.core.errors import RequestError
from signalbox.core.workspace import Author
from signalbox.store.conversations import nodes_of
from signalbox.store.tables import CONVERSATIONS, FILE_VERSIONS


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a file without its content. `number` counts the versions of all files of the conversation."""

    number: int
    node_id: str
    path: str
    media_type: str
    size: int
    author: Author
    created: float
    is_deleted: bool = False


_VERSION = [FILE_VERSIONS.c[field.name] for field in fields(StoredVersion)]


@dataclass(frozen=True, slots=True)
class ConversationFiles:
    """The versions of all files of a conversation, in order of their creation, and the nodes of its tree."""

    nodes: list[Node]
    versions: list[StoredVersion]


def file_versions_of(connection: Connection, conversation_id: str) -> list[StoredVersion]:
    """Return the versions of all files of a conversation, in order of their creation."""
    asked = select(*_VERSION).where(FILE_VERSIONS.c.conversation_id == conversation_id)
    rows = connection.execute(asked.order_by(FILE_VERSIONS.c.number)).mappings()
    return [StoredVersion(**row) for row in rows]


def files_of(connection: Connection, conversation_id: str) -> ConversationFiles:
    """Return the files of a conversation and its tree; both are empty for an unknown conversation."""
    return ConversationFiles(nodes_of(connection, conversation_id), file_versions_of(connection, conversation_id))


def file_contents_of(connection: Connection, conversation_id: str, numbers: Collection[int]) -> dict[int, bytes]:
    """Return the contents of versions by their numbers."""
    asked = select(FILE_VERSIONS.c.number, FILE_VERSIONS.c.content).where(
        FILE_VERSIONS.c.conversation_id == conversation_id, FILE_VERSIONS.c.number.in_(numbers)
    )
    return {row.number: row.content for row in connection.execute(asked)}


def change_files(
    connection: Connection, conversation_id: str, change: Callable[[ConversationFiles], tuple[StoredVersion, bytes]]
) -> ConversationFiles:
    """Insert the version that `change` makes of the present ones, with its content; return all versions.

    The conversation counts as used: it is listed first, and its retention period begins again.
    Raises RequestError for an unknown conversation, and what `change` raises.
    """
    # Locked until the transaction ends, so that its versions get different numbers. SQLite has one writer anyway.
    conversation = select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.id == conversation_id)
    if connection.execute(conversation.with_for_update(key_share=True)).first() is None:
        raise RequestError(Code.UNKNOWN_CONVERSATION)
    present = files_of(connection, conversation_id)
    version, content = change(present)
    row: dict[str, Any] = {field.name: getattr(version, field.name) for field in fields(StoredVersion)}
    connection.execute(insert(FILE_VERSIONS).values(conversation_id=conversation_id, content=content, **row))
    used = update(CONVERSATIONS).where(CONVERSATIONS.c.id == conversation_id, CONVERSATIONS.c.updated < version.created)
    connection.execute(used.values(updated=version.created))
    return ConversationFiles(present.nodes, [*present.versions, version])
