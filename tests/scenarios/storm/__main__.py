"""`just storm`: 10,000 runs with faults, stops and disconnects, and ten streams cut at every byte, 200 at a time."""

import argparse
import asyncio
import secrets
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from tests.scenarios.storm.jobs import jobs
from tests.scenarios.storm.report import details, failures, table
from tests.scenarios.storm.storm import Figures, Storm, stand

FIRST = 1000
ENOUGH = 5 * FIRST  # fewer runs leave memory still growing to its level


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just storm", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="runs with random faults (10000)")
    parser.add_argument("--share", type=float, default=1.0, help="part of all bytes that the streams are cut at (1)")
    parser.add_argument("--at-once", type=int, default=200, help="runs at a time (200)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1_000_000), help="the same seed, the same storm")
    parser.add_argument("--minutes", type=float, default=30.0, help="call it off after so long (30)")
    return parser.parse_args()


def main() -> int:
    """Run the storm, print the figures, and fail if anything leaks or is wrong."""
    given = _arguments()
    print(f"seed {given.seed}", flush=True)
    figures = Figures(given.seed)
    with tempfile.TemporaryDirectory(prefix="storm-") as folder, stand(Path(folder)) as server:
        port = urlsplit(server.url).port or 0
        storm = Storm(
            port,
            figures,
            at_once=given.at_once,
            limit=given.minutes * 60,
            most_sockets=4 * given.at_once + 100,
            say=lambda line: print(line, flush=True),
        )
        asyncio.run(storm.blow(jobs(given.seed, given.runs, share=given.share), FIRST))
        print(server.errors()[-2000:], end="")
    print(table(figures))
    wrong = failures(figures, judge_memory=figures.runs >= ENOUGH)
    if wrong:
        print(details(figures), *(f"FAILED: {line}" for line in wrong), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
