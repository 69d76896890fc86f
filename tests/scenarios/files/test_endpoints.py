"""The files of a conversation over HTTP: read, write, delete, restore, download."""

from io import BytesIO
from typing import Any
from zipfile import ZipFile

import httpx
import pytest
from signalbox.conversations.files import exported

from tests.scenarios.conversations.conversation_client import ConversationClient, start_conversation
from tests.scenarios.files.file_writer import done, note_tool, notes
from tests.support.disk import BOTH
from tests.support.fixtures import StartApp
from tests.support.running_app import error_of

DATABASES = BOTH
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


@pytest.fixture
def talk(start_app: StartApp) -> ConversationClient:
    """Return a client of a conversation whose first answer has written index.html."""
    made = start_conversation(start_app, notes(path="index.html", text="<h1>1</h1>"), done, extra_tools=[note_tool()])
    made.ask("Write a page", tools=["note"])
    return made


def url(talk: ConversationClient, path: str = "", kind: str = "files") -> str:
    """Return the path of an endpoint."""
    return f"/api/conversations/{talk.id}/{kind}" + (f"/{path}" if path else "")


def put(talk: ConversationClient, path: str, content: bytes | str, **params: Any) -> httpx.Response:
    """Write a file as a person."""
    body = content.encode() if isinstance(content, str) else content
    return talk.app.client.put(url(talk, path), content=body, params=params)


def listed(talk: ConversationClient, **params: Any) -> dict[str, tuple[int, int]]:
    """Return the version and the number of versions of each file."""
    found = talk.get("/files", **params).json()["files"]
    return {one["path"]: (one["version"], one["versions"]) for one in found}


def refused(response: httpx.Response) -> tuple[int, str, str | None]:
    """Return the status, the code and the field of an error."""
    error = error_of(response)
    return response.status_code, error["code"], error.get("field")


def test_files_of_models_and_persons_are_listed(talk: ConversationClient) -> None:
    """The list has the newest version of each file, with its author."""
    leaf = talk.tree()["leaf_id"]
    assert put(talk, "css/a b.css", "p {}").json() == {
        "path": "css/a b.css",
        "version": 1,
        "media_type": "text/css",
        "size": 4,
        "author": "person",
        "created": pytest.approx(talk.get("/files").json()["files"][0]["created"]),
        "node_id": leaf,
        "is_deleted": False,
    }
    found = talk.get("/files").json()
    assert found["node_id"] == leaf
    shown = [(one["path"], one["author"], one["media_type"], one["size"]) for one in found["files"]]
    assert shown == [("css/a b.css", "person", "text/css", 4), ("index.html", "model", "text/html", 10)]


def test_a_change_names_the_version_that_it_replaces(talk: ConversationClient) -> None:
    """A change of another version than the newest one is a 409 that names the newest one."""
    assert put(talk, "index.html", "<h1>2</h1>", base_version=1).json()["version"] == 2
    late = put(talk, "index.html", "<h1>3</h1>", base_version=1)
    assert refused(late) == (409, "FILE_CHANGED", "base_version")
    assert "version 2" in error_of(late)["message"]
    assert refused(put(talk, "index.html", "", base_version=0)) == (409, "FILE_CHANGED", "base_version")
    assert put(talk, "new.txt", "", base_version=0).status_code == 200
    deleted = talk.app.client.delete(url(talk, "index.html"), params={"base_version": 1})
    assert refused(deleted) == (409, "FILE_CHANGED", "base_version")


def test_contents_are_never_a_page_of_this_server(talk: ConversationClient) -> None:
    """Text is sent as plain text and images as their type, in a sandbox that may load nothing."""
    put(talk, "logo.svg", "<svg onload='alert(1)'/>")
    put(talk, "logo.png", PNG)
    for path, kind in (("index.html", "text/plain"), ("logo.svg", "text/plain"), ("logo.png", "image/png")):
        found = talk.get(f"/files/{path}")
        assert found.headers["content-type"].partition(";")[0] == kind
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert found.headers["cache-control"] == "private, no-cache"
        again = talk.app.client.get(url(talk, path), headers={"if-none-match": found.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["content-security-policy"] == found.headers["content-security-policy"]
    assert "sandbox" not in talk.get("/files").headers["content-security-policy"]


def test_each_version_can_be_read_and_restored(talk: ConversationClient) -> None:
    """A restored version is a new one with the old content, and a deletion can be undone."""
    put(talk, "index.html", "<h1>2</h1>")
    assert talk.app.client.delete(url(talk, "index.html")).json()["is_deleted"] is True
    assert listed(talk) == {}
    assert refused(talk.get("/files/index.html")) == (404, "UNKNOWN_FILE", "path")
    versions = talk.get("/file-versions/index.html").json()["versions"]
    assert [(one["version"], one["author"], one["is_deleted"]) for one in versions] == [
        (3, "person", True),
        (2, "person", False),
        (1, "model", False),
    ]
    assert talk.get("/files/index.html", version=2).text == "<h1>2</h1>"
    assert refused(talk.get("/files/index.html", version=3)) == (404, "UNKNOWN_FILE", "version")
    assert refused(talk.get("/files/index.html", version=4)) == (404, "UNKNOWN_FILE", "version")
    restored = talk.app.client.post(url(talk, "index.html", "file-versions"), json={"version": 1}).json()
    assert (restored["version"], restored["author"], restored["media_type"]) == (4, "person", "text/html")
    found = talk.get("/files/index.html")
    assert (found.text, found.headers["x-file-version"]) == ("<h1>1</h1>", "4")
    assert listed(talk) == {"index.html": (4, 4)}
    again = talk.app.client.post(url(talk, "index.html", "file-versions"), json={"version": 3})
    assert refused(again) == (404, "UNKNOWN_FILE", "version")


def test_each_branch_has_its_own_files(talk: ConversationClient) -> None:
    """SC-28: `node_id` names the end of a branch, and a change after the fork is not in the older branch."""
    first = talk.tree()["leaf_id"]
    second = talk.ask("More", parent_id=first).run_id
    put(talk, "index.html", "<h1>later</h1>", node_id=first)
    assert talk.get("/files/index.html", node_id=first).text == "<h1>later</h1>"
    assert talk.get("/files/index.html").text == "<h1>1</h1>"
    put(talk, "b.txt", "b")
    assert set(listed(talk)) == set(listed(talk, node_id=second)) == {"index.html", "b.txt"}
    assert set(listed(talk, node_id=first)) == {"index.html"}
    assert refused(talk.get("/files", node_id="elsewhere")) == (422, "UNKNOWN_MESSAGE", "node_id")
    assert refused(put(talk, "a.txt", "", node_id="elsewhere")) == (422, "UNKNOWN_MESSAGE", "node_id")


def test_a_branch_is_downloaded_as_a_zip(talk: ConversationClient) -> None:
    """The archive has the files of the branch, without deleted ones."""
    put(talk, "img/Grüße.png", PNG)
    put(talk, "gone.txt", "x")
    talk.app.client.delete(url(talk, "gone.txt"))
    found = talk.get("/files.zip")
    assert found.headers["content-type"] == "application/zip"
    assert found.headers["content-disposition"] == 'attachment; filename="Write-a-page.zip"'
    with ZipFile(BytesIO(found.content)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "img/Grüße.png": PNG,
            "index.html": b"<h1>1</h1>",
        }


def test_invalid_changes_are_rejected(talk: ConversationClient) -> None:
    """Paths, contents and sizes are checked; the error names the field, and nothing changes."""
    assert refused(put(talk, "a%00b", "")) == (422, "INVALID_REQUEST", "path")
    assert refused(put(talk, "a//b", "")) == (422, "INVALID_REQUEST", "path")
    assert refused(put(talk, "a.txt", b"\xff")) == (422, "INVALID_REQUEST", "path")
    assert refused(put(talk, "a.png", "text")) == (422, "INVALID_REQUEST", "path")
    assert refused(put(talk, "a.txt", b"x" * 1_000_001)) == (413, "FILE_LIMIT", "path")
    assert refused(put(talk, "a.txt", "", base_version=-1)) == (422, "INVALID_REQUEST", "base_version")
    assert refused(talk.app.client.delete(url(talk, "a.txt"))) == (404, "UNKNOWN_FILE", "path")
    assert set(listed(talk)) == {"index.html"}


def test_a_conversation_without_messages_has_no_files(talk: ConversationClient) -> None:
    """Files belong to messages and answers, so a new conversation has none and accepts none."""
    talk.app.client.post("/api/conversations", json={"id": "empty"})
    empty = ConversationClient(talk.app, talk.upstream, "empty")
    assert empty.get("/files").json() == {"node_id": None, "files": []}
    assert refused(put(empty, "a.txt", "")) == (422, "UNKNOWN_MESSAGE", "node_id")
    with ZipFile(BytesIO(empty.get("/files.zip").content)) as archive:
        assert archive.namelist() == []
    missing = ConversationClient(talk.app, talk.upstream, "missing")
    for response in (missing.get("/files"), missing.get("/files.zip"), put(missing, "a.txt", "")):
        assert refused(response)[:2] == (404, "UNKNOWN_CONVERSATION")


def test_files_are_deleted_with_their_conversation(talk: ConversationClient) -> None:
    """A conversation that is created again under the same id has no files of the deleted one."""
    assert talk.app.client.delete(f"/api/conversations/{talk.id}").status_code == 200
    talk.app.client.post("/api/conversations", json={"id": talk.id})
    assert talk.get("/files").json() == {"node_id": None, "files": []}


def test_the_export_has_all_versions(talk: ConversationClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JSON export has the versions of all branches; the newest ones with their text, images without content."""
    put(talk, "logo.png", PNG)
    talk.app.client.delete(url(talk, "logo.png"))
    put(talk, "index.html", "<h1>2</h1>")
    files = talk.get("/export", format="json").json()["files"]
    assert [(one["number"], one["path"], one["author"], one["is_deleted"], one.get("text")) for one in files] == [
        (1, "index.html", "model", False, "<h1>1</h1>"),
        (2, "logo.png", "person", False, None),
        (3, "logo.png", "person", True, None),
        (4, "index.html", "person", False, "<h1>2</h1>"),
    ]
    monkeypatch.setattr(exported, "MOST_TEXT", 15)
    assert ["text" in one for one in talk.get("/export", format="json").json()["files"]] == [False, False, False, True]
