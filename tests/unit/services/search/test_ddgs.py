"""The ddgs backend: the package's search is scripted; one test uses the real package with scripted engines."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.services.search.ddgs import ENGINES, DdgsSearch, installed

pytestmark = pytest.mark.anyio

FOUND = [
    {"title": "One", "href": "https://one.org/", "body": "first"},
    {"title": "Advert", "href": "javascript:alert(1)", "body": "x"},
    {"title": "Two &amp; more", "href": "https://two.org/", "body": "second"},
]


class RatelimitException(Exception):
    pass


class TimeoutException(Exception):
    pass


@dataclass
class Package:
    """A substitute for `DDGS().text`."""

    answers: list[Any]
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    slept: list[float] = field(default_factory=list)

    def text(self, query: str, **given: Any) -> Any:
        self.asked.append({"query": query, **given})
        self.threads.add(threading.get_ident())
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def search(self) -> DdgsSearch:
        return DdgsSearch(self.text, sleep=self.sleep, today=lambda: date(2025, 3, 10))


async def test_results_become_hits_in_another_thread():
    """Only web addresses are hits, without dates, and the event loop is not blocked."""
    package = Package([FOUND])
    assert await package.search().search(SearchQuery("red pandas", 2)) == [
        SearchHit("One", "https://one.org/", "first"),
        SearchHit("Two & more", "https://two.org/", "second"),
    ]
    assert package.asked == [{"query": "red pandas", "timelimit": None, "max_results": 2, "backend": ENGINES}]
    assert package.threads.isdisjoint({threading.get_ident()})


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        (SearchQuery("x", time_hint="week"), "w"),
        (SearchQuery("x", after="2025-03-09"), "d"),
        (SearchQuery("x", after="2025-02-15"), "m"),
        (SearchQuery("x", after="2020-01-01"), None),
        (SearchQuery("x", before="2025-01-01"), None),
    ],
)
async def test_time_becomes_the_smallest_range(query: SearchQuery, limit: str | None):
    """Engines support four ranges and no dates."""
    package = Package([FOUND])
    await package.search().search(query)
    assert package.asked[0]["timelimit"] == limit


async def test_a_rate_limit_is_retried_once():
    """A second rate limit is an error with its code."""
    package = Package([RatelimitException(), FOUND])
    assert len(await package.search().search(SearchQuery("x"))) == 2
    assert package.slept == [1.0]
    package = Package([RatelimitException(), RatelimitException()])
    with pytest.raises(ToolError) as raised:
        await package.search().search(SearchQuery("x"))
    assert (raised.value.code, len(package.asked)) == (Code.RATE_LIMIT, 2)


@pytest.mark.parametrize(
    ("error", "code"),
    [(TimeoutException("https://x/?q=s3cret"), Code.TIMEOUT), (ValueError("https://x/?q=s3cret"), Code.TOOL_FAILED)],
)
async def test_errors_are_our_sentences(error: Exception, code: Code):
    """Errors omit the package's texts, which contain URLs, and do not claim that nothing exists."""
    package = Package([error])
    with pytest.raises(ToolError) as raised:
        await package.search().search(SearchQuery("x"))
    assert (raised.value.code, len(package.asked)) == (code, 1)
    assert "s3cret" not in raised.value.message


async def test_the_real_package_fits(monkeypatch: pytest.MonkeyPatch):
    """The real package passes our arguments to its engines and returns the fields that we read."""
    pytest.importorskip("ddgs")
    from ddgs import engines
    from ddgs.results import TextResult

    asked: list[dict[str, Any]] = []

    class Engine:
        name, provider, priority = "ours", "ours", 1

        def __init__(self, **given: Any) -> None:
            pass

        def search(self, query: str, **given: Any) -> list[TextResult]:
            asked.append({"query": query, **given})
            found = TextResult()
            found.title, found.href, found.body = "Pandas", "https://one.org/", "They eat bamboo."
            return [found]

    assert set(ENGINES.split(", ")) <= set(engines.ENGINES["text"])
    monkeypatch.setattr("ddgs.ddgs.ENGINES", {"text": dict.fromkeys(ENGINES.split(", "), Engine)})
    ask = installed()
    assert ask is not None
    hits = await DdgsSearch(ask).search(SearchQuery("pandas", 3, time_hint="month"))
    assert hits == [SearchHit("Pandas", "https://one.org/", "They eat bamboo.")]
    assert (asked[0]["query"], asked[0]["timelimit"]) == ("pandas", "m")
