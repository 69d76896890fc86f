"""How much large bodies, frames and answers may hold at once while they come in, over all requests of this process."""

from collections.abc import Generator
from contextlib import contextmanager

# Up to here a body or a frame is not counted: nearly none is larger.
FREE = 1024 * 1024
MOST = 128 * 1024 * 1024


class InFlight:
    """Counts the bytes beyond `FREE` of everything large that has not come in as a whole yet."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.held = 0

    @contextmanager
    def share(self) -> "Generator[Share]":
        """Open the account of one body or answer; it holds nothing any more behind the block."""
        share = Share(self)
        try:
            yield share
        finally:
            share.hold(0)


class Share:
    """What one body or answer holds of it."""

    def __init__(self, all_of_it: InFlight) -> None:
        self._all = all_of_it
        self._held = 0

    def hold(self, size: int) -> bool:
        """Have so many bytes counted in place of those before; false, and nothing changes, where that is too much."""
        more = max(0, size - FREE) - self._held
        if more > 0 and self._all.held + more > self._all.most:
            return False
        self._held += more
        self._all.held += more
        return True


IN_FLIGHT = InFlight()
