"""Usage, tool outcomes, source numbers, and the depth limit."""

import json

import pytest
from signalbox.core.codes import Code
from signalbox.core.messages import MAX_DEPTH, JsonValue, ReasoningDetail, nests_too_deeply
from signalbox.core.parts import Usage
from signalbox.core.tools import SourceNumbers, ToolOutcome, canonical_url


def test_usage_is_summed() -> None:
    """Tokens are added; an unknown cost counts as 0, unless both are unknown."""
    assert Usage(1, 2, 3, 4, 0.1) + Usage(10, 20, 30, 40, 0.2) == Usage(11, 22, 33, 44, 0.3)
    assert (Usage(1, cost=None) + Usage(1, cost=0.5)).cost == 0.5
    assert (Usage() + Usage()).cost is None


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ToolOutcome(True, "text"), "text"),
        (ToolOutcome(True, ""), "(no output)"),
        (ToolOutcome(True, None), "null"),
        (ToolOutcome(True, {"a": ["é"]}), '{"a":["é"]}'),
        (ToolOutcome.failed(Code.TIMEOUT, "Too slow."), '{"error":"Too slow.","code":"TIMEOUT"}'),
    ],
)
def test_an_outcome_is_a_text_for_the_model(outcome: ToolOutcome, words: str) -> None:
    """It is one string, never empty (C4, C14)."""
    assert outcome.for_model() == words


def test_sources_have_stable_numbers() -> None:
    """A page has one number in a run, in every spelling of its URL; the first title stays (H6)."""
    book = SourceNumbers()
    assert [book.number(url, "t") for url in ("https://a.org/x", "https://b.org", "http://www.A.org/x/#top")] == [
        1,
        2,
        1,
    ]
    assert book.titles[1] == ("t", "https://a.org/x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.org/x?utm_source=y&q=1", "https://a.org/x?q=1"),
        ("https://a.org:443/x", "https://a.org/x"),
        ("http://a.org:80/", "https://a.org"),
        (" https://a.org/x#part ", "https://a.org/x"),
    ],
)
def test_equal_pages_have_one_canonical_url(one: str, other: str) -> None:
    """URLs that differ only in irrelevant parts are the same page."""
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(
    "other",
    [
        "https://a.org/y",
        "https://a.org/x?q=2",
        "https://a.org:8443/x?q=1",
        "https://b.org/x?q=1",
        "HTTPS://a.org/X?q=1",
    ],
)
def test_different_pages_have_different_canonical_urls(other: str) -> None:
    """Path, query, port and host distinguish pages."""
    assert canonical_url(other) != canonical_url("https://a.org/x?q=1")


@pytest.mark.parametrize("odd", ["", "not a url", "https://[bad", "https://a.org:port/"])
def test_invalid_urls_stay_unchanged(odd: str) -> None:
    """A text that is not a URL is returned as it is."""
    assert canonical_url(odd) == canonical_url(odd)


def test_a_detail_is_renamed_in_a_copy() -> None:
    """Only the id changes; keys stay in order, and the original is unchanged."""
    detail = ReasoningDetail({"type": "x", "id": "a", "data": None})
    assert json.dumps(detail.with_id("b").raw) == '{"type": "x", "id": "b", "data": null}'
    assert detail.item_id == "a"


def test_nesting_has_a_limit() -> None:
    """Lists and objects count alike; width does not count."""
    deep: JsonValue = 1
    for n in range(MAX_DEPTH):
        deep = [deep] if n % 2 else {"a": deep, "b": 1}
    assert not nests_too_deeply(deep)
    assert nests_too_deeply([[deep]])
    assert not nests_too_deeply([[] for _ in range(10_000)])
    assert not nests_too_deeply("[" * 1000)
