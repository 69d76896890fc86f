"""Gives memory back to the system: large blocks at once, garbage and free heap while no stream is open.

glibc never returns most of what it once had. A block of 10 MB raises its threshold for separate mappings, so that the
next such blocks come from the heap, where one small object behind them keeps them resident; and each thread has a
separate heap. Other allocators (musl, macOS) are left as they are: `mallopt` and `malloc_trim` do nothing there.
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
# So many collections of what is new since the last full one make the next one worth its time.
_WORTH_IT = 10
# Growth since the last tidying that makes another one worth its time.
_MOST_GROWTH = 8 * 1024 * 1024

# malloc.h. A threshold that is set does not rise any more.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_OWN_MAPPING = 512 * 1024
_ARENAS = 2


def tune() -> None:
    """Have glibc give large blocks their own mappings, and all threads share two heaps."""
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING)
        mallopt(_M_ARENA_MAX, _ARENAS)


def trim() -> None:
    """Return what the heap holds and does not use to the system."""
    if (malloc_trim := _of_glibc("malloc_trim")) is not None:
        malloc_trim(ctypes.c_size_t(0))


def resident() -> int:
    """Return how many bytes of memory this process holds; 0 where the system does not say."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _of_glibc(name: str) -> "Callable[..., int] | None":
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), name, None)


@dataclass(slots=True)
class Upkeep:
    """Tidies up now and then; `level` is what the process held after the last time.

    `is_idle` returns true while no stream is open, so that a short pause delays no client.
    """

    is_idle: Callable[[], bool]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    resident: Callable[[], int] = resident
    trim: Callable[[], None] = trim
    level: int = field(init=False)

    def __post_init__(self) -> None:
        """Start from what the process holds now."""
        self.level = self.resident()

    async def work(self) -> None:
        """Tidy up, for ever, whenever that is worth its time."""
        while True:
            await self.sleep(_CHECK_SECONDS)
            grown = self.resident() - self.level
            # While streams are open nothing is returned either: trimming 300 MB holds the heap's lock for 100 ms and
            # more, and what the loop allocates meanwhile waits for it.
            if self.is_idle() and (grown > _MOST_GROWTH or gc.get_count()[2] >= _WORTH_IT):
                gc.collect()
                await asyncio.to_thread(self.trim)
                self.level = self.resident()
