"""Tools: specification, context and outcome of a call, and the services that built-in tools use."""

import re
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import orjson
from msgspec import Struct, field

from signalbox.core.bounds.result_budget import ResultBudget
from signalbox.core.codes import Code
from signalbox.core.data_table import DataTable
from signalbox.core.errors import ToolError
from signalbox.core.messages import (
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    ToolMessage,
)
from signalbox.core.parts import ToolSchema
from signalbox.core.security.conversation_texts import texts_of
from signalbox.core.security.url_allowlist import UrlAllowlist, canonical_url
from signalbox.core.workspace import Workspace

if TYPE_CHECKING:
    from signalbox.core.ports import ModelCalls

Category: TypeAlias = Literal["search", "utility", "other"]
Visibility: TypeAlias = Literal["primary", "secondary", "hidden"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The specification of a tool.

    If `eager` is True, a call may start while the model is still streaming. An eager tool changes nothing and can
    safely run again. If `side_effects` is False, the tool changes nothing either, but its calls wait for the end of the
    model's turn. `timeout` is in seconds.

    `search_key` returns the same key for equal searches. If a search has the same key as an earlier search, the model
    gets the earlier result again. The search limit applies to all tools with a `search_key`. If `untrusted` is True,
    results and errors contain external text, and Signalbox delimits this text for the model (quirk G3). If
    `own_failures` is True, errors contain no external text and are not delimited.

    `url_argument` is the name of the argument with the URL that the tool fetches. This URL must be on the allowlist. If
    `shows_table` is True, the artifact is a DataTable, and a page can reserve space for the table while the tool runs.

    If `on_request` is True, the tool is offered only to requests that name it. If `needs_workspace` is True, it is
    offered only in a conversation, because only a conversation has files. `previewed` are JSON Pointers to the string
    arguments that clients can see while the model writes them; `*` stands for any index.

    `name` and `description` are for models. `title` and `summary` are for people: `title` is a short name, and
    `summary` is one sentence. Without a title or summary, `display_title` or `display_summary` returns a default. All
    runs share one `schema`.
    """

    name: str
    description: str
    parameters: JsonObject
    category: Category = "other"
    visibility: Visibility = "secondary"
    eager: bool = False
    side_effects: bool = True
    timeout: float = 10.0
    search_key: Callable[[Mapping[str, JsonValue]], str] | None = None
    untrusted: bool = True
    own_failures: bool = False
    url_argument: str | None = None
    shows_table: bool = False
    on_request: bool = False
    needs_workspace: bool = False
    previewed: tuple[str, ...] = ()
    title: str = ""
    summary: str = ""
    schema: ToolSchema = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build what models are sent of the tool."""
        object.__setattr__(self, "schema", ToolSchema(self.name, self.description, self.parameters))

    @property
    def has_side_effects(self) -> bool:
        """Whether a call may change something, so that it must be recorded before it runs."""
        return self.side_effects and not self.eager

    @property
    def display_title(self) -> str:
        """Return the title. If the title is empty, return the name in words: `get_weather` becomes "Get weather"."""
        return self.title or name_in_words(self.name)

    @property
    def display_summary(self) -> str:
        """Return the summary. If the summary is empty, return the first sentence of the description."""
        return self.summary or _FIRST_SENTENCE.split(self.description.strip(), maxsplit=1)[0]


_WORD_BOUNDARY = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")


def name_in_words(name: str) -> str:
    """Return an identifier as words; abbreviations stay upper-case (`readURL` becomes "Read URL")."""
    words = [word if word.isupper() else word.lower() for word in _WORD_BOUNDARY.split(name) if word]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


# Characters of JSON: a table of a thousand rows has about 300,000. Every client of the run receives it.
LARGEST_ARTIFACT = 512 * 1024


class ToolReturn(Struct, frozen=True):
    """A result with an artifact or images: the model gets `result` and `images`, clients get `result` and `artifact`.

    `artifact` is a JSON value or a `DataTable`. None means no artifact. Each image is an https URL, a data URL, or the
    return value of `image`.
    """

    result: Any
    artifact: JsonValue | DataTable = None
    images: Sequence[str | ImagePart] = ()


class ToolOutcome(Struct, frozen=True):
    """The outcome of a call: a JSON value, or an error sentence with a code.

    `untrusted`: its text is foreign, or may quote foreign text. `artifact` is for people and is never sent to a model.
    The model gets the `images`.
    """

    success: bool
    result: JsonValue = None
    error: str = ""
    code: Code | None = None
    untrusted: bool = False
    artifact: JsonValue = None
    images: tuple[ImagePart, ...] = ()

    @classmethod
    def failed(cls, code: Code, error: str) -> "ToolOutcome":
        """Return a failure."""
        return cls(success=False, error=error, code=code)

    def for_model(self) -> str:
        """Return the outcome as the text of a tool message, which is never empty (quirk C4)."""
        if not self.success:
            return orjson.dumps({"error": self.error, "code": self.code}).decode()
        if isinstance(self.result, str):
            return self.result or "(no output)"
        return orjson.dumps(self.result).decode()


class SourceNumbers(Struct):
    """Assigns a number to each source of a run. If a canonical URL occurs again, the URL keeps its number."""

    _numbers: dict[str, int] = {}
    titles: dict[int, tuple[str, str]] = {}
    _cited: set[Hashable] = set()
    _after: int = 0

    def is_first(self, citation: Hashable) -> bool:
        """Return whether the run sees this citation for the first time; a retried answer repeats its citations."""
        if citation in self._cited:
            return False
        self._cited.add(citation)
        return True

    def number(self, url: str, title: str = "") -> int:
        """Return the number of a source. A new source gets the next free number."""
        key = canonical_url(url)
        n = self._numbers.setdefault(key, self._after + len(self._numbers) + 1)
        self.titles.setdefault(n, (title, url))
        return n

    def continue_from(self, cited: Mapping[int, tuple[str, str]]) -> None:
        """Continue after these numbered sources (title and URL by number) of the answer that the run continues."""
        if not cited:
            return
        for n, (_, url) in cited.items():
            self._numbers.setdefault(canonical_url(url), n)
        self._after = max(cited) - len(self._numbers)


class SearchQuery(Struct, frozen=True):
    """One search: the text, the number of results, and an optional time range (dates are ISO 8601)."""

    text: str
    limit: int = 3
    time_hint: Literal["day", "week", "month", "year"] | None = None
    after: str | None = None
    before: str | None = None


class SearchHit(Struct, frozen=True):
    """One search result; `published` is an ISO 8601 date, if the backend has one."""

    title: str
    url: str
    snippet: str
    published: str | None = None


class SearchUnavailableError(Exception):
    """A search backend cannot be used; the message is for the operator, such as "ACME_KEY is not set"."""


class SearchBackend(Protocol):
    """A search backend. `about` describes what it searches; `paid` decides the default limit of searches."""

    name: str
    about: str
    paid: bool

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError (RATE_LIMIT, TOOL_FAILED, …)."""
        ...


@dataclass(frozen=True, slots=True)
class WebPage:
    """A fetched page: `kind` is its media type, `text` its decoded body; `cut` is whether the body was longer."""

    url: str
    kind: str
    text: str
    cut: bool = False


class PageFetcher(Protocol):
    """Fetches pages, only from addresses that are safe to request (quirk G1)."""

    async def fetch(self, url: str) -> WebPage:
        """Return the page at a URL, following redirects; raises ToolError."""
        ...


@dataclass(frozen=True, slots=True)
class SavedNote:
    """A saved note: its file name, and the URL at which the app serves it."""

    file: str
    url: str


class NoteStore(Protocol):
    """Stores notes."""

    async def save(self, title: str, text: str, now: datetime) -> SavedNote:
        """Save a note under a new name; raises ToolError."""
        ...


class Owner(Struct, frozen=True):
    """The owner of a run: an API token, or a user of an app that embeds Signalbox. Both fields may be empty."""

    id: str = ""
    name: str = ""


class ToolContext(Struct):
    """The data and functions that a tool may use besides its arguments. The calls of a run share all but `call_id`.

    The client chooses `conversation_id` and `metadata`, which are fields of its request. Only `owner` is authenticated.
    `workspace` has the files of the conversation's branch; it is None outside of conversations. A tool calls models by
    `model_calls`, with the `call_id` of its call. `trace_headers` continue the trace of the run: send them
    only to your own servers.
    """

    run_id: str = ""
    owner: Owner = Owner()
    conversation_id: str | None = None
    metadata: Mapping[str, str] = {}
    workspace: Workspace | None = None
    model_calls: "ModelCalls | None" = None
    call_id: str = ""
    trace_headers: Mapping[str, str] = {}
    sources: SourceNumbers = field(default_factory=SourceNumbers)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    url_allowlist: UrlAllowlist = field(default_factory=UrlAllowlist)
    result_budget: ResultBudget = field(default_factory=ResultBudget)
    _surfaces: Iterator[int] = field(default_factory=lambda: count(1))

    @classmethod
    def for_conversation(cls, run_id: str, messages: Sequence[Message]) -> "ToolContext":
        """Return a run's context that allows the URLs in messages of the user, the system and earlier tool results.

        URLs that a model wrote are not allowed, because untrusted text may have made it write them.
        """
        context = cls(run_id=run_id)
        context.url_allowlist.is_closed = any(isinstance(one, ToolMessage) and one.untrusted for one in messages)
        context.url_allowlist.allow_texts(texts_of(tuple(messages)))  # a copy: the run appends to them
        return context

    def surface_id(self, name: str) -> str:
        """Return a new unique id for a DataTable. The id starts with `name`."""
        return f"{name}-{self.run_id}-{next(self._surfaces)}"

    def begin_step(self) -> None:
        """Start a step: the next request contains all results so far."""
        self.url_allowlist.begin_step()
        self.result_budget.begin_step()


ToolFunction: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[JsonValue | ToolReturn]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and its function.

    If the tool cannot be offered, `unavailable` is the reason. Otherwise, `unavailable` is None. `run` returns a JSON
    value or a ToolReturn. If the call fails, `run` raises ToolError with a sentence that tells the model what to do.
    """

    spec: ToolSpec
    run: ToolFunction
    unavailable: str | None = None


__all__ = [
    "Category",
    "NoteStore",
    "Owner",
    "PageFetcher",
    "ResultBudget",
    "SavedNote",
    "SearchBackend",
    "SearchHit",
    "SearchQuery",
    "SearchUnavailableError",
    "SourceNumbers",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFunction",
    "ToolOutcome",
    "ToolReturn",
    "ToolSpec",
    "UrlAllowlist",
    "Visibility",
    "WebPage",
    "canonical_url",
    "name_in_words",
]
