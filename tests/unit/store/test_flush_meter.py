"""FlushMeter: the lag behind the runs, and the duration of flushes."""

from signalbox.store.runs.flush_meter import FlushMeter


class Clock:
    """A clock that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_lag_is_the_age_of_the_oldest_event() -> None:
    """Also during a flush, and of what has arrived meanwhile."""
    meter = FlushMeter(clock := Clock())
    assert meter.lag == 0
    meter.queued()
    clock.now += 1
    meter.queued()
    meter.begin(is_time=True)
    clock.now += 1
    meter.queued()
    assert meter.lag == 2
    meter.succeed(is_empty=False)
    clock.now += 0.5
    assert meter.lag == 0.5


def test_a_failed_flush_leaves_its_events() -> None:
    """The lag grows until a flush succeeds."""
    meter = FlushMeter(clock := Clock())
    meter.queued()
    for _ in range(3):
        meter.begin(is_time=True)
        clock.now += 1
        meter.queued()
    assert meter.lag == 3
    meter.begin(is_time=True)
    meter.succeed(is_empty=False)
    assert meter.lag == 0


def test_only_flushes_that_write_are_timed() -> None:
    """One without the timer leaves what waits for the timer."""
    meter, seconds = FlushMeter(clock := Clock()), list[float]()
    meter.on_flush = seconds.append
    meter.queued()
    meter.begin(is_time=False)
    clock.now += 1
    meter.succeed(is_empty=True)
    assert (seconds, meter.lag) == ([], 1)
    meter.begin(is_time=True)
    clock.now += 2
    meter.succeed(is_empty=False)
    assert (seconds, meter.lag) == ([2], 0)
