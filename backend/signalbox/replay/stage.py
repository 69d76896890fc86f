"""Tools for scenarios: the built-in ones over a search, pages and notes that are made up and always answer alike."""

from datetime import UTC, datetime

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SavedNote, SearchHit, SearchQuery, Tool, WebPage
from signalbox.tools.registry import built_in

# The clock of every scenario: two runs of one question must be told the same time.
NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


class MadeUpSearch:
    """A SearchBackend that finds one page for every query, and fails where the query says so."""

    name = "made-up"
    about = "pages that are made up"
    paid = False

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Find a page about the query."""
        if "unfindable" in query.text.casefold():
            raise ToolError(Code.TOOL_FAILED, "The search broke.")
        slug = "-".join(query.text.casefold().split())
        words = f"{query.text} is told here in one sentence, which is all there is to {query.text}."
        return [SearchHit(f"About {query.text}", f"https://example.org/{slug}", words)]


class MadeUpPages:
    """A PageFetcher that has every page."""

    async def fetch(self, url: str) -> WebPage:
        """Return a page that says its own address."""
        return WebPage(url, "text/plain", f"This is the page {url}.")


class NoNotes:
    """A NoteStore that keeps nothing, and says that it did."""

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Name the file that a note would have."""
        return SavedNote("note.md", "/notes/note.md")


def made_up_tools() -> list[Tool]:
    """Return the built-in tools; what they do can be seen nowhere."""
    return built_in(MadeUpSearch(), None, pages=MadeUpPages(), notes=NoNotes())
