"""Runs work that would block the event loop for too long in one thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from signalbox.core.bounds.offload_thresholds import LARGE

Value = TypeVar("Value")

# One thread: several computing threads would each make the event loop wait for the GIL.
_thread = ThreadPoolExecutor(1, "offload")


async def offloaded(work: Callable[[], Value], *, size: int) -> Value:
    """Run work over `size` bytes: at once if there are few, else in the thread, one job after another.

    A job that has started runs to its end, even if the caller is cancelled.
    """
    if size < LARGE:
        return work()
    return await asyncio.get_running_loop().run_in_executor(_thread, work)
