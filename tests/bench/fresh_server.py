"""Rows that need a fresh server: starts and idle memory, memory per open stream, and churn."""

import subprocess
import time
from statistics import median

from tests.bench.figures import PER_WORK, Figure, Sample
from tests.bench.loads import CHAT, Load, churn, crowd
from tests.bench.outcome import read_outcome
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE, print_status, reference_work_seconds

# Seconds until a new server has loaded its catalogue and is idle.
_IDLE = 0.5


def starts(rig: Rig, number: int) -> list[Figure]:
    """Start a server `number + 1` times with the same data folder; the first start also creates the database."""
    ready: list[float] = []
    memory: list[float] = []
    costs: list[float] = []
    rig.upstream()
    for place in range(number + 1):
        print_status(f"start {place + 1} of {number + 1}")
        spent, began = reference_work_seconds(rig.cores.measured), time.monotonic()
        child = rig.server("started")
        ready.append(time.monotonic() - began)
        costs.append(child.cpu() / spent)
        time.sleep(_IDLE)
        memory.append(child.memory() / 1024)
        rig.end(child)
    return [
        Figure("start", "ready", tuple(ready[1:]), "s"),
        Figure("start", "ready, with a new folder", tuple(ready[:1]), "s"),
        Figure("start", "idle memory", tuple(memory), "MiB", alike="memory"),
        Figure("start", PER_WORK, tuple(costs[1:]), "×", alike="cpu"),
    ]


def memory(rig: Rig, *, quick: bool) -> list[Figure]:
    """Open 1,000 streams and return the additional memory per stream; no figure if a stream fails."""
    load = crowd(quick=quick)
    print_status(f"memory: {load.streams} streams")
    child = rig.server("crowded")
    _warm_up(rig, child)
    idle = child.memory()
    with rig.start_client(child, load, load.question("server"), load.streams, CHAT) as client:
        time.sleep(load.ramp_ms / 1000 + _IDLE)
        open_at_once = _memory_samples(child, client, until=time.monotonic() + 2.0)
        outcome = read_outcome(client.communicate()[0], load.stamps)
    rig.end(child)
    if outcome.failed:
        print_status(f"memory: {outcome.failed} of {load.streams} streams failed, so this row has no figure.")
        return []
    each = (median(open_at_once) - idle) / load.streams
    return [Figure("memory", "per open stream", (each,), "KiB", alike="memory")]


def _warm_up(rig: Rig, child: Child) -> None:
    """Send 20 questions, so that lazy imports and caches are loaded, and wait until the server is idle."""
    few = Load("memory", "fast-20", 20, 20, 4)
    rig.run_client(child, few, few.question("server"), few.streams, CHAT)
    time.sleep(_IDLE)


def _memory_samples(child: Child, client: "subprocess.Popen[str]", until: float) -> list[float]:
    """Return the memory at several times while the client has its streams open, in KiB."""
    seen = [child.memory()]
    while client.poll() is None and time.monotonic() < until:
        time.sleep(_IDLE)
        seen.append(child.memory())
    return seen


def churn_samples(rig: Rig, *, quick: bool) -> list[Sample]:
    """Keep 2,000 streams open while 250 end and 250 begin per second."""
    load = churn(quick=quick)
    print_status("churn: 2,000 streams open, 250 new a second")
    child = rig.server("churned")
    _warm_up(rig, child)
    before = child.cpu()
    outcome = rig.run_client(child, load, load.question("server"), load.streams, CHAT)
    time.sleep(SETTLE)
    sample = Sample(load, "server", 0, child.cpu() - before, 1.0, outcome)
    rig.end(child)
    return [sample]
