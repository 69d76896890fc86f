"""The contract v1.1, its single source: one class per event, and the envelope that every frame adds to it.

`just contract` turns this file into JSON Schema, TypeScript types and golden fixtures. Growth is by optional fields
only; a field at its default is left out of the frame, never sent as null. For clients: `docs/sse-contract.md`.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from signalbox.core.tools import Category, Visibility

VERSION = "1.1"

Status = Literal["complete", "cancelled", "interrupted", "error", "length", "content_filter"]
LoopName = Literal["v2", "legacy"]


class Event(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """What all events share: the tag `type`, and that a default is left out."""


class Reasoning(Event, frozen=True, gc=False, tag="reasoning"):
    """A piece of the model's reasoning. `hidden`: the model reasons, but its host shows no words of it."""

    content: str
    step: int | UnsetType = UNSET
    hidden: Literal[True] | UnsetType = UNSET


class Call(Struct, frozen=True, omit_defaults=True):
    """One call as it is announced.

    `arguments` is JSON text: the object that the tool gets. Where the model sent no JSON object, it is what the model
    sent (the first 2,000 characters), and the call's result is a failure.
    """

    id: str
    name: str
    arguments: str
    category: Category
    visibility: Visibility


class ToolCalls(Event, frozen=True, tag="tool_calls"):
    """Calls are announced. Each id gets exactly one tool_result later."""

    calls: list[Call]
    step: int | UnsetType = UNSET


class ToolExecuting(Event, frozen=True, gc=False, tag="tool_executing"):
    """An announced call starts to run; a call that never runs (clamped, cached, invalid) skips this."""

    id: str
    name: str
    category: Category
    visibility: Visibility
    step: int | UnsetType = UNSET


class Success(Struct, frozen=True):
    """The tool's result, any JSON value."""

    success: Literal[True]
    result: Any


class Failure(Struct, frozen=True):
    """Why there is no result: a sentence and a code."""

    success: Literal[False]
    error: str
    code: str


# msgspec tells union members apart by string tags only, so the schema describes the two shapes separately.
ResultShape: TypeAlias = Annotated[
    Any, Meta(extra_json_schema={"oneOf": [{"$ref": "#/$defs/Success"}, {"$ref": "#/$defs/Failure"}]})
]


class ToolResult(Event, frozen=True, tag="tool_result"):
    """The one result of an announced call, a Success or a Failure. `cached`: an equal search was used again."""

    id: str
    name: str
    result: ResultShape
    category: Category
    visibility: Visibility
    cached: Literal[True] | UnsetType = UNSET
    step: int | UnsetType = UNSET


class Source(Struct, frozen=True, gc=False, omit_defaults=True):
    """A page that the model's provider cites.

    `n` is its number in the run, the same as in the results of searches. `start_index` and `end_index` are places in
    the text of its step, where the provider tells them.
    """

    n: int
    url: str
    title: str
    snippet: str | UnsetType = UNSET
    start_index: int | UnsetType = UNSET
    end_index: int | UnsetType = UNSET


class Image(Struct, frozen=True, gc=False):
    """An image of the answer: a `data:image/…` URL (base64), or an https address not to be loaded unasked."""

    url: str


class Content(Event, frozen=True, gc=False, tag="content"):
    """A piece of the answer.

    `refusal`: the words are a refusal. `synthetic`: the sentence is Signalbox's own, in place of a missing answer.
    `sources` and `images` stand where they came between the words; `content` is empty then. `step` stands beside
    `sources`: their places are in the text of that model call.
    """

    content: str
    refusal: Literal[True] | UnsetType = UNSET
    synthetic: Literal[True] | UnsetType = UNSET
    sources: list[Source] | UnsetType = UNSET
    images: list[Image] | UnsetType = UNSET
    step: int | UnsetType = UNSET

    @property
    def has_content(self) -> bool:
        """Whether a reader sees an answer in it: words, or an image."""
        return self.images is not UNSET or bool(self.content.strip())


class Warning(Event, frozen=True, gc=False, tag="warning"):  # noqa: A001 - the contract's own word
    """Something the reader should know; every ending but complete and cancelled sends one just before `done`."""

    message: str
    code: str | UnsetType = UNSET
    step: int | UnsetType = UNSET


class UsageTotals(Struct, frozen=True, omit_defaults=True):
    """Tokens summed over all model calls of the run."""

    input: int
    output: int
    reasoning: int | UnsetType = UNSET
    cached: int | UnsetType = UNSET


class Flag(Struct, frozen=True):
    """Why this loop drove the run, in OpenFeature's terms."""

    variant: str
    reason: str


class Unsaved(Struct, frozen=True):
    """Events with `after` < seq < `before` may have been sent, but a crash lost them before they were on disk."""

    after: int
    before: int


class Done(Event, frozen=True, tag="done"):
    """The one end of every run. `cost` is in USD, `retry_after` in seconds, `steps` counts model calls.

    `duration_ms` is from the run's start to its end by the server's clock, `first_token_ms` to the model's first part.
    `handed` are the ids of the calls that the client executes; they have no tool_result. `unsaved` is set after a
    server crash alone.
    """

    done: Literal[True]
    status: Status
    error: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    retryable: bool | UnsetType = UNSET
    retry_after: float | UnsetType = UNSET
    usage: UsageTotals | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    cost_estimated: Literal[True] | UnsetType = UNSET
    requested_model: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    loop: LoopName | UnsetType = UNSET
    flag: Flag | UnsetType = UNSET
    steps: int | UnsetType = UNSET
    simulated: Literal[True] | UnsetType = UNSET
    duration_ms: int | UnsetType = UNSET
    first_token_ms: int | UnsetType = UNSET
    handed: list[str] | UnsetType = UNSET
    unsaved: Unsaved | UnsetType = UNSET


class ArgumentsDelta(Event, frozen=True, gc=False, tag="arguments_delta"):
    """A piece of the arguments of a call to the client's tool, before the call is announced under the same `id`.

    It is in the journal, and not in the contract: v1.1 announces whole calls.
    """

    id: str
    name: str
    arguments: str
    step: int


ContractEvent: TypeAlias = Reasoning | ToolCalls | ToolExecuting | ToolResult | Content | Warning | Done
AnyEvent: TypeAlias = ContractEvent | ArgumentsDelta


class Envelope(Struct, frozen=True, omit_defaults=True):
    """What a frame adds to its event: the time on all but `content`, and on the run's first frame who speaks."""

    ts: int | UnsetType = UNSET
    v: str | UnsetType = UNSET
    run_id: str | UnsetType = UNSET
    loop: LoopName | UnsetType = UNSET


class Stamped(Struct, frozen=True):
    """An event with its place in the run: `seq` rises from 1, `at` is the server's time in epoch milliseconds."""

    seq: int
    at: int
    event: AnyEvent


def contract_events(events: Iterable[Stamped]) -> list[Stamped]:
    """Return the events that the contract has, without those that are only in the journal."""
    return [stamped for stamped in events if type(stamped.event) is not ArgumentsDelta]
