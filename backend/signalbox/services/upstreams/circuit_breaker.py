"""CircuitBreaker: whether an upstream is expected to answer, from the outcomes of its last requests."""

from collections.abc import Callable
from time import time
from typing import Literal

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError

FAILURES = 5
SECONDS = 30.0
State = Literal["closed", "open", "half_open"]

# Failures of the upstream itself. Any other error is an answer: the caller's request, key or rate is the cause.
_OWN_FAILURES = frozenset(
    {
        Code.UPSTREAM_UNREACHABLE,
        Code.UPSTREAM_TIMEOUT,
        Code.UPSTREAM_STALLED,
        Code.UPSTREAM_OVERLOADED,
        Code.UPSTREAM_ERROR,
        Code.UPSTREAM_PROTOCOL,
        Code.STREAM_CUT,
    }
)


class CircuitBreaker:
    """The circuit breaker of one upstream.

    It opens after FAILURES consecutive failures. After SECONDS it is half open: one request probes the upstream. An
    answer closes it, a failure opens it again. A probe without an outcome, as in a run that was stopped, is repeated
    after SECONDS. `checked` is when a request last opened or closed it, or confirmed that it is closed.
    """

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._opened: float | None = None
        self._probed: float | None = None
        self.consecutive_failures = 0
        self.last_error: Code | None = None
        self.since: float | None = None
        self.checked: float | None = None

    @property
    def state(self) -> State:
        """Whether requests are sent (closed), skipped (open), or one is tried (half_open)."""
        if self._opened is None:
            return "closed"
        return "half_open" if self._clock() - self._opened >= SECONDS else "open"

    def admits(self) -> bool:
        """Return whether a request should be sent; in the half-open state, to the one caller that probes."""
        match self.state:
            case "closed":
                return True
            case "open":
                return False
            case "half_open":
                now = self._clock()
                if self._probed is not None and now - self._probed < SECONDS:
                    return False
                self._probed = now
                return True

    def record(self, error: UpstreamError | None) -> None:
        """Record the outcome of a request."""
        if error is None or error.code not in _OWN_FAILURES:
            self._close()
            return
        self.consecutive_failures += 1
        self.last_error = error.code
        if self.state != "open" and self.consecutive_failures >= FAILURES:
            now = self._clock()
            self.since = now if self._opened is None else self.since
            self._opened, self._probed, self.checked = now, None, now

    def _close(self) -> None:
        self.checked = self._clock()
        if self._opened is not None:
            self.since = self.checked
        self.consecutive_failures, self._opened, self._probed = 0, None, None
