"""Returns memory to the system: large blocks immediately, garbage and free heap while no stream is open.

By default glibc keeps most freed memory. Freeing a block of 10 MB raises its threshold for separate mappings, so the
next such blocks come from the heap, where one small object above keeps them resident. Each thread also has a separate
heap. Other allocators (musl, macOS) are not changed.
See docs/decisions/0056-freed-memory.md.
"""

import asyncio
import ctypes
import gc
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_CHECK_SECONDS = 5.0
# Collections of the middle generation after which a full one is worth its time.
_WORTH_IT = 10
# Growth in bytes after which another collection is worth its time.
_MOST_GROWTH = 8 * 1024 * 1024

# From malloc.h. A threshold that is set stays constant.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_OWN_MAPPING = 512 * 1024
_ARENAS = 2


def tune() -> None:
    """Make glibc use separate mappings for large blocks, and two heaps for all threads."""
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING)
        mallopt(_M_ARENA_MAX, _ARENAS)


def trim() -> None:
    """Return free heap memory to the system."""
    if (malloc_trim := _of_glibc("malloc_trim")) is not None:
        malloc_trim(ctypes.c_size_t(0))


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _of_glibc(name: str) -> "Callable[..., int] | None":
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), name, None)


@dataclass(slots=True)
class Upkeep:
    """Collects garbage and trims the heap periodically. `level` is the resident memory after the last time.

    `is_idle` returns true while no stream is open, so that a pause delays no client.
    """

    is_idle: Callable[[], bool]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    resident: Callable[[], int] = resident
    trim: Callable[[], None] = trim
    level: int = field(init=False)

    def __post_init__(self) -> None:
        """Start from the current resident memory."""
        self.level = self.resident()

    async def work(self) -> None:
        """Collect and trim whenever it is worth its time, without end."""
        while True:
            await self.sleep(_CHECK_SECONDS)
            grown = self.resident() - self.level
            # No trimming while streams are open either: for 300 MB it holds the heap's lock for 100 ms and more, and
            # allocations of the event loop wait for the lock.
            if self.is_idle() and (grown > _MOST_GROWTH or gc.get_count()[2] >= _WORTH_IT):
                gc.collect()
                await asyncio.to_thread(self.trim)
                self.level = self.resident()
