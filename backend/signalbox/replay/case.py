"""A run to be executed on either loop: its plan, and its name in reports."""

from dataclasses import dataclass

from signalbox.chat.context import ConversationContext, RunFlags
from signalbox.chat.plan import RunPlan
from signalbox.core.events import LoopName


@dataclass(frozen=True, slots=True)
class Case:
    """A plan that can run on either loop; `is_simulated` if the simulator answers."""

    name: str
    plan: RunPlan
    is_simulated: bool = False

    def context(self, run_id: str, loop: LoopName) -> ConversationContext:
        """Return the state of a new run."""
        return self.plan.context(run_id, RunFlags(loop=loop, simulated=self.is_simulated))

    @property
    def model(self) -> str:
        """The model id of the plan."""
        return self.plan.model
