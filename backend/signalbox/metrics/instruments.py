"""The metrics: their names, help texts, labels and buckets. docs/metrics.md lists them."""

from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_PREFIX = "signalbox_"
# Seconds. A fast model answers in 0.2 s, a reasoning one in a minute.
_FIRST = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60, 120)
# Seconds per token: 500 to 1 tokens per second.
_TOKEN = (0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1)
_OWN = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_RUN = (0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800)
_TOOL = (0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60)
_FLUSH = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

# How the values of several workers become one.
_Mode: TypeAlias = Literal["livemax", "livesum", "livemostrecent"]
# The upstream that answered, and the model's family.
_MODEL = ("upstream", "family")


class Instruments:
    """One object per metric, in a separate registry: the global one belongs to the host of an embedded app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._create_run_metrics()
        self._create_tool_metrics()
        self._create_server_metrics()
        self._create_gauges()
        self._create_process_metrics()

    def _create_run_metrics(self) -> None:
        self.runs = self._counter(
            "runs",
            "Runs that have ended; code is ok unless the run has an error code.",
            *("loop", "protocol", *_MODEL, "model", "status", "code"),
        )
        self.run_seconds = self._histogram(
            "run_duration_seconds", "Time from the start of a run to its end.", _RUN, "loop", "status"
        )
        self.first_token = self._histogram(
            "time_to_first_token_seconds",
            "Time from the start of a run to the first part of an answer from a model.",
            _FIRST,
            *("loop", *_MODEL),
        )
        self.per_token = self._histogram(
            "time_per_output_token_seconds",
            "Time from the first part of a streamed answer to its end, divided by its output tokens less one.",
            _TOKEN,
            *("loop", *_MODEL),
        )
        self.added = self._histogram(
            "added_time_seconds",
            "Duration of a run, less all time in which a request to an upstream was open, a tool was executed or a "
            "retry was awaited: what Signalbox adds before the first request, between steps and after the last part.",
            _OWN,
            "loop",
        )
        self.attempts = self._counter(
            "attempts", "Requests to upstreams that have ended; code is ok unless they failed.", *_MODEL, "code"
        )
        self.retries = self._counter(
            "retries", "Further attempts after a failed one, by the upstream and the code that failed.", *_MODEL, "code"
        )
        self.fallbacks = self._counter(
            "fallbacks",
            "Fallbacks: kind is upstream (a retry at another one), skipped (a run did not begin at an upstream whose "
            "circuit breaker is open) or model (one of the request's models answered for the requested model).",
            *("kind", "upstream", "code"),
        )
        self.degradations = self._counter(
            "degradations", "Retries whose request gives something up, by the code of the warning.", "code"
        )
        self.tokens = self._counter(
            "tokens", "Tokens that upstreams reported; direction is input or output.", *_MODEL, "model", "direction"
        )
        self.cost = self._counter(
            "cost_usd",
            "Cost in US dollars that upstreams reported or that prices yield; costs that are settled later are added.",
            *(*_MODEL, "model"),
        )
        self.evaluations = self._counter(
            "flag_evaluations", "Choices of the loop, one per run, by OpenFeature's reason.", "loop", "reason"
        )

        self.shadow_runs = self._counter(
            "shadow_runs",
            "Runs that shadow mode has made again on the loop, by the outcome of the comparison.",
            *("loop", "outcome"),
        )
        self.shadow_cost = self._counter(
            "shadow_cost_usd",
            "Cost in US dollars of the runs of shadow mode, which is not in cost_usd; an unknown "
            "cost counts as what the run was allowed to cost.",
            *("loop", "family"),
        )

    def _create_tool_metrics(self) -> None:
        self.tool_calls = self._counter(
            "tool_calls_total",
            "Results of tool calls: ok, reused (an equal search of the run), a code, or handed (to the client).",
            *("tool", "outcome"),
        )
        self.tool_seconds = self._histogram(
            "tool_duration_seconds", "Time in which a tool of the server was executed.", _TOOL, "tool"
        )
        self.searches_saved = self._counter(
            "searches_saved", "Searches that were not sent, because an equal one of the run was reused.", "tool"
        )
        self.clamps = self._counter(
            "clamps", "Limits that took effect: TOOL_CLAMP per search, CREDIT_CLAMP per shortened answer.", "code"
        )

    def _create_server_metrics(self) -> None:
        self.refused = self._counter(
            "refused_requests",
            "Responses with an error status, and variants refused beside others; code is none if the "
            "response has no code, as for malformed HTTP.",
            *("status", "code"),
        )
        self.resumes = self._counter(
            "resumes",
            "Requests for the events of an existing run: streamed, nothing_left, or the code of the error.",
            "result",
        )
        self.overrides = self._counter(
            "flag_override_changes", "Changes of the override of the feature flag, by its new state.", "state"
        )
        self.database_errors = self._counter(
            "database_errors", "Failed transactions: STORE_UNAVAILABLE may pass, INTERNAL does not.", "code"
        )
        self.flush = self._histogram(
            "journal_flush_seconds", "Time in which a flush of the journal was written to the database.", _FLUSH
        )

    def _create_gauges(self) -> None:
        """Create gauges, which disappear with their worker."""
        self.build = self._gauge("build_info", "Always 1, for the label.", "livemax", "version")
        self.live_runs = self._gauge("live_runs", "Active runs.", "livesum")
        self.max_runs = self._gauge("live_runs_limit", "SIGNALBOX_MAX_RUNS, over all workers of a host.", "livesum")
        self.streams = self._gauge("open_streams", "Open streams.", "livesum")
        self.max_streams = self._gauge(
            "open_streams_limit", "SIGNALBOX_MAX_STREAMS, over all workers of a host.", "livesum"
        )
        self.lag = self._gauge(
            "journal_lag_seconds",
            "Age of the oldest event that is not in the database, in the slowest worker.",
            "livemax",
        )
        self.breakers = self._gauge(
            "upstream_available",
            "0 after repeated failures of an upstream, until it answers a request.",
            "livemostrecent",
            "upstream",
        )

    def _create_process_metrics(self) -> None:
        """Create the metrics of each process: a limit of open files, for example, is that of one worker."""
        self.process_cpu = self._counter("process_cpu_seconds", "CPU time of a worker.", "worker")
        self.process_memory = self._gauge(
            "process_resident_memory_bytes", "Resident memory of a worker.", "livemax", "worker"
        )
        self.process_files = self._gauge("process_open_fds", "Open file descriptors of a worker.", "livemax", "worker")
        self.process_files_limit = self._gauge(
            "process_max_fds", "Most open file descriptors of a worker.", "livemax", "worker"
        )
        self.process_start = self._gauge(
            "process_start_time_seconds", "Start of a worker, in epoch seconds.", "livemax", "worker"
        )

    def _counter(self, name: str, words: str, *labels: str) -> Counter:
        return Counter(_PREFIX + name, words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(_PREFIX + name, words, labels, registry=self.registry, buckets=buckets)

    def _gauge(self, name: str, words: str, mode: _Mode, *labels: str) -> Gauge:
        return Gauge(_PREFIX + name, words, labels, registry=self.registry, multiprocess_mode=mode)
