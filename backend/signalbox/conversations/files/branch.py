"""The versions of files that a branch of a conversation has."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from signalbox.conversations.tree import Tree
from signalbox.core.codes import Code
from signalbox.core.conversations import Node
from signalbox.core.errors import RequestError
from signalbox.core.workspace import FileVersion, WorkspaceFile
from signalbox.store.database import Database
from signalbox.store.files import ConversationFiles, StoredVersion, file_contents_of


@dataclass(frozen=True, slots=True)
class BranchVersion:
    """A version on a branch. `number` is its number in the conversation, by which its content is stored."""

    number: int
    version: FileVersion


@dataclass(frozen=True, slots=True)
class Branch:
    """The versions on a path of nodes, in their order."""

    versions: tuple[BranchVersion, ...]

    def newest(self) -> dict[str, BranchVersion]:
        """Return the newest version of each file by path, also if it is a deletion."""
        found = {one.version.path: one for one in self.versions}
        return {path: found[path] for path in sorted(found)}

    def files(self) -> list[BranchVersion]:
        """Return the newest version of each file that is not deleted, by path."""
        return [one for one in self.newest().values() if not one.version.is_deleted]

    def file(self, path: str) -> BranchVersion | None:
        """Return the newest version of a file, None for an unknown or deleted one."""
        found = self.newest().get(path)
        return None if found is None or found.version.is_deleted else found

    def version(self, path: str, version: int) -> BranchVersion | None:
        """Return a version of a file, which may be a deletion; None for an unknown one."""
        same = self.history(path)
        return same[version - 1] if version <= len(same) else None

    def history(self, path: str) -> list[BranchVersion]:
        """Return the versions of a file, oldest first."""
        return [one for one in self.versions if one.version.path == path]

    def counts(self) -> Mapping[str, int]:
        """Return how many versions each file has."""
        return Counter(one.version.path for one in self.versions)


def branch_at(files: ConversationFiles, node_id: str) -> Branch:
    """Return the versions of the branch that ends at a node; raises RequestError for an unknown node."""
    path = Tree(files.nodes).path(node_id)
    if not path:
        raise RequestError(Code.UNKNOWN_MESSAGE, field="node_id")
    return branch_of(path, files.versions)


async def with_contents(
    database: Database, conversation_id: str, versions: Iterable[BranchVersion]
) -> list[WorkspaceFile]:
    """Return versions with their contents, without those that were deleted meanwhile with the conversation."""
    chosen = [*versions]
    contents = await database.read(file_contents_of, conversation_id, [one.number for one in chosen])
    return [WorkspaceFile(one.version, contents[one.number]) for one in chosen if one.number in contents]


def branch_of(path: Sequence[Node], stored: Iterable[StoredVersion]) -> Branch:
    """Return the versions on a path: in order of its nodes, and at one node in order of their creation.

    A version counts only if it was created before the next node of the path: a person who changes a file after the
    conversation has forked changes no other branch.
    """
    by_node: dict[str, list[StoredVersion]] = {}
    for one in stored:
        by_node.setdefault(one.node_id, []).append(one)
    counts: Counter[str] = Counter()
    versions: list[BranchVersion] = []
    for place, node in enumerate(path):
        until = path[place + 1].created if place + 1 < len(path) else None
        for one in by_node.get(node.id, ()):
            if until is None or one.created <= until:
                counts[one.path] += 1
                versions.append(BranchVersion(one.number, _numbered(one, counts[one.path])))
    return Branch(tuple(versions))


def _numbered(one: StoredVersion, version: int) -> FileVersion:
    return FileVersion(
        path=one.path,
        version=version,
        media_type=one.media_type,
        size=one.size,
        author=one.author,
        created=one.created,
        node_id=one.node_id,
        is_deleted=one.is_deleted,
    )
