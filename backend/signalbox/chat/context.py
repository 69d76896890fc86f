"""What one run knows: the conversation, the parameters, the tools and the limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from signalbox.core.events import Flag, LoopName
from signalbox.core.messages import JsonValue, Message
from signalbox.core.parts import ToolSchema
from signalbox.profiles import Profile, profile_for


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a run may go: model calls, distinct searches, tools side by side, steps that bring nothing new."""

    max_steps: int = 8
    max_searches: int = 6
    tools_at_once: int = 8
    barren_steps: int = 2


@dataclass(frozen=True, slots=True)
class RunFlags:
    """Which loop drives the run, and why; `simulated` when the upstream is the simulator."""

    loop: LoopName = "v2"
    flag: Flag | None = None
    simulated: bool = False


@dataclass(slots=True)
class ConversationContext:
    """One run's state; `messages` grows by the turns of this run, which begin at `loop_start`.

    `base_params` are forwarded as they are, `provider_id` is the model's family, `tool_choice` is what the caller
    asked for.
    """

    run_id: str
    model: str
    messages: list[Message]
    base_params: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    tool_schemas: tuple[ToolSchema, ...] = ()
    tool_choice: JsonValue = None
    finalize_hint: str = ""
    session_id: str | None = None
    limits: Limits = field(default_factory=Limits)
    flags: RunFlags = field(default_factory=RunFlags)
    profile: Profile = field(init=False)
    loop_start: int = field(init=False)

    def __post_init__(self) -> None:
        """Find the model's facts, and remember where this run's own turns begin."""
        self.profile = profile_for(self.model)
        self.loop_start = len(self.messages)

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that are offered."""
        return frozenset(schema.name for schema in self.tool_schemas)

    @property
    def provider_id(self) -> str:
        """The family of the model."""
        return self.profile.family
