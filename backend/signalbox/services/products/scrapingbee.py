"""Searches jp.mercari.com, whose pages ScrapingBee renders, with a key."""

import asyncio
from functools import partial
from urllib.parse import urlencode

import httpx

from signalbox.core.products import Product, ProductQuery
from signalbox.core.tools import SearchUnavailableError
from signalbox.extras import how_to_install
from signalbox.offload import offloaded
from signalbox.services.products import mercari
from signalbox.services.products.setup import ProductSetup
from signalbox.services.search.api import Account, SearchApi, Sleep

URL = "https://app.scrapingbee.com/api/v1"

# ScrapingBee renders the page in a browser, and tries again for up to 30 seconds.
_TIMEOUT = httpx.Timeout(45.0, connect=5.0)
_LARGEST_PAGE = 4 * 1024 * 1024
# The page is empty until its scripts have run, and foreign visitors see other prices.
_OPTIONS = {"render_js": "true", "wait": "5000", "premium_proxy": "true", "country_code": "jp"}


class ScrapingBee:
    """A ProductSource over `GET /api/v1` of ScrapingBee, which returns the HTML of a page.

    ScrapingBee takes the key as a query parameter, so the URL of a request is never logged or shown.
    """

    name = "scrapingbee"
    about = "the marketplace jp.mercari.com (used and new goods in Japan; Japanese words find the most)"
    currency = "JPY"
    paid = True
    notice = ""

    def __init__(self, client: httpx.AsyncClient, account: Account, *, sleep: Sleep = asyncio.sleep) -> None:
        self._api = SearchApi("ScrapingBee", client, sleep=sleep, timeout=_TIMEOUT, largest=_LARGEST_PAGE)
        self._account = account

    async def search(self, query: ProductQuery) -> list[Product]:
        """Return the products of the first page of results; raises ToolError."""
        page = await self._api.fetch(self._request(query))
        return await offloaded(partial(mercari.products_in, page, query.condition), size=len(page))

    def _request(self, query: ProductQuery) -> httpx.Request:
        params = {"api_key": self._account.key, "url": mercari.search_url(query), **_OPTIONS}
        return httpx.Request("GET", f"{self._account.base_url.rstrip('/')}/?{urlencode(params)}")


def from_setup(setup: ProductSetup) -> ScrapingBee:
    """Return the source; raises SearchUnavailableError."""
    base_url, key = setup.scrapingbee
    if not key:
        raise SearchUnavailableError("PRODUCT_SOURCE is scrapingbee, but SCRAPINGBEE_API_KEY is not set")
    if not mercari.has_parser():
        todo = how_to_install("scrapingbee")
        reason = f"PRODUCT_SOURCE is scrapingbee, but the package selectolax is not installed ({todo})"
        raise SearchUnavailableError(reason)
    try:
        return ScrapingBee(setup.client, Account(base_url, key.strip()))
    except ValueError as error:
        raise SearchUnavailableError(f"SCRAPINGBEE_API_KEY or SCRAPINGBEE_BASE_URL cannot be used: {error}") from None
