"""When a server looks for garbage: not while it is imported, and seldom among what has lived for long."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

# A look at everything halts all streams, for 0.2 s where 2,000 are open; what a stream leaves goes without it, for
# nothing of it holds itself. The last number is how many looks at what is new, of 20,000 objects each, come before it.
_THRESHOLDS = 2_000, 10, 50


@contextmanager
def uncollected() -> Generator[None]:
    """Import a server within: what is there at the end is walked by no collection any more.

    A thousand modules are 200,000 objects: the collector walks them 300 times on the way, which is a fifth of the
    start, and finds 2,000 objects that nobody needs, in all.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def settle() -> None:
    """Put away what is there after the start, which lives as long as the process, and look for garbage less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
