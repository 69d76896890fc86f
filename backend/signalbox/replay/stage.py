"""Built-in tools over a made-up search, pages and notes, with constant answers, for scenarios."""

from datetime import UTC, datetime

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SavedNote, SearchHit, SearchQuery, Tool, WebPage
from signalbox.tools.registry import built_in

# The clock of all scenarios, so that both runs of a question get the same time.
NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


class MadeUpSearch:
    """A SearchBackend that finds one page for every query, and fails if the query says so."""

    name = "made-up"
    about = "pages that are made up"
    paid = False

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return one page about the query."""
        if "unfindable" in query.text.casefold():
            raise ToolError(Code.TOOL_FAILED, "The search broke.")
        slug = "-".join(query.text.casefold().split())
        words = f"{query.text} is told here in one sentence, which is all there is to {query.text}."
        return [SearchHit(f"About {query.text}", f"https://example.org/{slug}", words)]


class MadeUpPages:
    """A PageFetcher that has every page."""

    async def fetch(self, url: str) -> WebPage:
        """Return a page that contains its URL."""
        return WebPage(url, "text/plain", f"This is the page {url}.")


class NoNotes:
    """A NoteStore that stores nothing."""

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Return the file name that a note would have."""
        return SavedNote("note.md", "/notes/note.md")


def made_up_tools() -> list[Tool]:
    """Return the built-in tools, without side effects."""
    return built_in(MadeUpSearch(), None, pages=MadeUpPages(), notes=NoNotes())
