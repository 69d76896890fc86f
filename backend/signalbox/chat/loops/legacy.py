"""The legacy loop: whole responses in, events out. While tools are in play nothing streams; the last answer does.

It shares the decisions (`state`, `verdict`), values and contract with the V2 loop, and reads the last answer as that
does (`turn`). How it reads steps with tools and runs their calls is its own: a fault of those in V2 is none here.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

from msgspec import UNSET

from signalbox.chat.answer.attachments import attached, attachments_of
from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.answer.text_filters import TextFilters
from signalbox.chat.answer.turn import begin_turn, runnable
from signalbox.chat.budget import metered
from signalbox.chat.calls.execution import execute_tool_calls
from signalbox.chat.calls.repair import repaired
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.state import LoopState, may_call
from signalbox.chat.loops.stop_reason import TurnEnd, failure_of, fault_of, how_it_ended, is_malformed
from signalbox.chat.loops.tool_scope import staged
from signalbox.core.bounds.part_slices import slices_of, texts_of
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Reasoning
from signalbox.core.parts import Completion, StreamPart
from signalbox.core.ports import ChatClient, Emit, Play, ToolRunner
from signalbox.core.tools import ToolContext


def run_legacy(
    context: ConversationContext,
    client: ChatClient,
    tools: ToolRunner,
    progress: Progress,
    *,
    tool_context: ToolContext | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Play:
    """Return one run; `progress` tells afterwards how it ended. Raises UpstreamError when a step cannot be saved.

    Raises BudgetReached, too: whatever was told stays so.
    """
    client = metered(client, context.budget, progress)
    return staged(lambda state, emit: _Loop(state, emit, client, sleep).run(), context, tools, progress, tool_context)


@dataclass(slots=True)
class _Loop:
    """One run of the loop; `completion` is the last whole answer, `could_call`: its request had tools."""

    state: LoopState
    emit: Emit[list[AnyEvent]]
    client: ChatClient
    sleep: Callable[[float], Awaitable[None]]
    completion: Completion = field(default_factory=Completion)
    could_call: bool = True

    async def run(self) -> None:
        """Ask, run what was called, ask again; the answer of a step without tools is streamed."""
        state = self.state
        self.emit(state.opening())
        while not state.is_over:
            await state.begin_step()
            await (self._whole_step() if may_call(await state.request()) else self._last_step())

    # --- with tools: whole responses ------------------------------------------------------------------------

    async def _whole_step(self) -> None:
        state = self.state
        await self._complete()
        completion = self.completion
        may = self.could_call
        has_calls = may and bool(completion.calls)
        end = how_it_ended(completion, has_calls=has_calls, may_call=may)
        before = len(state.execution.calls)
        if has_calls and end not in (TurnEnd.MALFORMED, TurnEnd.REFUSAL):
            calls = [runnable(call, end) for raw in completion.calls for call in repaired(raw)]
            await execute_tool_calls(state.execution, calls, state.progress.steps)
        if end not in (TurnEnd.CALLS, TurnEnd.CUT_CALLS):
            self.emit(state.conclude(end, completion))
            return
        state.remember(completion, state.execution.calls[before:])

    async def _complete(self) -> None:
        """Ask for a whole answer, again where that is safe and may help; what came with a fault is told before it."""
        state = self.state
        for number in count(1):
            request = await state.request()
            self.could_call = may_call(request)
            attempt = state.progress.begin(request, number, final=state.final)
            attempt.streamed = False
            completion, error = Completion(), None
            try:
                completion = await self._parsed(await self.client.complete(request, state.progress.hear))
                attempt.first_part = state.progress.clock()
                error = fault_of(completion)
            except UpstreamError as refused:
                error = refused
                if refused.code is Code.STREAM_CUT:  # an answer had begun, and may have to be paid
                    attempt.first_part = state.progress.clock()
            finally:
                state.progress.settle(completion, error)
            again = error and await state.again(request, error, is_visible=False)
            if again is None:
                self.completion = completion
                self.emit(self._told(completion))
                if error is not None:
                    raise error
                return
            self.emit([*again.events])
            await self.sleep(again.wait)

    async def _parsed(self, parts: list[StreamPart]) -> Completion:
        names = self.state.context.tool_names
        filters = TextFilters(self.state.context, names)
        kept: list[StreamPart] = []
        for some in slices_of(parts):
            kept += filters.some(some)
            if len(some) < len(parts):
                await asyncio.sleep(0)
        return filters.with_leaked_calls(parse_completion_response([*kept, *filters.last()], names))

    def _told(self, completion: Completion) -> list[AnyEvent]:
        """Turn a whole answer into events: reasoning, then text, each in one piece unless it is long."""
        state = self.state
        events: list[AnyEvent] = []
        if completion.reasoning or completion.reasoning_details:
            hidden = True if not completion.reasoning else UNSET
            step = state.progress.steps
            events += [Reasoning(text, step, hidden) for text in texts_of(completion.reasoning) or [""]]
        if self.could_call and is_malformed(completion):  # the rest of a call (quirk A13), and it was not emitted yet
            return [*events, *state.unreadable(completion)]
        if completion.content or completion.refusal:
            if state.has_spoken:
                events.append(Content("\n\n"))
            state.has_spoken = state.has_spoken or bool((completion.content + completion.refusal).strip())
        events += map(Content, texts_of(completion.content))
        if completion.refusal:
            events.append(Content(completion.refusal, refusal=True))
        sources = state.execution.tool_context.sources
        events += attached(attachments_of(completion), sources, state.progress.steps)
        return [*events, *state.unreadable(completion)]

    # --- without tools: the last answer streams -------------------------------------------------------------

    async def _last_step(self) -> None:
        state = self.state
        for number in count(1):
            request = await state.request()
            progress = state.progress
            attempt = progress.begin(request, number, final=state.final)
            turn = begin_turn(state, attempt, may_call=False)
            error: UpstreamError | None = None
            was_stopped = True
            try:
                await self.client.stream(request, turn.take, progress.hear)
                was_stopped = False
            except UpstreamError as refused:
                error, was_stopped = refused, False
            finally:
                completion = turn.finish()
                error = None if was_stopped else failure_of(completion, error)
                state.progress.settle(completion, error)
                state.progress.unsaid = turn.held_back
            state.has_spoken = state.has_spoken or turn.has_words
            self.emit(state.progress.say())
            if error is None:
                self.emit(state.unreadable(completion))
                self.emit(state.conclude(how_it_ended(completion, has_calls=False, may_call=False), completion))
                return
            again = await state.again(request, error, is_visible=turn.is_visible)
            if again is None:
                raise error
            self.emit([*again.events])
            await self.sleep(again.wait)
