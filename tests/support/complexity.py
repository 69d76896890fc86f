"""Counts executed lines and calls of Python code, which are the same on every machine, unlike seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(work: Callable[[], object]) -> int:
    """Return how many lines and calls a function executes."""
    steps = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


def growth_of(work: Callable[[int], object], size: int) -> float:
    """Return the factor by which the steps grow when the size doubles: 2 is linear, 4 quadratic."""
    return steps_of(lambda: work(2 * size)) / steps_of(lambda: work(size))
