"""`just bench-runners`: CPU time per run of each tool runner, and 1,000 runs of Signalbox's Runner in one process."""

import argparse
import sys
from statistics import median

from tests.bench.rig import raise_file_limit
from tests.comparison.costs import SERVER_LOOP, TARGETS, Crowd, cpu_per_run, crowd
from tests.comparison.libraries import SIGNALBOX


def main() -> int:
    """Measure and print; return 1 if a run of the crowd did not end well."""
    arguments = _arguments()
    raise_file_limit()
    for target in TARGETS:
        target.install()
    spent = cpu_per_run(TARGETS, arguments.rounds, arguments.runs)
    print(f"{'':14} {'CPU per run':>12} {'÷ server loop':>14}  from – to")
    for target in TARGETS:
        ratios = ratios_to(SERVER_LOOP.name, target.name, spent)
        milliseconds = f"{median(spent[target.name]) * 1000:.2f} ms"
        print(f"{target.name:14} {milliseconds:>12} {median(ratios):14.2f}  {min(ratios):.2f} – {max(ratios):.2f}")
    seen = crowd(SIGNALBOX, arguments.crowd)
    print(f"\n{describe(seen)}")
    return 0 if seen.is_complete else 1


def ratios_to(base: str, name: str, spent: dict[str, list[float]]) -> list[float]:
    """Return a target's CPU time divided by another's, in each round."""
    return [one / other for one, other in zip(spent[name], spent[base], strict=True)]


def describe(seen: Crowd) -> str:
    """Return the outcome of many runs at once as a sentence."""
    return (
        f"{seen.runs:,} runs at once over {seen.most_connections:,} connections in {seen.seconds:.1f} s: "
        f"{seen.answered:,} answers, {seen.executed:,} executions of {seen.calls:,} calls, {seen.requests:,} requests, "
        f"{seen.kib:.0f} KiB per waiting run, {seen.open_connections} connections open at the end."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench-runners", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each target is measured")
    parser.add_argument("--runs", type=int, default=50, metavar="N", help="runs per round and target")
    parser.add_argument("--crowd", type=int, default=1000, metavar="N", help="runs at the same time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
