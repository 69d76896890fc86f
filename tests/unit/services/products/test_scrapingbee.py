"""ScrapingBee as the way to a marketplace, against a scripted server on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.products import ProductQuery
from signalbox.services.products.scrapingbee import ScrapingBee
from signalbox.services.search.api import Account
from structlog.testing import capture_logs

from tests.support.web_server import Site, reply, site

pytestmark = pytest.mark.anyio

KEY = "bee-s3cret"
PAGES = Path(__file__).parent / "pages"


@asynccontextmanager
async def bee(*answers: bytes) -> AsyncIterator[tuple[ScrapingBee, Site]]:
    """Serve the answers on loopback, and return a source that uses them."""
    async with site(*answers) as there, httpx.AsyncClient(trust_env=False) as client:
        yield ScrapingBee(client, Account(f"{there.url}/api/v1", KEY), sleep=there.sleep), there


async def test_the_page_is_rendered_in_japan() -> None:
    """The request has the key, the address of the search and the options of ScrapingBee."""
    async with bee(reply((PAGES / "items.html").read_bytes())) as (source, there):
        found = await source.search(ProductQuery("マグ", max_price=2000))
    assert [one.title for one in found] == ["赤いマグカップ", "ホーローのカップ & ソーサー", "Vintage mug"]
    [asked] = there.asked
    assert asked.path.startswith("/api/v1/?")
    assert asked.params == {
        "api_key": KEY,
        "url": "https://jp.mercari.com/search?keyword=%E3%83%9E%E3%82%B0&status=on_sale&price_max=2000",
        "render_js": "true",
        "wait": "5000",
        "premium_proxy": "true",
        "country_code": "jp",
    }


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (reply("{}", status=401), Code.TOOL_FAILED, "ScrapingBee rejected the API key set on this server."),
        (reply("{}", status=429), Code.RATE_LIMIT, "ScrapingBee received too many requests"),
        (reply("{}", status=500), Code.TOOL_FAILED, "ScrapingBee answered with status 500."),
        (reply("<p>Just a moment</p>"), Code.TOOL_FAILED, "has changed or was not loaded"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5000000\r\n\r\n" + b" " * 5_000_000, Code.TOOL_FAILED, "too large"),
        (b"nonsense", Code.TOOL_FAILED, "ScrapingBee cannot be reached."),
    ],
)
async def test_failures_never_show_the_key(answer: bytes, code: Code, says: str) -> None:
    """Neither in the sentence nor in a log line, although it is in the address."""
    with capture_logs() as logs:
        async with bee(answer) as (source, _):
            with pytest.raises(ToolError) as raised:
                await source.search(ProductQuery("x"))
    assert raised.value.code is code
    assert says in raised.value.message
    assert KEY not in f"{raised.value.message} {raised.value!r} {logs}"
