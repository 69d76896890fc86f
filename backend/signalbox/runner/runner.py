"""Runner: one run of a model and its tools, step by step, in an asynchronous program."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, NoReturn, Self

from signalbox.core.events import AnyEvent
from signalbox.runner.answer import Answer
from signalbox.runner.errors import UsageError
from signalbox.runner.run import RunBase
from signalbox.runner.step import Step


class Runner(RunBase):
    """One run: it calls the model, executes the tool calls of the reply, and repeats both until the model answers.

    To start the run, iterate over its steps or over `events()`, or await `answer()`. You can iterate over a run only
    once. If your program leaves the iteration or the `async with` block, the run closes its upstream request and stops
    its tools.

    `tools` is a list of tools made with `@tool`. The run makes at most `max_steps` model calls. In the last model call,
    the model cannot call tools, so every tool result reaches the model. If the last model call returns an empty reply,
    the run repeats this model call once. If reasoning used up the token limit of the last model call, the run repeats
    this model call once, with a higher token limit.

    `max_cost` is the cost limit in USD. At most `tools_at_once` tool calls run at the same time. If a step uses at
    least `compact_at` tokens, a summary replaces the conversation after the step. All other keyword arguments are
    parameters of the model (`ModelOptions`). If an argument is invalid, `Runner` raises RequestError.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    if not TYPE_CHECKING:  # a type checker rejects these uses; a program without one gets a hint

        def __enter__(self) -> NoReturn:
            raise UsageError("A Runner needs `async with`. RunnerSync works with `with`.")

        def __exit__(self, *_: object) -> None: ...

        def __iter__(self) -> NoReturn:
            raise UsageError("A Runner needs `async for`. RunnerSync works with `for`.")

    def __aiter__(self) -> AsyncGenerator[Step]:
        """Yield each step when its reply is complete. If the run failed, the iteration raises RunError at the end."""
        self._claim()
        return self._steps()

    def events(self) -> AsyncGenerator[AnyEvent | Step]:
        """Yield each event when it arrives, and each step when its reply is complete. The last event is `Done`.

        If the run failed, `events` raises no RunError. The `Done` event contains the status and the code.
        """
        return self._claim_events()

    async def answer(self) -> Answer:
        """Return the answer of the run. If the run has not started, execute the run first.

        If the status of the run is neither "complete" nor "cancelled", `answer` raises RunError. The RunError contains
        the text so far.
        """
        if self._done is None:
            self._claim_answer()
            await self._execute()
        return self._checked_answer()

    async def aclose(self) -> None:
        """Stop the run and wait until its request is closed and its tools have ended."""
        await self._close()
