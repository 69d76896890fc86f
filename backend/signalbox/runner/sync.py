"""RunnerSync: a Runner for programs that are not asynchronous."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Self, Unpack

from signalbox.core.events import AnyEvent
from signalbox.core.messages import JsonValue, UserMessage
from signalbox.core.parts import Usage
from signalbox.runner.answer import Answer
from signalbox.runner.options import ModelOptions
from signalbox.runner.run import Question, RunBase
from signalbox.runner.step import CallResult, Step, StepCall

if TYPE_CHECKING:  # __enter__ imports it
    from anyio.from_thread import BlockingPortal


class StepSync:
    """A `Step` with blocking methods."""

    def __init__(self, step: Step, portal: "BlockingPortal") -> None:
        self._step = step
        self._portal = portal
        self.number: int = step.number
        self.text: str = step.text
        self.reasoning: str = step.reasoning
        self.usage: Usage | None = step.usage
        self.final: bool = step.final
        self.calls: tuple[StepCall, ...] = step.calls

    def refuse(self, call: StepCall, why: str) -> None:
        """Do not run a call, as `Step.refuse` does."""
        self._portal.call(self._step.refuse, call, why)

    def edit(self, call: StepCall, arguments: dict[str, JsonValue]) -> None:
        """Run a call with other arguments, as `Step.edit` does."""
        self._portal.call(self._step.edit, call, arguments)

    def results(self) -> list[CallResult]:
        """Run the calls and return their results in order; a second call returns the same results."""
        return self._portal.call(self._step.results)


class RunnerSync(RunBase):
    """A `Runner` with blocking methods. Its event loop runs in a thread, so it also works inside a running loop.

    Asynchronous tools run in the same thread, other tools in further threads.
    """

    _portal: "BlockingPortal | None" = None
    _stack: ExitStack | None = None
    _thread: int = 0

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal

        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        self._thread = self._portal.call(get_ident)
        return self

    def __exit__(self, *_: object) -> None:
        stack, portal = self._stack, self._portal
        assert stack is not None
        assert portal is not None
        self._stack = self._portal = None
        with stack:
            portal.call(self._close)

    def __iter__(self) -> Generator[StepSync]:
        """Yield each step when its reply is complete. Raises RunError at the end of a run that failed."""
        self._claim()
        return self._steps_in_thread()

    def _steps_in_thread(self) -> Generator[StepSync]:
        with closing(self._waiting(self._steps())) as items:
            for item in items:
                if isinstance(item, StepSync):
                    yield item

    def events(self) -> Generator[AnyEvent | StepSync]:
        """Yield each event when it arrives, and each step after the model's reply. The last event is `Done`."""
        return self._waiting(self._claim_events())

    def answer(self) -> Answer:
        """Return the answer of the run; if nothing iterates over the run, execute it first. Raises RunError."""
        with self._opened() as portal:
            return portal.call(self._take_answer)

    def append(self, *messages: UserMessage) -> None:
        """Add messages after the current step and its results, as `Runner.append` does."""
        self._in_loop(partial(super().append, *messages))

    def replace(self, messages: Question) -> None:
        """Replace the whole conversation, as `Runner.replace` does."""
        self._in_loop(partial(super().replace, messages))

    def set(self, *, model: str | None = None, tool_choice: str | None = None, **options: Unpack[ModelOptions]) -> None:
        """Change the model or its parameters from the next model call on, as `Runner.set` does."""
        self._in_loop(partial(super().set, model=model, tool_choice=tool_choice, **options))

    def stop(self) -> None:
        """End the run now; any thread may call this."""
        self._in_loop(super().stop)

    def _in_loop(self, change: Callable[[], None]) -> None:
        if self._portal is None or get_ident() == self._thread:  # a tool that runs in the loop may make changes, too
            change()
        else:
            self._portal.call(change)

    @contextmanager
    def _opened(self) -> "Generator[BlockingPortal]":
        """Run the event loop, if no `with` block does."""
        if self._portal is not None:
            yield self._portal
            return
        with self:
            assert self._portal is not None  # __enter__ has set it
            yield self._portal

    def _waiting(self, items: AsyncGenerator[AnyEvent | Step]) -> Generator[AnyEvent | StepSync]:
        with self._opened() as portal:
            try:
                while (item := portal.call(anext, items, None)) is not None:
                    yield StepSync(item, portal) if isinstance(item, Step) else item
            finally:
                portal.call(items.aclose)
