"""What is not one load among others: starts, an idle server's memory, memory per stream, streams that come and go."""

import subprocess
import time
from statistics import median

from tests.bench.figures import PER_WORK, Figure, Sample
from tests.bench.loads import CHAT, Load, churn, crowd
from tests.bench.outcome import read_outcome
from tests.bench.processes import Child
from tests.bench.rounds import SETTLE, say, work
from tests.bench.stand import Stand

# An idle server has read its catalogue by then, or found that there is none.
_IDLE = 0.5


def starts(running: Stand, number: int) -> list[Figure]:
    """Start a server so many times with the same data folder; the time until its database is made is a row's own."""
    ready: list[float] = []
    memory: list[float] = []
    costs: list[float] = []
    running.upstream()
    for place in range(number + 1):
        say(f"start {place + 1} of {number + 1}")
        spent, began = work(running.cores.measured), time.monotonic()
        child = running.server("started")
        ready.append(time.monotonic() - began)
        costs.append(child.cpu() / spent)
        time.sleep(_IDLE)
        memory.append(child.memory() / 1024)
        running.end(child)
    return [
        Figure("start", "ready", tuple(ready[1:]), "s"),
        Figure("start", "ready, with a new folder", tuple(ready[:1]), "s"),
        Figure("start", "idle memory", tuple(memory), "MiB", alike="memory"),
        Figure("start", PER_WORK, tuple(costs[1:]), "×", alike="cpu"),
    ]


def memory(running: Stand, *, quick: bool) -> list[Figure]:
    """Open 1,000 streams at a fresh server and see what each of them weighs while all are open."""
    load = crowd(quick=quick)
    say(f"memory: {load.streams} streams")
    child = running.server("crowded")
    _warm_up(running, child)
    idle = child.memory()
    with running.asking(child, load, load.question("server"), load.streams, CHAT) as client:
        time.sleep(load.ramp_ms / 1000 + _IDLE)
        open_at_once = _watched(child, client, until=time.monotonic() + 2.0)
        outcome = read_outcome(client.communicate()[0], load.stamps)
    running.end(child)
    if outcome.failed:
        say(f"memory: {outcome.failed} of {load.streams} streams failed, so they were not all open: no figure.")
        return []
    each = (median(open_at_once) - idle) / load.streams
    return [Figure("memory", "per open stream", (each,), "KiB", alike="memory")]


def _warm_up(running: Stand, child: Child) -> None:
    """Have what is loaded with the first questions loaded, and wait until all of it is still."""
    few = Load("memory", "fast-20", 20, 20, 4)
    running.put_on(child, few, few.question("server"), few.streams, CHAT)
    time.sleep(_IDLE)


def _watched(child: Child, client: "subprocess.Popen[str]", until: float) -> list[float]:
    """Look a few times while the client still has its streams open."""
    seen = [child.memory()]
    while client.poll() is None and time.monotonic() < until:
        time.sleep(_IDLE)
        seen.append(child.memory())
    return seen


def comings_and_goings(running: Stand, *, quick: bool) -> list[Sample]:
    """Have 2,000 streams open while 250 end and begin in every second."""
    load = churn(quick=quick)
    say("churn: 2,000 streams open, 250 new a second")
    child = running.server("churned")
    _warm_up(running, child)
    before = child.cpu()
    outcome = running.put_on(child, load, load.question("server"), load.streams, CHAT)
    time.sleep(SETTLE)
    sample = Sample(load, "server", 0, child.cpu() - before, 1.0, outcome)
    running.end(child)
    return [sample]
