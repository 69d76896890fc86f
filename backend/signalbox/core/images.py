"""The port through which tools draw images with a model."""

from collections.abc import Sequence
from typing import Protocol

from signalbox.core.tools import ToolContext
from signalbox.core.workspace import WorkspaceFile


class ImageModel(Protocol):
    """A model that draws images. Its requests count for the run of the tool's call."""

    async def draw(
        self, context: ToolContext, prompt: str, sources: Sequence[WorkspaceFile] = (), aspect_ratio: str | None = None
    ) -> bytes:
        """Return an image file, drawn from a prompt and the images that it refers to; raises ToolError."""
        ...
