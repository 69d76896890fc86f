"""What a tool is: its schema, its metadata, what it is given and what it gives back."""

import re
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias

import orjson
from msgspec import Struct, field

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import (
    AssistantMessage,
    JsonObject,
    JsonValue,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.parts import ToolSchema
from signalbox.core.security.url_allowlist import Said, UrlAllowlist, canonical_url, composed_in, texts_in

Category: TypeAlias = Literal["search", "utility", "other"]
Visibility: TypeAlias = Literal["primary", "secondary", "hidden"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What is known of a tool before it runs.

    `eager`: it only reads and may be repeated, so it may start while the model still streams. `timeout` is in
    seconds. `search_key` makes equal searches equal; a tool that has one is deduped and counts against the clamp.
    `untrusted`: its results bring text from outside, so a model gets them delimited (quirk G3); its failures as well,
    unless `own_failures` says that they quote nothing. `url_argument` names the argument that is an address it will
    ask: once text from outside was read, only addresses that the user or a result has named are.

    `name` and `description` are for models. `title` and `summary` are for people: a short name and one sentence.
    Both may be left out; read them through `display_title` and `display_summary`. `schema` is built once, so that every
    run that offers the tool shares it.
    """

    name: str
    description: str
    parameters: JsonObject
    category: Category = "other"
    visibility: Visibility = "secondary"
    eager: bool = False
    timeout: float = 10.0
    search_key: Callable[[Mapping[str, JsonValue]], str] | None = None
    untrusted: bool = True
    own_failures: bool = False
    url_argument: str | None = None
    title: str = ""
    summary: str = ""
    schema: ToolSchema = dataclass_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build what models are sent of the tool."""
        object.__setattr__(self, "schema", ToolSchema(self.name, self.description, self.parameters))

    @property
    def display_title(self) -> str:
        """Return the title, or else the technical name in words: `get_weather` becomes "Get weather"."""
        return self.title or name_in_words(self.name)

    @property
    def display_summary(self) -> str:
        """Return the summary, or else the first sentence of the description."""
        return self.summary or _FIRST_SENTENCE.split(self.description.strip(), maxsplit=1)[0]


_WORD_BOUNDARY = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_FIRST_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")


def name_in_words(name: str) -> str:
    """Write an identifier as words, capitals of an abbreviation left as they are (`readURL` becomes "Read URL")."""
    words = [word if word.isupper() else word.lower() for word in _WORD_BOUNDARY.split(name) if word]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


class ToolOutcome(Struct, frozen=True):
    """What came of a call: a JSON value, or a sentence with a code. It never is an exception.

    `outside`: its text was not written by us, or may quote what was not.
    """

    success: bool
    result: JsonValue = None
    error: str = ""
    code: Code | None = None
    outside: bool = False

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


class SourceBook(Struct):
    """Numbers the sources of one run: one number per canonical URL, stable from the first time it is seen."""

    _numbers: dict[str, int] = {}
    titles: dict[int, tuple[str, str]] = {}
    _told: set[Hashable] = set()
    _after: int = 0

    def is_new(self, told: Hashable) -> bool:
        """Whether the run tells this for the first time: an answer that is asked for again repeats what it cites."""
        if told in self._told:
            return False
        self._told.add(told)
        return True

    def number(self, url: str, title: str = "") -> int:
        """Return the number of this source, giving it the next one when it is new."""
        key = canonical_url(url)
        n = self._numbers.setdefault(key, self._after + len(self._numbers) + 1)
        self.titles.setdefault(n, (title, url))
        return n

    def go_on_from(self, cited: Mapping[int, tuple[str, str]]) -> None:
        """Number behind these sources, title and address by number: the run continues the answer that cites them."""
        if not cited:
            return
        for n, (_, url) in cited.items():
            self._numbers.setdefault(canonical_url(url), n)
        self._after = max(cited) - len(self._numbers)


class SearchQuery(Struct, frozen=True):
    """One search: the text, how many results, and the time it is limited to (dates are ISO 8601)."""

    text: str
    limit: int = 3
    time_hint: Literal["day", "week", "month", "year"] | None = None
    after: str | None = None
    before: str | None = None


class SearchHit(Struct, frozen=True):
    """One result of a search; `published` is an ISO 8601 date where the backend knows it."""

    title: str
    url: str
    snippet: str
    published: str | None = None


class SearchUnavailableError(Exception):
    """Why a search backend cannot be used here: a sentence for the operator, such as "ACME_KEY is not set"."""


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


class ResultRoom(Struct):
    """How many characters of results one step, and a whole run, may still bring to the model (quirk G5).

    When it is used up a result still has `least`: less than that would only make the model ask again.
    """

    per_step: int = 100_000
    per_run: int = 400_000
    least: int = 2_000
    _step: int = 0
    _run: int = 0

    def left(self) -> int:
        """Return the most that the next result may have."""
        return max(self.least, min(self.per_step - self._step, self.per_run - self._run))

    def take(self, size: int) -> None:
        """Count a result."""
        self._step += size
        self._run += size

    def begin_step(self) -> None:
        """Make room for the results of another step."""
        self._step = 0


class ToolContext(Struct):
    """What a tool may use besides its arguments; one per run."""

    run_id: str = ""
    sources: SourceBook = field(default_factory=SourceBook)
    now: Callable[[], datetime] = _utc_now
    links: UrlAllowlist = field(default_factory=UrlAllowlist)
    room: ResultRoom = field(default_factory=ResultRoom)

    @classmethod
    def for_conversation(cls, run_id: str, messages: Sequence[Message]) -> "ToolContext":
        """Make a run's context that knows the addresses in what the user, the system and earlier results said.

        Not those in what a model said, nor in what repeats it, as our refusals do: a page may have told it to.
        """
        context = cls(run_id=run_id)
        context.links.is_closed = any(isinstance(message, ToolMessage) and message.outside for message in messages)
        context.links.note_all(_texts_of(tuple(messages)))  # as they are now: a run adds to them
        return context

    def begin_step(self) -> None:
        """Note that the model is asked again, with every result that there is."""
        self.links.begin_step()
        self.room.begin_step()


# The argument with the address that a call opens, of read_url: a conversation does not say which tools there were.
_ASKED = "url"
# Characters of a conversation in which addresses are looked for: some tens of milliseconds of work at most.
_MOST_READ = 2_000_000


def _texts_of(messages: Sequence[Message]) -> Iterator[Said]:
    """Yield the newest texts of others than the model, the oldest of them first."""
    yield from reversed([*_newest_texts(messages)])


def _newest_texts(messages: Sequence[Message]) -> Iterator[Said]:
    """Yield the newest texts of others than the model; what people wrote is looked at loosely."""
    left = _MOST_READ
    calls = {call.id: call for message in messages if isinstance(message, AssistantMessage) for call in message.calls}
    composed: dict[str, frozenset[str] | None] = {}  # by call: one of long arguments may have thousands of results
    for message in reversed(messages):
        is_result = isinstance(message, ToolMessage)
        if is_result and message.call_id not in composed:
            call = calls.get(message.call_id)
            composed[message.call_id] = composed_in(call.name, call.arguments, _ASKED) if call else frozenset()
        for text in _texts(message):
            yield Said(text[:left], not is_result, composed[message.call_id] if is_result else frozenset())
            left -= len(text)
            if left <= 0:
                return


def _texts(message: Message) -> Iterator[str]:
    match message:
        case SystemMessage(str(text)) | UserMessage(str(text)):
            yield text
        case SystemMessage(parts) | UserMessage(parts):
            yield from (part.text for part in parts if isinstance(part, TextPart))
        case ToolMessage(content=content, outside=True):
            try:
                yield from texts_in(orjson.loads(content)) if len(content) <= _MOST_READ else (content,)
            except orjson.JSONDecodeError:
                yield content
        case _:
            pass


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
    "ResultRoom",
    "SavedNote",
    "SearchBackend",
    "SearchHit",
    "SearchQuery",
    "SearchUnavailableError",
    "SourceBook",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFunction",
    "ToolOutcome",
    "ToolSpec",
    "UrlAllowlist",
    "Visibility",
    "WebPage",
    "canonical_url",
    "name_in_words",
]
