"""The content of a file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The content of one version of a file."""

    content: bytes
    version: int

    @property
    def text(self) -> str:
        """The content as text. An image has no text, so use `content`."""
        return self.content.decode()
