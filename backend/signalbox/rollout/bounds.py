"""Bounds of a rate that hold at every look: a confidence sequence."""

from math import inf, lgamma, log

_STEPS = 14


def upper_bound(bad: int, runs: int, error: float) -> float:
    """Return what a rate is at most; wrong with a probability of at most `error`, however often it is read."""
    return 1.0 if bad == runs else _edge(bad, runs, error, 1.0)


def lower_bound(bad: int, runs: int, error: float) -> float:
    """Return what a rate is at least; wrong with a probability of at most `error`, however often it is read."""
    return 0.0 if bad == 0 else _edge(bad, runs, error, 0.0)


def _edge(bad: int, runs: int, error: float, outside: float) -> float:
    """Find the edge between the observed rate and `outside` by bisection.

    A rate is rejected if the likelihood of the runs, averaged over all rates, is 1/error times its own.
    """
    mean = lgamma(bad + 1) + lgamma(runs - bad + 1) - lgamma(runs + 2)
    inside = bad / runs if runs else 1 - outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if mean - _log_likelihood(bad, runs, middle) >= -log(error):
            outside = middle
        else:
            inside = middle
    return outside


def _log_likelihood(bad: int, runs: int, rate: float) -> float:
    if rate in (0.0, 1.0):
        return -inf
    return bad * log(rate) + (runs - bad) * log(1 - rate)
