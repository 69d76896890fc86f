"""The files of a conversation."""

from collections.abc import Sequence
from typing import Any

import httpx

from signalbox_client import bodies
from signalbox_client._sync.server import Server
from signalbox_client.errors import foreign
from signalbox_client.files import FileContent
from signalbox_client.paths import path_of, quoted_file


class Files:
    """The files of a branch of a conversation.

    The methods that change a file return the new version. If the file has another version than `base_version`, they
    raise `Conflict`, and nothing changes. `base_version=0` means that the file must not exist. After `ConnectionLost`,
    check with `versions` whether the change was made before you try again.
    """

    def __init__(self, server: Server, conversation_id: str, node_id: str | None) -> None:
        self._server = server
        self._conversation_id = conversation_id
        self._branch = {} if node_id is None else {"node_id": node_id}

    def list(self) -> Sequence[bodies.File]:
        """Return the newest version of each file, without deleted files."""
        return (self._server.json("GET", self._path("files"), "files", params=self._branch))["files"]

    def get(self, path: str, version: int | None = None) -> FileContent:
        """Return the content of a version; default: the newest one."""
        given = {} if version is None else {"version": version}
        response = self._get(self._path("files", quoted_file(path)), "", **given)
        if not (found := response.headers.get("x-file-version", "")).isdecimal():
            raise foreign(response)
        return FileContent(content=response.content, version=int(found))

    def write(self, path: str, content: str | bytes, base_version: int | None = None) -> bodies.FileVersion:
        """Write a new version of a file: text, or the bytes of text or of an image."""
        return self._change("PUT", self._path("files", quoted_file(path)), base_version, content=content)

    def delete(self, path: str, base_version: int | None = None) -> bodies.FileVersion:
        """Delete a file from the branch. Its versions are kept, so you can restore the file."""
        return self._change("DELETE", self._path("files", quoted_file(path)), base_version)

    def versions(self, path: str) -> Sequence[bodies.FileVersion]:
        """Return all versions of a file, the newest first, including deletions."""
        found = self._path("file-versions", quoted_file(path))
        return (self._server.json("GET", found, "versions", params=self._branch))["versions"]

    def restore(self, path: str, version: int) -> bodies.FileVersion:
        """Restore a version of a file: its content becomes a new version."""
        return self._change("POST", self._path("file-versions", quoted_file(path)), body={"version": version})

    def archive(self) -> bytes:
        """Return the newest version of each file as a zip archive."""
        return (self._get(self._path("files.zip"), "application/zip")).content

    def _path(self, *names: str) -> str:
        return path_of("conversations", self._conversation_id, *names)

    def _get(self, path: str, kind: str, **given: int) -> httpx.Response:
        response = self._server.send("GET", path, params={**self._branch, **given})
        if not response.headers.get("content-type", "").startswith(kind):
            raise foreign(response)
        return response

    def _change(self, method: str, path: str, base_version: int | None = None, **given: Any) -> bodies.FileVersion:
        query = {**self._branch, **({} if base_version is None else {"base_version": base_version})}
        return self._server.json(method, path, "version", params=query, repeatable=False, **given)
