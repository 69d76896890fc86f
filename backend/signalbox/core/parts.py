"""What goes to a model (Request) and what comes back from it (parts, Usage, Completion)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, Message, ReasoningDetail
from signalbox.core.params import NO_PARAMS, Choice, Params


class Usage(Struct, frozen=True):
    """Tokens and money of one model call; `cost` is in USD and absent where the upstream does not tell."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """Sum two calls; a cost that one of them does not know leaves the other's."""
        known = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cached=self.cached + other.cached,
            cost=round(sum(known), 12) if known else None,
        )


class Bill(Struct, frozen=True):
    """What one generation really cost, as the upstream tells it afterwards; None where it does not tell."""

    usage: Usage
    model: str | None = None
    provider: str | None = None
    cancelled: bool | None = None


# Parts are structs without garbage-collector tracking: thousands are made per second and none holds a cycle.


class TextDelta(Struct, frozen=True, gc=False):
    """A piece of the answer."""

    text: str


class RefusalDelta(Struct, frozen=True, gc=False):
    """A piece of a refusal, sent by some hosts in a separate field."""

    text: str


class ReasoningDelta(Struct, frozen=True, gc=False):
    """A piece of visible reasoning; `field` is the wire's name for it, None when it was read from details."""

    text: str
    field: str | None = None


class Citation(Struct, frozen=True, gc=False):
    """A page that the answer cites; `start` and `end` are places in its text, where the host tells them."""

    url: str
    title: str = ""
    content: str = ""
    start: int | None = None
    end: int | None = None


class ImageDelta(Struct, frozen=True, gc=False):
    """An image of the answer: a data URL, or an address on the web."""

    url: str


class Omitted(Struct, frozen=True, gc=False):
    """Something of the answer was left out, and why, as a sentence."""

    why: str


class HiddenReasoning(Struct, frozen=True, gc=False):
    """The model reasoned, but this piece is encrypted: there is nothing to show."""


class Details(Struct, frozen=True):
    """All reasoning details of the answer, merged; sent once, at its end. They go back unchanged."""

    items: tuple[ReasoningDetail, ...]


class CallDelta(Struct, frozen=True, gc=False):
    """A piece of a tool call; absent means absent (None), also for `index` (quirk A2).

    `position` is the entry's place in a delta that lists several, None when it stands alone.
    """

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    position: int | None = None


class FinishReason(StrEnum):
    """Why a turn ended, whatever word the provider has for it. Only the first two are good endings.

    `WITHHELD`: refused or filtered. `PAUSED`: to be continued. `MALFORMED_CALL` and `UNEXPECTED_CALL`: the provider
    could not read the model's call, or did not allow it. `UNKNOWN`: a word that Signalbox does not know.
    """

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    WITHHELD = "withheld"
    PAUSED = "paused"
    MALFORMED_CALL = "malformed_call"
    UNEXPECTED_CALL = "unexpected_call"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Finish(Struct, frozen=True, gc=False):
    """Why the model stopped; a later one replaces an earlier one.

    `word` is what the host said, and without it an answer counts as unfinished; `native` is the model's own word. Both
    are for the trace: what they mean together is `reason`.
    """

    reason: FinishReason | None = None
    word: str | None = None
    native: str | None = None


class Served(Struct, frozen=True, gc=False):
    """Which generation, model and provider answered."""

    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None


class UsageReport(Struct, frozen=True, gc=False):
    """Tokens and cost so far; a later report replaces an earlier one. `raw` is the host's own object."""

    usage: Usage
    raw: Mapping[str, JsonValue]


class Fault(Struct, frozen=True):
    """An error inside a stream or a body of HTTP 200; `raw` is the host's own object."""

    error: UpstreamError
    raw: JsonValue = None


class Unreadable(Struct, frozen=True, gc=False):
    """A frame that is not JSON was left out; `size` is in bytes."""

    size: int


class EndOfStream(Struct, frozen=True, gc=False):
    """The host said that nothing follows (`[DONE]`, or the end of a whole body)."""


StreamPart: TypeAlias = (
    TextDelta
    | Citation
    | ImageDelta
    | Omitted
    | RefusalDelta
    | ReasoningDelta
    | HiddenReasoning
    | Details
    | CallDelta
    | Finish
    | Served
    | UsageReport
    | Fault
    | Unreadable
    | EndOfStream
)


class ArgumentStatus(StrEnum):
    """What the text of a call's arguments is, before any repair."""

    OK = "ok"
    EMPTY = "empty"
    NON_OBJECT = "non_object"
    INVALID = "invalid"
    TRUNCATED = "truncated"


class RawCall(Struct, frozen=True):
    """One call as the wire told it: `arguments` is the text, `value` what it parses to (None when it does not)."""

    id: str | None
    name: str
    arguments: str
    status: ArgumentStatus
    value: JsonValue = None


class Completion(Struct, frozen=True):
    """One whole answer of a model, put together from its parts; wire truth, nothing repaired.

    `leaked`: its text held markup of tool calls, which was taken out.
    """

    content: str = ""
    refusal: str = ""
    reasoning: str = ""
    reasoning_field: str | None = None
    reasoning_details: tuple[ReasoningDetail, ...] = ()
    calls: tuple[RawCall, ...] = ()
    images: tuple[ImageDelta, ...] = ()
    citations: tuple[Citation, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    finish: Finish = Finish()
    usage: Usage | None = None
    usage_raw: Mapping[str, JsonValue] | None = None
    fault: Fault | None = None
    served: Served = Served()
    unreadable: int = 0
    ended: bool = False
    leaked: bool = False

    @property
    def says_something(self) -> bool:
        """Whether there is an answer in it: words, or an image."""
        return bool(self.content.strip() or self.images)


class ToolSchema(Struct, frozen=True):
    """A tool as a model is told of it; `parameters` is JSON Schema."""

    name: str
    description: str
    parameters: JsonObject


class Request(Struct, frozen=True):
    """One model call: everything that goes out, before it becomes a dialect's JSON.

    `changes` says in words what the run has given up so that its host accepts the request; it is not sent.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: Choice | None = None
    params: Params = NO_PARAMS
    session_id: str | None = None
    changes: tuple[str, ...] = ()
