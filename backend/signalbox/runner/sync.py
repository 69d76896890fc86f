"""RunnerSync: a Runner for programs that are not asynchronous."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NoReturn, Self, Unpack

from signalbox.core.events import AnyEvent
from signalbox.core.messages import JsonValue, UserMessage
from signalbox.core.parts import Usage
from signalbox.runner.answer import Answer
from signalbox.runner.errors import UsageError
from signalbox.runner.loop_thread import LoopClosingError, LoopThread
from signalbox.runner.options import ModelOptions
from signalbox.runner.run import AGAIN, Question, RunBase
from signalbox.runner.step import CallResult, Step, StepCall

if TYPE_CHECKING:  # the first use imports it
    from anyio.from_thread import BlockingPortal


class StepSync:
    """A `Step` with blocking methods."""

    def __init__(self, step: Step, loop: LoopThread) -> None:
        self._step = step
        self._loop = loop
        self.number: int = step.number
        self.text: str = step.text
        self.reasoning: str = step.reasoning
        self.usage: Usage | None = step.usage
        self.final: bool = step.final
        self.calls: tuple[StepCall, ...] = step.calls

    def refuse(self, call: StepCall, why: str) -> None:
        """Prevent a call, as `Step.refuse` does."""
        self._loop.call(partial(self._step.refuse, call, why))

    def edit(self, call: StepCall, arguments: dict[str, JsonValue]) -> None:
        """Change the arguments of a call, as `Step.edit` does."""
        self._loop.call(partial(self._step.edit, call, arguments))

    def results(self) -> list[CallResult]:
        """Execute the tool calls if they have not run yet, and return their results in the order of the calls."""
        known = self._step.known_results
        return self._loop.wait(self._step.results) if known is None else known


class RunnerSync(RunBase):
    """A `Runner` with blocking methods. It also works inside a running event loop.

    The run has its own event loop in a separate thread. Async tools run in this thread. Other tools run in other
    threads.

    Several threads may use the same run, but only one thread may iterate over the run or call `answer()`. If a second
    thread tries this before the run ends, the second thread gets a UsageError. When any thread leaves the `with` block,
    the run stops for all threads. Iterations then end, and `answer()` returns an answer with the status "cancelled".
    """

    def _prepare(self) -> None:
        self._loop = LoopThread()
        self._claiming = Lock()

    def __enter__(self) -> Self:
        self._loop.enter()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if not self._loop.has_exited:
                self._loop.wait(self._close)  # other threads may use the loop still
        finally:
            self._loop.leave(self._close)

    if not TYPE_CHECKING:  # a type checker rejects these uses; a program without one gets a hint

        def __aenter__(self) -> NoReturn:
            raise UsageError("A RunnerSync needs `with`. Runner works with `async with`.")

        async def __aexit__(self, *_: object) -> None: ...

        def __aiter__(self) -> NoReturn:
            raise UsageError("A RunnerSync needs `for`. Runner works with `async for`.")

    def __iter__(self) -> Generator[StepSync]:
        """Yield each step when its reply is complete. If the run failed, the iteration raises RunError at the end."""
        self._claim()
        return self._steps_in_thread()

    def _steps_in_thread(self) -> Generator[StepSync]:
        with closing(self._waiting(self._steps())) as items:
            for item in items:
                if isinstance(item, StepSync):
                    yield item

    def events(self) -> Generator[AnyEvent | StepSync]:
        """Yield each event when it arrives, and each step when its reply is complete. The last event is `Done`."""
        return self._waiting(self._claim_events())

    def answer(self) -> Answer:
        """Return the answer of the run, as `Runner.answer` does. If the run failed, raise RunError."""
        if self._done is None:
            self._claim_answer()
            with self._opened() as portal:
                portal.call(self._execute)
        return self._checked_answer()

    def append(self, *messages: UserMessage) -> None:
        """Add messages after the current step and its tool results, as `Runner.append` does."""
        self._loop.call(partial(super().append, *messages))

    def replace(self, messages: Question) -> None:
        """Replace the whole conversation, as `Runner.replace` does."""
        self._loop.call(partial(super().replace, messages))

    def set(self, *, model: str | None = None, tool_choice: str | None = None, **options: Unpack[ModelOptions]) -> None:
        """Change the model or its parameters for all later model calls, as `Runner.set` does."""
        self._loop.call(partial(super().set, model=model, tool_choice=tool_choice, **options))

    def stop(self) -> None:
        """End the run now. Any thread may call this method."""
        with suppress(LoopClosingError):  # another thread ends the run already
            self._loop.call(super().stop)

    def _claim(self, words: str = AGAIN) -> None:
        with self._claiming:
            super()._claim(words)

    @contextmanager
    def _opened(self) -> "Generator[BlockingPortal]":
        """Run the event loop, if no `with` block does."""
        portal = self._loop.enter()
        try:
            yield portal
        finally:
            self._loop.leave(self._close)

    def _waiting(self, items: AsyncGenerator[AnyEvent | Step]) -> Generator[AnyEvent | StepSync]:
        reading = asyncio.Lock()

        async def next_item() -> AnyEvent | Step | None:
            async with reading:
                return await anext(items, None)

        async def end() -> None:
            await self._close()
            async with reading:  # KeyboardInterrupt may have come while `next_item` waited
                await items.aclose()

        with self._opened() as portal:
            try:
                while (item := portal.call(next_item)) is not None:
                    yield StepSync(item, self._loop) if isinstance(item, Step) else item
            except CancelledError:
                if not self._loop.has_exited:
                    raise
            finally:
                if not self._loop.has_exited:
                    portal.call(end)
