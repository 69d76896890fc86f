"""The SearXNG backend against a scripted server on loopback: real HTTP, real JSON."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import parse_qs, urlsplit

import httpx
import orjson
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.searxng import SearxngSearch

pytestmark = pytest.mark.anyio

RESULTS = {
    "query": "pandas",
    "results": [
        {"title": "One", "url": "https://one.org/", "content": "first", "publishedDate": "2025-03-01T10:00:00"},
        {"title": "Two", "url": "https://two.org/", "content": "second", "publishedDate": None},
        {"title": "Three", "url": "https://three.org/", "content": "third", "publishedDate": "2024-01-01T00:00:00"},
        {"title": "Four", "url": "https://four.org/"},
    ],
    "unresponsive_engines": [],
}


@dataclass
class Answer:
    body: bytes = b""
    status: str = "200 OK"
    kind: str = "application/json"
    headers: str = ""

    def raw(self) -> bytes:
        head = f"HTTP/1.1 {self.status}\r\ncontent-type: {self.kind}\r\ncontent-length: {len(self.body)}\r\n"
        return f"{head}connection: close\r\n{self.headers}\r\n".encode() + self.body


def json_answer(value: object) -> Answer:
    """Answer with a value as JSON."""
    return Answer(orjson.dumps(value))


TOO_MANY = Answer(b"slow down", "429 Too Many Requests", "text/plain")


@dataclass
class Site:
    """A server with one answer per request; the last one is repeated."""

    answers: list[Answer]
    url: str = ""
    targets: list[str] = field(default_factory=list[str])
    heads: list[str] = field(default_factory=list[str])
    slept: list[float] = field(default_factory=list[float])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        self.targets.append(head.split(" ")[1])
        answer = self.answers[min(len(self.targets), len(self.answers)) - 1]
        writer.write(answer.raw())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def params(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.targets[-1]).query)


@asynccontextmanager
async def searxng(
    *answers: Answer, address: Callable[[str], str] = lambda url: url
) -> AsyncIterator[tuple[SearxngSearch, Site]]:
    """Serve the answers on loopback, and return a backend that uses them."""
    site = Site(list(answers))
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    async with server, httpx.AsyncClient(trust_env=False) as client:
        site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield SearxngSearch(client, address(site.url), sleep=site.sleep, today=lambda: date(2025, 3, 10)), site


async def failure(search: SearxngSearch, query: SearchQuery | None = None) -> ToolError:
    """Return the error of a failing search."""
    with pytest.raises(ToolError) as raised:
        await search.search(query or SearchQuery("x"))
    return raised.value


async def test_results_become_hits():
    """Title, URL, text and date are read, and at most the requested number of hits is returned."""
    async with searxng(json_answer(RESULTS)) as (search, site):
        assert await search.search(SearchQuery("red pandas & co", 2)) == [
            SearchHit("One", "https://one.org/", "first", "2025-03-01"),
            SearchHit("Two", "https://two.org/", "second", None),
        ]
        assert site.params() == {"q": ["red pandas & co"], "format": ["json"]}
        assert len(await search.search(SearchQuery("x", 5))) == 4
        assert (search.name, search.paid, search.about) == ("searxng", False, "the web (through SearXNG)")


@pytest.mark.parametrize(
    ("query", "time_range"),
    [
        (SearchQuery("x"), None),
        (SearchQuery("x", time_hint="week"), "week"),
        (SearchQuery("x", after="2025-03-10"), "day"),
        (SearchQuery("x", after="2025-03-05"), "week"),
        (SearchQuery("x", after="2025-02-15"), "month"),
        (SearchQuery("x", after="2024-06-01"), "year"),
        (SearchQuery("x", after="2020-01-01"), None),
        (SearchQuery("x", before="2025-03-05"), None),
    ],
)
async def test_ps11_a_time_limit_becomes_the_smallest_range_that_holds_it(query: SearchQuery, time_range: str | None):
    """Engines support only ranges; dates are not added to the query."""
    async with searxng(json_answer(RESULTS)) as (search, site):
        await search.search(query)
        assert site.params().get("time_range") == (time_range and [time_range])
        assert site.params()["q"] == ["x"]


async def test_ps11_dates_are_applied_to_results_that_have_one():
    """A result with a date outside the limit is dropped; one without a date stays."""
    async with searxng(json_answer(RESULTS)) as (search, _):
        after = await search.search(SearchQuery("x", 5, after="2025-01-01"))
        assert [hit.title for hit in after] == ["One", "Two", "Four"]
        before = await search.search(SearchQuery("x", 5, before="2024-01-01"))
        assert [hit.title for hit in before] == ["Two", "Three", "Four"]


@pytest.mark.parametrize(
    ("headers", "pause"),
    [("", 1.0), ("retry-after: 0\r\n", 0.0), ("retry-after: 900\r\n", 2.0), ("retry-after: Mon, 01 Jan\r\n", 1.0)],
)
async def test_ps21_a_429_is_tried_once_more(headers: str, pause: float):
    """The retry waits as requested, within limits."""
    too_many = Answer(b"", "429 Too Many Requests", "text/plain", headers)
    async with searxng(too_many, json_answer(RESULTS)) as (search, site):
        assert len(await search.search(SearchQuery("x"))) == 3
        assert site.slept == [pause]


async def test_ps21_a_second_429_is_reported():
    """Two requests, not three, and the code is RATE_LIMIT."""
    async with searxng(TOO_MANY) as (search, site):
        error = await failure(search)
        assert error.code is Code.RATE_LIMIT
        assert len(site.targets) == 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<h1>Forbidden</h1>", "403 Forbidden", "text/html"),
        Answer(b"<!doctype html><title>SearXNG</title>", kind="text/html; charset=utf-8"),
    ],
)
async def test_a_server_without_json_gives_advice(answer: Answer):
    """The error says how to enable the json format, which is off by default."""
    async with searxng(answer) as (search, _):
        assert "enable the json format" in (await failure(search)).message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer(b"oops", "500 Internal Server Error", "text/plain"), "answered with status 500"),
        (Answer(b"", "302 Found", "text/plain", "location: http://127.0.0.1:9/\r\n"), "answered with status 302"),
        (Answer(b'{"results": ['), "cannot be read"),
        (Answer(b"[1]"), "cannot be read"),
        (Answer(b"\xff\xfe"), "cannot be read"),
        (Answer(b" " * (1024 * 1024 + 1)), "too large"),
        (Answer(b'{"results":[' + b"[]," * 30_000 + b"[]]}"), "too large"),
    ],
)
async def test_other_answers_fail_with_a_sentence(answer: Answer, says: str):
    """Errors, redirects, broken and huge responses are failures, not empty results."""
    async with searxng(answer) as (search, site):
        error = await failure(search)
        assert (error.code, says in error.message) == (Code.TOOL_FAILED, True)
        assert len(site.targets) == 1


@pytest.mark.parametrize(
    "value",
    [{}, {"results": None}, {"results": {}}, {"results": [None, 1, "x", {}, {"url": 5}], "unresponsive_engines": 7}],
)
async def test_odd_json_is_no_result(value: object):
    """Invalid results are skipped."""
    async with searxng(json_answer(value)) as (search, _):
        assert await search.search(SearchQuery("x")) == []


async def test_silent_engines_are_not_nothing_found():
    """If engines failed, an empty result is an error."""
    silent = {"results": [], "unresponsive_engines": [["google", "Suspended: CAPTCHA"], ["bing", "timeout"]]}
    async with searxng(json_answer(silent)) as (search, _):
        error = await failure(search)
        assert error.code is Code.TOOL_FAILED
        assert "google (Suspended: CAPTCHA), bing (timeout)" in error.message


async def test_the_url_may_contain_a_secret_and_is_not_quoted():
    """Password and path of the URL are used, and no error contains them."""

    def address(url: str) -> str:
        return url.replace("http://", "http://me:s3cret@") + "/searx/?token=s3cret"

    async with searxng(json_answer(RESULTS), Answer(b"", "500 No", "text/plain"), address=address) as (search, site):
        await search.search(SearchQuery("x"))
        assert site.targets[0].startswith("/searx/search?")
        assert site.params()["token"] == ["s3cret"]
        assert "authorization: basic " in site.heads[0].lower()
        assert "s3cret" not in (await failure(search)).message + search.about


async def test_a_server_that_is_not_there():
    """A refused connection gives an error without the URL."""
    async with searxng(json_answer(RESULTS)) as (_, site):
        url = site.url
    async with httpx.AsyncClient(trust_env=False) as client:
        error = await failure(SearxngSearch(client, url))
    assert (error.code, error.message) == (Code.TOOL_FAILED, "The SearXNG server cannot be reached.")


async def test_a_server_that_does_not_answer():
    """A read timeout is a TIMEOUT."""

    def silent(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("silent", request=request)

    async with httpx.AsyncClient(transport=httpx.MockTransport(silent)) as client:
        assert (await failure(SearxngSearch(client, "http://searx.test"))).code is Code.TIMEOUT


@pytest.mark.parametrize("url", ["", "searx.org", "ftp://searx.org", "http://", "http://[::1", "file:///etc/passwd"])
async def test_an_invalid_url_is_rejected_at_the_start(url: str):
    """A wrong setting fails at the start, not at the first search."""
    async with httpx.AsyncClient() as client:
        with pytest.raises(ValueError, match="address"):
            SearxngSearch(client, url)
