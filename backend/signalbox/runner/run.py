"""RunBase: what the asynchronous and the synchronous runner share: the run's task, its changes and its figures."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from math import inf
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, TypeAlias, Unpack

from msgspec import UNSET

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import AnyEvent, Done
from signalbox.core.messages import Message, UserMessage
from signalbox.core.params import NO_PARAMS
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.core.tools import Tool
from signalbox.runner.answer import Answer
from signalbox.runner.arguments import counted, executor_of, text_of, usd, wrong
from signalbox.runner.changes import Changes
from signalbox.runner.errors import RunError, UsageError
from signalbox.runner.event_log import EventLog
from signalbox.runner.feed import Feed
from signalbox.runner.messages import as_messages, check_message
from signalbox.runner.options import ModelOptions, changed_params, tool_choice_of
from signalbox.runner.step import Step
from signalbox.runner.upstream import Upstream
from signalbox.runner.upstream_arguments import checked_model

if TYPE_CHECKING:  # the loop takes more time than all other imports, so the first run imports it
    from signalbox.chat.loops.progress import Attempt
    from signalbox.chat.loops.stepper import Step as Turn
    from signalbox.chat.loops.stepper import Stepper
    from signalbox.runs.trace import RunTrace

Question: TypeAlias = str | Message | Sequence[Message]
AGAIN = "make a new Runner; messages continue its conversation"
# Endings that the caller asked for.
_ASKED_FOR = ("complete", "cancelled")
_REPLACED = "The conversation was replaced, so this call was not run."
# asyncio keeps only weak references to tasks, and the garbage collector must not close the coroutine of a run.
_running: set[asyncio.Task[None]] = set()


class RunBase:
    """One run. Subclasses iterate over it."""

    def __init__(
        self,
        upstream: Upstream,
        model: str,
        messages: Question,
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        max_steps: int = 8,
        max_cost: float | None = None,
        tools_at_once: int = 8,
        compact_at: int | None = None,
        **options: Unpack[ModelOptions],
    ) -> None:
        from signalbox.chat.budget import Budget
        from signalbox.chat.context import ConversationContext, Limits
        from signalbox.chat.loops.progress import Progress
        from signalbox.chat.plan import schemas_of
        from signalbox.core.ports import Destination

        if not isinstance(upstream, Upstream):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("upstream", "an Upstream", upstream)
        self._upstream = upstream
        self._executor = executor_of(tools)
        self._max_cost = None if max_cost is None else usd("max_cost", max_cost)
        self._compact_at = None if compact_at is None else counted("compact_at", compact_at)
        limits = Limits(
            max_steps=counted("max_steps", max_steps), tools_at_once=counted("tools_at_once", tools_at_once)
        )
        params = changed_params(NO_PARAMS, options)
        self._context = ConversationContext(
            run_id=token_hex(16),
            model=text_of("model", checked_model(model)),
            messages=as_messages(messages),
            base_params=params,
            unsupported_params=upstream.dialect.unsupported_params(params),
            destination=Destination(dialect=upstream.dialect.name, separates_calls=upstream.dialect.separates_calls),
            tool_schemas=schemas_of(self._executor.offered),
            tool_choice=tool_choice_of(tool_choice, self._executor),
            limits=limits,
            budget=Budget(inf if self._max_cost is None else self._max_cost, prices_of=upstream.prices),
        )
        self._use_prices(model)
        self._progress = Progress()
        self._changes = Changes()
        self._feed: Feed[AnyEvent | Step] = Feed()
        self._log = EventLog()
        self._task: asyncio.Task[None] | None = None
        self._has_begun = False
        self._is_claimed = False
        self._is_attended = True
        self._wants_events = False
        self._step: Step | None = None
        self._done: Done | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Prepare what a subclass adds."""

    # --- iterate --------------------------------------------------------------------------------------------------

    def _claim_answer(self) -> None:
        """Prepare `_execute`; raises UsageError if something executes the run already."""
        self._claim("call answer() after the run has ended")
        self._is_attended = False

    async def _execute(self) -> None:
        """Execute the run to its end."""
        async for _ in self._items():
            pass  # steps go on by themselves, so there are no items

    def _checked_answer(self) -> Answer:
        answer = self._ended_answer()
        if answer.status not in _ASKED_FOR:
            raise RunError(answer)
        return answer

    async def _steps(self) -> AsyncGenerator[Step]:
        async with aclosing(self._items()) as items:
            async for item in items:
                if isinstance(item, Step):
                    yield item
        self._checked_answer()

    async def _items(self) -> AsyncGenerator[AnyEvent | Step]:
        """Yield what the run emits; after a step, let the run go on."""
        task = self._start()
        try:
            while (item := await self._feed.next()) is not None:
                yield item
                if isinstance(item, Step):
                    item.release()
            task.result()  # raises what nothing expects, as the exception of a broken event loop
        finally:
            await self._close()

    def _claim_events(self) -> AsyncGenerator[AnyEvent | Step]:
        self._claim()
        self._wants_events = True
        return self._items()

    def _claim(self, words: str = AGAIN) -> None:
        """Raise UsageError if something iterates over the run, or did."""
        if self._is_claimed:
            raise UsageError(f"A run can be iterated over only once: {words}.")
        self._is_claimed = True

    # --- the task -------------------------------------------------------------------------------------------------

    def _start(self) -> asyncio.Task[None]:
        self._progress.started = time()
        self._task = asyncio.get_running_loop().create_task(self._work(), name=f"run {self._context.run_id}")
        self._task.add_done_callback(lambda _: self._feed.end())
        _running.add(self._task)
        self._task.add_done_callback(_running.discard)
        return self._task

    async def _work(self) -> None:
        from signalbox.chat.loops.driver import drive
        from signalbox.chat.loops.stepper import LoopInputs
        from signalbox.runner.loop import SteppedLoop

        self._has_begun = True
        async with self._upstream.connected() as client:
            inputs = LoopInputs(self._context, client, self._executor, self._progress)
            loop = SteppedLoop(inputs, self._changes, self._log.begin_step, self._deliver, self._compact_at)
            emit = _to_both(self._log, self._feed) if self._wants_events else self._log.add
            self._done = await drive(loop, self._context, self._progress, emit)

    def _deliver(self, stepper: "Stepper", turn: "Turn") -> Step:
        completion = turn.completion
        text = completion.content or completion.refusal or self._log.text.strip()
        self._step = Step(stepper, turn, self._progress.steps, text)
        if self._is_attended:
            self._feed.put([self._step])
        else:
            self._step.release()
        return self._step

    # --- change ---------------------------------------------------------------------------------------------------

    def append(self, *messages: UserMessage) -> None:
        """Add messages after the current step and its tool results.

        If you add messages after the final step, the run continues. Raises UsageError if the run has ended, or if the
        run has used all steps that `max_steps` allows.
        """
        for message in messages:
            if not isinstance(message, UserMessage):  # pyright: ignore[reportUnnecessaryIsInstance]
                kind = type(message).__name__
                raise UsageError(
                    f"Only messages of the user can be appended, not {kind}: replies and results are kept."
                )
            check_message("messages", message)
        self._check_can_continue()
        if self._task is None:
            self._context.messages.extend(messages)
        else:
            self._changes.appended += messages

    def replace(self, messages: Question) -> None:
        """Replace the whole conversation, and call the model with the new conversation.

        Tool calls without a result are refused. Raises UsageError if the run has ended, or if the run has used all
        steps that `max_steps` allows.
        """
        self._check_can_continue()
        replacement = as_messages(messages)
        if self._task is None:
            self._context.messages[:] = replacement
            return
        if self._step is not None:
            self._step.refuse_all(Code.DENIED, _REPLACED)
        self._changes.replacement, self._changes.appended = replacement, []

    def set(self, *, model: str | None = None, tool_choice: str | None = None, **options: Unpack[ModelOptions]) -> None:
        """Change the model or its parameters for all later model calls. To unset a model parameter, pass None."""
        context = self._context
        if model is not None:
            self._use_prices(text_of("model", checked_model(model)))
        context.base_params = changed_params(context.base_params, options)
        context.unsupported_params = self._upstream.dialect.unsupported_params(context.base_params)
        if tool_choice is not None:
            context.tool_choice = tool_choice_of(tool_choice, self._executor)
        if model is not None:
            context.use_model(model)

    def _use_prices(self, model: str) -> None:
        """Count the next attempts by the prices of their model; raises RequestError if `max_cost` could never act."""
        upstream = self._upstream
        prices = upstream.prices.get(model)
        if self._max_cost is not None and prices is None and not upstream.dialect.reports_costs:
            words = f"max_cost: this upstream reports no costs, and its `prices` have no {model!r:.80}"
            raise RequestError(Code.INVALID_REQUEST, words, "max_cost")
        assert self._context.budget is not None
        self._context.budget.prices = prices

    def stop(self) -> None:
        """End the run now: close the upstream request, stop the tools, and refuse every call that has no result yet."""
        self._changes.is_stopped = True
        if self._task is None or self._done is not None or not self._has_begun:
            return
        waiting = self._step if self._step is not None and self._step.number == self._progress.steps else None
        if waiting is None or waiting.is_acting:
            self._task.cancel()
        else:
            waiting.refuse_all(Code.CANCELLED)

    async def _close(self) -> None:
        """Stop the run and wait until its request is closed and its tools have ended."""
        if self._task is None or self._task.done():
            return
        self.stop()
        if self._step is not None:
            self._step.release()
        await asyncio.wait({self._task})

    def _check_can_continue(self) -> None:
        if self._done is not None or self._changes.is_stopped:
            raise UsageError(f"The run has ended: {AGAIN}.")
        if self._progress.steps >= self._context.limits.max_steps:
            raise UsageError("This was the last step that max_steps allows; nothing can follow it.")

    # --- read -----------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[Message]:
        """The conversation so far. To continue this conversation, pass the list to another Runner."""
        return [*self._context.messages]

    @property
    def usage(self) -> Usage | None:
        """Tokens and cost of all model calls so far, or None if no model call has reported tokens yet."""
        return self._progress.usage

    @property
    def cost(self) -> float:
        """The cost so far in USD: reported by the upstream, or estimated from the prices of `Upstream`."""
        assert self._context.budget is not None
        return round(float(self._context.budget.spent(self._progress)), 12)

    @property
    def run_id(self) -> str:
        """The id of the run. Tools can read this id from their ToolContext."""
        return self._context.run_id

    def trace(self) -> "RunTrace":
        """Return a record of the run as JSON: attempts, tool calls with their times, warnings, usage and cost.

        The record contains no text of the conversation.
        """
        from signalbox.runs.attempts_codec import with_figures
        from signalbox.runs.trace import trace_of

        done, context = self._done, self._context
        record = RunRecord(
            context.run_id,
            context.model,
            context.flags.loop,
            status=done.status if done else None,
            code=done.code if done and done.code is not UNSET else None,
            started=self._progress.started or 0.0,
            ended=self._log.ended,
        )
        trace = trace_of(with_figures(record, self._progress), self._log.events)
        trace["events"] = self._log.seq
        return trace

    def _ended_answer(self) -> Answer:
        done = self._done
        if done is None:
            raise UsageError("The run has no answer yet.")
        last = self._step if self._step is not None and self._step.number == self._progress.steps else None
        return Answer(
            text=last.text if last is not None else self._log.text.strip(),
            status=done.status,
            code=done.code or None,
            error=done.error or "",
            usage=self.usage,
            cost=self.cost,
            cost_estimated=done.cost_estimated is True or any(map(_lacks_cost, self._progress.attempts)),
            model=done.model or None,
            steps=self._progress.steps,
        )


def _lacks_cost(attempt: "Attempt") -> bool:
    return attempt.usage is not None and attempt.usage.cost is None


def _to_both(log: EventLog, feed: Feed[AnyEvent | Step]) -> Callable[[list[AnyEvent]], None]:
    """Return a function that emits to both. It does not refer to the run, whose steps refer to it: no cycle."""

    def emit(events: list[AnyEvent]) -> None:
        log.add(events)
        feed.put(events)

    return emit
