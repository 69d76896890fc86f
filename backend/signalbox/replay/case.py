"""One run to be replayed: its plan, and the name that a report gives it."""

from dataclasses import dataclass

from signalbox.chat.context import ConversationContext, RunFlags
from signalbox.chat.plan import RunPlan
from signalbox.core.events import LoopName


@dataclass(frozen=True, slots=True)
class Case:
    """A plan to be run on either loop. `is_simulated`: the simulator answers."""

    name: str
    plan: RunPlan
    is_simulated: bool = False

    def context(self, run_id: str, loop: LoopName) -> ConversationContext:
        """Make the state of one run."""
        return self.plan.context(run_id, RunFlags(loop=loop, simulated=self.is_simulated))

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.plan.model
