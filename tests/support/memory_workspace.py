"""A workspace in memory, for tests of tools."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from signalbox.conversations.files.paths import checked_media_type, checked_path
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, ToolError
from signalbox.core.workspace import Author, FileVersion, Option, WorkspaceFile


class MemoryWorkspace:
    """A Workspace without a database. It has no limits of sizes and numbers; `full` makes every write fail.

    `versions` are all versions in order of their creation. `variants` are the files of the other options by number.
    """

    def __init__(
        self, texts: Mapping[str, str] | None = None, variants: Mapping[int, Mapping[str, str]] | None = None
    ) -> None:
        self.versions: list[WorkspaceFile] = []
        self.variants = dict(variants or {})
        self.full = False
        self._lock = asyncio.Lock()
        for path, text in (texts or {}).items():
            self.add(path, text.encode(), author="person")

    def add(self, path: str, content: bytes, media_type: str = "", author: Author = "model") -> FileVersion:
        """Add a version without a limit."""
        same = [one for one in self.versions if one.version.path == path]
        kind = checked_media_type(checked_path(path), content, media_type)
        made = FileVersion(path, len(same) + 1, kind, len(content), author, float(len(self.versions)), "run")
        self.versions.append(WorkspaceFile(made, content))
        return made

    def delete(self, path: str) -> None:
        """Delete a file, as a person does it."""
        place = len([one for one in self.versions if one.version.path == path]) + 1
        made = FileVersion(path, place, "text/plain", 0, "person", float(len(self.versions)), "run", is_deleted=True)
        self.versions.append(WorkspaceFile(made, b""))

    def text(self, path: str) -> str | None:
        """Return the newest text of a file, None without one."""
        return next((one.text for one in self._newest() if one.version.path == path), None)

    def locked(self) -> AbstractAsyncContextManager[None]:
        return self._lock

    async def files(self) -> Sequence[FileVersion]:
        return [one.version for one in self._newest()]

    async def find(self, path: str) -> WorkspaceFile | None:
        await asyncio.sleep(0)  # other calls go on meanwhile, as with a database
        return next((one for one in self._newest() if one.version.path == path), None)

    async def write(self, path: str, content: bytes, media_type: str = "") -> FileVersion:
        await asyncio.sleep(0)
        if self.full:
            raise ToolError(Code.FILE_LIMIT, "The branch has 100 files already, and 100 are allowed.")
        try:
            return self.add(path, content, media_type)
        except RequestError as error:
            raise ToolError(Code.INVALID_ARGUMENTS, error.message) from error

    async def options(self) -> Sequence[Option]:
        return [Option(number, f"run-{number}", "openai/sim", is_own=False) for number in sorted(self.variants)]

    async def files_of_option(self, number: int) -> Sequence[WorkspaceFile]:
        if number not in self.variants:
            count = len(self.variants)
            raise ToolError(Code.INVALID_ARGUMENTS, f"There is no option {number}. The options are 1 to {count}.")
        return MemoryWorkspace(self.variants[number])._newest()

    def _newest(self) -> list[WorkspaceFile]:
        newest = {one.version.path: one for one in self.versions}
        return [newest[path] for path in sorted(newest) if not newest[path].version.is_deleted]
