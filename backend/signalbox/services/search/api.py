"""The common client of web search APIs: JSON requests with one retry after a rate limit."""

import asyncio
import html
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date
from email.utils import parsedate_to_datetime
from functools import partial
from typing import cast
from urllib.parse import urlsplit

import httpx
import orjson

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import SearchHit, SearchQuery
from signalbox.offload import offloaded

_TIMEOUT = httpx.Timeout(6.0, connect=3.0)
# A response with a few hits has tens of KB.
LARGEST_ANSWER = 1024 * 1024
# Results that are processed, and characters per field; the tool returns at most five hits of 700 characters.
MOST_RESULTS, LONGEST_FIELD = 100, 4_000
_LONGEST_DATE = 64
_MOST_CONTAINERS = 20_000
_USUAL_PAUSE, _LONGEST_PAUSE = 1.0, 2.0

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Account:
    """The URL and key of a service. Raises ValueError for an invalid key or URL."""

    base_url: str
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        """Validate the URL and the key, so that a wrong one does not fail only at the first search."""
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("its address is not an http or https address")
        if not re.fullmatch(r"[!-~]+", self.key):
            raise ValueError("its key is empty or contains characters that no key has")


class SearchApi:
    """One service's API over HTTP. Its error messages contain neither the URL nor the key (quirk G4).

    `largest` is the maximum size of a response in bytes.
    """

    def __init__(
        self,
        name: str,
        client: httpx.AsyncClient,
        *,
        sleep: Sleep = asyncio.sleep,
        timeout: httpx.Timeout = _TIMEOUT,
        largest: int = LARGEST_ANSWER,
    ) -> None:
        self._name = name
        self._client = client
        self._sleep = sleep
        self._timeout = timeout
        self._largest = largest

    async def ask(self, request: httpx.Request) -> JsonObject:
        """Send a request and return the JSON object of the response; raises ToolError."""
        body = await self.fetch(request)
        answer = await offloaded(partial(self.parse, body), size=len(body))
        if not isinstance(answer, dict):
            raise self.unreadable()
        return answer

    async def fetch(self, request: httpx.Request) -> bytes:
        """Send a request and return the body of a successful response; raises ToolError."""
        try:
            status, headers, body = await self._send(request)
            if status == 429:
                await self._sleep(_pause(headers.get("retry-after")))
                status, _, body = await self._send(request)
        except httpx.TimeoutException:
            raise ToolError(Code.TIMEOUT, f"{self._name} did not answer in time.") from None
        except httpx.HTTPError:
            raise ToolError(Code.TOOL_FAILED, f"{self._name} cannot be reached.") from None
        self._check(status)
        return body

    async def _send(self, request: httpx.Request) -> tuple[int, httpx.Headers, bytes]:
        request.extensions["timeout"] = self._timeout.as_dict()
        response = await self._client.send(request, stream=True, follow_redirects=False)
        try:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > self._largest:
                    raise ToolError(Code.TOOL_FAILED, f"The answer of {self._name} is too large.")
            return response.status_code, response.headers, bytes(body)
        finally:
            await response.aclose()

    def _check(self, status: int) -> None:
        """Raise ToolError for the status of a failure."""
        if status == 429:
            words = f"{self._name} received too many requests; wait, or answer without a search."
            raise ToolError(Code.RATE_LIMIT, words)
        if status in (401, 403):
            raise ToolError(Code.TOOL_FAILED, f"{self._name} rejected the API key set on this server.")
        if status != 200:
            raise ToolError(Code.TOOL_FAILED, f"{self._name} answered with status {status}.")

    def parse(self, body: bytes) -> JsonValue:
        """Decode the JSON of a response; raises ToolError."""
        if has_too_many_containers(body):
            raise ToolError(Code.TOOL_FAILED, f"The answer of {self._name} is too large.")
        try:
            return cast(JsonValue, orjson.loads(body))
        except orjson.JSONDecodeError:
            raise self.unreadable() from None

    def unreadable(self) -> ToolError:
        """Return the error for a response of an unexpected form."""
        return ToolError(Code.TOOL_FAILED, f"The answer of {self._name} cannot be read.")


def has_too_many_containers(body: bytes) -> bool:
    """Return whether a response has more lists and objects than a search result; parsing it would block all threads."""
    return body.count(b"[") + body.count(b"{") > _MOST_CONTAINERS


def _pause(retry_after: str | None) -> float:
    try:
        return min(max(float(retry_after or _USUAL_PAUSE), 0.0), _LONGEST_PAUSE)
    except ValueError:  # an HTTP date
        return _USUAL_PAUSE


def text_of(value: JsonValue) -> str:
    """Return a text without the markup that services put around matches."""
    return html.unescape(re.sub(r"</?\w+>", "", value[:LONGEST_FIELD])) if isinstance(value, str) else ""


def day_of(value: JsonValue) -> str | None:
    """Return the ISO date of a timestamp in ISO 8601 or RFC 2822 format, or None."""
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value[:10]).isoformat()
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value[:_LONGEST_DATE]).date().isoformat()
    except (ValueError, TypeError):
        return None


def hits_of(results: JsonValue, query: SearchQuery, *, snippet: str, published: str) -> list[SearchHit]:
    """Return the hits of a list of results, filtered by the dates of the query."""
    found: list[SearchHit] = []
    for item in results[:MOST_RESULTS] if isinstance(results, list) else []:
        if isinstance(item, dict) and isinstance(url := item.get("url"), str):
            day = day_of(item.get(published))
            if day is None or (query.after or "") <= day <= (query.before or "9999"):
                found.append(SearchHit(text_of(item.get("title")), url, text_of(item.get(snippet)), day))
    return found[: query.limit]
