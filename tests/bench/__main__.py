"""`just bench`: what the server costs, beside a bare byte relay in the same run, beside its goals and its past."""

import argparse
import os
import platform
import signal
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson

from tests.bench import apart, baseline
from tests.bench.figures import Figure, Sample, of_loads
from tests.bench.growth import Growth
from tests.bench.loads import Load, loads
from tests.bench.report import as_json, figures_table, loads_table
from tests.bench.rounds import measured, say
from tests.bench.stand import Stand, stand

LOADS = ("burst", "paced", "one", "tools", "args", "eager")
APART = ("start", "memory", "churn")
GROWTH = (
    "grow-arguments",
    "grow-answer",
    "grow-calls",
    "grow-history",
    "grow-conversation",
    "grow-conversations",
    "grow-journal",
)
# No ratio of these is stable enough to be compared with another machine's.
NEVER_COMPARED = ("churn",)
# A row that another one's measurement brings along.
BESIDE = {"grow-list": "grow-conversations"}
_NAMES = (*LOADS, *APART, *GROWTH, *BESIDE, "grow")


@dataclass(slots=True)
class Bench:
    """One run of the bench: the stand, what was asked for, and all samples of loads."""

    running: Stand
    quick: bool
    bare: bool
    samples: list[Sample] = field(default_factory=list[Sample])

    def measure(self, rows: list[str]) -> list[Figure]:
        """Measure these rows; starts come first, when nothing else shares the server's libraries in memory."""
        figures = self._starts() if "start" in rows else []
        figures += self._loads([load for load in loads(quick=self.quick, bare=self.bare) if load.row in rows])
        if "memory" in rows:
            figures += apart.memory(self.running, quick=self.quick)
        if "churn" in rows:
            figures += self._churn()
        for row, grown in Growth(self.running, quick=self.quick).rows().items():
            figures += grown(3 if self.quick else 5) if row in rows else []
        return figures

    def _loads(self, plan: list[Load]) -> list[Figure]:
        taken = measured(self.running, plan, 3 if self.quick else 5) if plan else []
        self.samples += taken
        return of_loads(taken, self.running.relay_name)

    def _starts(self) -> list[Figure]:
        return apart.starts(self.running, 2 if self.quick else 5)

    def _churn(self) -> list[Figure]:
        taken = apart.comings_and_goings(self.running, quick=self.quick)
        self.samples += taken
        return of_loads(taken, self.running.relay_name)


def main() -> int:
    """Measure, print, compare; 1 when a stream failed or a row is worse than the baseline allows."""
    arguments = _arguments()
    rows = chosen(arguments.only, is_compared=arguments.check or arguments.store_baseline)
    started = time.monotonic()
    with stand() as running:
        tools = f"{running.builds.kind} with {running.relay_name}{', quick' if arguments.quick else ''}"
        say(_about(running))
        bench = Bench(running, arguments.quick, arguments.bare)
        figures = bench.measure(rows)
        if bench.samples:
            print(loads_table(bench.samples), end="\n\n")
        print(figures_table(figures), flush=True)
        slower = _checked(bench, figures, tools) if arguments.check else []
    if arguments.store_baseline:
        baseline.store(figures, tools)
        say(f"the ratios are stored as those of {tools}.")
    if arguments.json:
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "tools": tools,
            "quick": arguments.quick,
            "seconds": round(time.monotonic() - started, 1),
        }
        arguments.json.write_bytes(orjson.dumps(as_json(figures, bench.samples, about), option=orjson.OPT_INDENT_2))
    failed = sum(sample.outcome.failed for sample in bench.samples)
    if failed:
        say(f"{failed} streams failed.")
    say(f"{time.monotonic() - started:.0f} s")
    return 1 if failed or slower else 0


def chosen(only: list[str], *, is_compared: bool) -> list[str]:
    """Return the rows to measure, by name or by the beginning of names (`grow`)."""
    every = [row for row in (*LOADS, *APART, *GROWTH) if not (is_compared and row in NEVER_COMPARED)]
    if not only:
        return every
    names = {BESIDE.get(name, name) for name in only}
    return [row for row in every if any(row == name or row.startswith(f"{name}-") for name in names)]


def _checked(bench: Bench, figures: list[Figure], tools: str) -> list[baseline.Slower]:
    """Compare with the baseline, and measure what is worse once more before it counts."""
    stored = baseline.read().get(tools, {})
    slower, number = baseline.compared(figures, stored)
    if not number:
        say(f"no baseline is stored for {tools}: nothing is compared.")
        return []
    if slower:
        again = sorted({BESIDE.get(one.row, one.row) for one in slower})
        for one in slower:
            say(f"worse, and measured once more: {one}")
        figures = bench.measure(again)
        print(f"\n{figures_table(figures)}", flush=True)
        rows = {one.row for one in slower}
        slower = [one for one in baseline.compared(figures, stored)[0] if one.row in rows]
    for one in slower:
        say(f"SLOWER: {one}")
    if not slower:
        say(f"no worse than the baseline: {number} ratios compared.")
    return slower


def _about(running: Stand) -> str:
    builds = running.builds
    pinned = "pinned to cores of their own" if running.cores.others else "not pinned"
    own = "" if builds.kind == "C" else f" ({builds.why})"
    stands_in = "" if running.relay_name == "nginx" else " (the bench's own, on uvloop: there is no nginx)"
    return f"upstream and client in {builds.kind}{own}, beside {running.relay_name}{stands_in}, {pinned}."


def _arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything: about two minutes")
    parser.add_argument(
        "--only",
        action="extend",
        nargs="+",
        type=_names,
        metavar="NAMES",
        help=f"some of {', '.join(_NAMES)}, with commas or blanks; grow is all that grows",
    )
    parser.add_argument("--bare", action="store_true", help="also measure a server that keeps no run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and samples to FILE")
    parser.add_argument("--check", action="store_true", help="fail where a ratio is much worse than the baseline's")
    parser.add_argument("--store-baseline", action="store_true", help="store this run's ratios as the baseline")
    arguments = parser.parse_args(given)
    arguments.only = [name for names in arguments.only or [] for name in names]
    return arguments


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in _NAMES]:
        raise argparse.ArgumentTypeError(f"there is no {' or '.join(unknown)}; there are {', '.join(_NAMES)}")
    return names


def _stop(number: int, frame: object) -> None:
    """Leave by the way on which everything is ended and taken away."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    try:
        sys.exit(main())
    except (RuntimeError, KeyboardInterrupt) as error:
        sys.exit(f"bench: {error or 'stopped'}")
