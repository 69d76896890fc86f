"""Reads a reply as it streams: emits text at once, assembles calls, starts eager calls as soon as they are complete."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.answer.attachments import attachment_events
from signalbox.chat.answer.logprobs import logprobs_events
from signalbox.chat.answer.response import ResponseBuilder
from signalbox.chat.answer.text_filters import TextFilters, text_of
from signalbox.chat.calls.arguments import is_same
from signalbox.chat.calls.assembly import OpenCall
from signalbox.chat.calls.execution import ToolExecution
from signalbox.chat.calls.previews import CallPreviews
from signalbox.chat.calls.repair import RepairedCall, repaired
from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.calls.streamed_arguments import StreamedArguments
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stop_reason import TurnEnd
from signalbox.core.bounds.part_slices import slices_of
from signalbox.core.codes import CODES, Code
from signalbox.core.events import AnyEvent, ArgumentsDelta, Content, Preview, Reasoning
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

# Parts besides text that a client sees when they arrive.
_Visible: TypeAlias = ReasoningDelta | RefusalDelta | HiddenReasoning | Citation | ImageDelta | Omitted
_VISIBLE = frozenset(get_args(_Visible))
_CUT = "The turn was cut off before it was complete, so this call was not run; make it again."


class StreamedReply(Struct, eq=False):
    """The reply to one attempt. `after_text`: an earlier step emitted text, so new text begins with a break.

    `attempt` records by `clock` when the first part arrived. `on_head` is called once the generation, model and
    provider are known. `_names` are the offered tools: they decide what a piece of a split name means.
    """

    execution: ToolExecution
    step: int
    attempt: Attempt
    clock: Callable[[], float]
    on_head: OnHead
    may_call: bool
    after_text: bool
    _names: frozenset[str]
    _builder: ResponseBuilder
    _filters: TextFilters
    _passes_text: Callable[[str], bool]
    has_text: bool = False
    has_words: bool = False
    is_visible: bool = False
    completion: Completion = Completion()
    held_back: list[AnyEvent] = []
    eager_calls: dict[int, RunningCall] = {}
    arguments: StreamedArguments | CallPreviews | None = None
    _has_reasoned: bool = False

    async def read_reply(self, client: ChatClient, request: Request) -> None:
        """Stream the reply, or read it as a whole if the model family does not stream calls reliably."""
        if not self.may_call or self.execution.context.profile.stream_tools:
            await client.stream(request, self.receive, self.on_head)
            return
        self.attempt.streamed = False
        for slice_ in slices_of(await client.complete(request, self.on_head)):
            self.receive(slice_)
            await asyncio.sleep(0)

    def receive(self, parts: list[StreamPart]) -> None:
        """Emit the parts of one network read, and start the eager calls that it completes."""
        if self.has_words and len(parts) == 1 and type(part := parts[0]) is TextDelta and self._passes_text(part.text):
            # Most reads of a slow stream: one piece of text in the middle of an answer.
            self._builder.text.append(part.text)
            self.execution.emit([Content(part.text)])
            return
        if self.attempt.first_part is None:
            self.attempt.first_part = self.clock()
        events: list[AnyEvent] = []
        self._collect(self._filters.split_reasoning(parts), events)
        if events:
            self.is_visible = self.is_visible or any(map(self._must_stay, events))
            self.execution.emit(events)
        if self.may_call and self._builder.assembler.touched:
            self._start_eager(self._builder.assembler.closed())

    def _collect(self, parts: list[StreamPart], events: list[AnyEvent]) -> None:
        """Add parts to the reply, and append the events of the visible ones."""
        for kind, same in groupby(parts, type):
            if kind is TextDelta:
                self._add_text(self._filters.filter_text(list(map(text_of, same))), events)
            elif kind is CallDelta:
                self._builder.assembler.add_all(cast("Iterator[CallDelta]", same))
                if self.arguments is not None:
                    events += self.arguments.events()
            elif kind in _VISIBLE:
                self._add_visible(cast("Iterator[_Visible]", same), events)
            else:
                for part in same:
                    self._builder.add(part)
                    if type(part) is Served:
                        self.on_head(part)

    def _must_stay(self, event: AnyEvent) -> bool:
        """Return whether another attempt would double an event. Arguments for our tools only show what is coming."""
        if type(event) is ArgumentsDelta:
            return event.name in self.execution.context.client_tools
        return type(event) is not Preview

    def _add_text(self, texts: list[str], events: list[AnyEvent]) -> None:
        """Add text. Nearly all of a reply is text, so this takes no Python step per piece."""
        if not texts:
            return
        self._builder.text.extend(texts)
        if not self.has_words:
            self._separate(events)
            self.has_words = not "".join(texts).isspace()
        self._add_logprobs(events)
        events.extend(map(Content, texts))

    def _add_visible(self, parts: "Iterator[_Visible]", events: list[AnyEvent]) -> None:
        add = self._builder.add
        for part in parts:
            add(part)
            if isinstance(part, ReasoningDelta):
                self._has_reasoned = True
                events.append(Reasoning(part.text, self.step))
            elif isinstance(part, RefusalDelta):
                self._separate(events)
                self.has_words = True
                self._add_logprobs(events)
                events.append(Content(part.text, refusal=True))
            elif isinstance(part, Citation | ImageDelta | Omitted):
                events += attachment_events([part], self.execution.tool_context.sources, self.step)
            elif not self._has_reasoned:
                self._has_reasoned = True
                events.append(Reasoning("", self.step, hidden=True))

    def _add_logprobs(self, events: list[AnyEvent]) -> None:
        """Add the log probabilities of the text that follows: text that a filter holds back keeps them back, too."""
        logprobs = self._builder.logprobs
        if logprobs and self.execution.context.emits_logprobs:
            events += logprobs_events(logprobs)
            self._builder.logprobs = []

    def finish(self) -> Completion:
        """Return the reply, complete or as far as it was read; `held_back` then holds the events not emitted yet."""
        self._collect(self._filters.flush(), self.held_back)
        self._add_text(self._filters.flush_text(), self.held_back)
        self.is_visible = self.is_visible or bool(self.held_back)
        if self.is_visible:
            self._add_logprobs(self.held_back)
        self.completion = self._filters.with_leaked_calls(self._builder.result())
        return self.completion

    @property
    def shows_calls(self) -> bool:
        """Whether arguments of a call to the client's tool were emitted before it was complete."""
        return self.arguments is not None and self.arguments.shows_client_calls

    def remaining_events(self) -> list[AnyEvent]:
        """Return what the filters held back."""
        return self.held_back

    def settle_previews(self) -> list[AnyEvent]:
        """Return the rest of the previews of the calls that were returned, and withdraw all others; called once."""
        return self.arguments.settle() if isinstance(self.arguments, CallPreviews) else []

    def calls(self, end: TurnEnd) -> list[RunningCall | RepairedCall]:
        """Return the calls of the complete reply in order: those that are already running, and those to start."""
        calls: list[RunningCall | RepairedCall] = []
        for slot, raw in self._raw_calls():
            fixed = repaired(raw)
            running = self.eager_calls.get(slot)
            if self.arguments is not None and running is None:
                fixed = self.arguments.finish(slot, fixed, is_complete=end is TurnEnd.CALLS)
            calls += self._resolve_slot(running, fixed)
        return [runnable(call, end) if isinstance(call, RepairedCall) else call for call in calls]

    def _resolve_slot(self, running: RunningCall | None, fixed: list[RepairedCall]) -> list[RunningCall | RepairedCall]:
        """Return the calls of one slot; a running call stays, unless its final arguments differ."""
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

    def _start_eager(self, closed: list[OpenCall]) -> None:
        """Start completed calls while the model still streams, if their tools only read."""
        id_of = self.arguments.shown_id if self.arguments is not None else _no_id
        ready = [
            (call.slot, RepairedCall(call.name, call.value or {}, call.id, id=id_of(call)))
            for call in closed
            if self._is_eager(call)
        ]
        for (slot, _), running in zip(
            ready, self.execution.announce([call for _, call in ready], self.step), strict=True
        ):
            self.eager_calls[slot] = running
            self.is_visible = True
            self.execution.start(running, is_checked=True)

    def _is_eager(self, call: OpenCall) -> bool:
        if call.name not in self._names or call.name in self.execution.context.client_tools:
            return False
        spec = self.execution.tools.spec(call.name)
        return spec is not None and spec.eager and self.execution.tools.check(call.name, call.value or {}) is None

    def _separate(self, events: list[AnyEvent]) -> None:
        """Separate the first text of this step from the text of earlier steps."""
        if self.after_text and not self.has_text:
            events.append(Content("\n\n"))
        self.has_text = True


def begin_streamed_reply(state: LoopState, attempt: Attempt, *, may_call: bool) -> StreamedReply:
    """Prepare to stream the reply to an attempt."""
    progress, names = state.progress, state.context.tool_names
    filters, builder, arguments = TextFilters(state.context, names), ResponseBuilder(names), None
    if may_call and state.context.streamed_arguments != "none":
        arguments = _streamed_arguments(state, names)
        builder.assembler.on_arguments = arguments.feed
    return StreamedReply(
        state.execution,
        progress.steps,
        attempt,
        progress.clock,
        progress.record_head,
        may_call,
        state.has_emitted_text,
        names,
        builder,
        filters,
        filters.passes_text,
        arguments=arguments,
    )


def _streamed_arguments(state: LoopState, names: frozenset[str]) -> StreamedArguments | CallPreviews:
    """Prepare to emit arguments while the model writes them."""
    context, execution, step = state.context, state.execution, state.progress.steps
    if context.streamed_arguments == "previews":
        specs = [spec for name in names if (spec := execution.tools.spec(name)) is not None and not spec.eager]
        previewed = {spec.name: spec.previewed for spec in specs if spec.previewed}
        return CallPreviews(names, previewed, step, execution.reserve_id)
    shown = names if context.streamed_arguments == "all" else context.client_tools
    return StreamedArguments(names, shown, context.client_tools, step, execution.reserve_id)


def _no_id(call: OpenCall) -> None:
    """Return no id: the call gets one when it is announced."""


def _is_same(running: RunningCall, call: RepairedCall) -> bool:
    return call.name == running.name and call.fault is None and is_same(call.arguments, running.arguments)


def runnable(call: RepairedCall, end: TurnEnd) -> RepairedCall:
    """Return the call as it is if its step ended well, else with the error that it gets as result."""
    if end is TurnEnd.CALLS or call.fault:
        return call
    words = _CUT if end is TurnEnd.CUT_CALLS else CODES[Code.STEP_FAILED].sentence
    return replace(call, fault=ToolOutcome.failed(Code.STEP_FAILED, words))
