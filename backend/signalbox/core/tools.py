"""What a tool is: its schema, its metadata, what it is given and what it gives back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import orjson

from signalbox.core.errors import Code, ToolError
from signalbox.core.messages import JsonObject, JsonValue

Category: TypeAlias = Literal["search", "utility", "other"]
Visibility: TypeAlias = Literal["primary", "secondary", "hidden"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What is known of a tool before it runs.

    `eager`: it only reads and may be repeated, so it may start while the model still streams. `timeout` is in
    seconds. `search_key` makes equal searches equal; a tool that has one is deduped and counts against the clamp.
    """

    name: str
    description: str
    parameters: JsonObject
    category: Category = "other"
    visibility: Visibility = "secondary"
    eager: bool = False
    timeout: float = 10.0
    search_key: Callable[[Mapping[str, JsonValue]], str] | None = None


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What came of a call: a JSON value, or a sentence with a code. It never is an exception."""

    success: bool
    result: JsonValue = None
    error: str = ""
    code: Code | None = None

    @classmethod
    def failed(cls, code: Code, error: str) -> "ToolOutcome":
        """Tell why there is no result."""
        return cls(success=False, error=error, code=code)

    def for_model(self) -> str:
        """Say the outcome as the one string that a tool message holds; never empty (quirk C4)."""
        if not self.success:
            return orjson.dumps({"error": self.error, "code": self.code}).decode()
        if isinstance(self.result, str):
            return self.result or "(no output)"
        return orjson.dumps(self.result).decode()


@dataclass(slots=True)
class SourceBook:
    """Numbers the sources of one run: one number per canonical URL, stable from the first time it is seen."""

    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    titles: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])

    def number(self, url: str, title: str = "") -> int:
        """Return the number of this source, giving it the next one when it is new."""
        key = canonical_url(url)
        n = self._numbers.setdefault(key, len(self._numbers) + 1)
        self.titles.setdefault(n, (title, url))
        return n


# Parameters that name a visit, not a page.
_TRACKING = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid", "ref_src")


def canonical_url(url: str) -> str:
    """Reduce a URL to what identifies the page: no fragment, no tracking, host in lower case, no trailing slash."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url.strip()
    host = (parts.hostname or "").removeprefix("www.")
    if port and (parts.scheme, port) not in (("http", 80), ("https", 443)):
        host = f"{host}:{port}"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([(name, value) for name, value in pairs if not name.startswith(_TRACKING)])
    scheme = "https" if parts.scheme == "http" else parts.scheme
    return urlunsplit((scheme, host, parts.path.rstrip("/"), query, ""))


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search: the text, how many results, and the time it is limited to (dates are ISO 8601)."""

    text: str
    limit: int = 3
    time_hint: Literal["day", "week", "month", "year"] | None = None
    after: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result of a search; `published` is an ISO 8601 date where the backend knows it."""

    title: str
    url: str
    snippet: str
    published: str | None = None


class SearchBackend(Protocol):
    """Something that can be searched. `about` says in words what it searches; `paid` sets the default clamp."""

    name: str
    about: str
    paid: bool

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError (RATE_LIMIT, TOOL_FAILED, …)."""
        ...


@dataclass(frozen=True, slots=True)
class WebPage:
    """What an address answered: its media type and its body as text; `cut` says that the body was longer."""

    url: str
    kind: str
    text: str
    cut: bool = False


class PageSource(Protocol):
    """Something that gets a page; every address it asks is one that it may ask (quirk G1)."""

    async def fetch(self, url: str) -> WebPage:
        """Return the page at an address, after its redirects; raises ToolError."""
        ...


@dataclass(frozen=True, slots=True)
class SavedNote:
    """Where a note went: the name of its file, and the address at which the app serves it."""

    file: str
    url: str


class NoteKeeper(Protocol):
    """Something that keeps notes."""

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Keep a note beside those there are, never in place of one; raises ToolError."""
        ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class ToolContext:
    """What a tool may use besides its arguments; one per run."""

    run_id: str = ""
    sources: SourceBook = field(default_factory=SourceBook)
    now: Callable[[], datetime] = _utc_now


ToolFunction: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[JsonValue]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool ready to run; `unavailable` says why it cannot be offered here, None when it can.

    `run` returns a JSON value or raises ToolError with a sentence that a model can act on.
    """

    spec: ToolSpec
    run: ToolFunction
    unavailable: str | None = None


__all__ = [
    "Category",
    "NoteKeeper",
    "PageSource",
    "SavedNote",
    "SearchBackend",
    "SearchHit",
    "SearchQuery",
    "SourceBook",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFunction",
    "ToolOutcome",
    "ToolSpec",
    "Visibility",
    "WebPage",
    "canonical_url",
]
