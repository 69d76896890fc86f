"""The workspace of a run, on both databases."""

import asyncio
from typing import Any

import pytest
from signalbox.conversations.files import changes
from signalbox.conversations.files.branch import branch_at
from signalbox.conversations.files.changes import FileChange, change_file
from signalbox.conversations.files.workspace import RunWorkspace
from signalbox.core.codes import Code
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.errors import RequestError, ToolError
from signalbox.core.messages import UserMessage
from signalbox.core.records import RunRecord
from signalbox.core.workspace import FileVersion
from signalbox.store.conversations import add_nodes, delete_conversation, find_conversation
from signalbox.store.files import files_of
from signalbox.store.runs.flush import PendingWrite, write_pending
from signalbox.store.runs.retention import Swept, sweep_conversations

from tests.support.disk import BOTH, Disk, disk, kind, pytest_generate_tests

__all__ = ["disk", "kind", "pytest_generate_tests"]

pytestmark = pytest.mark.anyio
DATABASES = BOTH
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


async def question(disk: Disk, node_id: str, parent_id: str | None, created: float) -> None:
    """Store a question."""
    one = ClientNode(Node(node_id, parent_id, "user", created), (UserMessage(node_id),))
    await disk.write(add_nodes, Conversation("talk", owner="o"), [one])


async def run(disk: Disk, run_id: str, parent_id: str, started: float, model: str = "openai/sim") -> RunWorkspace:
    """Store a run, and return its workspace."""
    record = RunRecord(run_id, model, "v2", conversation_id="talk", parent_id=parent_id, started=started)
    await disk.write(
        write_pending, [PendingWrite(run_id, 0, 9, record, None, [], [], is_raised=False, is_answer=False)]
    )
    return RunWorkspace(disk, "talk", run_id)


async def first_run(disk: Disk) -> RunWorkspace:
    """Store a question, and the run that answers it."""
    await question(disk, "q1", None, 1.0)
    return await run(disk, "r1", "q1", 2.0)


async def write(disk: Disk, node_id: str, path: str, text: str | None, **given: Any) -> FileVersion:
    """Write a file as a person does it."""
    content = None if text is None else text.encode()
    return await change_file(disk, "talk", node_id, FileChange(path, content, "person", **given))


async def names(workspace: RunWorkspace) -> list[tuple[str, int]]:
    return [(one.path, one.version) for one in await workspace.files()]


async def test_files_are_written_and_found(disk: Disk) -> None:
    """A run finds what it has written, with the number of each version."""
    workspace = await first_run(disk)
    assert await workspace.files() == []
    assert await workspace.find("index.html") is None
    made = await workspace.write("index.html", b"<h1>Hi</h1>")
    assert (made.version, made.media_type, made.size, made.author) == (1, "text/html", 11, "model")
    assert made.node_id == "r1"
    await workspace.write("logo.png", PNG)
    again = await workspace.write("index.html", "<h1>Grüße</h1>".encode())
    assert again.version == 2
    assert await names(workspace) == [("index.html", 2), ("logo.png", 1)]
    found = await workspace.find("index.html")
    assert found is not None
    assert (found.version, found.text) == (again, "<h1>Grüße</h1>")
    logo = await workspace.find("logo.png")
    assert logo is not None
    assert (logo.content, logo.text) == (PNG, None)


async def test_branches_have_their_own_files(disk: Disk) -> None:
    """A later run has the files of its ancestors, and a fork has none of the other branch."""
    first = await first_run(disk)
    await first.write("a.txt", b"1")
    now = (await first.files())[0].created
    await question(disk, "q2", "r1", now + 1)
    left, right = await run(disk, "r2", "q2", now + 2), await run(disk, "r3", "q2", now + 2)
    await left.write("a.txt", b"2")
    await left.write("b.txt", b"b")
    assert await names(left) == [("a.txt", 2), ("b.txt", 1)]
    assert await names(right) == [("a.txt", 1)]
    assert await names(first) == [("a.txt", 1)]


@pytest.mark.parametrize("exists", [True, False], ids=["changed", "created"])
async def test_a_call_does_not_overwrite_what_a_person_changes_meanwhile(disk: Disk, *, exists: bool) -> None:
    """The call fails and the person's version stays. A call that has read that version may replace it."""
    workspace = await first_run(disk)
    if exists:
        await workspace.write("a.txt", b"1")
    async with workspace.locked():
        assert (await workspace.find("a.txt") is not None) == exists
        persons = await write(disk, "r1", "a.txt", "by hand")
        with pytest.raises(ToolError, match="The user has changed the file meanwhile: read it again") as caught:
            await workspace.write("a.txt", b"2")
    assert caught.value.code is Code.INVALID_ARGUMENTS
    assert await names(workspace) == [("a.txt", persons.version)]
    async with workspace.locked():
        assert await workspace.find("a.txt") is not None
        await workspace.write("a.txt", b"2")
        await workspace.write("a.txt", b"3")
    assert await names(workspace) == [("a.txt", persons.version + 2)]


async def test_a_persons_changes_and_deletions(disk: Disk) -> None:
    """A person changes the newest version of a file, deletes it, and brings it back."""
    workspace = await first_run(disk)
    await workspace.write("a.txt", b"1")
    assert (await write(disk, "r1", "a.txt", "2", base_version=1)).version == 2
    with pytest.raises(RequestError, match="has version 2 now") as caught:
        await write(disk, "r1", "a.txt", "3", base_version=1)
    assert (caught.value.code, caught.value.status, caught.value.field) == (Code.FILE_CHANGED, 409, "base_version")
    with pytest.raises(RequestError, match=r"b\.txt does not exist"):
        await write(disk, "r1", "b.txt", "3", base_version=1)
    deleted = await write(disk, "r1", "a.txt", None)
    assert (deleted.is_deleted, deleted.version, deleted.media_type) == (True, 3, "text/plain")
    assert await workspace.find("a.txt") is None
    with pytest.raises(RequestError) as caught:
        await write(disk, "r1", "a.txt", None)
    assert (caught.value.code, caught.value.status) == (Code.UNKNOWN_FILE, 404)
    assert (await write(disk, "r1", "a.txt", "4", base_version=0)).version == 4


async def test_limits(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes and numbers are limited; the error names the limit and what to do, and nothing is stored."""
    workspace = await first_run(disk)
    monkeypatch.setattr(changes, "LARGEST_TEXT", 10)
    monkeypatch.setattr(changes, "LARGEST_IMAGE", 20)
    monkeypatch.setattr(changes, "MOST_BYTES", 25)
    monkeypatch.setattr(changes, "MOST_FILES", 2)

    async def fault(path: str, content: bytes) -> str:
        with pytest.raises(ToolError) as caught:
            await workspace.write(path, content)
        assert caught.value.code is Code.FILE_LIMIT
        return caught.value.message

    assert "11 bytes, and a text file may have at most 10" in await fault("a.txt", b"x" * 11)
    assert "an image may have at most 20" in await fault("a.png", PNG + bytes(5))
    await workspace.write("a.png", PNG)
    assert "26 bytes of files, and 25 are allowed" in await fault("a.txt", b"x" * 10)
    await workspace.write("a.txt", b"x" * 9)
    assert "2 files already, and 2 are allowed" in await fault("b.txt", b"")
    await workspace.write("a.txt", b"x" * 8)
    monkeypatch.setattr(changes, "MOST_VERSIONS", 3)
    assert "3 versions" in await fault("a.txt", b"")
    assert len((await disk.read(files_of, "talk")).versions) == 3


async def test_names_must_work_on_all_systems(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file has a name that Windows and macOS can store beside the others; a file that exists keeps its name."""
    workspace = await first_run(disk)
    with monkeypatch.context() as earlier:
        earlier.setattr(changes, "_check_name", lambda *_: None)
        for path in ("aux.txt", "Old.md", "old.md"):
            await write(disk, "r1", path, "1")
    for path, words in (
        ("con", "device"),
        ("a?.txt", r"contains \?"),
        ("OLD.md", "(Old|old).md exists, which is the same"),
    ):
        with pytest.raises(RequestError, match=words) as caught:
            await write(disk, "r1", path, "2")
        assert (caught.value.code, caught.value.field) == (Code.INVALID_REQUEST, "path")
        with pytest.raises(ToolError, match=words) as refused:
            await workspace.write(path, b"2")
        assert refused.value.code is Code.INVALID_ARGUMENTS
    with pytest.raises(RequestError, match=r"(Old|old)\.md exists, and a name is a file or a folder"):
        await write(disk, "r1", "OLD.md/a.txt", "2")
    for path in ("aux.txt", "Old.md", "old.md"):
        assert (await write(disk, "r1", path, "2")).version == 2
    await write(disk, "r1", "aux.txt", None)
    assert (await write(disk, "r1", "aux.txt", "4")).version == 4
    await write(disk, "r1", "Old.md", None)
    with pytest.raises(RequestError, match=r"old\.md exists, which is the same name"):
        await write(disk, "r1", "Old.md", "4")


async def test_the_bytes_of_all_versions_are_limited(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old versions and other branches count. Of changes at the same time, exactly as many as fit are stored."""
    monkeypatch.setattr(changes, "MOST_STORED_BYTES", 50)
    await question(disk, "q1", None, 1.0)
    other = disk.again()
    await other.open()
    runs = [await run(disk, f"r{n}", "q1", 2.0) for n in range(4)]
    spaces = [*runs, *(RunWorkspace(other, "talk", one.run_id) for one in runs)]
    work = [one.write("a.txt", b"x" * 10) for one in spaces]
    results = await asyncio.gather(*work, return_exceptions=True)
    refused = [one for one in results if isinstance(one, ToolError)]
    assert (len(results) - len(refused), {one.code for one in refused}) == (5, {Code.FILE_LIMIT})
    assert "60 bytes, and 50 are allowed. Start a new conversation" in refused[0].message
    assert len((await disk.read(files_of, "talk")).versions) == 5
    path = next(one.path for one in (await disk.read(files_of, "talk")).versions)
    node = next(one.node_id for one in (await disk.read(files_of, "talk")).versions)
    assert (await write(disk, node, path, None)).is_deleted  # a deletion needs no bytes
    await other.aclose()


async def test_invalid_writes_are_errors_for_the_model(disk: Disk) -> None:
    """The model is told what is wrong with a path or a content."""
    workspace = await first_run(disk)
    await workspace.write("a/b.txt", b"")
    for path, content, words in (
        ("../x", b"", "relative|parts"),
        ("a.txt", b"\xff", "UTF-8"),
        ("a", b"", "a/b.txt exists"),
        ("a/b.txt/c", b"", "a/b.txt exists"),
    ):
        with pytest.raises(ToolError, match=words) as caught:
            await workspace.write(path, content)
        assert caught.value.code is Code.INVALID_ARGUMENTS


async def test_changes_at_the_same_time_get_their_own_numbers(disk: Disk) -> None:
    """Variants that write at the same time, also through other workers, lose no version."""
    await question(disk, "q1", None, 1.0)
    other = disk.again()
    await other.open()
    runs = [await run(disk, f"r{n}", "q1", 2.0) for n in range(4)]
    spaces = [*runs, *(RunWorkspace(other, "talk", one.run_id) for one in runs)]
    await asyncio.gather(*(one.write(f"{n}-{place}.txt", b"x") for n in range(3) for place, one in enumerate(spaces)))
    assert [one.number for one in (await disk.read(files_of, "talk")).versions] == [*range(1, 25)]
    assert {len(await one.files()) for one in runs} == {6}
    await other.aclose()


async def test_options_are_the_variants_of_an_earlier_question(disk: Disk) -> None:
    """The variants of the newest question that has several are numbered by their start, and have their own files."""
    first = await run_of_two(disk)
    assert [one.is_own for one in await first.options()] == [True, False]
    await question(disk, "q2", "r1", 4.0)
    second = await run(disk, "r3", "q2", 5.0)
    options = await second.options()
    assert [(one.number, one.run_id, one.model, one.is_own) for one in options] == [
        (1, "r1", "m/one", True),
        (2, "r2", "m/two", False),
    ]
    files = await second.files_of_option(2)
    assert [(one.version.path, one.text) for one in files] == [("a.txt", "two")]
    with pytest.raises(ToolError, match=r"There is no option 3\. The options are 1 to 2\."):
        await second.files_of_option(3)


async def run_of_two(disk: Disk) -> RunWorkspace:
    """Store a question with two variants, and return the first one's workspace."""
    await question(disk, "q1", None, 1.0)
    first, second = await run(disk, "r1", "q1", 2.0, "m/one"), await run(disk, "r2", "q1", 3.0, "m/two")
    await second.write("a.txt", b"two")
    return first


async def test_a_run_without_variants_has_no_options(disk: Disk) -> None:
    """Without variants there are no options, and the error says so."""
    workspace = await first_run(disk)
    assert await workspace.options() == []
    with pytest.raises(ToolError, match="There are no options"):
        await workspace.files_of_option(1)


async def test_the_lock_is_that_of_the_run(disk: Disk) -> None:
    """A change that holds the lock keeps other changes of the run waiting."""
    workspace = await first_run(disk)
    async with workspace.locked():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), workspace.locked():
                pass


async def test_files_go_with_their_conversation(disk: Disk) -> None:
    """A deleted conversation leaves no version, and its run can write no further one."""
    workspace = await first_run(disk)
    await workspace.write("a.txt", b"1")
    await disk.write(delete_conversation, "talk")
    assert disk.rows("SELECT * FROM file_versions") == []
    for work in (workspace.files(), workspace.write("a.txt", b"2")):
        with pytest.raises(ToolError, match="The conversation was deleted") as caught:
            await work
        assert caught.value.code is Code.TOOL_FAILED


async def test_a_change_counts_as_use_of_the_conversation(disk: Disk) -> None:
    """A conversation whose files are changed is not swept as an old one."""
    await first_run(disk)
    made = await write(disk, "r1", "a.txt", "1")
    conversation = await disk.read(find_conversation, "talk")
    assert conversation is not None
    assert conversation.updated == made.created
    assert await disk.write(sweep_conversations, made.created, 5) == Swept()
    disk.change("UPDATE runs SET status = 'complete', ended = 3.0")
    assert await disk.write(sweep_conversations, made.created + 1, 5) == Swept(runs=1, conversations=1)
    assert disk.rows("SELECT * FROM file_versions") == []


async def test_a_failing_database_is_an_error_for_the_model(disk: Disk) -> None:
    """If the database fails, so does the call, and the run goes on."""
    workspace = await first_run(disk)
    disk.failing = Code.STORE_UNAVAILABLE
    with pytest.raises(ToolError, match="cannot be read or written right now"):
        await workspace.write("a.txt", b"1")


async def test_an_unknown_node_is_rejected(disk: Disk) -> None:
    """A branch ends at a message or a run of the conversation."""
    await first_run(disk)
    with pytest.raises(RequestError) as caught:
        branch_at(await disk.read(files_of, "talk"), "elsewhere")
    assert (caught.value.code, caught.value.field) == (Code.UNKNOWN_MESSAGE, "node_id")
