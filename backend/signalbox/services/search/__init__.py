"""The search backends: built-in ones, one per file, those of plugins, and their selection."""

from collections.abc import Callable
from typing import TypeAlias

import httpx

from signalbox.core.tools import SearchBackend, SearchUnavailableError
from signalbox.services.http.connect import default_tls
from signalbox.services.plugin_backend import OnClose
from signalbox.services.search import brave, ddgs, docs, searxng, tavily
from signalbox.services.search.plugin import plugin_backend, plugin_names
from signalbox.services.search.setup import SearchSetup

# Other layers use this name, because they must not import httpx.
Client: TypeAlias = httpx.AsyncClient
Picked: TypeAlias = tuple[SearchBackend | None, str | None]

BUILT_IN: dict[str, Callable[[SearchSetup], SearchBackend]] = {
    "brave": brave.from_setup,
    "tavily": tavily.from_setup,
    "searxng": searxng.from_setup,
    "ddgs": ddgs.from_setup,
    "docs": docs.from_setup,
}
_OFF = ("none", "off")
_MAX_CONNECTIONS = 1000
NAMES = (*BUILT_IN, *_OFF)

__all__ = ["BUILT_IN", "NAMES", "Client", "OnClose", "Picked", "pick", "plugin_names", "search_client"]


def search_client() -> Client:
    """Make the HTTP client that the search backends share; the caller closes it."""
    limits = httpx.Limits(max_connections=_MAX_CONNECTIONS)
    return httpx.AsyncClient(verify=default_tls(), limits=limits, headers={"accept-encoding": "identity"})


def pick(wanted: str | None, setup: SearchSetup, on_close: OnClose = lambda _: None) -> Picked:
    """Return the search backend, or None and the reason.

    Without `wanted`, it is the first of Brave, Tavily and SearXNG that is configured, otherwise the documents and
    notes. `on_close` receives a function that stops a plugin's thread.
    """
    name = (wanted or "").strip().lower() or _first_configured(setup)
    if name in _OFF:
        return None, "search is turned off (SEARCH_BACKEND)"
    try:
        if name in BUILT_IN:
            return BUILT_IN[name](setup), None
        if name in plugin_names():
            return plugin_backend(name, on_close), None
    except SearchUnavailableError as reason:
        return None, str(reason)
    known = ", ".join((*BUILT_IN, *plugin_names()))
    return None, f'SEARCH_BACKEND is "{name[:40]}", which is unknown; choose {known} or none'


def _first_configured(setup: SearchSetup) -> str:
    candidates = (("brave", setup.brave[1]), ("tavily", setup.tavily[1]), ("searxng", setup.searxng_url))
    return next((name for name, setting in candidates if setting), "docs")
