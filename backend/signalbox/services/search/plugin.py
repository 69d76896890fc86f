"""Search backends of plugins, from the entry points of the group `signalbox.search_backends`."""

from dataclasses import dataclass
from typing import cast

from signalbox.core.tools import SearchBackend, SearchHit, SearchQuery
from signalbox.services.plugin_backend import OnClose, PluginBackend, load_backend, names_of

GROUP = "signalbox.search_backends"


def plugin_names() -> list[str]:
    """Return the names of the backends of installed packages."""
    return names_of(GROUP)


def plugin_backend(name: str, on_close: OnClose) -> SearchBackend:
    """Load a backend by name; raises SearchUnavailableError."""
    loaded = load_backend(GROUP, name, "search backend", "SEARCH_BACKEND", on_close)
    return PluginSearch(loaded.name, loaded.about, loaded.paid, loaded)


@dataclass(slots=True)
class PluginSearch:
    """Wraps a plugin's SearchBackend; turns its exceptions into ToolError and validates its hits."""

    name: str
    about: str
    paid: bool
    plugin: PluginBackend

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        found = await self.plugin.call(lambda: cast(SearchBackend, self.plugin.backend).search(query))
        try:
            return _hits(found, query.limit)
        except TypeError as error:
            raise self.plugin.failed(error) from None


def _hits(found: object, most: int) -> list[SearchHit]:
    """Return the first hits of a plugin's result; raises TypeError for anything else."""
    if not isinstance(found, list | tuple):
        raise TypeError("not a list of SearchHit")
    first = cast("list[object]", found)[:most]
    if not all(isinstance(one, SearchHit) for one in first):
        raise TypeError("not a list of SearchHit")
    hits = cast("list[SearchHit]", first)
    texts = [text for one in hits for text in (one.title, one.url, one.snippet, one.published or "")]
    if not all(isinstance(cast(object, text), str) for text in texts):
        raise TypeError("a hit holds something other than text")
    return list(hits)
