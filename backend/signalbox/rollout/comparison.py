"""Compares one metric of both loops, among all runs or those of one model family."""

from bisect import bisect_left, insort
from collections import deque
from math import ceil, inf

from msgspec import structs

from signalbox.core.events import LoopName
from signalbox.rollout.bounds import lower_bound, upper_bound
from signalbox.rollout.evidence import Block, RateTest, Starts
from signalbox.rollout.figures import SECONDS
from signalbox.rollout.outcomes import Metric
from signalbox.rollout.watch import Expected

# A run is slow or expensive if it exceeds this quantile of legacy's latest runs.
QUANTILE = 0.75
# With many runs, even tiny differences are significant. These are tolerated: a factor, or milliseconds or USD.
_TOLERANCES: dict[Metric, tuple[float, float]] = {"first_token": (1.05, 20.0), "cost": (1.05, 0.0)}
_LATEST_RUNS = 200
_LEAST_RUNS = 20
_EXPECTED_FAILURES = 0.02
# By how much the rate of V2 may exceed legacy's for a promotion, and the error of each of the two bounds.
MARGIN, SLOW_MARGIN = 0.10, 0.20
_BOUND_ERROR = 0.05
# How many times the runs of the stage are tried, to estimate how many are missing: up to 50 times, in steps of 5 %.
_TIMES = [1.05**step for step in range(81)]


class Limit:
    """Decides whether a value is high: above a quantile of legacy's latest values, for V2 with a tolerance."""

    __slots__ = ("_added", "_factor", "_latest", "_sorted", "is_set", "legacy", "v2")

    def __init__(self, tolerance: tuple[float, float] = (1.0, 0.0)) -> None:
        self._factor, self._added = tolerance
        self._latest: deque[float] = deque()
        self._sorted: list[float] = []
        self.is_set, self.legacy, self.v2 = False, inf, inf

    def add(self, value: float) -> None:
        """Add a value of legacy; the limit stays until `renew`."""
        self._latest.append(value)
        insort(self._sorted, value)
        if len(self._latest) > _LATEST_RUNS:
            del self._sorted[bisect_left(self._sorted, self._latest.popleft())]

    def renew(self) -> None:
        """Set the limit to the quantile of the latest values, if there are enough."""
        if len(self._sorted) >= _LEAST_RUNS:
            self.is_set, self.legacy = True, self._sorted[int(QUANTILE * len(self._sorted))]
            self.v2 = max(self.legacy * self._factor, self.legacy + self._added)


class Comparison:
    """One metric of both loops: blocks of runs, their evidence, and counts since the start of the stage."""

    __slots__ = ("_block", "_closed", "_least_legacy", "_least_v2", "_limit", "metric", "test")

    def __init__(self, metric: Metric, percent: int, stage_seconds: float) -> None:
        self.metric: Metric = metric
        self._limit = Limit(_TOLERANCES[metric]) if metric in _TOLERANCES else None
        expected = _EXPECTED_FAILURES if self._limit is None else 1 - QUANTILE
        windows = {name: Starts(seconds, max(1.0, stage_seconds / seconds)) for name, seconds in SECONDS.items()}
        self.test = RateTest(expected, {**windows, "stage": Starts(0, 0)})
        self._closed, self._block = Block(), Block()
        # A block has about as many runs of each loop as the percentage gives it.
        share = min(99, max(1, percent))
        self._least_legacy = max(1, round((100 - share) / share))
        self._least_v2 = max(1, round(share / (100 - share)))

    def add(self, loop: LoopName, value: float | bool | None, at: float) -> bool:
        """Add a run; return whether it was bad. Unknown values do not count."""
        if self._limit is None:
            is_bad = bool(value)
        elif value is None or not self._limit.is_set:
            if value is not None and loop == "legacy":
                self._limit.add(value)
                self._limit.renew()
            return False
        # A limit must not change within a block, or it would depend on its runs.
        elif loop == "v2":
            is_bad = value > self._limit.v2
        else:
            is_bad = value > self._limit.legacy
            self._limit.add(value)
        block = self._block
        if loop == "v2":
            block.v2 += 1
            block.v2_bad += is_bad
        else:
            block.legacy += 1
            block.legacy_bad += is_bad
        if block.v2 >= self._least_v2 and block.legacy >= self._least_legacy:
            self._close(block, at)
        return is_bad

    def _close(self, block: Block, at: float) -> None:
        """Weigh a complete block, and begin the next one."""
        self.test.add(block, at)
        self._closed, self._block = self.total, Block()
        if self._limit is not None:
            self._limit.renew()

    @property
    def total(self) -> Block:
        """All runs of the stage."""
        closed, block = self._closed, self._block
        return Block(
            closed.v2 + block.v2,
            closed.v2_bad + block.v2_bad,
            closed.legacy + block.legacy,
            closed.legacy_bad + block.legacy_bad,
        )

    @property
    def margin(self) -> float:
        """By how much the rate of V2 may exceed legacy's for a promotion."""
        return MARGIN if self._limit is None else SLOW_MARGIN

    def excess(self, times: float = 1.0) -> float:
        """Return by how much the rate of V2 exceeds legacy's at most, with 90 % confidence.

        `times` is for a stage with so many times the runs, and the same rates.
        """
        v2, v2_bad, legacy, legacy_bad = (round(count * times) for count in structs.astuple(self.total))
        return upper_bound(v2_bad, v2, _BOUND_ERROR) - lower_bound(legacy_bad, legacy, _BOUND_ERROR)

    def further_runs(self) -> int | None:
        """Return about how many V2 runs are missing to exclude harm with the same rates; None if too many."""
        enough = next((times for times in _TIMES if self.excess(times) <= self.margin), None)
        return None if enough is None else ceil(self.total.v2 * (enough - 1))

    def expected(self) -> Expected:
        """Return how many V2 runs may be bad later: at most those of this stage, and half of the margin."""
        total = self.total
        rate = upper_bound(total.v2_bad, total.v2, _BOUND_ERROR) + self.margin / 2
        return Expected(rate, None if self._limit is None else self._limit.v2)
