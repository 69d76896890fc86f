"""Work that would hold the event loop for too long, done in one thread beside it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from signalbox.core.bounds.offload_thresholds import LARGE

Value = TypeVar("Value")

# One thread: several that compute would each keep the loop waiting for the interpreter lock in turn.
_thread = ThreadPoolExecutor(1, "offload")


async def offloaded(work: Callable[[], Value], *, size: int) -> Value:
    """Do work that goes over so many bytes: at once where they are few, else in the thread, one after another.

    Work that has begun is done to its end, also where the caller leaves.
    """
    if size < LARGE:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_thread, work)
