"""The base of both loops: it takes steps until one of them ends the run. The loops differ in how they read a reply."""

from abc import ABC, abstractmethod

from signalbox.chat.loops.progress import Attempt
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stepper import LoopInputs, Reply, Stepper
from signalbox.core.events import AnyEvent
from signalbox.core.parts import Request
from signalbox.core.ports import Emit


class BaseLoop(ABC):
    """A `Loop` for one run. Afterwards, the `progress` of its inputs holds the attempts and the ending."""

    def __init__(self, inputs: LoopInputs) -> None:
        self._inputs = inputs

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        """Take steps until one of them ends the run; raises UpstreamError, BudgetReached."""
        async with Stepper(self._inputs, emit) as stepper:
            while not stepper.is_over:
                await stepper.act(await stepper.ask(self.begin_reply))

    @abstractmethod
    def begin_reply(self, state: LoopState, request: Request, attempt: Attempt) -> Reply:
        """Prepare to read the reply to an attempt."""
