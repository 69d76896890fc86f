"""The files of a conversation in its JSON export: all versions on all branches."""

from collections.abc import Iterable

from signalbox.core.messages import JsonObject
from signalbox.core.workspace import is_image
from signalbox.store.database import Database
from signalbox.store.files import StoredVersion, file_contents_of, file_versions_of

# Bytes of text in one export. Older versions come without their text.
MOST_TEXT = 20_000_000


async def exported_files(database: Database, conversation_id: str) -> list[JsonObject]:
    """Return all versions in order of their creation; the newest ones with their text, and images without content."""
    versions = await database.read(file_versions_of, conversation_id)
    wanted = _with_text(versions)
    contents = await database.read(file_contents_of, conversation_id, wanted) if wanted else {}
    return [_exported(one, contents.get(one.number)) for one in versions]


def _with_text(versions: Iterable[StoredVersion]) -> list[int]:
    left, numbers = MOST_TEXT, list[int]()
    for one in sorted(versions, key=lambda version: -version.number):
        if not one.is_deleted and not is_image(one.media_type):
            left -= one.size
            if left < 0:
                break
            numbers.append(one.number)
    return numbers


def _exported(one: StoredVersion, content: bytes | None) -> JsonObject:
    text: JsonObject = {} if content is None else {"text": content.decode()}
    return {
        "number": one.number,
        "node_id": one.node_id,
        "path": one.path,
        "media_type": one.media_type,
        "size": one.size,
        "author": one.author,
        "created": one.created,
        "is_deleted": one.is_deleted,
        **text,
    }
