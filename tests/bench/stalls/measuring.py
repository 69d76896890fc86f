"""One shape at two sizes: seconds, the server's CPU, and the longest wait of `/health/live` meanwhile."""

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

# /health/live must be answered within this many seconds, whatever else the server is sent.
MOST_WAIT = 0.2
# CPU may grow with this power of the size: 1 is linear, 2 quadratic. Less CPU than this is noise.
MOST_POWER, NOISE = 1.4, 0.15


@dataclass(frozen=True, slots=True)
class Reading:
    """One shape at one size: seconds until its answer was read, CPU seconds, the longest wait, and the answer."""

    size: int
    seconds: float
    cpu: float
    wait: float
    answer: str

    @property
    def failed(self) -> bool:
        """Whether the server broke, hung or refused for a reason other than the request."""
        return not self.answer.startswith(("2", "4"))


@dataclass(frozen=True, slots=True)
class Result:
    """One shape at both sizes."""

    shape: str
    small: Reading
    large: Reading

    @property
    def power(self) -> float:
        """The power of the size with which CPU grows; 0 where there is too little to tell."""
        if self.large.cpu < NOISE or self.large.answer[:1] != self.small.answer[:1]:
            return 0.0
        return math.log(self.large.cpu / max(self.small.cpu, NOISE / 8)) / math.log(self.large.size / self.small.size)

    @property
    def wait(self) -> float:
        """The longest wait of `/health/live`."""
        return max(self.small.wait, self.large.wait)

    @property
    def faults(self) -> list[str]:
        """What is wrong with it, in words."""
        faults = [f"answered {one.answer} at {one.size:,} bytes" for one in (self.small, self.large) if one.failed]
        if self.power > MOST_POWER:
            faults.append(f"CPU grows with the power {self.power:.1f} of the size")
        if self.wait > MOST_WAIT:
            faults.append(f"/health/live waited {self.wait * 1000:.0f} ms")
        return faults

    def better_of(self, other: "Result") -> "Result":
        """Return the result with fewer faults, the one with the shorter wait of two alike: the rest is noise."""
        return min(self, other, key=lambda one: (len(one.faults), one.wait))


@dataclass(slots=True)
class ProbedServer:
    """A server, and the process that asks for its `/health/live`."""

    server: Child
    probe: Child

    def measure(self, shape: Shape, small: int, large: int) -> Result:
        """Drive a shape at both sizes."""
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
        time.sleep(SETTLE)  # what is written behind the answer counts
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
