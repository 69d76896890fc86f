"""Notes to the model about what a person has changed in files."""

import pytest
from signalbox.conversations.files import edit_notes as notes
from signalbox.conversations.files.changes import FileChange, change_file
from signalbox.conversations.files.edit_notes import changes_on, edit_notes, with_note
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.messages import AssistantMessage, Message, TextPart, UserMessage
from signalbox.core.workspace import Author
from signalbox.store.conversations import add_nodes
from signalbox.store.files import StoredVersion

from tests.support.disk import Disk, disk, kind

__all__ = ["disk", "kind"]

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
# A question, its answer, and the next question.
PATH = [Node("q1", None, "user", 1.0), Node("r1", "q1", "assistant", 2.0), Node("q2", "r1", "user", 9e9)]


def version(number: int, node_id: str, author: Author, path: str = "a.txt", created: float = 3.0) -> StoredVersion:
    """Make a version."""
    return StoredVersion(number, node_id, path, "text/plain", 1, author, created)


def numbers(*stored: StoredVersion) -> dict[str, list[tuple[int | None, int]]]:
    """Return the numbers of the versions before and after each change, by message."""
    return {
        node_id: [(one.before.number if one.before else None, one.after.number) for one in each]
        for node_id, each in changes_on(PATH, stored).items()
    }


def test_changes_belong_to_the_next_message_of_the_user() -> None:
    """Consecutive changes of a file are one, and a version by the model separates them."""
    assert numbers(version(1, "r1", "model")) == {}
    assert numbers(version(1, "q1", "person", created=1.5)) == {"q1": [(None, 1)]}
    stored = [version(1, "r1", "model"), version(2, "r1", "person"), version(3, "r1", "person")]
    assert numbers(*stored) == {"q2": [(1, 3)]}
    between = [version(1, "r1", "person"), version(2, "r1", "model"), version(3, "r1", "person")]
    assert numbers(*between) == {"q2": [(None, 1), (2, 3)]}
    assert numbers(version(1, "r1", "person", "b"), version(2, "r1", "person")) == {"q2": [(None, 1), (None, 2)]}


async def written(disk: Disk, author: Author, path: str, content: bytes | None) -> None:
    """Write a file at the answer."""
    await change_file(disk, "talk", "r1", FileChange(path, content, author))


async def note_of(disk: Disk) -> str | None:
    """Return the note of the second question; check that it is the same each time."""
    first, second = [await edit_notes(disk, "talk", PATH) for _ in range(2)]
    assert first == second
    return first.get("q2")


async def begin(disk: Disk) -> None:
    """Store a node for the files, and what the model has written there."""
    node = ClientNode(Node("r1", None, "user", 2.0), (UserMessage("Hi"),))
    await disk.write(add_nodes, Conversation("talk"), [node])
    await written(disk, "model", "index.html", b"<h1>\nOne\n</h1>\n")
    await written(disk, "model", "old.css", b"p {}\n")


async def test_a_note_shows_what_changed(disk: Disk) -> None:
    """Changed and added text is shown as a diff, images and deletions by name."""
    await begin(disk)
    assert await note_of(disk) is None
    await written(disk, "person", "index.html", b"<h1>\nTwo\n</h1>\n")
    await written(disk, "person", "old.css", None)
    await written(disk, "person", "new.txt", b"new\n")
    await written(disk, "person", "empty.txt", b"")
    await written(disk, "person", "logo.png", PNG)
    assert await note_of(disk) == (
        "<user_changes>\n"
        "The user changed index.html (version 2):\n"
        "--- index.html\n+++ index.html\n@@ -1,3 +1,3 @@\n <h1>\n-One\n+Two\n </h1>\n"
        "The user deleted old.css (version 2).\n"
        "The user added new.txt (version 1):\n"
        "--- new.txt\n+++ new.txt\n@@ -0,0 +1 @@\n+new\n"
        "The user added empty.txt (version 1), 0 bytes.\n"
        "The user added logo.png (version 1): image/png, 16 bytes.\n"
        "</user_changes>"
    )


async def test_changes_that_cancel_each_other_out_are_not_told(disk: Disk) -> None:
    """A person who takes back a change, or deletes a new file, has changed nothing."""
    await begin(disk)
    await written(disk, "person", "index.html", b"other")
    await written(disk, "person", "index.html", b"<h1>\nOne\n</h1>\n")
    await written(disk, "person", "new.txt", b"new")
    await written(disk, "person", "new.txt", None)
    assert await note_of(disk) is None


async def test_later_changes_do_not_count(disk: Disk) -> None:
    """A run that is replayed gets the note that it got when it started."""
    await begin(disk)
    await written(disk, "person", "index.html", b"other")
    assert await edit_notes(disk, "talk", PATH, until=5.0) == {}


async def test_notes_are_limited(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long diff is left out, and so are changes beyond a number; the note says so."""
    await begin(disk)
    monkeypatch.setattr(notes, "LONGEST_NOTE", 40)
    monkeypatch.setattr(notes, "MOST_CHANGES", 2)
    await written(disk, "person", "index.html", b"x" * 100)
    for name in "abc":
        await written(disk, "person", name, b"1")
    note = await note_of(disk)
    assert note is not None
    assert note.splitlines()[1] == "The user changed index.html (version 2), 100 bytes."
    assert note.splitlines()[-2] == "The user made 2 more changes. List the files to see them."


@pytest.mark.parametrize(
    ("content", "told"),
    [("Hello", "NOTE\n\nHello"), ((TextPart("Hello"),), (TextPart("NOTE"), TextPart("Hello")))],
)
def test_a_note_precedes_the_words_of_the_user(content: str | tuple[TextPart], told: object) -> None:
    """Only the first message of the user gets it."""
    messages: list[Message] = [AssistantMessage("Hi"), UserMessage(content), UserMessage("More")]
    assert with_note(messages, "NOTE") == [AssistantMessage("Hi"), UserMessage(told), UserMessage("More")]  # type: ignore[arg-type]
    assert with_note(messages, None) == messages
