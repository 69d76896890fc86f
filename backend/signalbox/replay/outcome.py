"""The outcome of a run, derived from its events and attempts, for comparing two runs."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from signalbox.core.invariants import first_fault, first_stamp_fault
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Completion
from signalbox.wire.finish_words import finish_of


@dataclass(frozen=True, slots=True)
class Called:
    """One announced call with its result, a value or an error sentence. `ran`: the tool was executed."""

    name: str
    arguments: JsonObject
    step: int
    success: bool
    code: str | None = None
    result: JsonValue = None
    cached: bool = False
    ran: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """One upstream request. `failed`: it broke off or was rejected. `malformed`: its calls could not be parsed."""

    step: int
    streamed: bool = True
    failed: bool = False
    code: str | None = None
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """An ended run. `order` is the order of its tool events, `fault` the first fault of its stream."""

    loop: LoopName
    model: str
    status: str
    code: str | None
    steps: int
    calls: tuple[Called, ...]
    warnings: tuple[str, ...]
    text: str
    reasoning: str
    order: tuple[str, ...]
    tried: tuple[Tried, ...] = ()
    cost: float | None = None
    milliseconds: int = 0
    fault: str | None = None


def outcome_of(events: Sequence[Stamped], attempts: Sequence[Attempt], loop: LoopName, model: str) -> Outcome:
    """Return the outcome of a run; without `done` its status is `unfinished`."""
    told = [stamped.event for stamped in events]
    done = told[-1] if told and isinstance(told[-1], Done) else None
    return Outcome(
        loop=loop,
        model=model,
        status=done.status if done else "unfinished",
        code=_set(done.code) if done else None,
        steps=(_set(done.steps) or 0) if done else 0,
        calls=calls_in(told),
        warnings=tuple(str(event.code) for event in told if isinstance(event, Warning)),
        text="".join(event.content for event in told if isinstance(event, Content)),
        reasoning="".join(event.content for event in told if isinstance(event, Reasoning)),
        order=_order(told),
        tried=tuple(_tried(attempt) for attempt in attempts),
        cost=_set(done.cost) if done else None,
        milliseconds=events[-1].at - events[0].at if events else 0,
        fault=first_fault(told) or first_stamp_fault(events),
    )


def calls_in(events: Sequence[AnyEvent]) -> tuple[Called, ...]:
    """Pair each call with its result, in order of announcement."""
    results = {event.id: event for event in events if isinstance(event, ToolResult)}
    ran = {event.id for event in events if isinstance(event, ToolExecuting)}
    return tuple(
        _called(call.name, object_in(call.arguments), _set(event.step) or 0, results.get(call.id), ran=call.id in ran)
        for event in events
        if isinstance(event, ToolCalls)
        for call in event.calls
    )


def _called(name: str, arguments: JsonObject, step: int, told: ToolResult | None, *, ran: bool) -> Called:
    if told is None:
        return Called(name, arguments, step, success=False, ran=ran)
    cached = told.cached is True
    match told.result:
        case Success(result=result) | {"success": True, "result": result}:
            return Called(name, arguments, step, success=True, result=result, cached=cached, ran=ran)
        case Failure(error=error, code=code) | {"success": False, "error": error, "code": code}:
            return Called(name, arguments, step, success=False, code=code, result=error, cached=cached, ran=ran)
        case _:
            return Called(name, arguments, step, success=False, cached=cached, ran=ran)


def _order(events: Sequence[AnyEvent]) -> tuple[str, ...]:
    """Describe tool events by the positions of their calls, because ids differ in every run."""
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


def _tried(attempt: Attempt) -> Tried:
    malformed = is_malformed(Completion(finish=finish_of(None, attempt.native_finish_reason)))
    failed = attempt.error is not None or attempt.code is not None
    return Tried(attempt.step, attempt.streamed, failed, attempt.code, malformed)


def _set(value: Any) -> Any:
    return None if value is UNSET else value
