"""Checks the order of a run's events; tests check every stream with it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import UNSET

from signalbox.core.codes import Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Content,
    Done,
    Logprobs,
    Preview,
    Reasoning,
    Stamped,
    Status,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.order.previews import PreviewCheck

_PLAIN_ENDINGS = ("complete", "cancelled")
_ONCE = (Code.TOOL_CLAMP, Code.FINAL_EMPTY)


@dataclass(slots=True)
class OrderCheck:
    """Checks the events of one run one by one, and describes each fault in a sentence.

    `resumed` is whether the events start in the middle of the run. Earlier calls and content are then unknown.
    """

    resumed: bool = False
    announced: dict[str, str] = field(default_factory=dict[str, str])
    executing: set[str] = field(default_factory=set[str])
    answered: set[str] = field(default_factory=set[str])
    done: bool = False
    has_content: bool = False
    last_warning: str | None = None
    warned: set[str] = field(default_factory=set[str])
    previews: PreviewCheck = field(default_factory=PreviewCheck)

    def feed(self, event: AnyEvent) -> str | None:
        """Return what is wrong with the next event, or None."""
        if self.done:
            return f"{_tag(event)} after done: done is the last event of a run"
        fault = self._check(event)
        self.last_warning = str(event.code) if isinstance(event, Warning) and event.code is not UNSET else None
        return fault

    def close(self) -> str | None:
        """Return what is missing at the end of the stream, or None."""
        return None if self.done else "the stream ends without done"

    def _check(self, event: AnyEvent) -> str | None:
        match event:
            case Content():
                self.has_content = self.has_content or event.has_content
            case ToolCalls():
                return self._announce(event)
            case Preview():
                return self._preview(event)
            case ToolExecuting():
                return self._execute(event)
            case ToolResult():
                return self._answer(event)
            case Warning():
                return self._warn(event)
            case Done():
                return self._end(event)
            case Reasoning() | ArgumentsDelta() | Logprobs():
                pass
        return None

    def _announce(self, event: ToolCalls) -> str | None:
        if not event.calls:
            return "tool_calls announces no call"
        for call in event.calls:
            if call.id in self.announced:
                return f"call {call.id} is announced twice"
            self.announced[call.id] = call.name
            if fault := self.previews.announce(call, resumed=self.resumed):
                return fault
        return None

    def _preview(self, event: Preview) -> str | None:
        if event.id in self.announced:
            return f"preview of call {event.id} after it is announced"
        return self.previews.feed(event, resumed=self.resumed)

    def _execute(self, event: ToolExecuting) -> str | None:
        if fault := self._known(event.id, event.name, "tool_executing"):
            return fault
        if event.id in self.answered:
            return f"call {event.id} executes after its result"
        if event.id in self.executing:
            return f"call {event.id} executes twice"
        self.executing.add(event.id)
        return None

    def _answer(self, event: ToolResult) -> str | None:
        if fault := self._known(event.id, event.name, "tool_result"):
            return fault
        if event.id in self.answered:
            return f"call {event.id} has two results"
        self.answered.add(event.id)
        return None

    def _known(self, call_id: str, name: str, kind: str) -> str | None:
        if call_id not in self.announced and self.resumed:
            self.announced[call_id] = name
        if call_id not in self.announced:
            return f"{kind} for call {call_id}, which was never announced"
        if self.announced[call_id] != name:
            return f"{kind} names call {call_id} {name!r}, but it was announced as {self.announced[call_id]!r}"
        return None

    def _warn(self, event: Warning) -> str | None:
        code = str(event.code)
        if code in _ONCE and code in self.warned:
            return f"warning {code} is sent twice"
        self.warned.add(code)
        return None

    def _end(self, event: Done) -> str | None:
        self.done = True
        handed = [] if event.handed is UNSET else event.handed
        if fault := self._handed(handed, event.status):
            return fault
        open_calls = [c for c in self.announced if c not in self.answered and c not in handed]
        if open_calls:
            return f"done while call {open_calls[0]} has no result"
        if self.previews.open:
            return f"done while the preview of call {next(iter(self.previews.open))} is neither announced nor withdrawn"
        if event.status in _PLAIN_ENDINGS:
            if event.status == "complete" and not (self.has_content or handed) and not self.resumed:
                return "done complete without content or a handed call"
            return None
        if event.code is UNSET:
            return f"done {event.status} has no code"
        if self.last_warning != event.code and not (self.resumed and self.last_warning is None):
            return f"done {event.status} {event.code} without its warning just before"
        return None

    def _handed(self, handed: list[str], status: Status) -> str | None:
        """Return what is wrong with the calls that are handed to the client, or None."""
        if handed and status != "complete":
            return f"done {status} hands over a call; only complete does"
        for call_id in handed:
            if call_id not in self.announced and not self.resumed:
                return f"done hands over call {call_id}, which was never announced"
            if call_id in self.answered:
                return f"done hands over call {call_id}, which has a result"
            if call_id in self.executing:
                return f"done hands over call {call_id}, which was executed here"
        return None


def first_fault(events: Iterable[AnyEvent]) -> str | None:
    """Return the first fault in the events of a whole run, or None."""
    check = OrderCheck()
    for event in events:
        if fault := check.feed(event):
            return fault
    return check.close()


def first_stamp_fault(stamped: Iterable[Stamped]) -> str | None:
    """Return where `seq` does not increase, as a sentence, or None."""
    last = 0
    for item in stamped:
        if item.seq <= last:
            return f"seq {item.seq} follows {last}: it must rise"
        last = item.seq
    return None


def _tag(event: AnyEvent) -> str:
    return str(type(event).__struct_config__.tag)
