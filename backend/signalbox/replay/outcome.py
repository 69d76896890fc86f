"""The outcome of a run, derived from its events and attempts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import UNSET

from signalbox.chat.calls.arguments import object_in
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.stop_reason import is_malformed
from signalbox.core.events import (
    AnyEvent,
    Content,
    Done,
    Failure,
    LoopName,
    Reasoning,
    Stamped,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.order.invariants import first_fault, first_stamp_fault
from signalbox.core.parts import Completion
from signalbox.wire.finish_reasons import finish_of


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """An announced call; `result` is a value or an error sentence, `ran` whether the tool was executed.

    Outcomes with different artifacts compare as equal, because an artifact may hold an id of its run.
    """

    name: str
    arguments: JsonObject
    step: int
    success: bool
    code: str | None = None
    result: JsonValue = None
    cached: bool = False
    ran: bool = False
    artifact: JsonValue = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    """An upstream request: `failed` if it broke off or was rejected, `malformed` if its calls could not be parsed."""

    step: int
    streamed: bool = True
    failed: bool = False
    code: str | None = None
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run; `order` lists its tool events, `fault` is the first contract violation of its stream."""

    loop: LoopName
    model: str
    status: str
    code: str | None
    steps: int
    calls: tuple[CallOutcome, ...]
    warnings: tuple[str, ...]
    text: str
    reasoning: str
    order: tuple[str, ...]
    tried: tuple[AttemptOutcome, ...] = ()
    cost: float | None = None
    milliseconds: int = 0
    fault: str | None = None


def outcome_of(events: Sequence[Stamped], attempts: Sequence[Attempt], loop: LoopName, model: str) -> Outcome:
    """Return the outcome of a run; without `done` its status is `unfinished`."""
    plain = [stamped.event for stamped in events]
    done = plain[-1] if plain and isinstance(plain[-1], Done) else None
    return Outcome(
        loop=loop,
        model=model,
        status=done.status if done else "unfinished",
        code=_or_none(done.code) if done else None,
        steps=(_or_none(done.steps) or 0) if done else 0,
        calls=calls_in(plain),
        warnings=tuple(str(event.code) for event in plain if isinstance(event, Warning)),
        text="".join(event.content for event in plain if isinstance(event, Content)),
        reasoning="".join(event.content for event in plain if isinstance(event, Reasoning)),
        order=_order(plain),
        tried=tuple(_attempt_outcome(attempt) for attempt in attempts if not attempt.tool_call),
        cost=_or_none(done.cost) if done else None,
        milliseconds=events[-1].at - events[0].at if events else 0,
        fault=first_fault(plain) or first_stamp_fault(events),
    )


def calls_in(events: Sequence[AnyEvent]) -> tuple[CallOutcome, ...]:
    """Pair each call with its result, in order of announcement."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    ran = {event.id for event in events if isinstance(event, ToolExecuting)}
    return tuple(
        _call_outcome(
            call.name, object_in(call.arguments), _or_none(event.step) or 0, results.get(call.id), ran=call.id in ran
        )
        for event in events
        if isinstance(event, ToolCalls)
        for call in event.calls
    )


def _call_outcome(name: str, arguments: JsonObject, step: int, event: ToolResult | None, *, ran: bool) -> CallOutcome:
    if event is None:
        return CallOutcome(name, arguments, step, success=False, ran=ran)
    said = CallOutcome(
        name, arguments, step, success=False, cached=event.cached is True, ran=ran, artifact=_or_none(event.artifact)
    )
    match event.result:
        case Success(result=result) | {"success": True, "result": result}:
            return replace(said, success=True, result=result)
        case Failure(error=error, code=code) | {"success": False, "error": error, "code": code}:
            return replace(said, code=code, result=error)
        case _:
            return said


def _order(events: Sequence[AnyEvent]) -> tuple[str, ...]:
    """Name each tool event after the position of its call, because call ids differ in every run."""
    places: dict[str, int] = {}
    order: list[str] = []
    for event in events:
        match event:
            case ToolCalls():
                for call in event.calls:
                    places[call.id] = len(places) + 1
                    order.append(f"call {places[call.id]}")
            case ToolExecuting():
                order.append(f"start {places.get(event.id, 0)}")
            case ToolResult():
                order.append(f"result {places.get(event.id, 0)}")
            case _:
                pass
    return tuple(order)


def _attempt_outcome(attempt: Attempt) -> AttemptOutcome:
    malformed = is_malformed(Completion(finish=finish_of(None, attempt.native_finish_reason)))
    failed = attempt.error is not None or attempt.code is not None
    return AttemptOutcome(attempt.step, attempt.streamed, failed, attempt.code, malformed)


def _or_none(value: Any) -> Any:
    return None if value is UNSET else value
