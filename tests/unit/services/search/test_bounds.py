"""Limits for responses of search services: only the first results, and the first characters of a field."""

from typing import Any

import pytest
from signalbox.core.messages import JsonValue
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.plugin_backend import PluginBackend
from signalbox.services.search import api
from signalbox.services.search.api import LONGEST_FIELD, MOST_RESULTS, day_of, hits_of, text_of
from signalbox.services.search.plugin import PluginSearch
from signalbox.tools.plugin_thread import PluginThread

pytestmark = pytest.mark.anyio


def test_only_the_first_results_are_processed(monkeypatch: pytest.MonkeyPatch):
    """A hundred thousand results take as many steps as a hundred."""
    dated: list[object] = []

    def seen(value: Any) -> str | None:
        dated.append(value)
        return day_of(value)

    monkeypatch.setattr(api, "day_of", seen)
    results: list[JsonValue] = [
        {"url": f"https://a.org/{n}", "published": "Tue, 11 Feb 2025 09:12:00 GMT"} for n in range(100_000)
    ]
    hits = hits_of(results, SearchQuery("x", 3), snippet="text", published="published")
    assert [hit.url for hit in hits] == ["https://a.org/0", "https://a.org/1", "https://a.org/2"]
    assert len(dated) == MOST_RESULTS


def test_only_the_beginning_of_a_field_is_processed():
    """Markup is removed only from the characters that a search could show."""
    assert len(text_of("<b>x</b>" * 100_000)) == LONGEST_FIELD // 8
    assert day_of("Tue, 11 Feb 2025 09:12:00 GMT" + " " * 10_000_000) == "2025-02-11"


class Endless:
    """A plugin's backend that returns many more hits than requested, followed by invalid ones."""

    about, paid = "everything", False

    async def search(self, query: SearchQuery) -> list[Any]:
        return [SearchHit("One", "https://one.org/", "first"), *[None] * 100_000]


async def test_a_plugins_surplus_hits_are_ignored():
    """Only the requested number of hits is checked."""
    thread = PluginThread("endless")
    try:
        search = PluginSearch(
            *("endless", "everything", False),
            PluginBackend("endless", "search backend", "everything", False, Endless(), thread),
        )
        assert [hit.title for hit in await search.search(SearchQuery("x", 1))] == ["One"]
    finally:
        thread.close()
