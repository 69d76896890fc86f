"""Reads events and traces of version 0.1, which stored a call's arguments as an object instead of JSON text."""

from typing import Any, TypeAlias, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, json

from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Event,
    Reasoning,
    Stamped,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Category, Visibility
from signalbox.wire.json_text import dumps

Batches: TypeAlias = list[tuple[str, list[Stamped]]]
"""The events of several runs, each with its run id."""

_Kept = TypeVar("_Kept")


class _Call(Struct, frozen=True):
    id: str
    name: str
    arguments: dict[str, Any]
    category: Category
    visibility: Visibility
    arguments_raw: str | UnsetType = UNSET


class _ToolCalls(Event, frozen=True, tag="tool_calls"):
    calls: list[_Call]
    step: int | UnsetType = UNSET


_AnyEvent: TypeAlias = Reasoning | _ToolCalls | ToolExecuting | ToolResult | Content | Warning | Done


class _Stamped(Struct, frozen=True):
    seq: int
    at: int
    event: _AnyEvent


_events, _earlier_events = json.Decoder(list[Stamped]), json.Decoder(list[_Stamped])
_batches, _earlier_batches = json.Decoder(Batches), json.Decoder(list[tuple[str, list[_Stamped]]])


def read_events(data: bytes) -> list[Stamped]:
    """Decode a run's events as any version stored them; raises msgspec.MsgspecError."""
    try:
        return _events.decode(data)
    except ValidationError as error:
        return [_stamped(stamped) for stamped in _as_earlier(_earlier_events, data, error)]


def read_batches(data: bytes) -> Batches:
    """Decode the events of several runs as any version stored them; raises msgspec.MsgspecError."""
    try:
        return _batches.decode(data)
    except ValidationError as error:
        kept = _as_earlier(_earlier_batches, data, error)
        return [(run_id, [_stamped(stamped) for stamped in events]) for run_id, events in kept]


def event_from(value: JsonObject) -> AnyEvent:
    """Convert JSON to an event, as any version stored it; raises msgspec.ValidationError."""
    try:
        return convert(value, cast("type[AnyEvent]", AnyEvent))
    except ValidationError as error:
        try:
            return _event(convert(value, cast("type[_AnyEvent]", _AnyEvent)))
        except ValidationError:
            raise error from None


def trace_from(trace: JsonObject) -> JsonObject:
    """Return a saved trace with the arguments of its calls as text."""
    tools = trace.get("tools")
    if not isinstance(tools, list):
        return trace
    return {**trace, "tools": [_traced(tool) if isinstance(tool, dict) else tool for tool in tools]}


def _as_earlier(decoder: json.Decoder[_Kept], data: bytes, error: ValidationError) -> _Kept:
    """Decode data of version 0.1; raise `error` if that fails too."""
    try:
        return decoder.decode(data)
    except ValidationError:
        raise error from None


def _stamped(kept: _Stamped) -> Stamped:
    return Stamped(kept.seq, kept.at, _event(kept.event))


def _event(kept: _AnyEvent) -> AnyEvent:
    if not isinstance(kept, _ToolCalls):
        return kept
    calls = [Call(c.id, c.name, _text(c.arguments, c.arguments_raw), c.category, c.visibility) for c in kept.calls]
    return ToolCalls(calls, kept.step)


def _traced(tool: JsonObject) -> JsonObject:
    arguments = tool.get("arguments")
    if not isinstance(arguments, dict):
        return tool
    rest = {name: value for name, value in tool.items() if name != "arguments_raw"}
    return {**rest, "arguments": _text(arguments, tool.get("arguments_raw"))}


def _text(arguments: JsonObject, raw: object) -> str:
    """Return arguments as text; version 0.1 stored the text of invalid ones beside an empty object."""
    return raw if isinstance(raw, str) else dumps(arguments).decode()
