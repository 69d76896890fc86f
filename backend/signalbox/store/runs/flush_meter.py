"""FlushMeter: how long flushes of the journal take, and how far the database is behind the runs."""

from collections.abc import Callable
from time import perf_counter


def _ignore(seconds: float) -> None:
    """Ignore the duration of a flush."""


class FlushMeter:
    """Is told of the first event that waits for a flush, and of flushes; nothing is measured per event.

    `on_flush` receives the seconds that a flush took.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.on_flush: Callable[[float], None] = _ignore
        self._clock = clock
        self._began = 0.0
        self._queued: float | None = None
        self._taken: float | None = None

    def queued(self) -> None:
        """Something waits for the next flush."""
        if self._queued is None:
            self._queued = self._clock()

    def begin(self, *, is_time: bool) -> None:
        """A flush begins; when the timer is up, it takes everything that waits."""
        self._began = self._clock()
        if is_time:
            self._taken, self._queued = self._taken or self._queued, None

    def succeed(self, *, is_empty: bool) -> None:
        """The flush is in the database. What a failed one has taken goes with the next one."""
        self._taken = None
        if not is_empty:
            self.on_flush(self._clock() - self._began)

    @property
    def lag(self) -> float:
        """The age in seconds of the oldest event that is not in the database, 0 if there is none."""
        oldest = self._queued if self._taken is None else self._taken
        return 0.0 if oldest is None else self._clock() - oldest
