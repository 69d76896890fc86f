"""Which versions a branch has."""

from signalbox.conversations.files.branch import branch_of
from signalbox.core.conversations import Node
from signalbox.store.files import StoredVersion


def node(node_id: str, created: float) -> Node:
    """Make a node."""
    return Node(node_id, None, "user", created)


def version(number: int, node_id: str, created: float, path: str = "a", *, is_deleted: bool = False) -> StoredVersion:
    """Make a version of a person."""
    return StoredVersion(number, node_id, path, "text/plain", 1, "person", created, is_deleted)


PATH = [node("question", 1.0), node("run", 2.0), node("next", 10.0)]


def test_versions_follow_the_path() -> None:
    """Versions count in order of the nodes, also if a version at an earlier node was created later."""
    stored = [version(1, "next", 11.0), version(2, "run", 3.0), version(3, "other", 1.0), version(4, "run", 4.0)]
    branch = branch_of(PATH, stored)
    assert [(one.number, one.version.version) for one in branch.versions] == [(2, 1), (4, 2), (1, 3)]


def test_a_change_after_the_fork_is_not_in_the_older_branch() -> None:
    """A version at a node counts only if the next node did not exist yet."""
    stored = [version(1, "run", 3.0), version(2, "run", 10.5)]
    assert [one.number for one in branch_of(PATH, stored).versions] == [1]
    assert [one.number for one in branch_of(PATH[:2], stored).versions] == [1, 2]


def test_a_deletion_is_a_version() -> None:
    """A deleted file is not listed, and a later version brings it back with the next number."""
    stored = [version(1, "run", 3.0), version(2, "run", 4.0, is_deleted=True), version(3, "run", 3.0, "b")]
    branch = branch_of(PATH, stored)
    assert [one.version.path for one in branch.files()] == ["b"]
    assert branch.file("a") is None
    assert branch.newest()["a"].version.is_deleted
    again = branch_of(PATH, [*stored, version(4, "next", 12.0)]).file("a")
    assert again is not None
    assert again.version.version == 3
