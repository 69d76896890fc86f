"""Changes of files: each makes a new version on the branch of a node, within the limits."""

from dataclasses import dataclass
from time import time

from signalbox.conversations.files.branch import Branch, BranchVersion, branch_at
from signalbox.conversations.files.paths import checked_media_type, checked_path
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.workspace import Author, FileVersion, is_image
from signalbox.store.database import Database
from signalbox.store.files import ConversationFiles, StoredVersion, change_files
from signalbox.tools.files.portable_names import path_key, unportable_part

MEGABYTE = 1_000_000
LARGEST_TEXT, LARGEST_IMAGE = MEGABYTE, 5 * MEGABYTE
MOST_FILES, MOST_BYTES = 100, 20 * MEGABYTE
MOST_VERSIONS, MOST_STORED_BYTES = 1000, 200 * MEGABYTE


@dataclass(frozen=True, slots=True)
class FileChange:
    """A new version of a file; no `content` is a deletion.

    `base_version` is the version that it replaces, 0 if the file must not exist, None to replace any version.
    """

    path: str
    content: bytes | None
    author: Author
    media_type: str = ""
    base_version: int | None = None


async def change_file(database: Database, conversation_id: str, node_id: str, change: FileChange) -> FileVersion:
    """Add a version to the branch that ends at a node; raises RequestError if it is not allowed, and StoreError."""
    path, content = checked_path(change.path), change.content or b""
    media_type = "" if change.content is None else checked_media_type(path, content, change.media_type)
    _check_size(path, content, media_type)

    def made(present: ConversationFiles) -> tuple[StoredVersion, bytes]:
        return _version_of(change, media_type, present, node_id), content

    files = await database.write(change_files, conversation_id, made)
    return branch_at(files, node_id).newest()[path].version


def _version_of(change: FileChange, media_type: str, present: ConversationFiles, node_id: str) -> StoredVersion:
    if len(present.versions) >= MOST_VERSIONS:
        words = f"The conversation has {MOST_VERSIONS:,} versions of files, and no more are allowed."
        raise RequestError(Code.FILE_LIMIT, words)
    branch = branch_at(present, node_id)
    newest = branch.newest().get(change.path)
    _check_base(change, newest)
    if change.content is not None:
        _check_name(branch, change.path)
        _check_branch(branch, change.path, len(change.content))
        _check_stored(present, change.path, len(change.content))
    elif newest is None or newest.version.is_deleted:
        raise RequestError(Code.UNKNOWN_FILE, field="path")
    return StoredVersion(
        number=len(present.versions) + 1,  # versions are deleted only with their conversation
        node_id=node_id,
        path=change.path,
        media_type=media_type or (newest.version.media_type if newest else ""),
        size=len(change.content or b""),
        author=change.author,
        created=time(),
        is_deleted=change.content is None,
    )


def _check_size(path: str, content: bytes, media_type: str) -> None:
    most, kind = (LARGEST_IMAGE, "an image") if is_image(media_type) else (LARGEST_TEXT, "a text file")
    if len(content) > most:
        words = f"{path} has {len(content):,} bytes, and {kind} may have at most {most:,}."
        raise RequestError(Code.FILE_LIMIT, words, "path")


def _check_base(change: FileChange, newest: BranchVersion | None) -> None:
    """Reject a change of another version than the newest one. A deleted file counts as a file that does not exist."""
    if change.base_version is None:
        return
    has = 0 if newest is None else newest.version.version
    exists = newest is not None and not newest.version.is_deleted
    if change.base_version == has or (change.base_version == 0 and not exists):
        return
    words = f"{change.path} has version {has} now, not version {change.base_version}."
    raise RequestError(Code.FILE_CHANGED, words if has else f"{change.path} does not exist.", "base_version")


def _check_name(branch: Branch, path: str) -> None:
    """Reject a new file that clashes with another one, or that a downloaded archive could not contain everywhere.

    A file that exists keeps its name.
    """
    if branch.file(path) is not None:
        return
    others = [one.version.path for one in branch.files()]
    if clash := next((one for one in others if _clash(path_key(one), path_key(path))), None):
        raise RequestError(Code.INVALID_REQUEST, f"{path}: {clash} exists, and a name is a file or a folder.", "path")
    if same := next((one for one in others if path_key(one) == path_key(path)), None):
        words = f"{path}: {same} exists, which is the same name on Windows and macOS. Use that path or another name."
        raise RequestError(Code.INVALID_REQUEST, words, "path")
    if not branch.history(path) and (fault := unportable_part(path)):
        words = f"{path}: {fault}, which Windows does not allow in the name of a file. Use another name."
        raise RequestError(Code.INVALID_REQUEST, words, "path")


def _check_branch(branch: Branch, path: str, size: int) -> None:
    others = [one.version for one in branch.files() if one.version.path != path]
    if len(others) >= MOST_FILES:
        words = f"The branch has {len(others)} files already, and {MOST_FILES} are allowed."
        raise RequestError(Code.FILE_LIMIT, words, "path")
    total = sum(one.size for one in others) + size
    if total > MOST_BYTES:
        words = f"With {path}, the branch has {total:,} bytes of files, and {MOST_BYTES:,} are allowed."
        raise RequestError(Code.FILE_LIMIT, words, "path")


def _check_stored(present: ConversationFiles, path: str, size: int) -> None:
    """Reject a version that the conversation cannot store, with all versions on all branches."""
    total = sum(one.size for one in present.versions) + size
    if total > MOST_STORED_BYTES:
        words = f"With {path}, all versions in the conversation have {total:,} bytes, and {MOST_STORED_BYTES:,} are"
        raise RequestError(Code.FILE_LIMIT, f"{words} allowed. Start a new conversation to write more.", "path")


def _clash(one: str, other: str) -> bool:
    """Return whether one path is a folder of the other one."""
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")
