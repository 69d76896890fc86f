"""The JSON of requests and responses: only names and types, nothing is converted."""

from typing import Any, Literal, NotRequired, Required, TypedDict


class Question(TypedDict, total=False):
    """The parameters of a question. docs/api.md describes each parameter. `continue_` is the parameter `continue`."""

    model: Required[str]
    messages: list[dict[str, Any]]
    system: str
    tools: list[str]
    tool_choice: str | dict[str, Any]
    parallel_tool_calls: bool
    max_steps: int
    max_searches: int
    max_cost: float
    reasoning: dict[str, Any]
    reasoning_effort: str
    max_tokens: int
    max_completion_tokens: int
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    top_a: float
    frequency_penalty: float
    presence_penalty: float
    repetition_penalty: float
    seed: int
    logprobs: bool
    top_logprobs: int
    logit_bias: dict[str, float]
    response_format: dict[str, Any]
    stop: str | list[str]
    provider: dict[str, Any]
    models: list[str]
    metadata: dict[str, str]
    user: str
    modalities: list[str]
    finalize_hint: str
    conversation_id: str
    parent_id: str | None
    continue_: bool
    column: int
    on_disconnect: Literal["stop", "continue"]
    previews: bool


class ConversationInfo(TypedDict):
    """A conversation. Times are in epoch seconds."""

    id: str
    title: str
    created: float
    updated: float


class ConversationHead(ConversationInfo):
    """A conversation. `leaf_id` is the id of the node that the next question follows."""

    leaf_id: str | None


class ConversationSummary(ConversationInfo):
    """A conversation in a list. `match` is the text around the first search hit."""

    messages: int
    cost: float | None
    paid: float | None
    model: str | None
    is_running: bool
    match: NotRequired[str]


class Node(TypedDict):
    """A message or an answer in a conversation. Only answers have the fields of a run."""

    id: str
    parent_id: str | None
    role: Literal["user", "assistant"]
    created: float
    text: str
    parts: NotRequired[list[dict[str, Any]]]
    system: NotRequired[str]
    results: NotRequired[list[dict[str, Any]]]
    run_id: NotRequired[str]
    status: NotRequired[str]
    code: NotRequired[str | None]
    model: NotRequired[str]
    loop: NotRequired[str]
    cost: NotRequired[float | None]
    cost_estimated: NotRequired[bool]
    steps: NotRequired[int]
    ended: NotRequired[float | None]
    simulated: NotRequired[bool]
    first_token_ms: NotRequired[int | None]
    provider: NotRequired[str | None]
    column: NotRequired[int | None]


class Conversation(ConversationHead):
    """A conversation. `messages` contains the nodes of all branches, the oldest first."""

    messages: list[Node]


class RunSummary(TypedDict):
    """A run in a list. Only a client with the operator token gets `owner`."""

    run_id: str
    status: str
    code: str | None
    model: str
    loop: str
    flag: dict[str, str] | None
    started: float
    ended: float | None
    steps: int
    cost: float | None
    cost_estimated: bool
    settled_at: float | None
    conversation_id: str | None
    parent_id: str | None
    protocol: str
    simulated: bool
    owner: NotRequired[dict[str, Any] | None]


class RunTrace(RunSummary):
    """A run with its attempts (upstream requests), tool calls and warnings. `done` is None while the run is active."""

    request: dict[str, Any]
    attempts: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    warnings: list[dict[str, Any]]
    watchers: int
    events: int
    done: dict[str, Any] | None


class StoppedRun(TypedDict):
    """The response to `stop`. If the run had already ended, `stopped` is False."""

    run_id: str
    stopped: bool
    status: str


class SaveSummary(TypedDict):
    """A saved run in the list of saves."""

    id: str
    title: str
    created: float
    run_id: str
    model: str
    status: str


class Save(SaveSummary):
    """A snapshot of a run. `earlier` contains the earlier runs that the saved run continued."""

    question: dict[str, Any]
    trace: RunTrace
    data: dict[str, Any]
    events: list[dict[str, Any]]
    earlier: list[dict[str, Any]]
