"""The V2 loop: deltas in, events out. A step asks the model once; steps follow each other until there is an answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count

from signalbox.chat.context import ConversationContext
from signalbox.chat.execution import RunningCall, ToolExecution
from signalbox.chat.finalize import finalize_after_tools, missing_answer
from signalbox.chat.history import maker_of
from signalbox.chat.params import dropped_params, prepare_request_params
from signalbox.chat.progress import Ending, Progress
from signalbox.chat.retry import should_retry
from signalbox.chat.turn import Turn
from signalbox.chat.verdict import TurnEnd, fault_of, how_it_ended
from signalbox.core.errors import CODES, Code, UpstreamError
from signalbox.core.events import AnyEvent, Content, Warning
from signalbox.core.messages import AssistantMessage, ToolCall
from signalbox.core.parts import Completion, Request, StreamPart
from signalbox.core.ports import ChatClient, ToolRunner
from signalbox.core.tools import ToolContext


async def run_v2(
    context: ConversationContext,
    client: ChatClient,
    tools: ToolRunner,
    progress: Progress,
    *,
    tool_context: ToolContext | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[list[AnyEvent], None]:
    """Drive one run; `progress` tells afterwards how it ended. Raises UpstreamError when a step cannot be saved."""
    execution = ToolExecution(context, tools, tool_context or ToolContext(run_id=context.run_id))
    loop = _Loop(context, client, execution, progress, sleep)
    try:
        async with aclosing(loop.run()) as batches:
            async for events in batches:
                yield events
    finally:
        await execution.aclose()


@dataclass(slots=True)
class _Loop:
    """One run of the loop. `barren` counts steps in a row that brought nothing new."""

    context: ConversationContext
    client: ChatClient
    execution: ToolExecution
    progress: Progress
    sleep: Callable[[float], Awaitable[None]]
    barren: int = 0
    blank_finals: int = 0
    must_answer: bool = False
    has_spoken: bool = False
    is_over: bool = False
    turn: Turn = field(init=False)

    async def run(self) -> AsyncGenerator[list[AnyEvent], None]:
        """Take steps until one of them ends the run."""
        if dropped := dropped_params(self.context):
            words = f"Not sent as asked, since this model's host would refuse it here: {', '.join(dropped)}."
            yield [Warning(words, Code.PARAM_DROPPED)]
        while not self.is_over:
            self.progress.steps += 1
            final = self._is_final()
            if self._is_out_of_steps():
                words = f"The limit of {self.context.limits.max_steps} model calls is reached; this is the last."
                yield [Warning(words, Code.MAX_STEPS, self.progress.steps)]
            async with aclosing(self._step(final=final)) as batches:
                async for events in batches:
                    yield events

    # --- which step -----------------------------------------------------------------------------------------

    def _is_final(self) -> bool:
        """Whether this step must be the answer: at the limit, after barren steps, or after a blank answer."""
        limits = self.context.limits
        if not self.context.tool_schemas:
            return self.must_answer
        is_last = self.progress.steps >= limits.max_steps
        return is_last or self.must_answer or self.barren >= limits.barren_steps

    def _is_out_of_steps(self) -> bool:
        """Whether a model that was still calling tools is stopped by the limit alone."""
        at_limit = self.progress.steps == self.context.limits.max_steps
        return (
            at_limit
            and bool(self.execution.calls)
            and not self.must_answer
            and self.barren < self.context.limits.barren_steps
        )

    def _request(self, *, final: bool) -> Request:
        if final:
            again = self.blank_finals > 0 or not self.context.tool_schemas
            return finalize_after_tools(self.context, again=again)
        return prepare_request_params(self.context, first=self.progress.steps == 1)

    # --- one step -------------------------------------------------------------------------------------------

    async def _step(self, *, final: bool) -> AsyncGenerator[list[AnyEvent], None]:
        request = self._request(final=final)
        async with aclosing(self._ask(request, final=final)) as batches:
            async for events in batches:
                yield events
        completion = self.turn.completion
        end = how_it_ended(completion, has_calls=self.turn.may_call and bool(completion.calls))
        if completion.unreadable:
            yield [Warning(CODES[Code.FRAME_UNREADABLE].sentence, Code.FRAME_UNREADABLE, self.progress.steps)]
        match end:
            case TurnEnd.CALLS | TurnEnd.CUT_CALLS:
                async with aclosing(self._answer_calls(is_whole=end is TurnEnd.CALLS)) as batches:
                    async for events in batches:
                        yield events
            case TurnEnd.BLANK:
                yield self._after_blank(final=final)
            case TurnEnd.ANSWER:
                self.context.messages.append(self._said(completion))
                self.is_over = True
            case TurnEnd.LENGTH:
                yield self._end(Ending("length", Code.LENGTH, CODES[Code.LENGTH].sentence))
            case TurnEnd.REFUSAL:
                yield self._end(Ending("content_filter", Code.CONTENT_FILTER, CODES[Code.CONTENT_FILTER].sentence))

    async def _ask(self, request: Request, *, final: bool) -> AsyncGenerator[list[AnyEvent], None]:
        """Ask the model, again where the retry policy says so; the turn holds what it said."""
        for number in count(1):
            self.turn = Turn(self.context, self.execution, self.progress.steps, may_call=_may_call(request))
            self.turn.after_text = self.has_spoken
            attempt = self.progress.begin(request, number, final=final)
            error: UpstreamError | None = None
            try:
                async with aclosing(self._stream(request)) as batches:
                    async for events in batches:
                        if attempt.first_part is None:
                            attempt.first_part = self.progress.clock()
                        if events:
                            yield events
            except UpstreamError as refused:
                error = refused
            finally:
                completion = self.turn.finish()
                error = error or fault_of(completion)
                attempt.settle(completion, self.progress.clock(), error.message if error else None)
            if self.turn.held_back:
                yield self.turn.held_back
            self.has_spoken = self.has_spoken or self.turn.has_text
            if error is None:
                return
            retry = should_retry(self.context, number, self.turn.is_visible, error)
            if retry is None:
                self.execution.close_open(Code.STEP_FAILED)
                yield self.execution.take()
                raise error
            await self.sleep(retry.wait)

    async def _stream(self, request: Request) -> AsyncGenerator[list[AnyEvent], None]:
        async with (
            aclosing(self.client.stream(request)) as reads,
            aclosing(interleave(reads, self.execution)) as batches,
        ):
            async for parts in batches:
                yield self.turn.take(parts)

    # --- after a step ---------------------------------------------------------------------------------------

    async def _answer_calls(self, *, is_whole: bool) -> AsyncGenerator[list[AnyEvent], None]:
        """Run what the step called and has not run yet, and take calls and results into the history."""
        calls = self.turn.settle_calls(is_whole=is_whole)
        async for events in self.execution.drain():
            yield events
        self._remember(calls)
        self.barren = 0 if any(call.fresh for call in calls) else self.barren + 1

    def _remember(self, calls: list[RunningCall]) -> None:
        pairs = [call.message() for call in calls]
        self.context.messages.append(self._said(self.turn.completion, [call for call, _ in pairs]))
        self.context.messages.extend(result for _, result in pairs)

    def _said(self, completion: Completion, calls: list[ToolCall] | None = None) -> AssistantMessage:
        return AssistantMessage(
            content=completion.content,
            calls=tuple(calls or ()),
            reasoning=completion.reasoning,
            reasoning_details=completion.reasoning_details,
            reasoning_field=completion.reasoning_field,
            model=maker_of(self.context, completion.served.model),
            provider=completion.served.provider,
        )

    def _after_blank(self, *, final: bool) -> list[AnyEvent]:
        """An empty turn is followed by one that must answer; a second empty one by a sentence of ours (quirk D2)."""
        if not final:
            self.must_answer = True
            return []
        self.blank_finals += 1
        if self.blank_finals == 1 and self.context.tool_schemas:
            return []
        if not self.execution.calls:
            raise UpstreamError(Code.EMPTY_ANSWER)
        self.is_over = True
        sentence = missing_answer(self.execution.tool_context.sources.titles)
        events: list[AnyEvent] = [Warning(CODES[Code.FINAL_EMPTY].sentence, Code.FINAL_EMPTY, self.progress.steps)]
        if self.has_spoken:
            events.append(Content("\n\n"))
        return [*events, Content(sentence, synthetic=True)]

    def _end(self, ending: Ending) -> list[AnyEvent]:
        self.execution.close_open(Code.STEP_FAILED)
        self.progress.ending = ending
        self.is_over = True
        return self.execution.take()


def _may_call(request: Request) -> bool:
    return bool(request.tools) and request.tool_choice != "none"


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
