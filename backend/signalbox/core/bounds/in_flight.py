"""Limits the memory of large bodies, frames and answers that are being received, over all requests of a process."""

from collections.abc import Generator
from contextlib import contextmanager

# Bytes of each body or frame that are not counted; almost all bodies and frames are smaller.
UNCOUNTED = 1024 * 1024
MAX_BYTES = 128 * 1024 * 1024


class InFlight:
    """Counts the bytes of all bodies and answers that are being received, without the first `UNCOUNTED` of each."""

    def __init__(self, most: int = MAX_BYTES) -> None:
        self.most = most
        self.held = 0

    @contextmanager
    def share(self) -> "Generator[Share]":
        """Yield the share of one body or answer; it is released after the block."""
        share = Share(self)
        try:
            yield share
        finally:
            share.hold(0)


class Share:
    """The bytes that one body or answer counts for."""

    def __init__(self, total: InFlight) -> None:
        self._total = total
        self._held = 0

    def hold(self, size: int) -> bool:
        """Set the size in bytes; return False, without a change, if that exceeds the limit."""
        more = max(0, size - UNCOUNTED) - self._held
        if more > 0 and self._total.held + more > self._total.most:
            return False
        self._held += more
        self._total.held += more
        return True


IN_FLIGHT = InFlight()
