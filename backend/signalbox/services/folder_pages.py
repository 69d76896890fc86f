"""Reads pages of folders that this server also serves: the guide and the notes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import PageFetcher, WebPage
from signalbox.services.search.docs_index import LARGEST_FILE
from signalbox.services.search.pages import HTML, SUFFIXES


class FolderPages:
    """A PageFetcher for folders by their path in the app ("/guide/"); other URLs go to `web`."""

    def __init__(self, folders: Mapping[str, Path], web: PageFetcher) -> None:
        self._folders = {place: folder.resolve() for place, folder in folders.items()}
        self._web = web

    async def fetch(self, url: str) -> WebPage:
        """Return a page from a folder if the URL starts with its path, else from the web."""
        if not url.startswith("/") or url.startswith("//"):
            return await self._web.fetch(url)
        path = urlsplit(url).path
        return await asyncio.to_thread(self._load, path)

    def _load(self, path: str) -> WebPage:
        found = self._file(path)
        if found is None:
            raise ToolError(Code.TOOL_FAILED, "There is no page at this address.")
        try:
            with found.open("rb") as stream:
                body = stream.read(LARGEST_FILE + 1)
        except OSError:
            raise ToolError(Code.TOOL_FAILED, "The page cannot be read.") from None
        kind = "text/html" if found.suffix.lower() in HTML else "text/markdown"
        return WebPage(path, kind, body[:LARGEST_FILE].decode("utf-8-sig", "replace"), len(body) > LARGEST_FILE)

    def _file(self, path: str) -> Path | None:
        """Return the file for a URL if search would index it: of a known type, within its folder."""
        for place, folder in self._folders.items():
            if path.startswith(place):
                within = Path(unquote(path.removeprefix(place)))
                if any(part.startswith(".") for part in within.parts) or within.suffix.lower() not in SUFFIXES:
                    return None
                try:
                    file = (folder / within).resolve()
                    return file if file.is_relative_to(folder) and file.is_file() else None
                except (OSError, ValueError, RuntimeError):  # a null byte, a loop of symbolic links
                    return None
        return None
