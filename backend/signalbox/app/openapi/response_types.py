"""The JSON of every response, as types: routes return them, and the OpenAPI document describes them.

A field that is absent rather than null is `NotRequired`. Events and attempts are described by the types that are
encoded.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict, get_args

from msgspec import Meta, Struct, defstruct
from msgspec.inspect import StructType, type_info

from signalbox.core.events import ContractEvent, LoopName, Status
from signalbox.core.tools import Category, Visibility
from signalbox.runs.trace import EpochSeconds, RunSummary, RunTrace, Usd

REF = "#/components/schemas/"
NextPage = Annotated[str | None, Meta(description="The `before` of the next page; null on the last page.")]

# --- errors -------------------------------------------------------------------------------------------------------


class Error(TypedDict):
    """Why a request was rejected. The id of the request is in the header x-request-id."""

    code: Annotated[str, Meta(description="The reason, as listed with the status.")]
    message: Annotated[str, Meta(description="What is wrong and what to do.")]
    field: NotRequired[Annotated[str, Meta(description="The invalid field or header, as a dotted path.")]]


class ErrorResponse(TypedDict):
    """The body of every response with a status of 400 or higher. No run was started."""

    error: Error


# --- events -------------------------------------------------------------------------------------------------------


def _recorded(event: type[Struct]) -> type[Struct]:
    """Return an event's type with its sequence number and its time, as stored runs have them."""
    info = type_info(event)
    assert isinstance(info, StructType)
    fields = [
        ("seq", Annotated[int, Meta(description="Position in the run, from 1.")]),
        ("at", Annotated[int, Meta(description="Epoch milliseconds.")]),
    ]
    recorded = defstruct(f"Recorded{event.__name__}", fields, bases=(event,), tag=info.tag, kw_only=True)
    recorded.__doc__ = event.__doc__
    return recorded


RECORDED_EVENTS = tuple(_recorded(event) for event in get_args(ContractEvent))
RecordedEvent = Annotated[
    Any,
    Meta(extra_json_schema={"oneOf": [{"$ref": f"{REF}{event.__name__}"} for event in RECORDED_EVENTS]}),
]

# --- runs ---------------------------------------------------------------------------------------------------------


class RunList(TypedDict):
    """A page of runs, the newest first."""

    runs: list[RunSummary]
    next: NextPage
    all_owners: Annotated[bool, Meta(description="The list has the runs of all owners, for the operator.")]


class StatsPercentiles(TypedDict):
    """Percentiles of a time in milliseconds."""

    p50: int
    p95: int


class StatsBucket(TypedDict):
    """The runs of one loop that started in one bucket of time."""

    start: Annotated[int, Meta(description="The beginning of the bucket in epoch seconds, a multiple of its length.")]
    loop: str
    runs: int
    statuses: Annotated[dict[str, int], Meta(description="Number of runs by status; active runs are `running`.")]
    at_limit: Annotated[
        int, Meta(description="Number of `interrupted` runs that ended at a limit and have not failed.")
    ]
    first_token_ms: Annotated[StatsPercentiles | None, Meta(description="Time to the model's first part.")]
    duration_ms: Annotated[StatsPercentiles | None, Meta(description="Time from start to end.")]
    cost: Usd


class RunStatsList(TypedDict):
    """Statistics of runs, in order of time and loop. Buckets without runs are left out."""

    since: EpochSeconds
    until: EpochSeconds
    bucket_seconds: int
    all_owners: Annotated[bool, Meta(description="The statistics have the runs of all owners, for the operator.")]
    buckets: list[StatsBucket]


class StoppedRun(TypedDict):
    """The run after a request to stop it."""

    run_id: str
    stopped: Annotated[bool, Meta(description="False if the run was already over.")]
    status: Literal[Status, "running"]


# --- variants -----------------------------------------------------------------------------------------------------


class VariantError(TypedDict):
    """Why a variant was refused."""

    code: str
    message: Annotated[str, Meta(description="What is wrong and what to do.")]
    retryable: Annotated[bool, Meta(description="Whether a retry may help.")]


class StartedVariant(TypedDict):
    """A variant: its run, or the error that refused it."""

    number: Annotated[
        int | None, Meta(description="The place among the runs that answer the question, from 1; null without a run.")
    ]
    model: str
    run_id: NotRequired[str]
    error: NotRequired[VariantError]


class StartedVariants(TypedDict):
    """The runs that answer the question, in the order of the request."""

    conversation_id: str
    parent_id: Annotated[str, Meta(description="The message that the runs answer.")]
    variants: list[StartedVariant]


# --- deletions ----------------------------------------------------------------------------------------------------


class Deleted(TypedDict):
    """The data is deleted, in the database files too."""

    deleted: Literal[True]


# --- saves --------------------------------------------------------------------------------------------------------


class SaveSummary(TypedDict):
    """A save in a list."""

    id: str
    title: str
    created: EpochSeconds
    run_id: str
    model: str
    status: str


class SaveList(TypedDict):
    """A page of saves, the newest first."""

    saves: list[SaveSummary]
    next: NextPage


class EarlierRun(TypedDict):
    """A run that the saved run continues."""

    run_id: str
    trace: RunTrace
    events: list[RecordedEvent]


class SaveContent(SaveSummary):
    """A snapshot of a run without its events."""

    question: Annotated[dict[str, Any], Meta(description="The request, without opaque reasoning.")]
    trace: Annotated[RunTrace, Meta(description="The trace as the version of Signalbox that saved it wrote it.")]
    data: Annotated[dict[str, Any], Meta(description="The client's own data, unchanged.")]
    earlier: Annotated[list[EarlierRun], Meta(description="The runs that this one continues, oldest first.")]


class Save(SaveContent):
    """A snapshot of a run."""

    events: list[RecordedEvent]


# --- lists --------------------------------------------------------------------------------------------------------


class Model(TypedDict):
    """A model of the upstream's catalogue."""

    id: str
    name: str
    context_length: Annotated[float | None, Meta(description="Tokens.")]
    max_output: Annotated[float | None, Meta(description="Tokens.")]
    created: EpochSeconds | None
    pricing: Annotated[
        dict[str, Any] | None, Meta(description="US dollars per token, as decimal text; null if the price is unknown.")
    ]
    supported_parameters: list[str]
    badges: Annotated[list[str], Meta(description="`images`, `json`, `reasoning`, `tools` and further ones.")]
    hidden: Annotated[bool, Meta(description="Requested by name, not offered for selection.")]
    upstreams: NotRequired[
        Annotated[
            list[str],
            Meta(description="The upstreams that serve the model, in the order of fallback, with `upstreams.toml`."),
        ]
    ]


class ModelList(TypedDict):
    """The models of the upstream."""

    models: list[Model]
    fetched: Annotated[
        EpochSeconds, Meta(description="0 if no catalogue was available; then any model id is accepted.")
    ]
    default: Annotated[str | None, Meta(description="SIGNALBOX_DEFAULT_MODEL.")]


class Tool(TypedDict):
    """A tool of this server."""

    name: Annotated[str, Meta(description="The name in requests, runs and events.")]
    title: Annotated[str, Meta(description="A name for people.")]
    summary: Annotated[str, Meta(description="One sentence for people.")]
    description: Annotated[str, Meta(description="What models read.")]
    parameters: Annotated[dict[str, Any], Meta(description="The JSON Schema of the arguments.")]
    category: Category
    visibility: Visibility
    eager: Annotated[bool, Meta(description="It may start while the model still streams.")]
    timeout: Annotated[float, Meta(description="Seconds.")]
    shows_table: Annotated[bool, Meta(description="Its results have a DataTable as artifact.")]
    on_request: Annotated[bool, Meta(description="It is offered only to requests that name it in `tools`.")]
    needs_conversation: Annotated[bool, Meta(description="It works on files, so it needs a `conversation_id`.")]
    available: bool
    unavailable: Annotated[str | None, Meta(description="Why it cannot be used here.")]


class DefaultLimits(TypedDict):
    """The limits of a run whose request sets none."""

    max_steps: Annotated[int, Meta(description="Model calls.")]
    max_searches: Annotated[int, Meta(description="Different searches.")]


class ToolList(TypedDict):
    """All tools of this server, and the default limits of a run."""

    tools: list[Tool]
    limits: DefaultLimits


# --- feature flag, health -------------------------------------------------------------------------------------------


class FeatureFlag(TypedDict):
    """Which loop the next runs use, and why."""

    key: str
    state: Annotated[Literal["off", "on", "percent"] | None, Meta(description="The override; null if none is set.")]
    percent: Annotated[int | None, Meta(description="The share of conversations that use V2, in state percent.")]
    environment: Annotated[bool | None, Meta(description="TOOL_LOOP_V2; null if it is not set.")]
    effective: Annotated[str, Meta(description="A sentence: which loop the next run uses, and why.")]
    sticky: Annotated[Literal["conversation"], Meta(description="What gets the same loop each time.")]


class UpstreamState(TypedDict):
    """An upstream, and whether it answers."""

    name: Annotated[str, Meta(description="The name in upstreams.toml; empty without this file.")]
    dialect: str
    host: Annotated[str, Meta(description="Host and port of its base URL.")]
    state: Annotated[
        Literal["closed", "open", "half_open"],
        Meta(description="The circuit breaker: closed: requests are sent. open: skipped. half_open: one is tried."),
    ]
    consecutive_failures: int
    last_error: Annotated[str | None, Meta(description="The code of the last failure of the upstream itself.")]
    since: Annotated[
        float | None, Meta(description="When the breaker last opened or closed, in epoch seconds; null if never.")
    ]


class UpstreamList(TypedDict):
    """The upstreams of this worker, in the order of upstreams.toml."""

    upstreams: list[UpstreamState]


class Liveness(TypedDict):
    """The process is alive."""

    status: Literal["live"]
    version: str
    pid: int


class ReadinessChecks(TypedDict):
    """What a run needs."""

    data_folder: Annotated[bool, Meta(description="The data folder is writable.")]
    database: Annotated[bool, Meta(description="The database responds.")]
    upstream: Annotated[bool, Meta(description="An upstream is configured; it is not contacted.")]
    accepting: Annotated[bool, Meta(description="The server is not shutting down.")]


class Readiness(TypedDict):
    """Whether runs can start."""

    status: Literal["ready", "not ready"]
    checks: ReadinessChecks
    simulated: Annotated[bool, Meta(description="The upstream is the simulator.")]
    loop: Annotated[
        LoopName | Literal["percent"],
        Meta(description="The loop of the next run; `percent` if it depends on the conversation."),
    ]
