"""The events of contract v1.1 as dataclasses. Unknown types become an `Event`; unknown fields stay in `raw`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """An announced tool call. `arguments` is JSON text."""

    id: str
    name: str
    arguments: str
    category: str = "other"
    visibility: str = "primary"
    previewed: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a tool call: `result` if it succeeded, otherwise `error` and `code`."""

    success: bool
    result: Any = None
    error: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A page that the provider cites. `n` is the number of the page in the run."""

    n: int
    url: str
    title: str = ""
    snippet: str | None = None
    start_index: int | None = None
    end_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image in the answer. `url` is a data URL or an https URL. Load an https URL only if the user agrees."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The tokens that all model calls of a run used together."""

    input: int = 0
    output: int = 0
    reasoning: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """The tool loop that executed the run (`variant`), and why Signalbox chose this loop (`reason`)."""

    variant: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaved:
    """A server crash lost the events with `after` < `seq` < `before`."""

    after: int
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a run. If this client does not know the type of an event, the class of the event is `Event`."""

    type: str
    seq: int
    raw: Mapping[str, Any] = field(repr=False)
    ts: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning(Event):
    """A piece of the model's reasoning. If `hidden` is True, the provider does not show the text of the reasoning."""

    content: str
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls(Event):
    """Announces tool calls."""

    calls: list[Call]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Event):
    """The next piece of the string argument `key` of a call. If `withdrawn` is True, forget the call's pieces."""

    id: str
    name: str | None = None
    key: str | None = None
    text: str = ""
    withdrawn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecuting(Event):
    """The execution of an announced call starts."""

    id: str
    name: str
    category: str = "other"
    visibility: str = "primary"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult(Event):
    """The only result of an announced call. `artifact` is for people, for example a DataTable."""

    id: str
    name: str
    result: Outcome
    category: str = "other"
    visibility: str = "primary"
    cached: bool = False
    artifact: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content(Event):
    """A piece of the answer. If `synthetic` is True, Signalbox wrote the text because the model gave no answer."""

    content: str
    refusal: bool = False
    synthetic: bool = False
    sources: list[Source] = field(default_factory=list[Source])
    images: list[Image] = field(default_factory=list[Image])


@dataclass(frozen=True, slots=True, kw_only=True)
class Warning(Event):  # noqa: A001 - the contract's term
    """A warning for the user."""

    message: str
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done(Event):
    """The end of the run. `cost` is in USD. `retry_after` is in seconds. Absent values are None."""

    status: str
    error: str | None = None
    code: str | None = None
    retryable: bool | None = None
    retry_after: float | None = None
    usage: Usage | None = None
    cost: float | None = None
    cost_estimated: bool = False
    requested_model: str | None = None
    model: str | None = None
    provider: str | None = None
    loop: str | None = None
    flag: Flag | None = None
    steps: int | None = None
    simulated: bool = False
    duration_ms: int | None = None
    first_token_ms: int | None = None
    handed: list[str] = field(default_factory=list[str])
    unsaved: Unsaved | None = None
    upstream: str | None = None


EVENTS: dict[str, type[Event]] = {
    "reasoning": Reasoning,
    "preview": Preview,
    "tool_calls": ToolCalls,
    "tool_executing": ToolExecuting,
    "tool_result": ToolResult,
    "content": Content,
    "warning": Warning,
    "done": Done,
}
_PARTS: dict[str, type] = {
    "calls": Call,
    "result": Outcome,
    "sources": Source,
    "images": Image,
    "usage": Usage,
    "flag": Flag,
    "unsaved": Unsaved,
}
_FIELDS = {made: {one.name for one in fields(made)} for made in (Event, *EVENTS.values(), *_PARTS.values())}


def event_of(seq: int, raw: Mapping[str, Any]) -> Event:
    """Return the event of a frame's JSON."""
    made = EVENTS.get(raw["type"], Event)
    values = {**raw, "seq": seq, "raw": raw}
    for name in _PARTS.keys() & _FIELDS[made] & raw.keys():
        part = _PARTS[name]
        is_list = isinstance(raw[name], list)
        values[name] = [_made(part, one) for one in raw[name]] if is_list else _made(part, raw[name])
    return _made(made, values)


def _made(made: type, values: Mapping[str, Any]) -> Any:
    """Return an object without the fields that this client does not know."""
    return made(**{name: values[name] for name in _FIELDS[made] & values.keys()})
