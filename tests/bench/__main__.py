"""`just bench`: the server's CPU time, latency and memory, compared with a byte relay, the goals and a baseline."""

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

from tests.bench import baseline, fresh_server
from tests.bench.builds import ROOT
from tests.bench.dialects import ROW as DIALECTS
from tests.bench.dialects import dialect_figures
from tests.bench.encoders import ROW as ENCODERS
from tests.bench.encoders import encoder_figures
from tests.bench.figures import Figure, Sample, load_figures
from tests.bench.growth import Growth
from tests.bench.loads import Load, TargetName, loads
from tests.bench.metrics import ROW as METRICS
from tests.bench.metrics import metrics_figures
from tests.bench.report import as_json, figures_table, loads_table
from tests.bench.rig import Rig, open_rig
from tests.bench.rounds import print_status, run_rounds
from tests.bench.runner import ROW as RUNNER
from tests.bench.runner import runner_figures
from tests.bench.traces import ROW as TRACES
from tests.bench.traces import traces_figures
from tests.bench.variants import ROW as VARIANTS
from tests.bench.variants import variants_figures

LOADS = ("burst", "pages", "paced", "one", "tools", "args", "eager")
WITHOUT_SERVER = (ENCODERS, RUNNER)
FRESH_SERVER = (DIALECTS, METRICS, TRACES, VARIANTS, "start", "memory", "churn")
GROWTH = (
    "grow-arguments",
    "grow-previews",
    "grow-answer",
    "grow-calls",
    "grow-history",
    "grow-conversation",
    "grow-conversations",
    "grow-journal",
)
# The ratios of these rows vary too much for the baseline.
NEVER_COMPARED = ("churn", DIALECTS, METRICS, TRACES, VARIANTS)
# Rows that are measured together with another row.
MEASURED_WITH = {"grow-list": "grow-conversations"}
_NAMES = (*LOADS, *WITHOUT_SERVER, *FRESH_SERVER, *GROWTH, *MEASURED_WITH, "grow")


@dataclass(slots=True)
class Bench:
    """One run of the benchmark: its processes, its options and the samples of its loads."""

    rig: Rig
    quick: bool
    further: tuple[TargetName, ...]
    samples: list[Sample] = field(default_factory=list[Sample])

    def measure(self, rows: list[str]) -> list[Figure]:
        """Measure these rows; `start` is first, while no other process shares the server's libraries in memory."""
        figures = self._starts() if "start" in rows else []
        figures += self._loads([load for load in loads(quick=self.quick, further=self.further) if load.row in rows])
        if ENCODERS in rows:
            figures += encoder_figures(3 if self.quick else 5)
        if RUNNER in rows:
            figures += runner_figures(3 if self.quick else 5)
        if DIALECTS in rows:
            figures += dialect_figures(self.rig, 3 if self.quick else 5, quick=self.quick)
        if METRICS in rows:
            figures += metrics_figures(self.rig, 3 if self.quick else 5, quick=self.quick)
        if VARIANTS in rows:
            figures += variants_figures(self.rig, 3 if self.quick else 5)
        if TRACES in rows:
            figures += traces_figures(self.rig, 3 if self.quick else 5, quick=self.quick)
        if "memory" in rows:
            figures += fresh_server.memory(self.rig, quick=self.quick)
        if "churn" in rows:
            figures += self._churn()
        for row, measure in Growth(self.rig, quick=self.quick).rows().items():
            figures += measure(3 if self.quick else 5) if row in rows else []
        return figures

    def _loads(self, plan: list[Load]) -> list[Figure]:
        samples = run_rounds(self.rig, plan, 3 if self.quick else 5) if plan else []
        self.samples += samples
        return load_figures(samples, self.rig.relay_name)

    def _starts(self) -> list[Figure]:
        return fresh_server.starts(self.rig, 2 if self.quick else 5)

    def _churn(self) -> list[Figure]:
        samples = fresh_server.churn_samples(self.rig, quick=self.quick)
        self.samples += samples
        return load_figures(samples, self.rig.relay_name)


def main() -> int:
    """Measure, print and compare; return 1 if a stream failed or a row is slower than the baseline allows."""
    arguments = _arguments()
    rows = choose_rows(arguments.only, is_compared=arguments.check or arguments.store_baseline)
    started = time.monotonic()
    further: tuple[TargetName, ...] = (
        *(["before"] if arguments.against else []),
        *(["bare"] if arguments.bare else []),
    )
    with open_rig(arguments.against or ROOT) as rig:
        tools = f"{rig.builds.kind} with {rig.relay_name}{', quick' if arguments.quick else ''}"
        print_status(_describe(rig))
        bench = Bench(rig, arguments.quick, further)
        figures = bench.measure(rows)
        if bench.samples:
            print(loads_table(bench.samples), end="\n\n")
        print(figures_table(figures), flush=True)
        slower = _check_baseline(bench, figures, tools) if arguments.check else []
    if arguments.store_baseline:
        baseline.store(figures, tools)
        print_status(f"stored the ratios of this run as the baseline of {tools}.")
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
        print_status(f"{failed} streams failed.")
    print_status(f"{time.monotonic() - started:.0f} s")
    return 1 if failed or slower else 0


def choose_rows(only: list[str], *, is_compared: bool) -> list[str]:
    """Return the rows to measure; `only` has names of rows, or `grow` for all rows that begin with it."""
    every = [
        row for row in (*LOADS, *WITHOUT_SERVER, *FRESH_SERVER, *GROWTH) if not (is_compared and row in NEVER_COMPARED)
    ]
    if not only:
        return every
    names = {MEASURED_WITH.get(name, name) for name in only}
    return [row for row in every if any(row == name or row.startswith(f"{name}-") for name in names)]


def _check_baseline(bench: Bench, figures: list[Figure], tools: str) -> list[baseline.Slower]:
    """Compare with the baseline; rows that are slower are measured again before they count."""
    stored = baseline.load_ratios().get(tools, {})
    slower, number = baseline.compare(figures, stored)
    if not number:
        print_status(f"there is no baseline for {tools}, so nothing is compared.")
        return []
    if slower:
        again = sorted({MEASURED_WITH.get(one.row, one.row) for one in slower})
        for one in slower:
            print_status(f"slower, measuring again: {one}")
        figures = bench.measure(again)
        print(f"\n{figures_table(figures)}", flush=True)
        rows = {one.row for one in slower}
        slower = [one for one in baseline.compare(figures, stored)[0] if one.row in rows]
    for one in slower:
        print_status(f"SLOWER: {one}")
    if not slower:
        print_status(f"not slower than the baseline; {number} ratios compared.")
    return slower


def _describe(rig: Rig) -> str:
    builds = rig.builds
    pinned = "pinned to separate cores" if rig.cores.others else "not pinned"
    reason = "" if builds.kind == "C" else f" ({builds.why})"
    note = "" if rig.relay_name == "nginx" else " (a proxy on uvloop, because nginx is not installed)"
    return f"upstream and client in {builds.kind}{reason}, compared with {rig.relay_name}{note}, {pinned}."


def _arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller loads; takes about two minutes")
    parser.add_argument(
        "--only",
        action="extend",
        nargs="+",
        type=_names,
        metavar="NAMES",
        help=f"some of {', '.join(_NAMES)}, separated by commas or spaces; grow selects all rows grow-…",
    )
    parser.add_argument("--bare", action="store_true", help="also measure a server without a journal")
    parser.add_argument(
        "--against", type=_tree, metavar="FOLDER", help="also measure the server of the source tree in FOLDER"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write metrics and samples to FILE")
    parser.add_argument("--check", action="store_true", help="fail if a row is much slower than the baseline")
    parser.add_argument("--store-baseline", action="store_true", help="store the ratios of this run as the baseline")
    arguments = parser.parse_args(given)
    arguments.only = [name for names in arguments.only or [] for name in names]
    return arguments


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in _NAMES]:
        raise argparse.ArgumentTypeError(f"no row is called {' or '.join(unknown)}; the rows are {', '.join(_NAMES)}")
    return names


def _tree(text: str) -> Path:
    tree = Path(text).resolve()
    if not (tree / "tests" / "bench" / "server.py").is_file():
        raise argparse.ArgumentTypeError(f"{text} is not a source tree: it has no tests/bench/server.py")
    return tree


def _interrupt(number: int, frame: object) -> None:
    """Raise KeyboardInterrupt, so that SIGTERM runs the cleanup of all processes and folders."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        sys.exit(main())
    except (RuntimeError, KeyboardInterrupt) as error:
        sys.exit(f"bench: {error or 'stopped'}")
