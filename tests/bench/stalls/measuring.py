"""Measures a shape at two sizes: seconds, CPU seconds, and the longest response time of `/health/live`."""

import math
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import IO, cast

from tests.bench.processes import Child, start
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE
from tests.bench.stalls.probe import PAUSE
from tests.bench.stalls.shapes import Shape, Target

# The longest allowed response time of /health/live, in seconds.
MOST_WAIT = 0.2
# The largest allowed exponent of CPU time over size: 1 is linear, 2 quadratic. NOISE: CPU seconds below this are noise.
MOST_POWER, NOISE = 1.4, 0.15


@dataclass(frozen=True, slots=True)
class Reading:
    """A shape at one size: seconds until the response was read, CPU seconds, longest wait, and outcome."""

    size: int
    seconds: float
    cpu: float
    wait: float
    answer: str

    @property
    def failed(self) -> bool:
        """Whether the server responded with 5xx or not at all."""
        return not self.answer.startswith(("2", "4"))


@dataclass(frozen=True, slots=True)
class Result:
    """A shape at both sizes."""

    shape: str
    small: Reading
    large: Reading

    @property
    def power(self) -> float:
        """The exponent with which CPU time grows with the size; 0 if it cannot be measured."""
        if self.large.cpu < NOISE or self.large.answer[:1] != self.small.answer[:1]:
            return 0.0
        return math.log(self.large.cpu / max(self.small.cpu, NOISE / 8)) / math.log(self.large.size / self.small.size)

    @property
    def wait(self) -> float:
        """The longest response time of `/health/live`, in seconds."""
        return max(self.small.wait, self.large.wait)

    @property
    def faults(self) -> list[str]:
        """The limits that the shape exceeds, as phrases."""
        faults = [f"answered {one.answer} at {one.size:,} bytes" for one in (self.small, self.large) if one.failed]
        if self.power > MOST_POWER:
            faults.append(f"CPU time grows with exponent {self.power:.1f}")
        if self.wait > MOST_WAIT:
            faults.append(f"/health/live took {self.wait * 1000:.0f} ms")
        return faults

    def better_of(self, other: "Result") -> "Result":
        """Return the result with fewer faults, or the one with the shorter wait if both have as many."""
        return min(self, other, key=lambda one: (len(one.faults), one.wait))


@dataclass(slots=True)
class ProbedServer:
    """A server, and the process that requests its `/health/live`."""

    server: Child
    probe: Child

    def measure(self, shape: Shape, small: int, large: int) -> Result:
        """Run a shape at both sizes."""
        return Result(shape.name, self._drive(shape, small), self._drive(shape, large))

    def _drive(self, shape: Shape, size: int) -> Reading:
        target = Target(self.server.port)
        if shape.prepare is not None:
            shape.prepare(target, size)
            time.sleep(SETTLE)
        self._longest_wait()
        before, began = self.server.cpu(), time.monotonic()
        try:
            answer = shape.drive(target, size)
        except (OSError, HTTPException) as error:
            answer = type(error).__name__
        seconds = time.monotonic() - began
        time.sleep(SETTLE)  # include the flush after the response
        return Reading(size, seconds, self.server.cpu() - before, self._longest_wait(), answer)

    def _longest_wait(self) -> float:
        pipe = cast("IO[str]", self.probe.process.stdin)
        pipe.write("\n")
        pipe.flush()
        return float(cast("IO[str]", self.probe.process.stdout).readline())


@contextmanager
def probed_server(rig: Rig) -> Generator[ProbedServer, None, None]:
    """Start a server and its probe; both end with the block."""
    server = rig.server("stalls", upstream=rig.python_upstream())
    command = (sys.executable, "-m", "tests.bench.stalls.probe", str(server.port))
    probe = start("probe", command, rig.folder, rig.cores.others, reports_cpu=True)
    rig.children.append(probe)
    time.sleep(20 * PAUSE)
    try:
        yield ProbedServer(server, probe)
    finally:
        rig.end(probe)
        rig.end(server)
