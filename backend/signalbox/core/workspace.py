"""The files of a conversation's branch: their versions, and the port through which tools read and write them."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

Author: TypeAlias = Literal["model", "person"]
SVG = "image/svg+xml"


class FileVersion(Struct, frozen=True):
    """One version of a file, without its content.

    `path` is relative and uses `/`. `version` counts the versions of this path on the branch, from 1. `size` is in
    bytes. `created` is in epoch seconds. `node_id` is the node of the conversation that the version belongs to: the run
    that wrote it, or the node after which a person wrote it. A deletion is a version, too.
    """

    path: str
    version: int
    media_type: str
    size: int
    author: Author
    created: float
    node_id: str
    is_deleted: bool = False


class WorkspaceFile(Struct, frozen=True):
    """A version with its content. Text is UTF-8."""

    version: FileVersion
    content: bytes

    @property
    def text(self) -> str | None:
        """The content as text, None for an image. SVG is text."""
        return None if is_image(self.version.media_type) else self.content.decode()


def is_image(media_type: str) -> bool:
    """Return whether files of a media type are images and not text; SVG is text."""
    return media_type.startswith("image/") and media_type != SVG


class Option(Struct, frozen=True):
    """One of the variants that answer the same question. `number` counts from 1; `is_own` marks the run's own."""

    number: int
    run_id: str
    model: str
    is_own: bool


class Workspace(Protocol):
    """The files of one branch. A run's tools share one workspace, which contains what the run has written so far."""

    def locked(self) -> AbstractAsyncContextManager[None]:
        """Return the lock of a change: a tool holds it from reading a file to writing it, because calls overlap."""
        ...

    async def files(self) -> Sequence[FileVersion]:
        """Return the newest version of each file that is not deleted, by path."""
        ...

    async def find(self, path: str) -> WorkspaceFile | None:
        """Return the newest version of a file; None for an unknown or deleted one."""
        ...

    async def write(self, path: str, content: bytes, media_type: str = "") -> FileVersion:
        """Store a new version by the model; without a media type, the path's ending decides. Raises ToolError.

        The error names an invalid path, or the limit of sizes or numbers that the file would exceed.
        """
        ...

    async def options(self) -> Sequence[Option]:
        """Return the variants of the newest question with several answers; empty if there is none.

        The run's own question counts only if no earlier question of the branch has several answers.
        """
        ...

    async def files_of_option(self, number: int) -> Sequence[WorkspaceFile]:
        """Return the files of a variant as they are now; raises ToolError with the numbers that exist."""
        ...
