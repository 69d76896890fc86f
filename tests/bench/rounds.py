"""Rounds of loads: in each round, the reference work and then each target, directly one after the other."""

import json
import os
import sys
import time
from collections.abc import Sequence

from tests.bench.figures import Sample
from tests.bench.loads import PAGES, V1_TARGETS, Load, TargetName
from tests.bench.rig import Rig

# Seconds until the last flush is on disk, so that the figures include it.
SETTLE = 0.2
_PIECES = 7
_SENTENCE = {"type": "content", "content": " and then some", "numbers": list(range(12)), "none": None}


def reference_work_seconds(cores: frozenset[int] = frozenset()) -> float:
    """Return the CPU seconds of a fixed Python computation on the server's core: the minimum of several executions."""
    before = os.sched_getaffinity(0) if cores else set[int]()
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        return min(_reference_work() for _ in range(_PIECES))
    finally:
        if cores:
            os.sched_setaffinity(0, before)


def _reference_work() -> float:
    began = time.process_time()
    found: dict[str, int] = {}
    for number in range(1_500):
        text = json.dumps(_SENTENCE | {"id": number})
        for word in text.encode().split(b","):
            key = word.strip().decode()
            found[key] = found.get(key, 0) + len(word)
    return time.process_time() - began


def run_rounds(rig: Rig, plan: Sequence[Load], rounds: int) -> list[Sample]:
    """Warm up, then run each load once per round; odd rounds reverse the order of the targets."""
    _run_targets(rig, [load for load in plan if not load.ramp_ms], number=-1, share=4)
    samples: list[Sample] = []
    for number in range(rounds):
        print_status(f"{', '.join(load.row for load in plan)}: round {number + 1} of {rounds}")
        samples += _run_targets(rig, plan, number)
    return samples


def _run_targets(rig: Rig, plan: Sequence[Load], number: int, share: int = 1) -> list[Sample]:
    return [
        _sample(rig, load, target, number, spent=spent, share=share)
        for load in plan
        for spent in [reference_work_seconds(rig.cores.measured)]
        for target in load.targets[:: -1 if number % 2 else 1]
    ]


def _sample(rig: Rig, load: Load, target: TargetName, number: int, *, spent: float, share: int) -> Sample:
    child = rig.target(target)
    before = child.cpu()
    outcome = rig.run_load(load, target, share)
    time.sleep(SETTLE if target in ("completions", *PAGES, *V1_TARGETS) else 0)
    return Sample(load, target, number, child.cpu() - before, spent, outcome)


def print_status(sentence: str) -> None:
    """Print a status line to standard error."""
    print(f"bench: {sentence}", file=sys.stderr, flush=True)
