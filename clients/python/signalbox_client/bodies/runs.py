"""Runs: their filter, lists, traces and statistics."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict


class RunFilter(TypedDict, total=False):
    """Selects runs. A run must match all parameters, and one of the values of each parameter.

    `since` and `until` are ISO times, epoch seconds or datetimes. A datetime without a time zone is local time, and an
    ISO time without a time zone is UTC. `q` is a text in the question or the answer. Only the operator token can select
    another `owner`. An empty `owner` selects runs without an API token.
    """

    code: str | Sequence[str]
    model: str | Sequence[str]
    loop: str | Sequence[str]
    protocol: str | Sequence[str]
    owner: str | Sequence[str]
    tool: str | Sequence[str]
    since: str | float | datetime
    until: str | float | datetime
    q: str


class RunSummary(TypedDict):
    """A run in a list. Only a client with the operator token gets `owner`.

    `fallback_model` is the model of the request's `models` that answered in place of `model`.
    """

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
    fallback_model: NotRequired[str]
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


class StatsPercentiles(TypedDict):
    """Percentiles of a time in milliseconds."""

    p50: int
    p95: int


class StatsBucket(TypedDict):
    """The runs of one loop that started in one bucket of time.

    `start` is in epoch seconds. `statuses` is the number of runs by status. `at_limit` of the `interrupted` ones ended
    at a limit and have not failed. If no run has a time, its percentiles are None. `cost` is the sum of the known costs
    in USD.
    """

    start: int
    loop: str
    runs: int
    statuses: dict[str, int]
    at_limit: int
    first_token_ms: StatsPercentiles | None
    duration_ms: StatsPercentiles | None
    cost: float


class RunStatsList(TypedDict):
    """Statistics of runs. Buckets without runs are left out. `since` and `until` are in epoch seconds."""

    since: float
    until: float
    bucket_seconds: int
    all_owners: bool
    buckets: list[StatsBucket]
