"""One answer of a model as it streams: text leaves at once, calls are gathered, eager ones start as they close."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.answer.attachments import attached
from signalbox.chat.answer.response import ResponseBuilder
from signalbox.chat.answer.text_filters import TextFilters, text_of
from signalbox.chat.calls.arguments import is_same
from signalbox.chat.calls.assembly import OpenCall
from signalbox.chat.calls.execution import RunningCall, ToolExecution
from signalbox.chat.calls.repair import RepairedCall, repaired
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stop_reason import TurnEnd
from signalbox.core.bounds.part_slices import slices_of
from signalbox.core.codes import CODES, Code
from signalbox.core.events import AnyEvent, Content, Reasoning
from signalbox.core.parts import (
    CallDelta,
    Citation,
    Completion,
    HiddenReasoning,
    ImageDelta,
    Omitted,
    RawCall,
    ReasoningDelta,
    RefusalDelta,
    Request,
    Served,
    StreamPart,
    TextDelta,
)
from signalbox.core.ports import ChatClient, OnHead
from signalbox.core.tools import ToolOutcome

# What is shown beside text; of all other parts a client sees nothing where they come.
_Shown: TypeAlias = ReasoningDelta | RefusalDelta | HiddenReasoning | Citation | ImageDelta | Omitted
_SHOWN = frozenset(get_args(_Shown))
_CUT = "The turn was cut off before it was complete, so this call was not run; make it again."


class Turn(Struct, eq=False):
    """One attempt at one step. `after_text`: the run has spoken before, so new text needs a break.

    `attempt` notes when its first part came, by `clock`; `hear` is told who answers as soon as that is known. `_names`
    are the offered tools: they settle what a split name means.
    """

    execution: ToolExecution
    step: int
    attempt: Attempt
    clock: Callable[[], float]
    hear: OnHead
    may_call: bool
    after_text: bool
    _names: frozenset[str]
    _builder: ResponseBuilder
    _filters: TextFilters
    _lets_through: Callable[[str], bool]
    has_text: bool = False
    has_words: bool = False
    is_visible: bool = False
    completion: Completion = Completion()
    held_back: list[AnyEvent] = []
    early: dict[int, RunningCall] = {}
    _has_reasoned: bool = False

    async def read(self, client: ChatClient, request: Request) -> None:
        """Stream the reply, or read it whole where streamed calls of this family cannot be trusted."""
        if not self.may_call or self.execution.context.profile.stream_tools:
            await client.stream(request, self.take, self.hear)
            return
        self.attempt.streamed = False
        for some in slices_of(await client.complete(request, self.hear)):
            self.take(some)
            await asyncio.sleep(0)

    def take(self, parts: list[StreamPart]) -> None:
        """Tell what one network read says, and start the calls that it closes."""
        if self.has_words and len(parts) == 1 and type(part := parts[0]) is TextDelta and self._lets_through(part.text):
            # What a slow stream brings, one at a time: a piece of text in the middle of an answer.
            self._builder.text.append(part.text)
            self.execution.emit([Content(part.text)])
            return
        if self.attempt.first_part is None:
            self.attempt.first_part = self.clock()
        events: list[AnyEvent] = []
        self._tell(self._filters.split(parts), events)
        if events:
            self.is_visible = True
            self.execution.emit(events)
        if self.may_call and self._builder.assembler.touched:
            self._start_early(self._builder.assembler.closed())

    def _tell(self, parts: list[StreamPart], events: list[AnyEvent]) -> None:
        """Take parts in, and turn what can be shown into events."""
        for kind, alike in groupby(parts, type):
            if kind is TextDelta:
                self._say(self._filters.shown(list(map(text_of, alike))), events)
            elif kind is CallDelta:
                self._builder.assembler.add_all(cast("Iterator[CallDelta]", alike))
            elif kind in _SHOWN:
                self._show(cast("Iterator[_Shown]", alike), events)
            else:
                for part in alike:
                    self._builder.add(part)
                    if type(part) is Served:
                        self.hear(part)

    def _say(self, texts: list[str], events: list[AnyEvent]) -> None:
        """Take text in, as nearly all of nearly every answer is: no step here is for a single piece."""
        if not texts:
            return
        self._builder.text.extend(texts)
        if not self.has_words:
            self._break(events)
            self.has_words = not "".join(texts).isspace()
        events.extend(map(Content, texts))

    def _show(self, parts: "Iterator[_Shown]", events: list[AnyEvent]) -> None:
        add = self._builder.add
        for part in parts:
            add(part)
            if isinstance(part, ReasoningDelta):
                self._has_reasoned = True
                events.append(Reasoning(part.text, self.step))
            elif isinstance(part, RefusalDelta):
                self._break(events)
                self.has_words = True
                events.append(Content(part.text, refusal=True))
            elif isinstance(part, Citation | ImageDelta | Omitted):
                events += attached([part], self.execution.tool_context.sources, self.step)
            elif not self._has_reasoned:
                self._has_reasoned = True
                events.append(Reasoning("", self.step, hidden=True))

    def finish(self) -> Completion:
        """Return what was said, whole or as far as it came; `held_back` is then what was not told yet."""
        self._tell(self._filters.close(), self.held_back)
        self._say(self._filters.rest(), self.held_back)
        self.is_visible = self.is_visible or bool(self.held_back)
        self.completion = self._filters.with_leaked_calls(self._builder.result())
        return self.completion

    def remaining_events(self) -> list[AnyEvent]:
        """Return what the filters held back."""
        return self.held_back

    def calls(self, end: TurnEnd) -> list[RunningCall | RepairedCall]:
        """Return the calls of the complete reply in their order: those that run already, and those to start."""
        calls: list[RunningCall | RepairedCall] = []
        for slot, raw in self._raw_calls():
            calls += self._settled_slot(self.early.get(slot), repaired(raw))
        return [runnable(call, end) if isinstance(call, RepairedCall) else call for call in calls]

    def _settled_slot(self, running: RunningCall | None, fixed: list[RepairedCall]) -> list[RunningCall | RepairedCall]:
        """Say what one slot turned out to hold; a call that has run already stays, unless it was another one."""
        same = None if running is None else next((call for call in fixed if _is_same(running, call)), None)
        if running is not None and same is None:
            self.execution.withdraw(running, Code.SUPERSEDED)
        if running is None or same is None:
            return [*fixed]
        running.upstream_id = same.upstream_id
        return [running if call is same else call for call in fixed]

    def _raw_calls(self) -> list[tuple[int, RawCall]]:
        slots = [call.slot for call in self._builder.assembler.open_calls()] or [-1] * len(self.completion.calls)
        return list(zip(slots, self.completion.calls, strict=True))

    def _start_early(self, closed: list[OpenCall]) -> None:
        """Start closed calls while the model still streams, where that is safe: the tool only reads."""
        ready = [
            (call.slot, RepairedCall(call.name, call.value or {}, call.id)) for call in closed if self._is_eager(call)
        ]
        for (slot, _), running in zip(
            ready, self.execution.announce([call for _, call in ready], self.step), strict=True
        ):
            self.early[slot] = running
            self.is_visible = True
            self.execution.start(running, fits=True)

    def _is_eager(self, call: OpenCall) -> bool:
        if call.name not in self._names:
            return False
        spec = self.execution.tools.spec(call.name)
        return spec is not None and spec.eager and self.execution.tools.check(call.name, call.value or {}) is None

    def _break(self, events: list[AnyEvent]) -> None:
        """Part the run's first text from what it said in earlier steps."""
        if self.after_text and not self.has_text:
            events.append(Content("\n\n"))
        self.has_text = True


def begin_turn(state: LoopState, attempt: Attempt, *, may_call: bool) -> Turn:
    """Get ready for the answer to an attempt at the step under way."""
    progress, names = state.progress, state.context.tool_names
    filters = TextFilters(state.context, names)
    return Turn(
        state.execution,
        progress.steps,
        attempt,
        progress.clock,
        progress.record_head,
        may_call,
        state.has_emitted_text,
        names,
        ResponseBuilder(names),
        filters,
        filters.lets_through,
    )


def _is_same(running: RunningCall, call: RepairedCall) -> bool:
    return call.name == running.name and call.fault is None and is_same(call.arguments, running.arguments)


def runnable(call: RepairedCall, end: TurnEnd) -> RepairedCall:
    """Return the call as it is if its step ended well, else with the reason why it does not run."""
    if end is TurnEnd.CALLS or call.fault:
        return call
    words = _CUT if end is TurnEnd.CUT_CALLS else CODES[Code.STEP_FAILED].sentence
    return replace(call, fault=ToolOutcome.failed(Code.STEP_FAILED, words))
