"""Files of conversations through the Python client, on the real app."""

import io
import zipfile
from contextlib import ExitStack

import httpx
import pytest
from signalbox_client import Conflict, ConnectionLost, InvalidRequest, NotFound, NotSignalbox, Signalbox, SignalboxError
from signalbox_client._sync.files import Files

from tests.scenarios.python_client.conftest import open_client, rejecting
from tests.scenarios.resume.breaking_proxy import BreakingProxy, Bytes
from tests.support.running_app import RunningApp

MODEL = "openai/sim"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def files_of(client: Signalbox, conversation_id: str) -> Files:
    """Ask a question in a conversation, and return its files."""
    client.ask("Hello!", model=MODEL, conversation_id=conversation_id)
    return client.conversations.files(conversation_id)


def test_a_file_is_written_read_deleted_and_restored(app: RunningApp, stack: ExitStack) -> None:
    """Each change is a version; text and bytes come back as they were written."""
    files = files_of(open_client(stack, app.url), "changes")
    first = files.write("css/für alle.css", "a { content: 'é' }", base_version=0)
    assert (first["path"], first["version"], first["author"]) == ("css/für alle.css", 1, "person")
    assert files.write(first["path"], b"b {}", base_version=1)["version"] == 2
    assert files.delete(first["path"])["is_deleted"]
    assert files.list() == []
    assert files.restore(first["path"], 1)["version"] == 4
    read = files.get(first["path"])
    assert (read.text, read.content, read.version) == ("a { content: 'é' }", "a { content: 'é' }".encode(), 4)
    assert files.get(first["path"], 2).content == b"b {}"
    assert [(one["version"], one["is_deleted"]) for one in files.versions(first["path"])] == [
        (4, False),
        (3, True),
        (2, False),
        (1, False),
    ]
    files.write("dot.png", PNG)
    assert [(one["path"], one["media_type"], one["versions"]) for one in files.list()] == [
        ("css/für alle.css", "text/css", 4),
        ("dot.png", "image/png", 1),
    ]
    with zipfile.ZipFile(io.BytesIO(files.archive())) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            first["path"]: read.content,
            "dot.png": PNG,
        }


def test_a_newer_version_is_not_overwritten(app: RunningApp, stack: ExitStack) -> None:
    """`base_version` names the version that a change replaces."""
    files = files_of(open_client(stack, app.url), "conflicts")
    files.write("a.txt", "one")
    files.write("a.txt", "two")
    with pytest.raises(Conflict, match="has version 2 now"):
        files.write("a.txt", "mine", base_version=1)
    with pytest.raises(Conflict):
        files.delete("a.txt", base_version=1)
    with pytest.raises(NotFound):
        files.get("b.txt")
    with pytest.raises(InvalidRequest, match="Windows"):
        files.write("CON", "console")
    assert files.get("a.txt").text == "two"


def test_a_branch_is_chosen_by_its_last_node(app: RunningApp, stack: ExitStack) -> None:
    """Without a node, files are those of the selected branch."""
    client = open_client(stack, app.url)
    first = client.ask("One", model=MODEL, conversation_id="branches")
    client.conversations.files("branches").write("a.txt", "one")
    client.ask("Two", model=MODEL, conversation_id="branches", parent_id=None)
    assert client.conversations.files("branches").list() == []
    old = client.conversations.files("branches", first.run_id)
    assert [one["path"] for one in old.list()] == ["a.txt"]
    assert (old.get("a.txt").text, len(old.versions("a.txt"))) == ("one", 1)
    old.write("b.txt", "two")
    assert zipfile.ZipFile(io.BytesIO(old.archive())).namelist() == ["a.txt", "b.txt"]
    assert client.conversations.files("branches").list() == []


@pytest.mark.parametrize("path", ["", "..", "../other", "a//b", "/a", "a/.", "../../dots"])
def test_a_path_reaches_no_other_endpoint(app: RunningApp, stack: ExitStack, path: str) -> None:
    """Such a path would be resolved before it is sent, and could delete the conversation."""
    client = open_client(stack, app.url)
    files = files_of(client, "dots")
    for use in (files.get, files.delete, files.versions):
        with pytest.raises(SignalboxError, match="has a part that is empty") as wrong:
            use(path)
        assert wrong.value.code == "INVALID_REQUEST"
    assert client.conversations.get("dots")["id"] == "dots"


def test_a_change_whose_response_is_lost_is_not_repeated(app: RunningApp, stack: ExitStack) -> None:
    """A second request would make a second version."""
    files = files_of(open_client(stack, app.url), "lost")
    with BreakingProxy(app.port, [Bytes(0)]) as wire, pytest.raises(ConnectionLost):
        open_client(stack, wire.url).conversations.files("lost").write("a.txt", "once")
    assert [one["version"] for one in files.versions("a.txt")] == [1]
    with BreakingProxy(app.port, [Bytes(0)]) as wire:
        assert open_client(stack, wire.url).conversations.files("lost").get("a.txt").text == "once", "reading is"


def test_other_responses_are_not_files(app: RunningApp, stack: ExitStack) -> None:
    """A proxy's page is neither a file nor an archive."""
    page = httpx.Response(200, html="<h1>Sign in</h1>")
    client = rejecting(app, stack, page, page)
    for use in (lambda files: files.get("a.txt"), lambda files: files.archive()):
        with pytest.raises(NotSignalbox):
            use(client.conversations.files("any"))
