"""The loop of a run in a program: it waits for the caller before the calls of each step, and after their results."""

import asyncio
from collections.abc import Callable

from signalbox.chat.loops.progress import Ending
from signalbox.chat.loops.stepper import LoopInputs, Stepper
from signalbox.chat.loops.stepper import Step as Turn
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.ports import Emit
from signalbox.runner.changes import Changes
from signalbox.runner.compaction import compacted
from signalbox.runner.step import Step

_COMPACTED = "The conversation became long, so a summary replaced it."


class SteppedLoop(V2Loop):
    """The V2 loop, a step at a time. `begin_step` is called before each step, `deliver` with each complete one."""

    def __init__(
        self,
        inputs: LoopInputs,
        changes: Changes,
        begin_step: Callable[[], None],
        deliver: Callable[[Stepper, Turn], Step],
        compact_at: int | None = None,
    ) -> None:
        super().__init__(inputs)
        self._changes = changes
        self._begin_step = begin_step
        self._deliver = deliver
        self._compact_at = compact_at

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        """Take steps until the answer is complete and the caller appends nothing, or stops the run."""
        async with Stepper(self._inputs, emit) as stepper:
            while not stepper.is_over and not self._changes.is_stopped:
                self._begin_step()
                await self._take(stepper, await stepper.ask(self.begin_reply))
                await self._apply_changes(stepper, emit)
            if not stepper.is_over:
                self._inputs.progress.ending = Ending("cancelled")

    async def _take(self, stepper: Stepper, turn: Turn) -> None:
        """Act on a step when the caller allows it; one that runs no calls is concluded at once."""
        messages = self._inputs.context.messages
        if not turn.runs_calls:
            known = len(messages)
            await stepper.act(turn)
            if stepper.is_over and len(messages) == known and turn.completion.has_content:
                stepper.keep_turn(turn)  # it was cut off or withheld: the caller may go on from there
        step = self._deliver(stepper, turn)
        try:
            if turn.runs_calls:
                await step.wait_for_caller()
                await self._act(stepper, turn)
        finally:
            step.settle()
        await step.wait_for_release()

    async def _act(self, stepper: Stepper, turn: Turn) -> None:
        try:
            await stepper.act(turn)
        except asyncio.CancelledError:  # stopped while its tools ran
            stepper.keep_turn(turn)
            raise

    async def _apply_changes(self, stepper: Stepper, emit: Emit[list[AnyEvent]]) -> None:
        changes = self._changes
        replacement, appended = changes.replacement, changes.appended
        changes.replacement, changes.appended = None, []
        if replacement is not None:
            stepper.replace_messages(replacement)
        elif self._is_long and not changes.is_stopped and (appended or not stepper.is_over):
            await self._compact(stepper, emit)
        if appended:
            stepper.add_messages(appended)

    @property
    def _is_long(self) -> bool:
        """Whether the last step used enough tokens for a summary."""
        usage = self._inputs.progress.current.usage
        return self._compact_at is not None and usage is not None and usage.input + usage.output >= self._compact_at

    async def _compact(self, stepper: Stepper, emit: Emit[list[AnyEvent]]) -> None:
        if messages := await compacted(self._inputs, self.begin_reply):
            stepper.replace_messages(messages)
            emit([Warning(_COMPACTED, Code.CONTEXT_TRIMMED)])
