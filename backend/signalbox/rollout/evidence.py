"""Evidence that a rate is higher on V2 than on legacy, valid at every look: an e-process.

Runs are compared in blocks, as in Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests
that allow for optional stopping" (2024). Each block multiplies the evidence by the likelihood of its runs if V2 is
worse, divided by their likelihood if both loops have the same rate. If V2 is not worse, the expected factor is at most
1, so by Ville's inequality the evidence ever exceeds 1/α with a probability of at most α, however often it is read.
"""

from msgspec import Struct

# Of the runs that legacy would answer, the share that V2 fails, if V2 is worse. The evidence is the mean over these.
_HARMS = (0.06, 0.2, 0.5)
# Legacy's expected rate counts as this many runs before any run has been seen.
_PRIOR_RUNS = 40.0
# How many runs legacy's rate is estimated from; older ones fade.
_REMEMBERED_RUNS = 2000.0
_LOWEST_RATE, _HIGHEST_RATE = 0.002, 0.9
# Far above each threshold; keeps products finite.
_MOST = 1e15


class Block(Struct):
    """Runs of both loops, and how many of them were bad."""

    v2: int = 0
    v2_bad: int = 0
    legacy: int = 0
    legacy_bad: int = 0


class Starts:
    """Evidence since several starts, as a weighted mean, so that a late regression is not diluted by earlier runs.

    A new start is made when `seconds` have passed since the last one. The weight of start k is n/((n+k)(n+k+1)), where
    n is the number of `planned` starts: the weights sum to 1. With 0 planned starts, there is only the first.
    """

    __slots__ = ("_count", "_last", "_planned", "_products", "_seconds", "_unused", "value")

    def __init__(self, seconds: float, planned: float) -> None:
        self._seconds, self._planned = seconds, planned
        self._products = [0.0] * len(_HARMS)
        self._unused, self._count = 1.0, 0
        self._last: float | None = None
        self.value = 1.0
        """The evidence; 1 before the first block."""

    def multiply(self, factors: list[float], at: float) -> None:
        """Make a start if it is time, then multiply the evidence since each start by the factors of a block."""
        if self._unused and (self._last is None or at - self._last >= self._seconds):
            started = self._unused / (self._planned + self._count + 1)
            self._unused -= started
            self._count += 1
            self._last = at
            self._products = [product + started for product in self._products]
        products = self._products
        for place, factor in enumerate(factors):
            product = products[place] * factor
            products[place] = min(_MOST, product)
        self.value = self._unused + sum(products) / len(_HARMS)


class RateTest:
    """The evidence that a rate is higher on V2, since the start of the stage and in its windows."""

    __slots__ = ("_bad", "_runs", "value", "windows")

    def __init__(self, expected: float, windows: dict[str, Starts]) -> None:
        self._runs = _PRIOR_RUNS
        self._bad = expected * _PRIOR_RUNS
        self.windows = windows
        self.value = 1.0
        """The evidence over all windows: their mean."""

    def add(self, block: Block, at: float) -> None:
        """Add a block; the alternatives that it is tested against depend on earlier blocks only."""
        rate = min(_HIGHEST_RATE, max(_LOWEST_RATE, self._bad / self._runs))
        factors = [_factor(block, rate + (1 - rate) * harm, rate) for harm in _HARMS]
        value = 0.0
        for window in self.windows.values():
            window.multiply(factors, at)
            value += window.value
        kept = max(0.0, 1 - block.legacy / _REMEMBERED_RUNS)
        self._runs = self._runs * kept + block.legacy
        self._bad = self._bad * kept + block.legacy_bad
        self.value = value / len(self.windows)


def _factor(block: Block, v2: float, legacy: float) -> float:
    """Return the likelihood of a block with these two rates, divided by that with their mean for both loops."""
    both = (block.v2 * v2 + block.legacy * legacy) / (block.v2 + block.legacy)
    bad, good = 1 / both, 1 / (1 - both)
    return (
        (v2 * bad) ** block.v2_bad
        * ((1 - v2) * good) ** (block.v2 - block.v2_bad)
        * (legacy * bad) ** block.legacy_bad
        * ((1 - legacy) * good) ** (block.legacy - block.legacy_bad)
    )
