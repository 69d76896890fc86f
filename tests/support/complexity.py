"""Counting what a piece of Python does, in steps and not in seconds: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(work: Callable[[], object]) -> int:
    """Return how many lines and calls of Python a piece of work takes."""
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
    """Return by how much the steps grow when a size doubles: 2 is linear, 4 quadratic."""
    return steps_of(lambda: work(2 * size)) / steps_of(lambda: work(size))
