"""Searches the web through Brave's Search API, with a key."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime

import httpx

from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.api import Account, SearchApi, Sleep, hits_of
from signalbox.services.search.setup import SearchSetup, account_of

URL = "https://api.search.brave.com/res/v1"

_MOST_WORDS = 50
_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_FIRST_DAY = "1990-01-01"


class BraveSearch:
    """A SearchBackend over `GET /web/search` (https://api-dashboard.search.brave.com/api-reference/web/search/get)."""

    name = "brave"
    about = "the web (through Brave Search)"
    paid = True

    def __init__(
        self,
        client: httpx.AsyncClient,
        account: Account,
        *,
        sleep: Sleep = asyncio.sleep,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._api = SearchApi("Brave Search", client, sleep=sleep)
        self._account = account
        self._today = today

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        answer = await self._api.ask(self._request(query))
        web = answer.get("web")  # absent if nothing was found
        return hits_of(web.get("results") if isinstance(web, dict) else None, query, snippet="description",
                       published="page_age")  # fmt: skip

    def _request(self, query: SearchQuery) -> httpx.Request:
        params = {
            "q": " ".join(query.text.split()[:_MOST_WORDS]),
            "count": str(query.limit),
            "text_decorations": "false",
            "result_filter": "web",
        }
        if freshness := self._freshness(query):
            params["freshness"] = freshness
        headers = {"accept": "application/json", "accept-encoding": "gzip", "x-subscription-token": self._account.key}
        url = f"{self._account.base_url.rstrip('/')}/web/search"
        return httpx.Request("GET", url, params=params, headers=headers)

    def _freshness(self, query: SearchQuery) -> str:
        """Return pd, pw, pm, py, or a date range, which takes precedence over a time hint."""
        if query.after or query.before:
            return f"{query.after or _FIRST_DAY}to{query.before or self._today().isoformat()}"
        return _FRESHNESS[query.time_hint] if query.time_hint else ""


def from_setup(setup: SearchSetup) -> BraveSearch:
    """Return the backend; raises SearchUnavailableError."""
    return BraveSearch(setup.client, account_of("BRAVE", setup.brave))
