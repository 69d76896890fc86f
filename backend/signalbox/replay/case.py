"""One question to be asked again, whole: what its model is told, what it may use, how far it may go."""

from dataclasses import dataclass, field

from signalbox.chat.budget import Budget
from signalbox.chat.context import ConversationContext, Limits, RunFlags
from signalbox.core.catalog import Abilities
from signalbox.core.events import LoopName
from signalbox.core.messages import Message
from signalbox.core.params import NO_PARAMS, Choice, Params
from signalbox.core.parts import ToolSchema


@dataclass(frozen=True, slots=True)
class Case:
    """A question with everything that decides its answer but the loop; `name` is what a report calls it."""

    name: str
    model: str
    messages: tuple[Message, ...]
    params: Params = NO_PARAMS
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: Choice | None = None
    finalize_hint: str = ""
    session_id: str | None = None
    limits: Limits = field(default_factory=Limits)
    abilities: Abilities = field(default_factory=Abilities)
    budget: Budget | None = None
    simulated: bool = False

    def context(self, run_id: str, loop: LoopName) -> ConversationContext:
        """Make a run's own state; nothing of it is shared with another run of the same case."""
        return ConversationContext(
            run_id=run_id,
            model=self.model,
            messages=[*self.messages],
            base_params=self.params,
            tool_schemas=self.tools,
            tool_choice=self.tool_choice,
            finalize_hint=self.finalize_hint,
            session_id=self.session_id,
            limits=self.limits,
            flags=RunFlags(loop=loop, simulated=self.simulated),
            abilities=self.abilities,
            budget=Budget(self.budget.limit, self.budget.prices) if self.budget else None,
        )
