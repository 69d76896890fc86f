"""`just bench-peers`: LiteLLM, the Vercel AI SDK, pydantic-ai and TensorZero compared with Signalbox."""

import argparse
import platform
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson

from tests.bench.loads import Load
from tests.bench.peers import install
from tests.bench.peers.loads import ONCE, ROUNDS, STEPS, Sample, run_load
from tests.bench.peers.report import rows, text
from tests.bench.peers.targets import PEERS, Target, relay, signalbox
from tests.bench.processes import Child
from tests.bench.rig import Rig, open_rig
from tests.bench.rounds import print_status

NUMBER = 3
# Seconds: a round must be able to end before the first, and no load starts after the second.
ROUNDS_END, END = 330.0, 570.0
# Errors of a target that did not start or has ended.
TARGET_FAILED = (RuntimeError, OSError)


@dataclass(slots=True)
class Comparison:
    """The running targets and their samples."""

    rig: Rig
    targets: list[Target]
    began: float = field(default_factory=time.monotonic)
    children: dict[str, Child] = field(default_factory=dict[str, Child])
    samples: list[Sample] = field(default_factory=list[Sample])

    def measure(self, only: set[str], number: int) -> None:
        """Start and warm up all targets, then run the rounds and the loads that run once."""
        every = [load for load in (*ROUNDS, *ONCE) if load.row in only] or [*ROUNDS, *ONCE]
        for target in list(self.targets):
            self._start_target(target)
        longest = 0.0
        for place in range(number):
            began = time.monotonic()
            if began - self.began + longest > ROUNDS_END:
                print_status(f"{place} rounds are complete; there is no time for another.")
                break
            self._once([load for load in every if load in ROUNDS], place)
            longest = max(longest, time.monotonic() - began)
        self._once([load for load in every if load in ONCE], 0)

    def _start_target(self, target: Target) -> None:
        """Start a target and warm it up, or leave it out."""
        began = time.monotonic()
        try:
            self.children[target.name] = target.start(self.rig)
            print_status(f"{target.name} listens after {time.monotonic() - began:.1f} s.")
            self._warm_up(target)
        except TARGET_FAILED as problem:
            self._leave_out(target, problem)

    def _warm_up(self, target: Target) -> None:
        """Send first questions, so that a target has loaded and compiled its code."""
        for load in ROUNDS:
            if load.row == "burst" or (load.row == "tools" and target.has_loop):
                run_load(self.rig, load, target, self.children[target.name], -1, share=target.share)

    def _once(self, plan: list[Load], number: int) -> None:
        """Run each load on all targets, one after the other; odd rounds reverse the order."""
        for load in plan:
            print_status(f"{load.row}: round {number + 1}")
            for target in self.targets[:: -1 if number % 2 else 1]:  # a copy: one may be left out
                if load.row in STEPS and not target.has_loop:
                    continue
                if time.monotonic() - self.began > END:
                    print_status(f"{load.row} of {target.name} is left out: the time is over.")
                    continue
                self._put(load, target, number)

    def _put(self, load: Load, target: Target, number: int) -> None:
        share = target.share if load.row == "burst" else 1
        try:
            sample = run_load(self.rig, load, target, self.children[target.name], number, share=share)
        except TARGET_FAILED as problem:
            self._leave_out(target, problem)
            return
        self.samples.append(sample)
        if sample.outcome.failed and target.name != self.rig.relay_name:
            # Its remaining work would disturb the next targets.
            self.rig.end(self.children[target.name])
            if load is not ONCE[-1]:
                self._start_target(target)

    def _leave_out(self, target: Target, problem: Exception) -> None:
        """Leave out a target that did not start or has ended."""
        print_status(f"{target.name} is left out. {problem}")
        self.targets.remove(target)


def main() -> int:
    """Install, measure and print; return 2 if the C programs are missing."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: stopped"))  # the processes and their folder go with it
    only = {name for names in arguments.only for name in names.split(",")}
    began = time.monotonic()
    with open_rig() as rig:
        if rig.builds.kind != "C":
            print_status(f"the peers need the upstream and the client in C: {rig.builds.why}.")
            return 2
        targets, versions = _targets(rig, {name for name in PEERS if name in only} or set(PEERS))
        comparison = Comparison(rig, targets)
        comparison.measure(only, arguments.rounds)
    table = rows(comparison.samples, versions)
    print(text(table), flush=True)
    seconds = round(time.monotonic() - began, 1)
    if arguments.json:
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "seconds": seconds,
            "rows": [asdict(row) for row in table],
            "samples": [asdict(sample) for sample in comparison.samples],
        }
        arguments.json.write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2))
    print_status(f"{seconds:.0f} s")
    return 0


def _targets(rig: Rig, names: set[str]) -> tuple[list[Target], dict[str, str]]:
    """Return the relay, Signalbox and each peer that can be installed, and the peers' versions."""
    targets, versions = [relay(rig.relay_name), signalbox()], dict[str, str]()
    for name in (name for name in PEERS if name in names):
        try:
            target = PEERS[name](install.ensure_installed(name))
        except install.NotInstalled as problem:
            print_status(f"{name} is left out. {problem}")
            continue
        targets.append(target)
        versions[target.name] = install.version(name)
    return targets, versions


def _arguments() -> argparse.Namespace:
    names = ", ".join((*PEERS, *(load.row for load in (*ROUNDS, *ONCE))))
    parser = argparse.ArgumentParser(prog="just bench-peers", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAMES", help=f"some of {names}, with commas")
    parser.add_argument("--rounds", type=int, default=NUMBER, metavar="N", help=f"how often; {NUMBER} by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and samples to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, KeyboardInterrupt) as error:
        sys.exit(f"bench: {error or 'stopped'}")
