"""A run's trace as JSON: the redacted request, steps, attempts, tools, usage and cost."""

from collections.abc import Sequence

import msgspec

from signalbox.core.conversations import shown_id
from signalbox.core.events import AnyEvent, Done, Stamped, ToolCalls, ToolExecuting, ToolResult, Warning
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.records import RunRecord
from signalbox.profiles.hosts import stop_ends_billing


def summary_of(record: RunRecord) -> JsonObject:
    """Return the summary of a run for lists."""
    return {
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
        "simulated": record.simulated,
    }


def trace_of(record: RunRecord, events: Sequence[Stamped], *, subscribers: int = 0) -> JsonObject:
    """Return the complete trace; times are epoch seconds."""
    last = events[-1].event if events else None
    return {
        **summary_of(record),
        "watchers": subscribers,
        "request": record.request,
        "attempts": [_attempt(attempt) for attempt in record.attempts],
        "tools": _tools(events),
        "warnings": [msgspec.to_builtins(s.event) for s in events if isinstance(s.event, Warning)],
        "events": len(events),
        "done": msgspec.to_builtins(last) if isinstance(last, Done) else None,
    }


def _attempt(attempt: JsonObject) -> JsonObject:
    provider = attempt.get("provider")
    named = provider if isinstance(provider, str) else None
    return {**attempt, "stop_ends_billing": stop_ends_billing(named, streamed=bool(attempt.get("streamed")))}


def _tools(events: Sequence[Stamped]) -> list[JsonValue]:
    """Merge each call's announcement, start and result."""
    calls: dict[str, JsonObject] = {}
    for stamped in events:
        _add_event(calls, stamped.event, stamped.at / 1000)
    return [*calls.values()]


def _add_event(calls: dict[str, JsonObject], event: AnyEvent, at: float) -> None:
    match event:
        case ToolCalls():
            step = None if event.step is msgspec.UNSET else event.step
            for call in event.calls:
                calls[call.id] = {**msgspec.to_builtins(call), "step": step, "announced": at}
        case ToolExecuting() if event.id in calls:
            calls[event.id]["started"] = at
        case ToolResult() if event.id in calls:
            result = msgspec.to_builtins(event.result)
            calls[event.id] |= {"ended": at, "success": result["success"], "code": result.get("code")}
            if event.cached is True:
                calls[event.id]["cached"] = True
        case _:
            pass
