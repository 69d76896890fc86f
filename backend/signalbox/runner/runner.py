"""Runner: one run of a model and its tools, step by step, in an asynchronous program."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, NoReturn, Self

from signalbox.core.events import AnyEvent
from signalbox.runner.answer import Answer
from signalbox.runner.errors import UsageError
from signalbox.runner.run import RunBase
from signalbox.runner.step import Step


class Runner(RunBase):
    """One run: calls the model, executes the tool calls of the reply, and repeats this until the model answers.

    To start the run, iterate over its steps or over `events()`, or await `answer()`. A run can be iterated over once.
    Leaving the iteration, or the `async with` block, stops the run: its request is closed, and no further tool runs.

    `tools` is a list of tools made with `@tool`. The run makes at most `max_steps` model calls. In the last of them,
    tools are off, so that every tool result reaches the model. If the last model call returns no answer, the run makes
    it again: once if the reply is empty, and once with a higher token limit if reasoning used up the limit.

    `max_cost` is in USD. At most `tools_at_once` tool calls run at the same time. After a step of at least `compact_at`
    tokens, a summary replaces the conversation. Further keyword arguments are the model's parameters (`ModelOptions`).
    Raises RequestError for an invalid argument.
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
        """Yield each step when its reply is complete. Raises RunError at the end of a run that failed."""
        self._claim()
        return self._steps()

    def events(self) -> AsyncGenerator[AnyEvent | Step]:
        """Yield each event when it arrives, and each step once its reply is complete. The last event is `Done`.

        `Done` says how the run ended, so nothing is raised for a run that failed.
        """
        return self._claim_events()

    async def answer(self) -> Answer:
        """Return the answer of the run. If nothing iterates over the run, execute it to its end first.

        Raises RunError, with the text so far, if the run neither completed nor was stopped.
        """
        if self._done is None:
            self._claim_answer()
            await self._execute()
        return self._checked_answer()

    async def aclose(self) -> None:
        """Stop the run and wait until its request is closed and its tools have ended."""
        await self._close()
