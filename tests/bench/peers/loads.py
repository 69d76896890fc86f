"""The loads of `just bench` with time limits, and the client that runs one load on one target."""

import subprocess
import time
from dataclasses import dataclass, replace

import orjson

from tests.bench.loads import Load, crowd, loads
from tests.bench.outcome import Outcome, read_outcome
from tests.bench.peers.targets import Target
from tests.bench.processes import Child, child_setup, environment
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE

_ALL = {load.row: load for load in (*loads(quick=False), crowd(quick=False))}
# Loads of every round.
ROUNDS = (_ALL["burst"], _ALL["paced"], _ALL["one"], replace(_ALL["tools"], streams=20))
# Loads that run once, at the end, because they take long and vary little.
ONCE = (replace(_ALL["eager"], streams=3), _ALL["memory"], replace(_ALL["args"], streams=1))
STEPS = ("tools", "eager")
# Time limits in seconds. LiteLLM's paced load takes half a minute on a slow machine.
_LIMITS = {"args": 60, "memory": 40}
_LIMIT = 120


@dataclass(frozen=True, slots=True)
class Sample:
    """A load on a target: CPU seconds of all streams, idle memory in MiB, and KiB per open stream."""

    load: str
    target: str
    round: int
    events: int
    cpu: float
    outcome: Outcome
    idle: float
    kib: float | None = None

    @property
    def per_100k(self) -> float:
        """The CPU seconds for 100,000 events."""
        return self.cpu / self.events * 100_000 if self.events else 0.0


def run_load(rig: Rig, load: Load, target: Target, child: Child, number: int, *, share: int = 1) -> Sample:
    """Run a load, or 1/share of it, on a target."""
    streams = max(1, load.streams // share)
    idle, before = child.memory(), child.cpu()
    client = _client(rig, load, target, child, streams)
    with client:
        try:
            peak = _peak(child, client) if load.row == "memory" else None
            words, _ = client.communicate(timeout=limit(load.row) + 30)
        finally:
            client.kill()
    if not words:
        raise RuntimeError(child.failure_message())
    time.sleep(SETTLE)
    outcome = read_outcome(words, load.stamps if target.has_loop or not load.has_tools else 0)
    return Sample(
        load=load.row,
        target=target.name,
        round=number,
        events=load.events * streams,
        cpu=child.cpu() - before,
        outcome=outcome,
        idle=idle / 1024,
        kib=None if peak is None else (peak - idle) / load.streams,
    )


def limit(row: str) -> int:
    """Return the seconds that a load may take."""
    return _LIMITS.get(row, _LIMIT)


def _client(rig: Rig, load: Load, target: Target, child: Child, streams: int) -> "subprocess.Popen[str]":
    question = rig.folder / "question.json"
    question.write_bytes(orjson.dumps(target.body(load.script, load.has_tools)))
    numbers = (min(load.connections, streams), streams, load.ramp_ms)
    return subprocess.Popen(
        [*rig.builds.load, str(child.port), target.path, str(question), *map(str, numbers), *target.headers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(LOADGEN_LIMIT_S=str(limit(load.row))),
        preexec_fn=child_setup(rig.cores.others),  # noqa: PLW1509  (no threads are here)
    )


def _peak(child: Child, client: "subprocess.Popen[str]") -> float:
    """Return the highest memory until the client ends; a slow target has all streams open late."""
    seen = [0.0]
    while client.poll() is None:
        time.sleep(0.5)
        seen.append(child.memory())
    return max(seen)
