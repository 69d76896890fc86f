"""The Tavily backend against a scripted server on loopback: real HTTP, real JSON."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.api import Account
from signalbox.services.search.tavily import TavilySearch

from tests.support.web_server import Site, json_reply, reply, site

pytestmark = pytest.mark.anyio

KEY = "tvly-s3cret"
RESULTS = {
    "query": "x",
    "results": [
        {"title": "One", "url": "https://one.org/", "content": "first", "score": 0.9},
        {
            "title": "News",
            "url": "https://news.org/",
            "content": "second",
            "published_date": "Tue, 11 Feb 2025 09:12:00 GMT",
        },
        {"title": "Three", "url": "https://three.org/", "content": "third", "published_date": "2025-02-12"},
        {"title": "Odd", "url": "https://odd.org/", "content": None, "published_date": "yesterday"},
    ],
}


@asynccontextmanager
async def tavily(*answers: bytes) -> AsyncIterator[tuple[TavilySearch, Site]]:
    """Serve the answers on loopback, and return a backend that uses them."""
    async with site(*answers) as there, httpx.AsyncClient(trust_env=False) as client:
        yield TavilySearch(client, Account(there.url, KEY), sleep=there.sleep), there


async def test_results_become_hits():
    """Title, URL, text and date in either form are read; the key is a bearer token and not in the body."""
    async with tavily(json_reply(RESULTS)) as (search, there):
        assert await search.search(SearchQuery("red pandas", 5)) == [
            SearchHit("One", "https://one.org/", "first", None),
            SearchHit("News", "https://news.org/", "second", "2025-02-11"),
            SearchHit("Three", "https://three.org/", "third", "2025-02-12"),
            SearchHit("Odd", "https://odd.org/", "", None),
        ]
    asked = there.asked[0]
    assert asked.line == "POST /search HTTP/1.1"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json == {"query": "red pandas", "max_results": 5, "search_depth": "basic"}


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        (SearchQuery("x"), {}),
        (SearchQuery("x", time_hint="week"), {"time_range": "week"}),
        (SearchQuery("x", after="2025-01-01"), {"start_date": "2025-01-01"}),
        (SearchQuery("x", before="2025-02-01"), {"end_date": "2025-02-01"}),
        (
            SearchQuery("x", time_hint="day", after="2025-01-01", before="2025-02-01"),
            {"start_date": "2025-01-01", "end_date": "2025-02-01"},
        ),
    ],
)
async def test_time_becomes_tavilys_fields(query: SearchQuery, filters: dict[str, Any]):
    """Dates take precedence over a hint, and missing limits are omitted."""
    async with tavily(json_reply({"results": []})) as (search, there):
        assert await search.search(query) == []
    body = there.asked[0].json
    assert {name: body[name] for name in ("time_range", "start_date", "end_date") if name in body} == filters


async def test_429_is_retried_once():
    """The whole request is repeated, and a second 429 is an error with its code."""
    async with tavily(reply(status=429, retry_after="1"), json_reply(RESULTS)) as (search, there):
        assert len(await search.search(SearchQuery("x", 2))) == 2
    assert there.slept == [1.0]
    assert there.asked[0].json == there.asked[1].json
    async with tavily(reply(status=429)) as (search, there):
        with pytest.raises(ToolError) as raised:
            await search.search(SearchQuery("x"))
    assert (raised.value.code, len(there.asked)) == (Code.RATE_LIMIT, 2)


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "rejected the API key"), (432, "status 432"), (500, "status 500")],
)
async def test_errors_are_sentences(status: int, words: str):
    """Errors contain neither the service's text nor the key."""
    answer = json_reply({"detail": {"error": f"Unauthorized: {KEY}"}}, status=status)
    async with tavily(answer) as (search, _):
        with pytest.raises(ToolError) as raised:
            await search.search(SearchQuery("x"))
    assert words in raised.value.message
    assert KEY not in raised.value.message
