"""The input and the state of one run: conversation, parameters, tools and limits."""

from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter

from msgspec import Struct, field

from signalbox.chat.budget import Budget
from signalbox.chat.observer import IGNORE, NO_HEADERS, RunObserver
from signalbox.core.catalog import Abilities
from signalbox.core.events import Flag, LoopName
from signalbox.core.messages import Message
from signalbox.core.params import NO_PARAMS, Choice, Params, StreamedArguments
from signalbox.core.parts import ToolSchema
from signalbox.core.ports import Destination
from signalbox.core.tools import Owner
from signalbox.core.workspace import Workspace
from signalbox.profiles import UNKNOWN, Profile, profile_for


class Limits(Struct, frozen=True):
    """Limits of one run: model calls, distinct searches, concurrent tools, consecutive unproductive steps."""

    max_steps: int = 8
    max_searches: int = 6
    tools_at_once: int = 8
    max_unproductive_steps: int = 2


class RunFlags(Struct, frozen=True):
    """Which loop drives the run, and which feature flag chose it; `simulated` if the upstream is the simulator."""

    loop: LoopName = "v2"
    flag: Flag | None = None
    simulated: bool = False


class Degradation(Struct):
    """What the further requests of a run give up because a provider rejected one; the history does not change.

    `truncation` is a level of `chat/history/context_window.py`, from 0 to MAX_LEVEL. `flatten_calls` sends earlier
    calls and results as text. `no_generated_images` leaves out the images of earlier answers. `affordable_tokens`
    limits an answer to what the account can pay. `raised_limit` replaces the caller's length limit by a higher one.
    """

    truncation: int = 0
    flatten_calls: bool = False
    no_tools: bool = False
    no_images: bool = False
    no_generated_images: bool = False
    affordable_tokens: int | None = None
    raised_limit: int | None = None


_name_of = attrgetter("name")


async def _no_journal() -> None:
    """Return at once: this run is not stored."""


class ConversationContext(Struct):
    """The context of one run. `messages` grows by the turns of this run; its tool loop begins at `loop_start`.

    `base_params` and `tool_choice` are what the caller asked for; `unsupported_params` are the fields of `Params` that
    the upstream's API does not have. `provider_id` is the model's family. `flush` waits until every emitted event is on
    disk, and raises StoreError. Without a `budget` a run may cost anything.
    `request_id` is for the log, `owner` and `workspace` are for the tools. `cited` are the numbered sources of an
    answer that this run continues. `client_tools` are the names of those tools whose calls are handed to the client;
    `streamed_arguments` are the calls whose arguments are emitted while the model writes them. `open_loop` is how many
    of the given messages, the last ones, belong to the tool loop that this run continues. `destination` is the upstream
    that the requests go to; its fields are empty in a run of a program. `observer` observes the run's
    attempts and tool calls. `trace_headers` are the client's traceparent and tracestate; `trace_id` is that of the
    run's trace. Without tracing, both are empty. `profile` and `loop_start` are always set here.
    """

    run_id: str
    model: str
    messages: list[Message]
    base_params: Params = NO_PARAMS
    unsupported_params: frozenset[str] = frozenset()
    tool_schemas: tuple[ToolSchema, ...] = ()
    tool_choice: Choice | None = None
    finalize_hint: str = ""
    session_id: str | None = None
    limits: Limits = Limits()
    flags: RunFlags = RunFlags()
    abilities: Abilities = Abilities()
    degradation: Degradation = field(default_factory=Degradation)
    flush: Callable[[], Awaitable[None]] = _no_journal
    budget: Budget | None = None
    cited: Mapping[int, tuple[str, str]] = {}
    request_id: str = ""
    owner: Owner = Owner()
    workspace: Workspace | None = None
    client_tools: frozenset[str] = frozenset()
    streamed_arguments: StreamedArguments = "none"
    emits_logprobs: bool = False
    open_loop: int = 0
    destination: Destination = Destination()
    profile: Profile = UNKNOWN
    loop_start: int = 0
    observer: RunObserver = IGNORE
    trace_headers: Mapping[str, str] = NO_HEADERS
    trace_id: str = ""

    def __post_init__(self) -> None:
        """Set the model's profile and the index at which the turns of the open tool loop begin."""
        self.profile = profile_for(self.model)
        self.loop_start = len(self.messages) - self.open_loop

    def use_model(self, model: str) -> None:
        """Send further requests to another model; what providers of the earlier one rejected is not known of it."""
        if model != self.model:
            self.model, self.profile, self.degradation = model, profile_for(model), Degradation()

    def use_destination(self, destination: Destination) -> None:
        """Send further requests to another upstream; what an earlier one rejected is not known of it.

        The profile is that of the model's id there, if its family is known by that id.
        """
        self.destination, self.unsupported_params = destination, destination.unsupported_params
        self.degradation = Degradation()
        known = profile_for(destination.model)
        self.profile = known if known is not UNKNOWN else profile_for(destination.requested)

    @property
    def takes_tools(self) -> bool:
        """Whether requests may offer tools: not if the model's providers accept none (quirk C2)."""
        return self.abilities.tools and not self.degradation.no_tools

    @property
    def offered(self) -> tuple[ToolSchema, ...]:
        """The tools that requests offer."""
        return self.tool_schemas if self.takes_tools else ()

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that are offered."""
        return frozenset(map(_name_of, self.offered))

    @property
    def keeps_turns(self) -> bool:
        """Whether the turns of this run are stored: a later request may continue it."""
        return self.session_id is not None or bool(self.client_tools)

    @property
    def sees_images(self) -> bool:
        """Whether images may be sent."""
        return self.abilities.images is not False and not self.degradation.no_images

    @property
    def provider_id(self) -> str:
        """The model's family."""
        return self.profile.family
