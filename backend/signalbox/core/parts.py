"""A request to a model (Request) and its answer: parts, Usage, Completion."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, Message, Native, ReasoningDetail
from signalbox.core.params import NO_PARAMS, Choice, Params


class Usage(Struct, frozen=True):
    """Tokens and cost of model calls. `cost` is in USD, or None if the upstream reports no cost.

    `input` includes `cached`, the tokens read from the provider's cache, and `cache_written`, the tokens written to it.
    """

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cached: int = 0
    cost: float | None = None
    cache_written: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Sum two calls; an unknown cost counts as 0 unless both are unknown."""
        known = [c for c in (self.cost, other.cost) if c is not None]
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cached=self.cached + other.cached,
            cost=round(sum(known), 12) if known else None,
            cache_written=self.cache_written + other.cache_written,
        )


class Bill(Struct, frozen=True):
    """The final cost of one generation, fetched after it ended; a field is None if the upstream does not report it."""

    usage: Usage
    model: str | None = None
    provider: str | None = None
    cancelled: bool | None = None


# Parts are not tracked by the garbage collector: thousands are created per second, and none is part of a cycle.


class TextDelta(Struct, frozen=True, gc=False):
    """A piece of the answer."""

    text: str


class TokenLogprobs(Struct, frozen=True, gc=False):
    """Log probabilities of the tokens of the next text, and of the next refusal, as the provider sends them."""

    text: tuple[JsonValue, ...] = ()
    refusal: tuple[JsonValue, ...] = ()


class RefusalDelta(Struct, frozen=True, gc=False):
    """A piece of a refusal, which some providers send in a separate field."""

    text: str


class ReasoningDelta(Struct, frozen=True, gc=False):
    """A piece of visible reasoning; `field` is its JSON field, None if it came from reasoning details."""

    text: str
    field: str | None = None


class Citation(Struct, frozen=True, gc=False):
    """A page that the answer cites; `start` and `end` are offsets in its text, if the provider sends them."""

    url: str
    title: str = ""
    content: str = ""
    start: int | None = None
    end: int | None = None


class ImageDelta(Struct, frozen=True, gc=False):
    """An image of the answer: a data URL or an https URL."""

    url: str


class Omitted(Struct, frozen=True, gc=False):
    """A piece of the answer was left out; `why` is a sentence."""

    why: str


class HiddenReasoning(Struct, frozen=True, gc=False):
    """A piece of encrypted reasoning, which cannot be shown."""


class Details(Struct, frozen=True):
    """All reasoning details of the answer, merged; emitted once, at its end. They are sent back unchanged."""

    items: tuple[ReasoningDetail, ...]


class NativeTurn(Struct, frozen=True):
    """The whole answer in the words of its API; emitted once, at its end. See `Native`."""

    native: Native


class CallDelta(Struct, frozen=True, gc=False):
    """A piece of a tool call; a missing field is None, also `index` (quirk A2).

    `position` is the position in a delta with several entries, None in a delta with one. `whole`: `arguments` are all
    of the call's arguments and replace its pieces so far.
    """

    index: int | None = None
    id: str | None = None
    name: str | None = None
    arguments: str | None = None
    position: int | None = None
    whole: bool = False


class FinishReason(StrEnum):
    """Why a turn ended, independent of the provider's word. Only the first two are successful endings.

    `WITHHELD`: refused or filtered. `PAUSED`: the model can continue the turn. `MALFORMED_CALL` and `UNEXPECTED_CALL`:
    the provider could not parse the model's call, or did not allow it. `UNKNOWN`: a word that Signalbox does not know.
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
    """Why the model stopped; a later part replaces an earlier one.

    `word` is the provider's finish reason; without it an answer counts as unfinished. `native` is the model's. Both are
    for the trace; `reason` is their normalized meaning.
    """

    reason: FinishReason | None = None
    word: str | None = None
    native: str | None = None


class Served(Struct, frozen=True, gc=False):
    """The generation, model and provider that answered."""

    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None


class UsageReport(Struct, frozen=True, gc=False):
    """Tokens and cost so far; a later report replaces an earlier one. `raw` is the provider's object."""

    usage: Usage
    raw: Mapping[str, JsonValue]


class Fault(Struct, frozen=True):
    """An error inside a stream or in the body of a 200; `raw` is the provider's object."""

    error: UpstreamError
    raw: JsonValue = None


class Unreadable(Struct, frozen=True, gc=False):
    """A frame that is not valid JSON and was left out; `size` is in bytes."""

    size: int


class EndOfStream(Struct, frozen=True, gc=False):
    """The upstream marked the end of the answer (`[DONE]`, or the end of a whole body)."""


StreamPart: TypeAlias = (
    TextDelta
    | Citation
    | ImageDelta
    | Omitted
    | TokenLogprobs
    | RefusalDelta
    | ReasoningDelta
    | HiddenReasoning
    | Details
    | NativeTurn
    | CallDelta
    | Finish
    | Served
    | UsageReport
    | Fault
    | Unreadable
    | EndOfStream
)


class ArgumentStatus(StrEnum):
    """How the text of a call's arguments parsed, before any repair."""

    OK = "ok"
    EMPTY = "empty"
    NON_OBJECT = "non_object"
    INVALID = "invalid"
    TRUNCATED = "truncated"


class RawCall(Struct, frozen=True):
    """One call as received; `arguments` is the text, `value` the parsed JSON, None if it is invalid."""

    id: str | None
    name: str
    arguments: str
    status: ArgumentStatus
    value: JsonValue = None


class Completion(Struct, frozen=True):
    """One whole answer of a model, assembled from its parts; nothing is repaired.

    `leaked`: its text contained tool-call markup, which was removed.
    """

    content: str = ""
    refusal: str = ""
    reasoning: str = ""
    reasoning_field: str | None = None
    reasoning_details: tuple[ReasoningDetail, ...] = ()
    native: Native | None = None
    logprobs: tuple[TokenLogprobs, ...] = ()
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
    def has_content(self) -> bool:
        """Whether the answer has visible content: text other than whitespace, or an image."""
        return bool(self.content.strip() or self.images)


NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
"""The JSON Schema of a tool without parameters."""


class ToolSchema(Struct, frozen=True):
    """A tool as it is offered to a model; `parameters` is JSON Schema.

    `strict` is the client's wish that arguments match the schema exactly; None is not sent.
    """

    name: str
    description: str
    parameters: JsonObject
    strict: bool | None = None


class Request(Struct, frozen=True):
    """One model call, before a dialect turns it into JSON.

    `changes` describes the degradations that make the provider accept the request; it is not sent.
    `trace_headers` are sent with it; they connect the upstream's trace with ours.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: Choice | None = None
    params: Params = NO_PARAMS
    session_id: str | None = None
    changes: tuple[str, ...] = ()
    trace_headers: Mapping[str, str] = {}
