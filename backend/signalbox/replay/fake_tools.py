"""The built-in tools with a fake search, fake pages and fake notes, which return constant results."""

from datetime import UTC, datetime

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SavedNote, SearchHit, SearchQuery, Tool, WebPage
from signalbox.tools.registry import built_in

# The time in all scenarios, so that both runs of a question get the same one.
NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


class FakeSearch:
    """A SearchBackend that finds one page for every query, and fails if the query contains "unfindable"."""

    name = "fake"
    about = "fake pages"
    paid = False

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return one page about the query."""
        if "unfindable" in query.text.casefold():
            raise ToolError(Code.TOOL_FAILED, "The search failed.")
        slug = "-".join(query.text.casefold().split())
        snippet = f"This page has one sentence about {query.text}."
        return [SearchHit(f"About {query.text}", f"https://example.org/{slug}", snippet)]


class FakePages:
    """A PageFetcher that returns a page for every URL."""

    async def fetch(self, url: str) -> WebPage:
        """Return a page that contains its URL."""
        return WebPage(url, "text/plain", f"This is the page {url}.")


class FakeNotes:
    """A NoteStore that stores nothing."""

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Return a constant file name."""
        return SavedNote("note.md", "/notes/note.md")


def fake_tools() -> list[Tool]:
    """Return the built-in tools; none has a side effect."""
    return built_in(FakeSearch(), None, pages=FakePages(), notes=FakeNotes())
