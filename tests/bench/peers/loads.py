"""The loads that every target gets, and how one of them is put on a target with the C load client."""

import json
import os
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.bench.peers.running import Running, pinned, pss


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked how often; `scenario` is the scripted upstream's, `events` what one stream has of text."""

    name: str
    scenario: str
    at_once: int
    streams: int
    events: int
    ramp_ms: int = 0
    limit: int = 60
    tools: bool = False
    steps: bool = False
    """It needs a tool loop, which a gateway has not."""
    once: bool = False
    """It takes long or hardly varies: one round is enough."""
    memory: bool = False


LOADS = (
    Load("burst", "fast-200", 16, 200, 200),
    Load("paced", "paced-50-150", 100, 100, 150, ramp_ms=1000),
    Load("first", "fast-20", 1, 60, 20),
    Load("tools", "tools", 1, 30, 20, tools=True, steps=True),
    Load("eager", "overlap-300-0", 1, 3, 20, tools=True, steps=True, once=True),
    Load("args", "longargs-1000000", 1, 1, 0, tools=True, once=True),
    Load("memory", "paced-2-16", 1000, 1000, 16, ramp_ms=4000, limit=40, once=True, memory=True),
)
# Not counted: imports, caches, first connections. Without tools, and for who has them a run with.
WARMING = (Load("warming", "fast-200", 8, 24, 200), Load("warming", "tools", 1, 3, 20, tools=True))


@dataclass(frozen=True, slots=True)
class Sample:
    """One target under one load once: seconds of CPU, milliseconds, KiB."""

    load: str
    target: str
    failed: int
    cpu_per_100k: float | None
    cpu_ms_per_stream: float
    added_p50: float | None
    added_p99: float | None
    first_p50: float | None
    total_p50: float | None
    idle_kib: float
    kib_per_stream: float | None


def put(load: Load, running: Running, client: Path, folder: Path) -> Sample:
    """Put one load on one target and return what it cost."""
    question = folder / "question.json"
    question.write_text(json.dumps(running.target.question(load.scenario, tools=load.tools)), encoding="utf-8")
    command = [client, running.port, running.target.path, question, load.at_once, load.streams, load.ramp_ms]
    command += running.target.headers
    idle, before = pss(running.pid), running.cpu()
    settings = os.environ | {"LOADGEN_LIMIT_S": str(load.limit)}
    with Watched(running.pid, active=load.memory) as watched, pinned(last=True):
        words = [str(word) for word in command]
        done = subprocess.run(words, env=settings, capture_output=True, text=True, check=False)
    said = json.loads(done.stdout or "{}")
    return _sample(load, running, said, cpu=running.cpu() - before, idle=idle, peak=watched.peak)


def _sample(load: Load, running: Running, said: dict[str, Any], *, cpu: float, idle: float, peak: float) -> Sample:
    # A follow-up's text comes after the tools; gateways end at the calls.
    wanted = load.streams * load.events if running.target.steps or not load.steps else 0
    missing = max(0, wanted - said.get("events", 0))
    failed = said.get("failed", load.streams) + said.get("bad_status", 0) + missing
    seen = load.streams * load.events
    return Sample(
        load=load.name,
        target=running.target.name,
        failed=failed,
        cpu_per_100k=cpu / seen * 100_000 if seen and not failed else None,
        cpu_ms_per_stream=cpu / load.streams * 1000,
        added_p50=_ms(said, "added_us", "p50"),
        added_p99=_ms(said, "added_us", "p99"),
        first_p50=_ms(said, "tte_us", "p50"),
        total_p50=_ms(said, "total_us", "p50"),
        idle_kib=idle,
        kib_per_stream=(peak - idle) / load.at_once if load.memory and not failed else None,
    )


def _ms(said: dict[str, Any], kind: str, percentile: str) -> float | None:
    value = said.get(kind, {}).get(percentile)
    return None if value is None else value / 1000


class Watched:
    """Looks twice a second how much memory a process tree has, while a load is on it."""

    def __init__(self, pid: int, *, active: bool) -> None:
        self.peak = 0.0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch) if active else None

    def __enter__(self) -> Self:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            self.peak = max(self.peak, pss(self._pid))
