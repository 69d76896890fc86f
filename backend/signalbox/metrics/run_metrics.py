"""RunMetrics: counts runs, their attempts and their tool calls, at the boundaries of each."""

from collections.abc import Collection, Mapping, Sequence
from time import perf_counter

from msgspec import UNSET

from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.loops.progress import Attempt
from signalbox.chat.observer import NO_HEADERS, RunObserver
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.records import RunRecord
from signalbox.metrics.instruments import Instruments
from signalbox.metrics.waits import Waits
from signalbox.profiles import profile_for
from signalbox.runs.run import Run

OTHER = "other"
_OK = "ok"
_NO_CODE = "none"
# OpenFeature's. A provider may give any text.
_REASONS = frozenset(
    {"DEFAULT", "STATIC", "SPLIT", "TARGETING_MATCH", "DISABLED", "CACHED", "STALE", "UNKNOWN", "ERROR"}
)


class RunMetrics:
    """A RunListener. `models` are the ids that may be label values; all others are `other`.

    `only_upstream` names the upstream if no file configures several.
    """

    def __init__(self, instruments: Instruments, models: Collection[str], only_upstream: str) -> None:
        self._all = instruments
        self._models = frozenset(models)
        self._only_upstream = only_upstream
        self._meters: dict[str, RunMeter] = {}

    def started(self, run: Run) -> RunObserver:
        """Count the evaluation of the flag, and observe the run."""
        if (flag := run.context.flags.flag) is not None:
            reason = flag.reason if flag.reason in _REASONS else OTHER
            self._all.evaluations.labels(run.context.flags.loop, reason).inc()
        meter = self._meters[run.id] = RunMeter(self, self._all, run)
        return meter

    def over(self, run: Run) -> None:
        """Count the run. One that another worker has ended is counted there."""
        meter = self._meters.pop(run.id, None)
        if meter is not None and run.done is not None and not run.journal.is_lost:
            meter.over(run)

    def recovered(self, record: RunRecord) -> None:
        """Count a run that a crash interrupted; its durations are unknown."""
        self._all.runs.labels(
            record.loop,
            record.protocol,
            record.upstream or self._only_upstream,
            profile_for(record.answered or record.model).family,
            self.model_label(record.answered or record.model),
            record.status,
            record.code or _OK,
        ).inc()

    def settled(self, attempt: Attempt) -> None:
        """Count the usage of an attempt whose bill was fetched after its run."""
        self.count_usage(attempt, profile_for(attempt.answering_model).family, attempt.model)

    def count_usage(self, attempt: Attempt, family: str, requested: str) -> None:
        """Count the tokens and the cost that an attempt has reported; `requested` is the model of the run."""
        usage = attempt.usage
        if usage is None:
            return
        # An upstream may have another id for the model of the run. A tool may call any model.
        is_other = attempt.fallback_model or attempt.tool_call
        model = self.model_label(attempt.answering_model, *(() if is_other else (requested,)))
        upstream = self.upstream_label(attempt.upstream)
        self._all.tokens.labels(upstream, family, model, "input").inc(usage.input)
        self._all.tokens.labels(upstream, family, model, "output").inc(usage.output)
        if usage.cost:
            self._all.cost.labels(upstream, family, model).inc(max(0.0, usage.cost))

    def model_label(self, *models: str) -> str:
        """Return the first of these models that may be a label value, else `other`."""
        return next((model for model in models if model in self._models), OTHER)

    def upstream_label(self, name: object) -> str:
        """Return the name of an upstream."""
        return str(name) if name is not UNSET else self._only_upstream


class RunMeter(RunObserver):
    """Observes one run."""

    def __init__(self, metrics: RunMetrics, instruments: Instruments, run: Run) -> None:
        self._metrics = metrics
        self._all = instruments
        self._context = run.context
        self._waits = Waits(perf_counter)
        self._tools: dict[str, float] = {}
        self._failed = ("", "")  # upstream and family of the loop's last attempt; a fallback has changed the context

    def attempt_began(self, attempt: Attempt) -> Mapping[str, str]:  # noqa: D102
        if not attempt.tool_call:
            self._waits.end_pause()
        self._waits.begin()
        return NO_HEADERS

    def attempt_ended(self, attempt: Attempt) -> None:
        """Count a request, its tokens and its cost."""
        self._waits.end()
        upstream, family = self._labels_of(attempt)
        if not attempt.tool_call:
            self._failed = (upstream, family)
        self._all.attempts.labels(upstream, family, attempt.code or _OK).inc()
        self._metrics.count_usage(attempt, family, self._context.model)
        if attempt.fallback_model and attempt.code is None:
            self._all.fallbacks.labels("model", upstream, _NO_CODE).inc()
        tokens = attempt.usage.output if attempt.usage is not None else 0
        if attempt.streamed and tokens > 1 and attempt.first_part is not None and attempt.ended is not None:
            seconds = max(0.0, attempt.ended - attempt.first_part) / (tokens - 1)
            self._all.per_token.labels(self._context.flags.loop, upstream, family).observe(seconds)

    def upstreams_skipped(self, names: Sequence[str]) -> None:
        """Count the upstreams at which the run would have begun."""
        for name in names:
            self._all.fallbacks.labels("skipped", self._metrics.upstream_label(name), _NO_CODE).inc()

    def retry_planned(self, error: UpstreamError, wait: float, warnings: Sequence[AnyEvent]) -> None:
        """Count a retry, and what its request gives up."""
        del wait  # the pause ends when the next attempt begins
        self._waits.begin_pause()
        (upstream, family), code = self._failed, str(error.code)
        self._all.retries.labels(upstream, family, code).inc()
        for given in [str(one.code) for one in warnings if isinstance(one, Warning) and one.code]:
            if given == Code.UPSTREAM_FALLBACK:
                self._all.fallbacks.labels("upstream", upstream, code).inc()
            else:
                self._all.degradations.labels(given).inc()
            if given == Code.CREDIT_CLAMP:
                self._all.clamps.labels(given).inc()

    def tool_began(self, call: RunningCall) -> Mapping[str, str]:  # noqa: D102
        self._waits.begin()
        self._tools[call.id] = perf_counter()
        return NO_HEADERS

    def tool_ended(self, call: RunningCall) -> None:
        """Count the result of a call."""
        tool, outcome = call.name if call.spec is not None else "unknown", call.outcome
        if (began := self._tools.pop(call.id, None)) is not None:
            self._waits.end()
            self._all.tool_seconds.labels(tool).observe(perf_counter() - began)
        if outcome is None:
            return
        if call.cached:
            self._all.searches_saved.labels(tool).inc()
        if outcome.code is Code.TOOL_CLAMP:
            self._all.clamps.labels(str(Code.TOOL_CLAMP)).inc()
        result = str(outcome.code) if outcome.code is not None else "reused" if call.cached else _OK
        self._all.tool_calls.labels(tool, result).inc()

    def over(self, run: Run) -> None:
        """Count the end of the run."""
        done, progress, context = run.done, run.progress, run.context
        assert done is not None
        loop, upstream = context.flags.loop, self._metrics.upstream_label(progress.upstream)
        family = self._family_of(progress.fallback_model)
        code = str(done.code) if done.code is not UNSET else _OK
        model = self._metrics.model_label(progress.fallback_model or context.model)
        self._all.runs.labels(loop, run.options.protocol, upstream, family, model, done.status, code).inc()
        self._all.run_seconds.labels(loop, done.status).observe(self._waits.total())
        self._all.added.labels(loop).observe(self._waits.rest())
        first = progress.ms_since_start(progress.first_part)
        if first is not None:
            self._all.first_token.labels(loop, upstream, family).observe(first / 1000)
        if done.handed is not UNSET:
            self._all.tool_calls.labels("client", "handed").inc(len(done.handed))

    def _labels_of(self, attempt: Attempt) -> tuple[str, str]:
        """Return upstream and family of the model that answered. A tool may call a model of another family."""
        other = attempt.answering_model if attempt.tool_call else attempt.fallback_model or None
        return self._metrics.upstream_label(attempt.upstream), self._family_of(other)

    def _family_of(self, other: str | None) -> str:
        """Return the family of a model that answered in place of the run's model, else of the run's model."""
        return profile_for(other).family if other else self._context.provider_id
