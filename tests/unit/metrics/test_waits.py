"""Waits: what a run waited for others, where overlapping waits count once."""

from signalbox.metrics.waits import Waits


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def after(self, seconds: float) -> None:
        self.now += seconds


def test_overlapping_waits_count_once() -> None:
    """An eager tool runs while the model streams; only what neither covers is ours."""
    waits = Waits(clock := Clock())
    clock.after(1)
    waits.begin()
    clock.after(2)
    waits.begin()
    clock.after(3)
    waits.end()
    clock.after(4)
    waits.end()
    clock.after(5)
    assert (waits.total(), waits.rest()) == (15, 6)


def test_a_pause_before_a_retry_is_no_time_of_ours() -> None:
    """It lasts from the failure to the next attempt, also if the run ends meanwhile."""
    waits = Waits(clock := Clock())
    waits.begin_pause()
    clock.after(2)
    waits.end_pause()
    waits.end_pause()
    clock.after(1)
    waits.begin_pause()
    clock.after(7)
    assert (waits.total(), waits.rest()) == (10, 1)
