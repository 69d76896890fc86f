"""A run as operations on the state of an assistant-ui client: `set` and `append-text`, each at a path of its JSON.

The state has `messages` in LangChain's format, the `warnings` of the run, and the `run` itself. assistant-ui shows the
text of an `ai` message above its calls, so text after a call begins another `ai` message.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

import orjson
from msgspec import UNSET, Struct, json, to_builtins
from msgspec.structs import replace

from signalbox.core.codes import CODES, Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Reasoning,
    Stamped,
    ToolCalls,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolOutcome
from signalbox.encoders.assistant_ui.error import error_text
from signalbox.encoders.encoder import reached_cost_limit
from signalbox.wire.json_text import dumps, loads

encode_text = json.Encoder().encode
END_OF_APPEND = b"}"
# Why a message is not complete, in the words of assistant-ui.
_INCOMPLETE = {
    "cancelled": "cancelled",
    "length": "length",
    "content_filter": "content-filter",
    "interrupted": "error",
    "error": "error",
}


class _ShownCall(Struct):
    """A call in the state: the index of its message, its index there, and the arguments that were streamed."""

    message: int
    place: int
    name: str
    streamed: str = ""
    is_announced: bool = False


class StateOperations:
    """Converts the events of one run, in order, into operations.

    `messages` is how many messages precede the run. `answer` is the index of the `ai` message that begins the answer
    which the run continues; None if the run begins an answer. assistant-ui shows an answer of several messages as one,
    with the status of the first. `versions` are the ids of the answers in the place of the run, if there are several.
    """

    def __init__(self, run_id: str, messages: int = 0, answer: int | None = None, versions: Sequence[str] = ()) -> None:
        self._run_id = run_id
        self._versions: JsonObject = {"versions": [*versions]} if versions and answer is None else {}
        self._messages = messages
        self.answer = answer
        self._own: int | None = None  # the first `ai` message of this run
        self._current: int | None = None
        self._parts = self._calls_here = self._ids = self._warnings = self._sources = 0
        self._has_results = False
        self._calls: dict[str, _ShownCall] = {}
        self._open: str | None = None
        self._append = b""
        self._step: object = None

    @property
    def append_to_text(self) -> bytes:
        """The beginning of an operation that appends to the open text part; empty if none is open."""
        return self._append if self._open == "text" else b""

    def of(self, event: AnyEvent) -> list[bytes]:
        """Return the operations of an event."""
        match event:
            case Content():
                return self._content(event)
            case Reasoning(content, step):
                if step != self._step:
                    self._step, self._open = step, None
                return self._text("thinking", content) if content else []
            case ArgumentsDelta():
                return self._arguments(event)
            case ToolCalls(calls):
                return [operation for call in calls for operation in self._call(call)]
            case ToolResult():
                return self._result(event)
            case Warning():
                self._warnings += 1
                return [set_operation(("warnings", self._warnings - 1), _fields(event, "type"))]
            case Done():
                return self._ending(event)
            case _:
                return []  # a call without a result is shown as running

    # --- content ------------------------------------------------------------------------------------------------

    def _content(self, event: Content) -> list[bytes]:
        operations = self._text("text", event.content) if event.content else []
        for image in event.images or ():
            operations += self._part({"type": "image_url", "image_url": {"url": image.url}})
        for name in ("refusal", "synthetic"):
            if getattr(event, name) is not UNSET:
                operations.append(set_operation((*self._metadata(operations), name), value=True))
        for source in event.sources or ():
            path = (*self._metadata(operations), "sources", self._sources)
            operations.append(set_operation(path, cast(JsonValue, to_builtins(source))))
            self._sources += 1
        return operations

    def _text(self, kind: str, text: str) -> list[bytes]:
        """Append to the open part of this kind, or begin one; the field with its text is named as the kind."""
        if self._open == kind:
            return [self._append + encode_text(text) + END_OF_APPEND]
        if self._calls_here:
            text = text.lstrip("\n")  # the loop separates the texts of two steps; here they are two messages
        if not text:
            return []
        operations = self._part({"type": kind, kind: text})
        self._open = kind
        path = ("messages", self._current, "content", self._parts - 1, kind)
        self._append = b'{"type":"append-text","path":%b,"value":' % dumps(_segments(path))
        return operations

    def _part(self, part: JsonObject) -> list[bytes]:
        operations = self._begin_message() if self._current is None or self._calls_here else []
        self._open = None
        self._parts += 1
        return [*operations, set_operation(("messages", self._current, "content", self._parts - 1), part)]

    def _begin_message(self) -> list[bytes]:
        at = self._current = self._messages
        message: JsonObject = {"id": self._new_id(), "type": "ai", "content": [], "tool_calls": []}
        self._parts = self._calls_here = 0
        self._has_results, self._open = False, None
        if self._own is None:
            self._own = at
            metadata: JsonObject = {"run": {"id": self._run_id}, "sources": [], **self._versions}
            message["additional_kwargs"] = {"metadata": metadata}
        if self.answer is None:
            self.answer = at
        self._messages += 1
        return [set_operation(("messages", at), message)]

    def _new_id(self) -> str:
        """Return the id of the run's next message: the run's id, with a number after the first."""
        self._ids += 1
        return self._run_id if self._ids == 1 else f"{self._run_id}.{self._ids}"

    def _metadata(self, operations: list[bytes]) -> tuple[str | int | None, ...]:
        """Return the path of the run's metadata, in its first message; begins that message if there is none."""
        if self._own is None:
            operations += self._begin_message()
        return ("messages", self._own, "additional_kwargs", "metadata")

    # --- calls --------------------------------------------------------------------------------------------------

    def _arguments(self, event: ArgumentsDelta) -> list[bytes]:
        known = self._calls.get(event.id)
        if known is not None:
            known.streamed += event.arguments
            path = ("messages", known.message, "tool_calls", known.place, "partial_json")
            return [_append(path, event.arguments)]
        operations = self._show(event.id, event.name)
        shown = self._calls[event.id]
        shown.streamed = event.arguments
        return [*operations, self._set_call(event.id, shown, {}, event.arguments)]

    def _call(self, call: Call) -> list[bytes]:
        operations = [] if call.id in self._calls else self._show(call.id, call.name)
        shown = self._calls[call.id]
        shown.is_announced, shown.name = True, call.name
        arguments = _object_in(call.arguments)
        streamed = shown.streamed
        if arguments is None or (streamed and _object_in(streamed) != arguments):
            streamed = call.arguments  # the arguments were repaired, or are no JSON object
        return [*operations, self._set_call(call.id, shown, arguments or {}, streamed)]

    def _show(self, call_id: str, name: str) -> list[bytes]:
        """Place a call in the current message; a call after a result begins another one."""
        operations = self._begin_message() if self._current is None or self._has_results else []
        assert self._current is not None
        self._calls[call_id] = _ShownCall(self._current, self._calls_here, name)
        self._calls_here += 1
        self._open = None
        return operations

    def _set_call(self, call_id: str, shown: _ShownCall, arguments: JsonObject, text: str) -> bytes:
        """Write a call. assistant-ui reads `partial_json`, if there is one, instead of `args`."""
        value: JsonObject = {
            "id": handed_id(self._run_id, call_id),
            "name": shown.name,
            "args": arguments,
            "type": "tool_call",
        }
        if text:
            value["partial_json"] = text
        return set_operation(("messages", shown.message, "tool_calls", shown.place), value)

    def _result(self, event: ToolResult) -> list[bytes]:
        result = _as_json(event.result)
        if result["success"]:
            text = ToolOutcome(success=True, result=result["result"]).for_model()
        else:
            text = dumps({"error": result["error"], "code": result["code"]}).decode()
        shown: JsonObject = {} if event.artifact is UNSET else {"artifact": event.artifact}
        return [self._tool_message(event.id, event.name, text, is_error=not result["success"], shown=shown)]

    def _tool_message(self, call_id: str, name: str, text: str, *, is_error: bool, shown: JsonObject) -> bytes:
        """Add a result; `shown` is what only the page gets of it."""
        message: JsonObject = {
            "id": self._new_id(),
            "type": "tool",
            "tool_call_id": handed_id(self._run_id, call_id),
            "name": name,
            "content": text,
            "status": "error" if is_error else "success",
            **shown,
        }
        self._has_results = True
        self._messages += 1
        return set_operation(("messages", self._messages - 1), message)

    # --- the end ------------------------------------------------------------------------------------------------

    def _ending(self, done: Done) -> list[bytes]:
        """Close calls that were never announced, and write how the run ended."""
        operations = [
            self._tool_message(call_id, shown.name, CODES[Code.ARGUMENTS_CUT].sentence, is_error=True, shown={})
            for call_id, shown in self._calls.items()
            if not shown.is_announced
        ]
        ending: JsonObject = {"id": self._run_id, **_fields(done, "type", "done")}
        status = _status_of(done)
        if status is not None and self.answer is None:
            operations += self._begin_message()
        if status is not None:
            operations.append(set_operation(("messages", self.answer, "status"), status))
        if self._own is not None:
            operations.append(set_operation((*self._metadata(operations), "run"), ending))
        return [*operations, set_operation(("run",), ending)]


def _status_of(done: Done) -> JsonObject | None:
    """Return why an answer is not complete, None if it is."""
    reason = "length" if reached_cost_limit(done) else _INCOMPLETE.get(done.status)
    if reason is None:
        return None
    status: JsonObject = {"type": "incomplete", "reason": reason}
    return {**status, "error": error_text(done)} if reason == "error" else status


def _fields(event: Warning | Done, *without: str) -> JsonObject:
    return {name: value for name, value in _as_json(event).items() if name not in without}


def _as_json(value: object) -> JsonObject:
    """Return a struct, or the object that it was stored as, as JSON."""
    return cast(JsonObject, value if isinstance(value, dict) else to_builtins(value))


def _object_in(text: str) -> JsonObject | None:
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _segments(path: Iterable[str | int | None]) -> list[JsonValue]:
    """Write a path; assistant-ui types its segments as strings."""
    return [str(segment) for segment in path]


def set_operation(path: Iterable[str | int | None], value: JsonValue) -> bytes:
    """Return the operation that sets a value at a path."""
    return dumps({"type": "set", "path": _segments(path), "value": value})


def _append(path: Iterable[str | int | None], text: str) -> bytes:
    return dumps({"type": "append-text", "path": _segments(path), "value": text})


# --- the state itself -------------------------------------------------------------------------------------------


def apply(operations: Iterable[bytes], state: Any) -> None:
    """Apply operations to a state, which is changed in place."""
    for operation in map(orjson.loads, operations):
        *to, last = operation["path"]
        target = state
        for segment in to:
            target = target[_key(target, segment)]
        key = _key(target, last)
        if operation["type"] == "append-text":
            target[key] += operation["value"]
        elif isinstance(target, list):
            target[key : key + 1] = [operation["value"]]
        else:
            target[key] = operation["value"]


def _key(target: Any, segment: str) -> Any:
    return int(segment) if isinstance(target, list) else segment


def merged(events: Iterable[Stamped]) -> Iterator[AnyEvent]:
    """Yield events with adjacent pieces of one text as one event: fewer operations give the same state."""
    for kind, group in groupby((stamped.event for stamped in events), key=_kind_of_piece):
        if kind is None:
            yield from group
        else:
            first = next(group)
            field = "arguments" if isinstance(first, ArgumentsDelta) else "content"
            text = "".join([getattr(first, field), *(getattr(event, field) for event in group)])
            yield replace(first, **{field: text})


def _kind_of_piece(event: AnyEvent) -> object:
    """Return what adjacent pieces of one text have in common, None for other events."""
    match event:
        case Content() if is_plain(event):
            return "text"
        case Reasoning():
            return ("reasoning", event.step)
        case ArgumentsDelta():
            return ("arguments", event.id)
        case _:
            return None


def is_plain(event: Content) -> bool:
    """Return whether an event is only a piece of the text."""
    return event.sources is UNSET and event.images is UNSET and event.refusal is UNSET and event.synthetic is UNSET
