"""Which backend is searched, and why there is none."""

from pathlib import Path

import httpx
import pytest
from signalbox.services.search import pick
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.searxng import SearxngSearch

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("wanted", "url", "kind"),
    [
        (None, None, DocsSearch),
        ("", "", DocsSearch),
        (None, "http://searx.test", SearxngSearch),
        ("docs", "http://searx.test", DocsSearch),
        (" SearXNG ", "http://searx.test", SearxngSearch),
    ],
)
async def test_the_backend_wanted_else_the_best_there_is(
    tmp_path: Path, wanted: str | None, url: str | None, kind: type
):
    """A name decides; without one SearXNG where it is set up, else the docs."""
    async with httpx.AsyncClient() as client:
        backend, why = pick(wanted=wanted, searxng_url=url, docs_folder=tmp_path, own_docs=True, client=client)
    assert isinstance(backend, kind)
    assert why is None
    if isinstance(backend, DocsSearch):
        backend.close()


@pytest.mark.parametrize(
    ("wanted", "url", "why"),
    [
        ("searxng", None, "SEARXNG_URL is not set"),
        ("searxng", "searx.test", "SEARXNG_URL is not an http or https address"),
        (None, "http://:s3cret@[::1", "SEARXNG_URL is not an http or https address"),
        ("docs", None, "the folder to search (missing) does not exist"),
        (None, None, "the folder to search (missing) does not exist"),
        ("none", None, "search is switched off"),
        ("goggle", None, '"goggle", which is not known; there are searxng, docs and none'),
    ],
)
async def test_without_a_backend_the_reason_is_a_sentence(
    tmp_path: Path, wanted: str | None, url: str | None, why: str
):
    """It names the setting, and never repeats an address."""
    folder = tmp_path / "missing"
    async with httpx.AsyncClient() as client:
        backend, reason = pick(wanted=wanted, searxng_url=url, docs_folder=folder, own_docs=False, client=client)
    assert backend is None
    assert reason is not None
    assert why in reason
    assert "s3cret" not in reason
