"""The V2 loop: deltas in, events out. A step asks the model once; steps follow each other until there is an answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

from signalbox.chat.answer.turn import Turn, begin_turn
from signalbox.chat.budget import metered
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.chat.loops.state import LoopState, may_call
from signalbox.chat.loops.stop_reason import TurnEnd, failure_of, how_it_ended
from signalbox.chat.loops.tool_scope import staged
from signalbox.core.bounds.part_slices import slices_of
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent
from signalbox.core.parts import Request
from signalbox.core.ports import ChatClient, Emit, Play, ToolRunner
from signalbox.core.tools import ToolContext


def run_v2(
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
    """One run of the loop; `turn` is what the model says in the step under way."""

    state: LoopState
    emit: Emit[list[AnyEvent]]
    client: ChatClient
    sleep: Callable[[float], Awaitable[None]]
    turn: Turn = field(init=False)

    async def run(self) -> None:
        """Take steps until one of them ends the run."""
        self.emit(self.state.opening())
        while not self.state.is_over:
            await self.state.begin_step()
            await self._step()

    async def _step(self) -> None:
        await self._ask()
        completion = self.turn.completion
        self.emit(self.state.unreadable(completion))
        may_call_ = self.turn.may_call
        has_calls = may_call_ and bool(completion.calls)
        end = how_it_ended(completion, has_calls=has_calls, may_call=may_call_)
        calls = self.turn.settle_calls(end) if has_calls and end not in (TurnEnd.MALFORMED, TurnEnd.REFUSAL) else []
        if end not in (TurnEnd.CALLS, TurnEnd.CUT_CALLS):
            self.emit(self.state.conclude(end, completion))
            return
        await self.state.execution.settled()
        self.state.remember(completion, calls)

    async def _ask(self) -> None:
        """Ask the model, again where that is safe and may help; the turn holds what it said."""
        state = self.state
        for number in count(1):
            request = await state.request()
            attempt = state.progress.begin(request, number, final=state.final)
            self.turn = begin_turn(state, attempt, may_call=may_call(request))
            error: UpstreamError | None = None
            was_stopped = True
            try:
                await self._read(request, attempt)
                was_stopped = False
            except UpstreamError as refused:
                error, was_stopped = refused, False
            finally:
                completion = self.turn.finish()
                error = None if was_stopped else failure_of(completion, error)
                state.progress.settle(completion, error)
                state.progress.unsaid = self.turn.held_back
            self.emit(state.progress.say())
            state.has_spoken = state.has_spoken or self.turn.has_words
            if error is None:
                return
            again = await state.again(request, error, is_visible=self.turn.is_visible)
            if again is None:
                state.close_open_calls()
                raise error
            self.emit([*again.events])
            await self.sleep(again.wait)

    async def _read(self, request: Request, attempt: Attempt) -> None:
        """Hear one answer; as a whole where streamed calls of this family cannot be trusted."""
        turn, hear = self.turn, self.state.progress.hear
        if turn.may_call and not self.state.context.profile.stream_tools:
            attempt.streamed = False
            for some in slices_of(await self.client.complete(request, hear)):
                turn.take(some)
                await asyncio.sleep(0)
        else:
            await self.client.stream(request, turn.take, hear)
