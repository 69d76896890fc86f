"""`just bench-stalls`: hostile input of each shape at two sizes, while `/health/live` is requested every 10 ms."""

import argparse
import signal
import sys

from tests.bench.rig import open_rig
from tests.bench.rounds import print_status
from tests.bench.stalls import answers, requests, tools  # noqa: F401 - they register their shapes
from tests.bench.stalls.measuring import MOST_POWER, MOST_WAIT, Result, probed_server
from tests.bench.stalls.shapes import SHAPES

_MEGA = 1_000_000
_HEAD = f"{'shape':44} {'small':>8} {'large':>8} {'CPU':>7} {'CPU':>7} {'power':>6} {'wait':>7}  answers"


def main() -> int:
    """Measure all shapes and print a table; return 1 if a shape fails in two measurements."""
    arguments = _arguments()
    names = [name for name in SHAPES if not arguments.only or any(part in name for part in arguments.only)]
    small, large = (int(size * _MEGA) for size in arguments.sizes)
    bad: list[Result] = []
    with open_rig() as rig:
        print_status(
            f"{small / _MEGA:g} and {large / _MEGA:g} MB; seconds, CPU seconds, longest wait of /health/live in ms"
        )
        print(_HEAD, flush=True)
        for name in names:
            with probed_server(rig) as pair:
                result = pair.measure(SHAPES[name], small, large)
                if result.faults:  # again: another process may have used the core
                    result = result.better_of(pair.measure(SHAPES[name], small, large))
            print(_line(result), flush=True)
            bad += [result] if result.faults else []
    for result in bad:
        print_status(f"{result.shape}: {'; '.join(result.faults)}")
    if not bad:
        print_status(f"{len(names)} shapes: no wait above {MOST_WAIT * 1000:.0f} ms, no power above {MOST_POWER}.")
    return 1 if bad else 0


def _line(result: Result) -> str:
    small, large = result.small, result.large
    return (
        f"{result.shape:44} {small.seconds:8.2f} {large.seconds:8.2f} {small.cpu:7.2f} {large.cpu:7.2f} "
        f"{result.power:6.1f} {result.wait * 1000:7.0f}  {small.answer}, {large.answer}"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench-stalls", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORDS", help="shapes whose name contains one of these words")
    parser.add_argument("--sizes", nargs=2, type=float, default=(2, 8), metavar="MB", help="the two sizes, in MB")
    return parser.parse_args()


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    try:
        sys.exit(main())
    except (RuntimeError, KeyboardInterrupt) as error:
        sys.exit(f"bench-stalls: {str(error) or 'stopped'}")
