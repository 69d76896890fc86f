"""Searches the web through a SearXNG server's JSON API."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from functools import partial
from typing import cast

import httpx
import orjson

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import SearchHit, SearchQuery, SearchUnavailableError
from signalbox.offload import offloaded
from signalbox.services.search.api import LARGEST_ANSWER, LONGEST_FIELD, MOST_RESULTS, has_too_many_containers
from signalbox.services.search.setup import SearchSetup

_TIMEOUT = httpx.Timeout(6.0, connect=3.0)
_USUAL_PAUSE, _LONGEST_PAUSE = 1.0, 2.0
_RANGES = (("day", 1), ("week", 7), ("month", 30), ("year", 365))

_NO_JSON = (
    "The SearXNG server does not answer in JSON. Its administrator has to enable the json format "
    "(settings.yml: search: formats: [html, json])."
)


class SearxngSearch:
    """A SearchBackend over `GET /search?format=json` (https://docs.searxng.org/dev/search_api.html).

    Engines support time ranges but no dates: `after` selects the smallest range that contains it, and results with a
    date are then filtered by both dates. Error messages do not contain the URL, which may contain a secret.
    """

    name = "searxng"
    paid = False

    def __init__(
        self,
        client: httpx.AsyncClient,
        base_url: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        try:
            url = httpx.URL(base_url.strip())
        except httpx.InvalidURL as error:
            raise ValueError("not an address") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("not an http or https address")
        self.about = "the web (through SearXNG)"
        self._url = url.copy_with(path=url.path.rstrip("/").removesuffix("/search") + "/search")
        self._client = client
        self._sleep = sleep
        self._today = today

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        try:
            answer = await self._request(self._params(query))
        except httpx.TimeoutException:
            raise ToolError(Code.TIMEOUT, "The SearXNG server did not answer in time.") from None
        except httpx.HTTPError:
            raise ToolError(Code.TOOL_FAILED, "The SearXNG server cannot be reached.") from None
        results = _list(answer.get("results"))[:MOST_RESULTS]
        hits = [hit for item in results if (hit := _hit(item)) and _within(hit, query)]
        if not hits:
            _check_engines(answer)
        return hits[: query.limit]

    def _params(self, query: SearchQuery) -> dict[str, str]:
        params = {"q": query.text, "format": "json"}
        if time_range := query.time_hint or _range_since(query.after, self._today()):
            params["time_range"] = time_range
        return params

    async def _request(self, params: dict[str, str]) -> JsonObject:
        status, headers, body = await self._get(params)
        if status == 429:
            await self._sleep(_pause(headers.get("retry-after")))
            status, headers, body = await self._get(params)
        return await offloaded(partial(_parse, status, headers.get("content-type", ""), body), size=len(body))

    async def _get(self, params: dict[str, str]) -> tuple[int, httpx.Headers, bytes]:
        url = self._url.copy_merge_params(params)
        headers = {"accept": "application/json"}
        async with self._client.stream(
            "GET", url, headers=headers, timeout=_TIMEOUT, follow_redirects=False
        ) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > LARGEST_ANSWER:
                    raise ToolError(Code.TOOL_FAILED, "The SearXNG server's answer is too large.")
            return response.status_code, response.headers, bytes(body)


def _pause(retry_after: str | None) -> float:
    try:
        return min(max(float(retry_after or _USUAL_PAUSE), 0.0), _LONGEST_PAUSE)
    except ValueError:  # an HTTP date
        return _USUAL_PAUSE


def _parse(status: int, content_type: str, body: bytes) -> JsonObject:
    if status == 429:
        raise ToolError(
            Code.RATE_LIMIT, "The SearXNG server received too many requests; wait, or answer without a search."
        )
    # A server without the json format answers 403 (searx/webapp.py: output_format not in settings).
    if status == 403 or (status == 200 and "html" in content_type):
        raise ToolError(Code.TOOL_FAILED, _NO_JSON)
    if status != 200:
        raise ToolError(Code.TOOL_FAILED, f"The SearXNG server answered with status {status}.")
    if has_too_many_containers(body):
        raise ToolError(Code.TOOL_FAILED, "The SearXNG server's answer is too large.")
    try:
        answer = cast(JsonValue, orjson.loads(body))
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        raise ToolError(Code.TOOL_FAILED, "The SearXNG server's answer cannot be read.")
    return answer


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _hit(item: JsonValue) -> SearchHit | None:
    if not isinstance(item, dict) or not isinstance(url := item.get("url"), str):
        return None
    title, snippet, published = (_text(item.get(key)) for key in ("title", "content", "publishedDate"))
    return SearchHit(title, url, snippet, _date(published))


def _text(value: JsonValue) -> str:
    return value[:LONGEST_FIELD] if isinstance(value, str) else ""


def _date(text: str) -> str | None:
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return None


def _within(hit: SearchHit, query: SearchQuery) -> bool:
    if hit.published is None:
        return True
    return (query.after or "") <= hit.published <= (query.before or "9999")


def _range_since(after: str | None, today: date) -> str | None:
    if after is None:
        return None
    days = (today - date.fromisoformat(after)).days
    return next((name for name, length in _RANGES if days <= length), None)


def _check_engines(answer: JsonObject) -> None:
    """Raise ToolError if engines failed, because an empty result does not mean that nothing exists."""
    silent = _list(answer.get("unresponsive_engines"))[:MOST_RESULTS]
    pairs = [pair for pair in silent if isinstance(pair, list) and len(pair) > 1]
    if pairs:
        names = ", ".join(f"{str(name)[:30]} ({str(reason)[:40]})" for name, reason, *_ in pairs[:3])
        raise ToolError(Code.TOOL_FAILED, f"Nothing was found, but some search engines did not answer: {names}.")


def from_setup(setup: SearchSetup) -> SearxngSearch:
    """Return the backend; raises SearchUnavailableError."""
    if not setup.searxng_url:
        raise SearchUnavailableError("SEARCH_BACKEND is searxng, but SEARXNG_URL is not set")
    try:
        return SearxngSearch(setup.client, setup.searxng_url)
    except ValueError:
        raise SearchUnavailableError("SEARXNG_URL is not an http or https address") from None
