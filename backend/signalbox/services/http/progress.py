"""Ends an answer of which only keep-alives arrive: they reset the idle timeout, so it never passes."""

from time import monotonic

from signalbox.services.http.errors import NoProgress

# Seconds. Models that think long may show nothing for minutes, and an answer that is ended too early is paid for.
PROGRESS_TIMEOUT = 900.0


class ProgressLimit:
    """Measures how long an answer has made no progress.

    `quiet_since` is the time of the first keep-alive after the last progress. A read that is progress only resets it;
    the clock is read for keep-alives alone. Silence without keep-alives is the idle timeout's.
    """

    __slots__ = ("_limit", "quiet_since")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.quiet_since: float | None = None

    def check(self) -> None:
        """Note a read without progress; raises NoProgress if there has been none for the limit."""
        now = monotonic()
        if self.quiet_since is None:
            self.quiet_since = now
        elif now - self.quiet_since >= self._limit:
            raise NoProgress(f"Only keep-alives for {self._limit:g} s")
