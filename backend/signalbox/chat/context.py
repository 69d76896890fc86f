"""What one run knows: the conversation, the parameters, the tools and the limits."""

from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter

from msgspec import Struct, field

from signalbox.chat.budget import Budget
from signalbox.core.catalog import Abilities
from signalbox.core.events import Flag, LoopName
from signalbox.core.messages import Message
from signalbox.core.params import NO_PARAMS, Choice, Params
from signalbox.core.parts import ToolSchema
from signalbox.profiles import UNKNOWN, Profile, profile_for


class Limits(Struct, frozen=True):
    """How far a run may go: model calls, distinct searches, tools side by side, steps that bring nothing new."""

    max_steps: int = 8
    max_searches: int = 6
    tools_at_once: int = 8
    barren_steps: int = 2


class RunFlags(Struct, frozen=True):
    """Which loop drives the run, and why; `simulated` when the upstream is the simulator."""

    loop: LoopName = "v2"
    flag: Flag | None = None
    simulated: bool = False


class Concessions(Struct):
    """What the requests of this run give up because a host refused them otherwise; the history stays as it is.

    `trim` counts how much of the conversation is left out (see `chat/history/context_window.py`), `flat` tells earlier
    calls and results in words, `no_drawings` leaves out the images of earlier answers, `most_tokens` is what the
    account can afford, `room` is a length limit above the caller's.
    """

    trim: int = 0
    flat: bool = False
    no_tools: bool = False
    no_images: bool = False
    no_drawings: bool = False
    most_tokens: int | None = None
    room: int | None = None


_name_of = attrgetter("name")


async def _at_once() -> None:
    """Nothing is kept, so there is nothing to wait for."""


class ConversationContext(Struct):
    """One run's state; `messages` grows by the turns of this run, which begin at `loop_start`.

    `base_params` and `tool_choice` are what the caller asked for, `provider_id` is the model's family. `recorded` waits
    until every emitted event is on disk, and raises StoreError. Without a `budget` a run may cost anything.
    `request_id` is for the log. `cited` are the numbered sources of an answer that this run continues. `profile` and
    `loop_start` are always set here.
    """

    run_id: str
    model: str
    messages: list[Message]
    base_params: Params = NO_PARAMS
    tool_schemas: tuple[ToolSchema, ...] = ()
    tool_choice: Choice | None = None
    finalize_hint: str = ""
    session_id: str | None = None
    limits: Limits = Limits()
    flags: RunFlags = RunFlags()
    abilities: Abilities = Abilities()
    conceded: Concessions = field(default_factory=Concessions)
    recorded: Callable[[], Awaitable[None]] = _at_once
    budget: Budget | None = None
    cited: Mapping[int, tuple[str, str]] = {}
    request_id: str = ""
    profile: Profile = UNKNOWN
    loop_start: int = 0

    def __post_init__(self) -> None:
        """Find the model's facts, and remember where this run's own turns begin."""
        self.profile = profile_for(self.model)
        self.loop_start = len(self.messages)

    @property
    def takes_tools(self) -> bool:
        """Whether tools may be sent: not where the model's hosts take none (quirk C2)."""
        return self.abilities.tools and not self.conceded.no_tools

    @property
    def offered(self) -> tuple[ToolSchema, ...]:
        """The tools that requests offer."""
        return self.tool_schemas if self.takes_tools else ()

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that are offered."""
        return frozenset(map(_name_of, self.offered))

    @property
    def sees_images(self) -> bool:
        """Whether images may be sent."""
        return self.abilities.images is not False and not self.conceded.no_images

    @property
    def provider_id(self) -> str:
        """The family of the model."""
        return self.profile.family
