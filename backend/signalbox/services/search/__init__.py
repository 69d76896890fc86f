"""One search backend per file, and the choice among them."""

from pathlib import Path

import httpx

from signalbox.core.tools import SearchBackend
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.searxng import SearxngSearch


def pick(
    *,
    wanted: str | None,
    searxng_url: str | None,
    docs_folder: Path,
    own_docs: bool,
    client: httpx.AsyncClient,
    database: Path | None = None,
) -> tuple[SearchBackend | None, str | None]:
    """Return the backend to search with, or None and why there is none.

    With none wanted by name it is SearXNG where its URL is set, else the docs folder. `own_docs` says that the folder
    holds this project's documentation; `database` keeps the index of the folder from one start to the next.
    """
    match (wanted or "").strip().lower() or ("searxng" if searxng_url else "docs"):
        case "searxng":
            return _searxng(searxng_url, client)
        case "docs":
            return _docs(docs_folder, own_docs, database)
        case "none" | "off":
            return None, "search is switched off (SEARCH_BACKEND)"
        case other:
            return None, f'SEARCH_BACKEND is "{other[:40]}", which is not known; there are searxng, docs and none'


def _searxng(url: str | None, client: httpx.AsyncClient) -> tuple[SearchBackend | None, str | None]:
    if not url:
        return None, "SEARCH_BACKEND is searxng, but SEARXNG_URL is not set"
    try:
        return SearxngSearch(client, url), None
    except ValueError:
        return None, "SEARXNG_URL is not an http or https address"


def _docs(folder: Path, own: bool, database: Path | None) -> tuple[SearchBackend | None, str | None]:
    if not folder.is_dir():
        return None, f"the folder to search ({folder.name}) does not exist; set SIGNALBOX_DOCS to one that does"
    return DocsSearch(folder, database, own=own), None
