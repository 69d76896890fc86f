"""When a server collects garbage: not while it is imported, and not while it may halt a stream."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

# A full collection halts all streams, for 0.3 s where 2,000 are open. What a stream leaves goes without it, for nothing
# of it holds itself; what a broken one leaves may wait. The last number is how many collections of what is new, of
# 20,000 objects each, come before a full one where a stream is always open: one in 50,000 streams.
_THRESHOLDS = 10_000, 1, 500


@contextmanager
def uncollected() -> Generator[None]:
    """Import a server within: what is there at the end is walked by no collection any more.

    A thousand modules are 200,000 objects: the collector walks them 300 times on the way, which is a fifth of the
    start, and frees only 2,000 objects.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze() -> None:
    """Put away what is there after the start, which lives as long as the process, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
