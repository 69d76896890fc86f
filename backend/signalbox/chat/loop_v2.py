"""The V2 loop: deltas in, events out. A step asks the model once; steps follow each other until there is an answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count

from signalbox.chat.budget import metered
from signalbox.chat.context import ConversationContext
from signalbox.chat.execution import ToolExecution
from signalbox.chat.progress import Attempt, Progress
from signalbox.chat.stage import staged
from signalbox.chat.steering import Steering, may_call
from signalbox.chat.turn import Turn
from signalbox.chat.verdict import TurnEnd, failure_of, how_it_ended
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent
from signalbox.core.parts import Request, StreamPart
from signalbox.core.ports import ChatClient, ToolRunner
from signalbox.core.tools import ToolContext


def run_v2(
    context: ConversationContext,
    client: ChatClient,
    tools: ToolRunner,
    progress: Progress,
    *,
    tool_context: ToolContext | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[list[AnyEvent], None]:
    """Drive one run; `progress` tells afterwards how it ended. Raises UpstreamError when a step cannot be saved.

    Raises BudgetReached, too: whatever was told stays so.
    """
    client = metered(client, context.budget, progress)
    return staged(lambda steering: _Loop(steering, client, sleep).run(), context, tools, progress, tool_context)


@dataclass(slots=True)
class _Loop:
    """One run of the loop; `turn` is what the model says in the step under way."""

    steering: Steering
    client: ChatClient
    sleep: Callable[[float], Awaitable[None]]
    turn: Turn = field(init=False)

    async def run(self) -> AsyncGenerator[list[AnyEvent], None]:
        """Take steps until one of them ends the run."""
        yield self.steering.opening()
        while not self.steering.is_over:
            yield self.steering.begin_step()
            async with aclosing(self._step()) as batches:
                async for events in batches:
                    yield events

    async def _step(self) -> AsyncGenerator[list[AnyEvent], None]:
        async with aclosing(self._ask()) as batches:
            async for events in batches:
                yield events
        completion = self.turn.completion
        yield self.steering.unreadable(completion)
        may_call_ = self.turn.may_call
        end = how_it_ended(completion, has_calls=may_call_ and bool(completion.calls), may_call=may_call_)
        if end not in (TurnEnd.CALLS, TurnEnd.CUT_CALLS):
            yield self.steering.conclude(end, completion)
            return
        calls = self.turn.settle_calls(is_whole=end is TurnEnd.CALLS)
        async for events in self.steering.execution.drain():
            yield events
        self.steering.remember(completion, calls)

    async def _ask(self) -> AsyncGenerator[list[AnyEvent], None]:
        """Ask the model, again where that is safe and may help; the turn holds what it said."""
        steering = self.steering
        for number in count(1):
            request = steering.request()
            self.turn = Turn(
                steering.context,
                steering.execution,
                steering.progress.steps,
                may_call=may_call(request),
                after_text=steering.has_spoken,
            )
            attempt = steering.progress.begin(request, number, final=steering.final)
            error: UpstreamError | None = None
            was_stopped = True
            try:
                async with aclosing(self._read(request, attempt)) as batches:
                    async for events in batches:
                        attempt.first_part = attempt.first_part or steering.progress.clock()
                        yield events
                was_stopped = False
            except UpstreamError as refused:
                error, was_stopped = refused, False
            finally:
                completion = self.turn.finish()
                error = None if was_stopped else failure_of(completion, error)
                steering.progress.settle(completion, error)
                steering.progress.unsaid = self.turn.held_back
            yield steering.progress.say()
            steering.has_spoken = steering.has_spoken or self.turn.has_words
            if error is None:
                return
            again = steering.again(request, error, is_visible=self.turn.is_visible)
            if again is None:
                yield steering.close_open_calls()
                raise error
            yield [*again.events]
            await self.sleep(again.wait)

    async def _read(self, request: Request, attempt: Attempt) -> AsyncGenerator[list[AnyEvent], None]:
        """Yield the events of one answer; as a whole where streamed calls of this family cannot be trusted."""
        if self.turn.may_call and not self.steering.context.profile.stream_tools:
            attempt.streamed = False
            yield self.turn.take(await self.client.complete(request, self.steering.progress.hear))
            return
        async with (
            aclosing(self.client.stream(request, self.steering.progress.hear)) as reads,
            aclosing(interleave(reads, self.steering.execution)) as batches,
        ):
            async for parts in batches:
                yield self.turn.take(parts)


async def interleave(
    reads: AsyncIterator[list[StreamPart]], execution: ToolExecution
) -> AsyncGenerator[list[StreamPart], None]:
    """Yield what the upstream sends, and an empty list whenever a tool has something to tell, whichever is first.

    While no tool runs this is a plain read: no task and no timer per read.
    """
    pending: asyncio.Task[list[StreamPart] | None] | None = None
    try:
        while True:
            if pending is None and execution.idle:
                parts = await anext(reads, None)
            else:
                pending = pending or asyncio.create_task(_next(reads))
                await _first(pending, execution.wake)
                if not pending.done():
                    yield []
                    continue
                parts = pending.result()
                pending = None
            if parts is None:
                return
            yield parts
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)


async def _next(reads: AsyncIterator[list[StreamPart]]) -> list[StreamPart] | None:
    return await anext(reads, None)


async def _first(read: asyncio.Task[list[StreamPart] | None], wake: asyncio.Event) -> None:
    """Wait for the read or for the wake-up."""
    woken = asyncio.create_task(wake.wait())
    try:
        await asyncio.wait({read, woken}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        woken.cancel()
