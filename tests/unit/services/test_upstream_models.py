"""Lists of models that have several pages."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from signalbox.core.messages import JsonObject
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.simulator.http.server import BackgroundSimulator
from signalbox.wire.anthropic.dialect import AnthropicMessages
from signalbox.wire.dialect import Dialect, Lookup, Upstream
from signalbox.wire.dialects import DIALECTS
from signalbox.wire.gemini.dialect import Gemini

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

PAGES = [["a1", "a2"], ["b1"], ["c1"]]


def anthropic_page(number: int) -> dict[str, Any]:
    """Return a page of Anthropic's list; the id of the last model names the next page."""
    ids = PAGES[number]
    return {"data": [{"id": one} for one in ids], "has_more": number + 1 < len(PAGES), "last_id": ids[-1]}


def gemini_page(number: int) -> dict[str, Any]:
    """Return a page of Gemini's list with an opaque token of the next page."""
    page: dict[str, Any] = {"models": [{"name": f"models/{one}"} for one in PAGES[number]]}
    return page | ({"nextPageToken": f"t/{number + 1}="} if number + 1 < len(PAGES) else {})


@dataclass
class Lister:
    """An upstream with a list of several pages; without `ends`, each page names a further one."""

    page: Callable[[int], dict[str, Any]]
    ends: bool = True
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer with the next page."""
        self.asked.append(dict(request.url.params))
        page = self.page(len(self.asked) - 1 if self.ends else 0)
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(page).encode()))


async def listed(dialect: Dialect, lister: Lister) -> list[JsonObject]:
    """Fetch a list of models."""
    async with HttpClient(transport=httpx.MockTransport(lister)) as http:
        return await UpstreamClient(http, Upstream(dialect, "https://provider.test", "a-key")).models()


@pytest.mark.parametrize(
    ("name", "page", "cursors"),
    [
        ("anthropic-messages", anthropic_page, [{}, {"after_id": "a2"}, {"after_id": "b1"}]),
        ("gemini", gemini_page, [{}, {"pageToken": "t/1="}, {"pageToken": "t/2="}]),
    ],
)
async def test_all_pages_are_read(
    name: str, page: Callable[[int], dict[str, Any]], cursors: list[dict[str, str]]
) -> None:
    """Each request names the end of the page before, until a page is the last one."""
    lister = Lister(page)
    entries = await listed(DIALECTS[name], lister)
    assert [entry["id"] for entry in entries] == ["a1", "a2", "b1", "c1"]
    size = {"anthropic-messages": {"limit": "1000"}, "gemini": {"pageSize": "1000"}}[name]
    assert lister.asked == [size | cursor for cursor in cursors]


@pytest.mark.parametrize(("name", "page"), [("anthropic-messages", anthropic_page), ("gemini", gemini_page)])
async def test_a_list_without_end_is_cut(name: str, page: Callable[[int], dict[str, Any]]) -> None:
    """A faulty server names a next page again and again."""
    lister = Lister(page, ends=False)
    await listed(DIALECTS[name], lister)
    assert len(lister.asked) == 20


def in_small_pages(dialect: Dialect, path: str) -> Dialect:
    """Return a dialect whose first page has few models."""
    whole = dialect.models
    dialect.models = Lookup(path, whole.read, whole.next_path)
    return dialect


@pytest.mark.parametrize(
    ("dialect", "path", "base"),
    [
        (AnthropicMessages(), "/v1/models?limit=3", "/anthropic"),
        (Gemini(), "/v1beta/models?pageSize=3", "/gemini"),
    ],
)
async def test_the_pages_of_the_simulated_apis(dialect: Dialect, path: str, base: str) -> None:
    """A list in several pages has the same models as a list in one."""
    with BackgroundSimulator(pace=0) as simulator:
        address = simulator.base_url.removesuffix("/api/v1") + base
        async with HttpClient() as http:
            whole = await UpstreamClient(http, Upstream(dialect, address, "a-key")).models()
            small = in_small_pages(dialect, path)
            assert await UpstreamClient(http, Upstream(small, address, "a-key")).models() == whole
    assert len(whole) > 3
