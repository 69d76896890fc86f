"""Waits: how long a run waited for others, where overlapping waits count once."""

from collections.abc import Callable


class Waits:
    """The waits of one run, from now on. Requests and tools overlap: an eager tool starts while the model streams."""

    __slots__ = ("_began", "_clock", "_is_paused", "_open", "_since", "_waited")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._since = 0.0
        self._open = 0
        self._waited = 0.0
        self._is_paused = False

    def begin(self) -> None:
        """A request or a tool begins."""
        if not self._open:
            self._since = self._clock()
        self._open += 1

    def end(self) -> None:
        """A request or a tool has ended."""
        self._open -= 1
        if not self._open:
            self._waited += self._clock() - self._since

    def begin_pause(self) -> None:
        """The run waits before a retry."""
        if not self._is_paused:
            self._is_paused = True
            self.begin()

    def end_pause(self) -> None:
        """The retry begins."""
        if self._is_paused:
            self._is_paused = False
            self.end()

    def total(self) -> float:
        """Return the seconds since the start."""
        return self._clock() - self._began

    def rest(self) -> float:
        """Return the seconds in which nothing was awaited; a wait that is still open ends now."""
        now = self._clock()
        waited = self._waited + (now - self._since if self._open else 0.0)
        return max(0.0, now - self._began - waited)
