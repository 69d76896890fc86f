"""A run as JSON: its summary, and its trace with the redacted request, attempts, tool calls, usage and cost."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict, cast

import msgspec
from msgspec import Meta

from signalbox.chat.loops.progress import Attempt
from signalbox.core.conversations import shown_id
from signalbox.core.events import (
    AnyEvent,
    Done,
    Flag,
    LoopName,
    Stamped,
    Status,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.core.tools import Category, Visibility
from signalbox.profiles.provider_billing import stop_ends_billing

EpochSeconds = Annotated[float, Meta(description="Epoch seconds.")]
Usd = Annotated[float, Meta(description="US dollars.")]


class Owner(TypedDict):
    """The API token that a run was started with."""

    id: str
    name: str | None


class RunSummary(TypedDict):
    """A run in a list."""

    run_id: str
    status: Literal[Status, "running"]
    code: Annotated[str | None, Meta(description="Why the run ended, unless its status is complete or cancelled.")]
    model: str
    fallback_model: NotRequired[
        Annotated[str, Meta(description="The model of `models` that answered in place of `model`.")]
    ]
    loop: LoopName
    flag: Annotated[Flag | None, Meta(description="Why the run used this loop.")]
    started: EpochSeconds
    ended: EpochSeconds | None
    steps: Annotated[int, Meta(description="Number of model calls.")]
    cost: Usd | None
    cost_estimated: Annotated[
        bool, Meta(description="True if `cost` may lack an attempt, or was computed from tokens and prices.")
    ]
    settled_at: Annotated[float | None, Meta(description="When the last missing cost arrived, in epoch seconds.")]
    conversation_id: str | None
    parent_id: Annotated[str | None, Meta(description="Id of the message that the run answers.")]
    protocol: Annotated[str, Meta(description="The client's protocol.")]
    simulated: Annotated[bool, Meta(description="True if the simulator answered.")]
    owner: NotRequired[
        Annotated[
            Owner | None,
            Meta(
                description="Only the operator token gets this field. Null if the run was started without an API token."
            ),
        ]
    ]


class MessageOutline(TypedDict):
    """A message of the request, without its text."""

    role: Literal["system", "user", "assistant", "tool"]
    characters: int
    calls: NotRequired[Annotated[list[str], Meta(description="Names of the tools that the assistant called.")]]
    name: NotRequired[Annotated[str, Meta(description="The tool whose result this is.")]]


class RequestOutline(TypedDict, total=False):
    """The request without its texts: an outline of the messages, and every other field as it was sent."""

    messages: list[MessageOutline]
    instruction: Annotated[str, Meta(description="How the model was asked to continue an answer.")]


class RunAttempt(Attempt, kw_only=True):
    """One upstream request. A step that was retried has several."""

    tool_choice: Annotated[Any, Meta(description="`auto`, `none`, `required`, the forced tool, or null.")]
    stop_ends_billing: Annotated[
        bool | None, Meta(description="Whether a stop ends the billing at this provider; null if unknown.")
    ]


class CallTrace(TypedDict):
    """A tool call with its times; a call that never ran has no `started`."""

    id: str
    name: str
    arguments: Annotated[str, Meta(description="JSON text.")]
    category: Category
    visibility: Visibility
    step: int | None
    announced: EpochSeconds
    started: NotRequired[EpochSeconds]
    ended: NotRequired[EpochSeconds]
    success: NotRequired[bool]
    code: NotRequired[Annotated[str | None, Meta(description="Why the call has no result.")]]
    cached: NotRequired[Annotated[bool, Meta(description="The result of an equal search was used again.")]]
    handed: NotRequired[Annotated[bool, Meta(description="The client executes the call; it has no result here.")]]


class RunTrace(RunSummary):
    """A record of what a run did, without the text of the conversation."""

    watchers: Annotated[int, Meta(description="Number of subscribers of the run in this worker.")]
    request: RequestOutline
    attempts: list[RunAttempt]
    tools: list[CallTrace]
    warnings: list[Warning]
    events: Annotated[int, Meta(description="Number of events that the run has emitted.")]
    done: Annotated[Done | None, Meta(description="The last event, or null while the run is active.")]


def summary_of(record: RunRecord) -> RunSummary:
    """Summarize a run for a list."""
    summary: RunSummary = {
        "run_id": record.id,
        "status": record.status or "running",
        "code": record.code,
        "model": record.model,
        "loop": record.loop,
        "flag": msgspec.to_builtins(record.flag) if record.flag else None,
        "started": record.started,
        "ended": record.ended,
        "steps": record.steps,
        "cost": record.cost,
        "cost_estimated": record.cost_estimated,
        "settled_at": record.settled_at,
        "conversation_id": shown_id(record.conversation_id) if record.conversation_id else None,
        "parent_id": record.parent_id,
        "protocol": record.protocol,
        "simulated": record.simulated,
    }
    if record.answered is not None:
        summary["fallback_model"] = record.answered
    return summary


def trace_of(record: RunRecord, events: Sequence[Stamped], *, subscribers: int = 0) -> RunTrace:
    """Return the whole trace."""
    last = events[-1].event if events else None
    return {
        **summary_of(record),
        "watchers": subscribers,
        "request": cast(RequestOutline, record.request),
        "attempts": [_attempt(attempt) for attempt in record.attempts],
        "tools": _calls(events),
        "warnings": [msgspec.to_builtins(s.event) for s in events if isinstance(s.event, Warning)],
        "events": len(events),
        "done": msgspec.to_builtins(last) if isinstance(last, Done) else None,
    }


def _attempt(attempt: JsonObject) -> Any:
    """Return the JSON of a RunAttempt."""
    provider = attempt.get("provider")
    named = provider if isinstance(provider, str) else None
    return {**attempt, "stop_ends_billing": stop_ends_billing(named, streamed=bool(attempt.get("streamed")))}


def _calls(events: Sequence[Stamped]) -> list[CallTrace]:
    """Join each call's announcement, start and result."""
    calls: dict[str, CallTrace] = {}
    for stamped in events:
        _add_event(calls, stamped.event, stamped.at / 1000)
    return [*calls.values()]


def _add_event(calls: dict[str, CallTrace], event: AnyEvent, at: float) -> None:
    match event:
        case ToolCalls():
            step = None if event.step is msgspec.UNSET else event.step
            for call in event.calls:
                calls[call.id] = {
                    "id": call.id,
                    "name": call.name,
                    "arguments": call.arguments,
                    "category": call.category,
                    "visibility": call.visibility,
                    "step": step,
                    "announced": at,
                }
        case ToolExecuting() if event.id in calls:
            calls[event.id]["started"] = at
        case ToolResult() if event.id in calls:
            result = msgspec.to_builtins(event.result)
            call = calls[event.id]
            call["ended"], call["success"], call["code"] = at, result["success"], result.get("code")
            if event.cached is True:
                call["cached"] = True
        case Done() if event.handed:
            for call_id in event.handed:
                if call_id in calls:
                    calls[call_id]["handed"] = True
        case _:
            pass
