"""The Brave backend against a scripted server on loopback: real HTTP, real JSON."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date

import httpx
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.api import Account
from signalbox.services.search.brave import BraveSearch

from tests.support.web_server import Site, json_reply, reply, site

pytestmark = pytest.mark.anyio

KEY = "BSA-s3cret"
RESULTS = {
    "type": "search",
    "web": {
        "results": [
            {
                "title": "Red <strong>pandas</strong> &amp; co",
                "url": "https://one.org/",
                "description": "They eat <strong>bamboo</strong>.",
                "page_age": "2025-03-01T10:00:00",
            },
            {"title": "Two", "url": "https://two.org/", "description": "second"},
            {"title": "Old", "url": "https://old.org/", "description": "old", "page_age": "2020-01-01T00:00:00"},
            {"title": "No address"},
            "nonsense",
        ]
    },
}


@asynccontextmanager
async def brave(*answers: bytes | None) -> AsyncIterator[tuple[BraveSearch, Site]]:
    """Serve the answers on loopback, and return a backend that uses them."""
    async with site(*answers) as there, httpx.AsyncClient(trust_env=False) as client:
        account = Account(f"{there.url}/res/v1/", KEY)
        yield BraveSearch(client, account, sleep=there.sleep, today=lambda: date(2025, 3, 10)), there


async def failure(search: BraveSearch) -> ToolError:
    """Return the error of a failing search; it never contains the key."""
    with pytest.raises(ToolError) as raised:
        await search.search(SearchQuery("x"))
    assert KEY not in raised.value.message
    assert "127.0.0.1" not in raised.value.message
    return raised.value


async def test_results_become_hits():
    """Title, URL, text without markup and date are read; the key is sent in its header."""
    async with brave(json_reply(RESULTS)) as (search, there):
        assert await search.search(SearchQuery("red pandas & co", 5, after="2024-01-01")) == [
            SearchHit("Red pandas & co", "https://one.org/", "They eat bamboo.", "2025-03-01"),
            SearchHit("Two", "https://two.org/", "second", None),
        ]
    asked = there.asked[0]
    assert asked.path.startswith("/res/v1/web/search?")
    assert asked.headers["x-subscription-token"] == KEY
    assert KEY not in asked.path
    assert (asked.params["q"], asked.params["count"]) == ("red pandas & co", "5")


@pytest.mark.parametrize(
    ("query", "freshness"),
    [
        (SearchQuery("x"), None),
        (SearchQuery("x", time_hint="day"), "pd"),
        (SearchQuery("x", time_hint="week"), "pw"),
        (SearchQuery("x", time_hint="month"), "pm"),
        (SearchQuery("x", time_hint="year"), "py"),
        (SearchQuery("x", after="2025-01-01", before="2025-02-01"), "2025-01-01to2025-02-01"),
        (SearchQuery("x", after="2025-01-01"), "2025-01-01to2025-03-10"),
        (SearchQuery("x", before="2025-02-01"), "1990-01-01to2025-02-01"),
        (SearchQuery("x", time_hint="day", after="2025-01-01"), "2025-01-01to2025-03-10"),
    ],
)
async def test_time_becomes_freshness(query: SearchQuery, freshness: str | None):
    """A hint is one of Brave's four words, dates are a range."""
    async with brave(json_reply({})) as (search, there):
        assert await search.search(query) == []
    assert there.asked[0].params.get("freshness") == freshness


async def test_a_long_query_is_truncated():
    """Brave rejects a query of more than 50 words."""
    async with brave(json_reply({})) as (search, there):
        await search.search(SearchQuery(" ".join(str(n) for n in range(60))))
    assert len(there.asked[0].params["q"].split()) == 50


@pytest.mark.parametrize(("header", "pause"), [("1", 1.0), ("0", 0.0), ("3600", 2.0), ("Wed, 21 Oct", 1.0), ("", 1.0)])
async def test_429_is_retried_once_after_a_limited_pause(header: str, pause: float):
    """The pause is that of the service, within limits, and the second answer counts."""
    too_many = reply("slow down", status=429, retry_after=header)
    async with brave(too_many, json_reply(RESULTS)) as (search, there):
        assert len(await search.search(SearchQuery("x", 3))) == 3
    assert (len(there.asked), there.slept) == (2, [pause])


async def test_a_second_429_is_an_error():
    """There is no third request, and the error says what to do."""
    async with brave(reply("slow down", status=429)) as (search, there):
        error = await failure(search)
    assert (error.code, len(there.asked)) == (Code.RATE_LIMIT, 2)
    assert "answer without a search" in error.message


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(f"bad key {KEY}", status=401), "rejected the API key"),
        (reply("", status=403), "rejected the API key"),
        (reply("", status=500), "status 500"),
        (reply("", status=302, location="http://127.0.0.1:1/"), "status 302"),
        (reply("not JSON", kind="application/json"), "cannot be read"),
        (json_reply([1]), "cannot be read"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nshort", "cannot be reached"),
        (reply(b"[" + b" " * (1024 * 1024 + 1)), "too large"),
        (reply(b'{"web":[' + b"{}," * 30_000 + b"{}]}"), "too large"),
    ],
)
async def test_errors_are_sentences(answer: bytes, words: str):
    """Errors omit the service's text, which may contain the key (quirk G4)."""
    async with brave(answer) as (search, _):
        error = await failure(search)
    assert error.code is Code.TOOL_FAILED
    assert words in error.message


async def test_results_of_another_format_are_ignored():
    """A changed response gives no hits and no exception."""
    for answer in ({"web": None}, {"web": {"results": {}}}, {"web": {"results": [1, {"url": 5}]}}):
        async with brave(json_reply(answer)) as (search, _):
            assert await search.search(SearchQuery("x")) == []


def test_a_key_is_not_shown():
    """The repr of an account has no key."""
    assert KEY not in repr(Account("https://brave.test", KEY))
