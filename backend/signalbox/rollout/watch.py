"""Watches V2 while few or no legacy runs remain to compare it with: its rates must not exceed those of before.

This cannot tell a regression of V2 from an outage of an upstream. An alarm therefore rolls nothing back: the plan steps
back to a stage with enough legacy runs, and there the guard compares the loops.
"""

from typing import TypeAlias

from msgspec import Struct

from signalbox.rollout.conversations import Conversations
from signalbox.rollout.outcomes import Metric, Outcome

# On average, at least this many runs pass between false alarms.
THRESHOLD = 1_000.0
# Of the runs that were good before, the share that V2 fails, if it has become worse.
_HARMS = (0.2, 0.5)
_HIGHEST_RATE = 0.9


class Expected(Struct, frozen=True):
    """How many V2 runs may be bad for a metric, from 0 to 1. With a limit, values above it are bad."""

    rate: float
    limit: float | None = None


Baseline: TypeAlias = dict[Metric, Expected]
"""What the guard found in the stage before, for each metric that was measured."""


class Excess(Struct, frozen=True):
    """The metric with the strongest evidence, and the latest V2 runs, since that evidence last vanished."""

    metric: Metric
    runs: int
    rate: float
    expected: float


class _Rate:
    """The evidence that one rate is exceeded: products of likelihood ratios that start again whenever they are below 1.

    Such a product reaches a threshold c on average at most once in c runs if the rate is not exceeded, as Shin, Ramdas
    and Rinaldo show in "E-detectors: a nonparametric framework for sequential change detection" (2023).
    """

    __slots__ = ("_bad_factors", "_expected", "_good_factors", "_products", "bad", "runs", "value")

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        rate = min(_HIGHEST_RATE, expected.rate)
        harmed = [rate + (1 - rate) * harm for harm in _HARMS]
        self._bad_factors = [one / rate for one in harmed]
        self._good_factors = [(1 - one) / (1 - rate) for one in harmed]
        self._products = [1.0] * len(_HARMS)
        self.runs = self.bad = 0
        self.value = 1.0

    def add(self, value: float | bool | None) -> bool:
        """Add a run; return whether it was bad. Unknown values do not count."""
        if value is None:
            return False
        limit = self._expected.limit
        is_bad = bool(value) if limit is None else value > limit
        if self.value <= 1:
            self.runs = self.bad = 0
        self.runs += 1
        self.bad += is_bad
        factors = self._bad_factors if is_bad else self._good_factors
        self._products = [max(1.0, one) * by for one, by in zip(self._products, factors, strict=True)]
        self.value = sum(self._products) / len(_HARMS)
        return is_bad


class Watch:
    """Compares the runs of V2 with what was found in an earlier stage."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._rates: dict[Metric, _Rate] = {metric: _Rate(expected) for metric, expected in baseline.items()}
        self._conversations = Conversations()
        self.runs = 0

    def add(self, outcome: Outcome) -> None:
        """Add a run; only those of V2 count."""
        if outcome.loop != "v2":
            return
        self.runs += 1
        bad: list[Metric] = []
        for metric in self._conversations.counted_metrics(outcome):
            rate = self._rates.get(metric)
            if rate is not None and rate.add(getattr(outcome, metric)):
                bad.append(metric)
        self._conversations.add(outcome, frozenset(bad))

    @property
    def evidence(self) -> float:
        """The evidence that V2 has become worse: the mean over all metrics."""
        return sum(one.value for one in self._rates.values()) / len(self._rates)

    @property
    def has_alarm(self) -> bool:
        """Whether V2 has become worse than before."""
        return self.evidence >= THRESHOLD

    def excess(self) -> Excess:
        """Return the metric with the strongest evidence."""
        metric, found = max(self._rates.items(), key=lambda pair: pair[1].value)
        return Excess(metric, found.runs, found.bad / max(1, found.runs), self._baseline[metric].rate)
