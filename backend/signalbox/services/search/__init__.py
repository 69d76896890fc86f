"""One search backend per file, and the choice among them."""

from pathlib import Path
from typing import TypeAlias

import httpx

from signalbox.core.tools import SearchBackend
from signalbox.services.search import ddgs
from signalbox.services.search.api import Account
from signalbox.services.search.brave import BraveSearch
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.searxng import SearxngSearch
from signalbox.services.search.tavily import TavilySearch

# What other layers call the client that they hand over: only services know it.
Client: TypeAlias = httpx.AsyncClient
Picked: TypeAlias = tuple[SearchBackend | None, str | None]


def pick(
    *,
    wanted: str | None,
    searxng_url: str | None,
    docs_folder: Path,
    own_docs: bool,
    client: Client,
    brave: tuple[str, str | None] = ("", None),
    tavily: tuple[str, str | None] = ("", None),
    notes: Path | None = None,
    database: Path | None = None,
) -> Picked:
    """Return the backend to search with, or None and why there is none.

    With none wanted by name it is the first that is set up of Brave, Tavily (each an address and a key) and SearXNG,
    else the docs folder, with the notes. ddgs is used only when it is named. `own_docs` says that the folder holds this
    project's documentation; `database` keeps the index of the folders from one start to the next.
    """
    set_up = (("brave", brave[1]), ("tavily", tavily[1]), ("searxng", searxng_url), ("docs", "always"))
    first = next(name for name, given in set_up if given)
    match (wanted or "").strip().lower() or first:
        case "brave":
            return _with_account(BraveSearch, "BRAVE", brave, client)
        case "tavily":
            return _with_account(TavilySearch, "TAVILY", tavily, client)
        case "searxng":
            return _searxng(searxng_url, client)
        case "ddgs":
            return _ddgs()
        case "docs":
            return _docs(docs_folder, own_docs, notes, database)
        case "none" | "off":
            return None, "search is switched off (SEARCH_BACKEND)"
        case other:
            names = "brave, tavily, searxng, ddgs, docs and none"
            return None, f'SEARCH_BACKEND is "{other[:40]}", which is not known; there are {names}'


def _with_account(
    make: type[BraveSearch] | type[TavilySearch], name: str, account: tuple[str, str | None], client: Client
) -> Picked:
    base_url, key = account
    if not key:
        return None, f"SEARCH_BACKEND is {name.lower()}, but {name}_API_KEY is not set"
    try:
        return make(client, Account(base_url, key.strip())), None
    except ValueError as error:
        return None, f"{name}_API_KEY or {name}_BASE_URL cannot be used: {error}"


def _ddgs() -> Picked:
    ask = ddgs.installed()
    if ask is None:
        return None, "SEARCH_BACKEND is ddgs, but the package ddgs is not installed (pip install 'signalbox[ddgs]')"
    return ddgs.DdgsSearch(ask), None


def _searxng(url: str | None, client: Client) -> Picked:
    if not url:
        return None, "SEARCH_BACKEND is searxng, but SEARXNG_URL is not set"
    try:
        return SearxngSearch(client, url), None
    except ValueError:
        return None, "SEARXNG_URL is not an http or https address"


def _docs(folder: Path, own: bool, notes: Path | None, database: Path | None) -> Picked:
    if not folder.is_dir():
        return None, f"the folder to search ({folder.name}) does not exist; set SIGNALBOX_DOCS to one that does"
    return DocsSearch(folder, database, own=own, notes=notes), None
