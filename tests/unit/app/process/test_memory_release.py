"""Freed memory is returned to the system: what triggers it, and that it waits for open streams."""

import asyncio
import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable

import pytest
from signalbox.app.process import memory_release
from signalbox.app.process.memory_release import Upkeep, resident, trim, tune

from tests.conftest import ROOT

MB = 1024 * 1024


class _Knot:
    """An object that references itself."""

    def __init__(self) -> None:
        self.itself = self


async def _trims(count: int, is_idle: Callable[[], bool], sizes: list[int]) -> int:
    """Let an upkeep look so many times, with the collector off otherwise; return how often it trimmed the heap.

    The process seems to hold the `sizes` in turn, in MB, and the last of them from then on.
    """
    looks = 0
    trims: list[None] = []

    async def slept(seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks > count:
            raise asyncio.CancelledError

    def held() -> int:
        return MB * (sizes.pop(0) if len(sizes) > 1 else sizes[0])

    gc.collect()
    gc.disable()
    try:
        with pytest.raises(asyncio.CancelledError):
            await Upkeep(is_idle, slept, held, lambda: trims.append(None)).work()
    finally:
        gc.enable()
    return len(trims)


@pytest.mark.anyio
async def test_garbage_is_collected_and_memory_returned_once_no_stream_is_open() -> None:
    """After growth an idle server collects garbage and trims the heap, once."""
    knots: list[weakref.ref[_Knot]] = []

    def idle() -> bool:
        knots.append(weakref.ref(_Knot()))  # garbage from here on, as the collector is off
        return len(knots) > 2

    trims = await _trims(5, idle, [100, 100, 100, 150, 101])
    assert [knot() is None for knot in knots] == [True, True, True, False, False]
    assert trims == 1


@pytest.mark.anyio
async def test_many_collections_of_what_is_new_are_worth_a_full_one(monkeypatch) -> None:
    """Garbage is also collected without growth while no stream is open."""
    counts = iter([(0, 0, 9), (0, 0, 10), (0, 0, 0)])
    # Apps that run in other threads of this process look, too.
    here, counted = threading.get_ident(), gc.get_count

    def look() -> tuple[int, int, int]:
        return next(counts) if threading.get_ident() == here else counted()

    monkeypatch.setattr(memory_release.gc, "get_count", look)
    assert await _trims(3, lambda: True, [100]) == 1


@pytest.mark.anyio
async def test_open_streams_are_not_halted() -> None:
    """While a stream is open nothing is collected or trimmed, whatever the memory use."""
    knots: list[weakref.ref[_Knot]] = []

    def idle() -> bool:
        knots.append(weakref.ref(_Knot()))
        return False

    trims = await _trims(3, idle, [100, 160, 165, 120, 500])
    assert trims == 0
    assert all(knot() is not None for knot in knots)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in /proc what a process holds")
def test_what_was_freed_goes_back_to_the_system() -> None:
    """A large block is returned when it is freed, small ones when the heap is trimmed."""
    if getattr(ctypes.CDLL(None), "malloc_trim", None) is None:
        pytest.skip("another allocator than glibc's")
    # A separate process: servers of other tests allocate in this one at the same time.
    code = f"from {allocate_and_free.__module__} import allocate_and_free; allocate_and_free()"
    path = os.pathsep.join((str(ROOT), str(ROOT / "backend")))
    env = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def allocate_and_free() -> None:
    """Allocate large and small blocks, free them, and check the resident memory."""
    tune()
    trim()
    before = resident()
    blocks = [bytearray(10 * MB) for _ in range(8)]
    assert resident() > before + 70 * MB
    del blocks
    assert resident() < before + 10 * MB
    small = [bytearray(600) for _ in range(100_000)]
    last = bytearray(700)
    del small
    trim()
    assert resident() < before + 20 * MB
    assert last is not None


def test_another_allocator_is_left_alone(monkeypatch) -> None:
    """Without glibc no function of it is called."""
    monkeypatch.setattr(memory_release.sys, "platform", "darwin")
    tune()
    trim()
