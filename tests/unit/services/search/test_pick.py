"""Which search backend is used, and the reason if there is none."""

import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.core.tools import SearchBackend
from signalbox.extras import how_to_install
from signalbox.services.search import ddgs, pick
from signalbox.services.search.brave import BraveSearch
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.searxng import SearxngSearch
from signalbox.services.search.setup import SearchSetup
from signalbox.services.search.tavily import TavilySearch

pytestmark = pytest.mark.anyio

BRAVE, TAVILY, SEARXNG = ("https://brave.test", "k3y"), ("https://tavily.test", "k3y"), "http://searx.test"


async def picked(folder: Path, **given: Any) -> tuple[SearchBackend | None, str | None]:
    """Pick a backend for these settings only."""
    wanted = given.pop("wanted", None)
    async with httpx.AsyncClient() as client:
        setup = SearchSetup(**{"client": client, "docs_folder": folder, "own_docs": True, **given})
        backend, why = pick(wanted, setup)
    if isinstance(backend, DocsSearch):
        backend.close()
    return backend, why


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, DocsSearch),
        ({"wanted": ""}, DocsSearch),
        ({"searxng_url": SEARXNG}, SearxngSearch),
        ({"searxng_url": SEARXNG, "tavily": TAVILY}, TavilySearch),
        ({"searxng_url": SEARXNG, "tavily": TAVILY, "brave": BRAVE}, BraveSearch),
        ({"brave": ("https://brave.test", "")}, DocsSearch),
        ({"wanted": "docs", "brave": BRAVE}, DocsSearch),
        ({"wanted": "tavily", "tavily": TAVILY, "brave": BRAVE}, TavilySearch),
        ({"wanted": " SearXNG ", "searxng_url": SEARXNG, "brave": BRAVE}, SearxngSearch),
    ],
)
async def test_the_named_backend_or_the_first_configured_one(tmp_path: Path, given: dict[str, Any], kind: type):
    """Without a name: Brave, Tavily or SearXNG in this order if configured, otherwise the documents."""
    backend, why = await picked(tmp_path, **given)
    assert isinstance(backend, kind)
    assert why is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"wanted": "searxng"}, "SEARXNG_URL is not set"),
        ({"wanted": "searxng", "searxng_url": "searx.test"}, "SEARXNG_URL is not an http or https address"),
        ({"searxng_url": "http://:s3cret@[::1"}, "SEARXNG_URL is not an http or https address"),
        ({"wanted": "brave"}, "SEARCH_BACKEND is brave, but BRAVE_API_KEY is not set"),
        ({"wanted": "tavily", "brave": BRAVE}, "SEARCH_BACKEND is tavily, but TAVILY_API_KEY is not set"),
        ({"brave": ("https://brave.test", "s3cret s3cret")}, "BRAVE_API_KEY or BRAVE_BASE_URL cannot be used"),
        ({"brave": ("https://brave.test", "s3cr\u00e9t")}, "BRAVE_API_KEY or BRAVE_BASE_URL cannot be used"),
        ({"tavily": ("ftp://tavily.test", "s3cret")}, "TAVILY_API_KEY or TAVILY_BASE_URL cannot be used"),
        ({"wanted": "docs", "docs_folder": Path("missing")}, "the folder to search (missing) does not exist"),
        ({"docs_folder": Path("missing")}, "the folder to search (missing) does not exist"),
        ({"wanted": "none"}, "search is turned off"),
        ({"wanted": "goggle"}, '"goggle", which is unknown; choose brave, tavily, searxng, ddgs, docs or none'),
    ],
)
async def test_without_a_backend_the_reason_is_a_sentence(tmp_path: Path, given: dict[str, Any], why: str):
    """The reason names the setting and contains no URL or key."""
    backend, reason = await picked(tmp_path, **given)
    assert backend is None
    assert reason is not None
    assert why in reason
    assert "s3cr" not in reason


async def test_ddgs_is_used_only_if_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An installed package is not enough; without the package the reason says how to install it."""
    backend, _ = await picked(tmp_path)
    assert isinstance(backend, DocsSearch)
    monkeypatch.setattr(ddgs, "installed", lambda: lambda *_, **__: [])
    backend, _ = await picked(tmp_path, wanted="ddgs", brave=BRAVE)
    assert isinstance(backend, ddgs.DdgsSearch)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "ddgs", None)
    assert (await picked(tmp_path, wanted="ddgs")) == (
        None,
        f"SEARCH_BACKEND is ddgs, but the package ddgs is not installed ({how_to_install('ddgs')})",
    )


async def test_a_paid_backend_says_so(tmp_path: Path):
    """A paid backend has another default limit of searches."""
    paid = {}
    for name in ("brave", "tavily", "searxng", "docs"):
        backend, _ = await picked(tmp_path, wanted=name, brave=BRAVE, tavily=TAVILY, searxng_url=SEARXNG)
        assert backend is not None
        paid[name] = backend.paid
    assert paid == {"brave": True, "tavily": True, "searxng": False, "docs": False}
