"""The ports through which tools make images: with a model, and with a browser."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from signalbox.core.tools import ToolContext
from signalbox.core.workspace import Workspace, WorkspaceFile


class ImageModel(Protocol):
    """A model that draws images. Its requests count for the run of the tool's call."""

    async def draw(
        self, context: ToolContext, prompt: str, sources: Sequence[WorkspaceFile] = (), aspect_ratio: str | None = None
    ) -> bytes:
        """Return an image file, drawn from a prompt and the images that it refers to; raises ToolError."""
        ...


class Screenshot(Struct, frozen=True):
    """An image of a page on a device, in CSS pixels. `page_height` is larger than `height` if the image was cut."""

    device: str
    width: int
    height: int
    page_height: int
    content: bytes


class PageView(Struct, frozen=True):
    """What a browser shows of a page: screenshots, messages of its console, and files that it could not load."""

    screenshots: tuple[Screenshot, ...]
    console: tuple[str, ...] = ()
    not_loaded: tuple[str, ...] = ()


class PageCamera(Protocol):
    """A browser that takes screenshots of pages. It loads the files of a workspace, and nothing else."""

    async def view(self, workspace: Workspace, path: str, devices: Sequence[str]) -> PageView:
        """Return screenshots of a page on these devices (desktop, phone); raises ToolError."""
        ...
