"""Searches the web through Tavily's API, with a key."""

import asyncio

import httpx
import orjson

from signalbox.core.messages import JsonObject
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.api import Account, SearchApi, Sleep, hits_of
from signalbox.services.search.setup import SearchSetup, account_of

URL = "https://api.tavily.com"


class TavilySearch:
    """A SearchBackend over `POST /search` (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

    name = "tavily"
    about = "the web (through Tavily)"
    paid = True

    def __init__(self, client: httpx.AsyncClient, account: Account, *, sleep: Sleep = asyncio.sleep) -> None:
        self._api = SearchApi("Tavily", client, sleep=sleep)
        self._account = account

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        answer = await self._api.ask(self._request(query))
        return hits_of(answer.get("results"), query, snippet="content", published="published_date")

    def _request(self, query: SearchQuery) -> httpx.Request:
        headers = {
            "accept": "application/json",
            "authorization": f"Bearer {self._account.key}",
            "content-type": "application/json",
        }
        url = f"{self._account.base_url.rstrip('/')}/search"
        return httpx.Request("POST", url, content=orjson.dumps(_body(query)), headers=headers)


def _body(query: SearchQuery) -> JsonObject:
    """Return the request body; the basic depth costs one credit, the advanced one two."""
    body: JsonObject = {"query": query.text, "max_results": query.limit, "search_depth": "basic"}
    if query.after or query.before:
        dates = {"start_date": query.after, "end_date": query.before}
        return body | {name: day for name, day in dates.items() if day}
    return body | ({"time_range": query.time_hint} if query.time_hint else {})


def from_setup(setup: SearchSetup) -> TavilySearch:
    """Return the backend; raises SearchUnavailableError."""
    return TavilySearch(setup.client, account_of("TAVILY", setup.tavily))
