"""Searches the web through the package ddgs, which reads the result pages of public search engines."""

import asyncio
import importlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import SearchHit, SearchQuery, SearchUnavailableError
from signalbox.extras import how_to_install
from signalbox.services.search.api import Sleep, text_of
from signalbox.services.search.setup import SearchSetup

# Named explicitly, because the package would otherwise query two encyclopedias first.
ENGINES = "duckduckgo, brave, mojeek, yahoo, startpage"

_SECONDS = 5
_PAUSE = 1.0
_LIMITS = (("d", 1), ("w", 7), ("m", 31), ("y", 366))

Ask = Callable[..., Sequence[Mapping[str, Any]]]


class DdgsSearch:
    """A SearchBackend over `DDGS().text`. Hits have no dates, because the engines' pages have none.

    It is used only if SEARCH_BACKEND names it: the pages are made for people and may change any day, and the engines
    may reject requests. The package blocks, so it runs in a thread. `ask` is its search function.
    """

    name = "ddgs"
    about = "the web (through the public pages of search engines)"
    paid = False

    def __init__(
        self,
        ask: Ask,
        *,
        sleep: Sleep = asyncio.sleep,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._ask = ask
        self._sleep = sleep
        self._today = today

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        try:
            found = await self._found(query)
        except TimeoutError:
            raise ToolError(Code.TIMEOUT, "The search engines did not answer in time.") from None
        hits = [SearchHit(text_of(one.get("title")), str(one.get("href")), text_of(one.get("body"))) for one in found]
        return [hit for hit in hits if hit.url.startswith(("http://", "https://"))][: query.limit]

    async def _found(self, query: SearchQuery) -> Sequence[Mapping[str, Any]]:
        for last in (False, True):
            try:
                return await asyncio.to_thread(
                    self._ask,
                    query.text,
                    timelimit=self._limit(query),
                    max_results=query.limit,
                    backend=ENGINES,
                )
            except Exception as error:  # noqa: BLE001 - the package has many types; messages contain URLs (quirk G4)
                if type(error).__name__ != "RatelimitException" or last:
                    raise _tool_error(error) from None
            await self._sleep(_PAUSE)
        raise AssertionError("unreachable")

    def _limit(self, query: SearchQuery) -> str | None:
        """Return the smallest supported time range that contains the requested dates."""
        if query.time_hint:
            return query.time_hint[0]
        if query.after is None:
            return None
        days = (self._today() - date.fromisoformat(query.after)).days
        return next((name for name, length in _LIMITS if days <= length), None)


def _tool_error(error: Exception) -> ToolError:
    match type(error).__name__:
        case "RatelimitException":
            words = "The search engines received too many requests; wait, or answer without a search."
            return ToolError(Code.RATE_LIMIT, words)
        case "TimeoutException":
            return ToolError(Code.TIMEOUT, "The search engines did not answer in time.")
        case _:
            # The package also raises "No results found." if every engine rejected the request.
            return ToolError(Code.TOOL_FAILED, "The search engines gave no results; they may have refused to answer.")


def installed() -> Ask | None:
    """Return the package's search, None if it is not installed; imported lazily, because it loads two parsers."""
    try:
        return importlib.import_module("ddgs").DDGS(timeout=_SECONDS).text
    except ImportError:
        return None


def from_setup(setup: SearchSetup) -> DdgsSearch:
    """Return the backend; raises SearchUnavailableError."""
    ask = installed()
    if ask is None:
        reason = f"SEARCH_BACKEND is ddgs, but the package ddgs is not installed ({how_to_install('ddgs')})"
        raise SearchUnavailableError(reason)
    return DdgsSearch(ask)
