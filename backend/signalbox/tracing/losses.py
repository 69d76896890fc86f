"""Counts the spans that do not reach the collector, and logs when this begins, when it ends, and at the stop."""

from threading import Lock

from signalbox.core.log import Log

QUEUE_FULL = "QueueFull"

_log = Log(__name__)


class Losses:
    """Follows spans from the queue to the collector. Spans end on the event loop, and are exported by a thread.

    At most `capacity` spans wait, so the SDK's queue, which drops spans without a trace, is never full.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._waiting = 0
        self._exporting = 0
        self._lost = 0
        self._has_dropped = False
        self._is_closed = False
        self.cause: str | None = None
        """Why the last request to the collector failed; None if it succeeded."""

    def admit(self) -> bool:
        """Return whether one more span may wait; otherwise it is lost."""
        with self._lock:
            if self._waiting < self._capacity:
                self._waiting += 1
                return True
            self._has_dropped = True
            self._lose(1, self.cause or QUEUE_FULL)
            return False

    def begin(self, count: int) -> None:
        """Count a batch that left the queue."""
        with self._lock:
            self._waiting -= count
            self._exporting = count
            self._has_dropped = False

    def end(self, lost: int, error: str) -> None:
        """Count how many spans of the batch were lost, and why."""
        with self._lock:
            self._exporting = 0
            if lost:
                self._lose(lost, error)
            elif not self._has_dropped:  # else the queue is still too small
                self._recover()

    def close(self) -> None:
        """Log what was lost and not logged yet, with the spans that still wait."""
        with self._lock:
            left = self._waiting + self._exporting
            if left or (self._lost and self.cause):
                _log.warning("traces.lost_at_stop", lost=self._lost + left, error=self.cause or "NoAnswer")
            else:
                self._recover()
            self._is_closed = True

    def _lose(self, count: int, error: str) -> None:
        if not self._lost and not self._is_closed:
            _log.warning("traces.export_failed", lost=count, error=error)
        self._lost += count

    def _recover(self) -> None:
        if self._lost and not self._is_closed:
            _log.info("traces.exported_again", lost=self._lost)
            self._lost = 0
