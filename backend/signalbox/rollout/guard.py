"""The guard of one stage: compares the loops on all metrics, and says whether V2 is worse, as good, or unknown."""

from msgspec import Struct

from signalbox.rollout.comparison import Comparison
from signalbox.rollout.conversations import Conversations
from signalbox.rollout.figures import Figures
from signalbox.rollout.outcomes import METRICS, Metric, Outcome
from signalbox.rollout.watch import Baseline

# The probability that a plan without a regression is rolled back at most; its stages share it equally.
FALSE_ROLLBACKS = 0.01
# With evidence above this, nothing is promoted: it is a sign of harm, though no proof.
SUSPICIOUS = 10.0
# Besides its time and its runs of V2, a stage needs this many runs of legacy.
LEAST_LEGACY_RUNS = 50
# The share of the permitted error that the test over all families has; single families share the rest.
_ALL_FAMILIES = 0.5
_MOST_FAMILIES = 12
_MORE_RUNS = 1.02
_UNKNOWN = -1

Comparisons = dict[Metric, Comparison]


class Finding(Struct, frozen=True, kw_only=True):
    """The metric with the strongest evidence. `family` is None for all runs. Rates are from 0 to 1."""

    metric: Metric
    family: str | None
    evidence: float
    v2_runs: int
    v2_rate: float
    legacy_runs: int
    legacy_rate: float


class Guard:
    """Compares the runs of one stage.

    `seconds` is the planned duration of the stage, `stages` how many stages the plan has.
    """

    def __init__(self, percent: int, seconds: float, stages: int = 1) -> None:
        self._percent, self._seconds = percent, seconds
        self.threshold = stages / FALSE_ROLLBACKS
        self.figures = Figures()
        self._all = self._comparisons()
        self._families: dict[str, Comparisons] = {}
        self._conversations = Conversations()
        self._unproven: list[Metric] = []
        self._unproven_until = 0.0
        self._further_runs: int | None = _UNKNOWN
        self._evidence: float | None = None

    def _comparisons(self) -> Comparisons:
        return {metric: Comparison(metric, self._percent, self._seconds) for metric in METRICS}

    def add(self, outcome: Outcome) -> None:
        """Add a run."""
        self.figures.add(outcome)
        self._evidence = None
        loop, ended = outcome.loop, outcome.ended
        family = self._of_family(outcome.family)
        bad: list[Metric] = []
        for metric in self._conversations.counted_metrics(outcome):
            value = getattr(outcome, metric)
            is_bad = self._all[metric].add(loop, value, ended)
            if family is not None:
                is_bad |= family[metric].add(loop, value, ended)
            if is_bad:
                bad.append(metric)
        self._conversations.add(outcome, frozenset(bad))

    def _of_family(self, family: str) -> Comparisons | None:
        if family not in self._families and len(self._families) < _MOST_FAMILIES:
            self._families[family] = self._comparisons()
        return self._families.get(family)

    # --- the assessment ----------------------------------------------------------------------------------------------

    @property
    def evidence(self) -> float:
        """The evidence that V2 is worse on any metric, over all families or in one: a weighted mean."""
        if self._evidence is None:
            self._evidence = self._weighted_mean()
        return self._evidence

    def _weighted_mean(self) -> float:
        left = 1 - _ALL_FAMILIES
        total = _ALL_FAMILIES * _mean(self._all)
        for place, comparisons in enumerate(self._families.values(), start=1):
            weight = left / (place + 1)  # the weights 1/2, 1/6, 1/12, … sum to 1
            left -= weight
            total += weight * _mean(comparisons)
        return total + left

    @property
    def is_worse(self) -> bool:
        """Whether V2 is worse than legacy."""
        return self.evidence >= self.threshold

    def has_runs(self, least: int) -> bool:
        """Return whether the stage has this many runs of V2, and enough of legacy."""
        stage = self.figures.stage
        return stage["v2"].runs >= least and stage["legacy"].runs >= LEAST_LEGACY_RUNS

    def unproven(self) -> list[Metric]:
        """Return the metrics on which V2 may still be worse than legacy by more than the margin.

        A metric that was never measured, such as the cost of free models, is not among them. The bounds hardly change
        with few runs, so they are computed again only after 2 % more.
        """
        runs = sum(tally.runs for tally in self.figures.stage.values())
        if runs >= self._unproven_until:
            measured = [one for one in self._all.values() if one.total.v2 or one.total.legacy]
            self._unproven = [one.metric for one in measured if one.excess() > one.margin]
            self._unproven_until = runs * _MORE_RUNS
            self._further_runs = _UNKNOWN
        return self._unproven

    def missing_runs(self, least: int) -> tuple[int | None, int]:
        """Return how many V2 and legacy runs are missing for a promotion, if the rates stay the same.

        The first is None if V2 fails so much more often that more runs would not exclude harm.
        """
        stage = self.figures.stage
        v2, legacy = max(0, least - stage["v2"].runs), max(0, LEAST_LEGACY_RUNS - stage["legacy"].runs)
        if v2 or legacy or not self.unproven():
            return v2, legacy
        if self._further_runs == _UNKNOWN:
            further = [self._all[metric].further_runs() for metric in self._unproven]
            self._further_runs = None if None in further else max(runs or 0 for runs in further)
        return self._further_runs, 0

    @property
    def is_suspicious(self) -> bool:
        """Whether there are signs that V2 is worse."""
        return self.evidence >= SUSPICIOUS

    def finding(self) -> Finding:
        """Return the metric with the strongest evidence."""
        scopes: list[tuple[str | None, Comparisons]] = [(None, self._all), *self._families.items()]
        scoped = [(family, one) for family, comparisons in scopes for one in comparisons.values()]
        family, strongest = max(scoped, key=lambda pair: pair[1].test.value)
        total = strongest.total
        return Finding(
            metric=strongest.metric,
            family=family,
            evidence=strongest.test.value,
            v2_runs=total.v2,
            v2_rate=total.v2_bad / total.v2 if total.v2 else 0.0,
            legacy_runs=total.legacy,
            legacy_rate=total.legacy_bad / total.legacy if total.legacy else 0.0,
        )

    def baseline(self) -> Baseline:
        """Return how many V2 runs may be bad later, for each metric that was measured."""
        return {metric: one.expected() for metric, one in self._all.items() if one.total.v2}

    def tests(self) -> dict[str, dict[str, float]]:
        """Return the evidence per metric and window over all families."""
        return {
            metric: {window: round(starts.value, 3) for window, starts in one.test.windows.items()}
            for metric, one in self._all.items()
        }


def _mean(comparisons: Comparisons) -> float:
    total = 0.0
    for one in comparisons.values():
        total += one.test.value
    return total / len(comparisons)
