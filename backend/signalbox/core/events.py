"""The single source of contract v1.1: one class per event, and the envelope that frames add to an event.

`just contract` generates JSON Schema, TypeScript types and golden streams from this file. The contract grows only by
optional fields. A field at its default is left out of the frame, never sent as null. `docs/sse-contract.md` describes
the contract for clients.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from signalbox.core.tools import Category, Visibility

VERSION = "1.1"

Status = Literal["complete", "cancelled", "interrupted", "error", "length", "content_filter"]
LoopName = Literal["v2", "legacy"]


class Event(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """The base of all events: they have the tag `type`, and leave out fields at their default."""


class Reasoning(Event, frozen=True, gc=False, tag="reasoning"):
    """A piece of the model's reasoning. If `hidden` is true, the provider does not show the text of the reasoning."""

    content: str
    step: int | UnsetType = UNSET
    hidden: Literal[True] | UnsetType = UNSET


class WholeCall(Struct, frozen=True, omit_defaults=True):
    """One call with its whole arguments."""

    id: str
    name: str
    arguments: str
    category: Category
    visibility: Visibility


class Call(WholeCall, frozen=True, omit_defaults=True):
    """One call as it is announced.

    `arguments` is JSON text: the object that the tool receives. If the model sent no JSON object, it is the text that
    the model sent (the first 2,000 characters), and the call's result is a failure.

    `previewed` is only in runs that asked for previews. It contains the string arguments that the call's previews have
    sent completely: the JSON Pointer of each, and its number of characters. In frames, these strings are empty in
    `arguments`.
    """

    previewed: dict[str, int] | UnsetType = UNSET


class ToolCalls(Event, frozen=True, tag="tool_calls"):
    """Announces tool calls. Each call later gets exactly one tool_result, unless the client executes the call."""

    calls: list[Call]
    step: int | UnsetType = UNSET


class Preview(Event, frozen=True, gc=False, tag="preview"):
    """The next piece of a string argument of a call, while the model still writes the call.

    Only runs that asked for previews emit it. `id` is the id under which the call is announced later. `key` is the JSON
    Pointer of the argument, such as `/content`; without a `key`, it is that of the call's last preview. The first
    preview of a call has its `name` and `step`. The pieces of one argument, joined, are a beginning of its value.

    If `withdrawn` is true, there is no text, and what was previewed of this call is not valid: the upstream request is
    retried, or the complete call turned out otherwise. Each previewed call is later announced or withdrawn.
    """

    id: str
    name: str | UnsetType = UNSET
    key: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    step: int | UnsetType = UNSET
    withdrawn: Literal[True] | UnsetType = UNSET


class ToolExecuting(Event, frozen=True, gc=False, tag="tool_executing"):
    """An announced call starts to run.

    Some calls never run and have no such event: searches beyond the search limit, cached calls and invalid calls.
    """

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
    """The only result of an announced call: a Success or a Failure.

    If `cached` is true, the result of an earlier equal search was reused. `artifact` is for people, for example a
    DataTable. The model does not get the artifact. A reused result has no artifact, because the first result contained
    the artifact.
    """

    id: str
    name: str
    result: ResultShape
    category: Category
    visibility: Visibility
    cached: Literal[True] | UnsetType = UNSET
    step: int | UnsetType = UNSET
    artifact: Any | UnsetType = UNSET

    @property
    def outcome(self) -> Success | Failure:
        """The result; that of an event which was read from disk is a plain object."""
        match self.result:
            case {"success": True, "result": result}:
                return Success(True, result)
            case {"success": False, "error": str(error), "code": str(code)}:
                return Failure(False, error, code)
            case outcome:
                return outcome


class Source(Struct, frozen=True, gc=False, omit_defaults=True):
    """A page that the model's provider cites.

    `n` is its number in the run, the same as in search results. `start_index` and `end_index` are offsets in the text
    of its step, if the provider sends them.
    """

    n: int
    url: str
    title: str
    snippet: str | UnsetType = UNSET
    start_index: int | UnsetType = UNSET
    end_index: int | UnsetType = UNSET


class Image(Struct, frozen=True, gc=False):
    """An image of the answer: a `data:image/…` URL (base64), or an https URL, loaded only if the user agrees."""

    url: str


class Content(Event, frozen=True, gc=False, tag="content"):
    """A piece of the answer.

    If `refusal` is true, the text is a refusal. If `synthetic` is true, Signalbox wrote the text because the model gave
    no answer. If an event has `sources` or `images`, its `content` is empty. The event is sent where the sources or
    images belong in the text. Only an event with `sources` has `step`. The offsets of the sources are positions in the
    text of this step.
    """

    content: str
    refusal: Literal[True] | UnsetType = UNSET
    synthetic: Literal[True] | UnsetType = UNSET
    sources: list[Source] | UnsetType = UNSET
    images: list[Image] | UnsetType = UNSET
    step: int | UnsetType = UNSET

    @property
    def has_content(self) -> bool:
        """Whether it shows part of an answer: text or an image."""
        return self.images is not UNSET or bool(self.content.strip())


class Warning(Event, frozen=True, gc=False, tag="warning"):  # noqa: A001 - the contract's term
    """A warning for the user. If a run ends neither complete nor cancelled, a warning directly precedes `done`."""

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
    """The last event of every run. `cost` is in USD. `retry_after` is in seconds. `steps` is the number of model calls.

    `duration_ms` is the time from the start of the run to its end. `first_token_ms` is the time from the start of the
    run to the first part from the model. `handed` contains the ids of the calls that the client executes. These calls
    have no tool_result. `unsaved` is set only after a server crash. If the server has several upstreams, `upstream` is
    the name of the upstream that answered.
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
    upstream: str | UnsetType = UNSET


class ArgumentsDelta(Event, frozen=True, gc=False, tag="arguments_delta"):
    """A piece of the arguments of a call, before the call is announced under the same `id`.

    It is in the journal only of protocols that want it, and not in the contract: v1.1 announces whole calls. If the
    attempt fails, or the model renames the call, a call of our tools is never announced under this id.
    """

    id: str
    name: str
    arguments: str
    step: int


class Logprobs(Event, frozen=True, gc=False, tag="logprobs"):
    """Log probabilities of the tokens of the text that follows, for a client that asks for them.

    It is in the journal, and not in the contract.
    """

    tokens: list[Any]
    refusal_tokens: list[Any]


ContractEvent: TypeAlias = Reasoning | Preview | ToolCalls | ToolExecuting | ToolResult | Content | Warning | Done
AnyEvent: TypeAlias = ContractEvent | ArgumentsDelta | Logprobs
JOURNAL_ONLY: frozenset[type[AnyEvent]] = frozenset({ArgumentsDelta, Logprobs})


WITHOUT_TIME: frozenset[type[AnyEvent]] = frozenset({Content, Preview})


class Envelope(Struct, frozen=True, omit_defaults=True):
    """What a frame adds to its event: `ts` except on `content` and `preview`; the other fields on the first frame."""

    ts: int | UnsetType = UNSET
    v: str | UnsetType = UNSET
    run_id: str | UnsetType = UNSET
    loop: LoopName | UnsetType = UNSET


class Stamped(Struct, frozen=True):
    """An event with its number and time: `seq` increases from 1, `at` is epoch milliseconds of the server."""

    seq: int
    at: int
    event: AnyEvent


_NOT_KEPT = JOURNAL_ONLY | {Preview}


def contract_events(events: Iterable[Stamped]) -> list[Stamped]:
    """Return the events that the contract has, without previews: the announced calls have their whole arguments."""
    return [_without_previews(stamped) for stamped in events if type(stamped.event) not in _NOT_KEPT]


def _without_previews(stamped: Stamped) -> Stamped:
    event = stamped.event
    if type(event) is not ToolCalls or all(call.previewed is UNSET for call in event.calls):
        return stamped
    calls = [replace(call, previewed=UNSET) for call in event.calls]
    return replace(stamped, event=replace(event, calls=calls))
