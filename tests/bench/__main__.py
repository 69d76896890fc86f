"""`just bench`: the server, the same without its journal and a byte relay under the same loads, turn by turn."""

import argparse
import platform
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import orjson

from tests.bench.processes import Child, Stand, stand
from tests.bench.report import Sample, as_json, rows, text
from tests.bench.scenarios import SERVER_PATH, Scenario, scenarios

ROUNDS = 3
# What was written last is on disk by then, and its cost in the figure.
SETTLE = 0.2


def main() -> int:
    """Measure, print, and return 1 when any stream failed."""
    arguments = _arguments()
    plan = [s for s in scenarios(quick=arguments.quick) if arguments.only in (None, s.name.split()[0])]
    started = time.monotonic()
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory(prefix="signalbox-bench-") as folder, stand(Path(folder)) as running:
        # Not counted: caches, imports, first connections. A paced load would only take time.
        _round(running, [s for s in plan if not s.ramp] or plan, share=4)
        for number in range(ROUNDS):
            _say(f"round {number + 1} of {ROUNDS}")
            samples += _round(running, plan, is_odd=number % 2 == 1)
    table = rows(plan, samples)
    print(text(table), flush=True)
    if arguments.json:
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "quick": arguments.quick,
            "seconds": round(time.monotonic() - started, 1),
        }
        arguments.json.write_bytes(orjson.dumps(as_json(table, samples, about), option=orjson.OPT_INDENT_2))
    _say(f"{time.monotonic() - started:.0f} s")
    return 1 if any(row.failed for row in table) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything: about 50 seconds")
    parser.add_argument(
        "--only", choices=("burst", "paced", "tools", "args", "long", "replay"), help="one kind of load"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and samples to FILE")
    return parser.parse_args()


def _round(running: Stand, plan: list[Scenario], share: int = 1, *, is_odd: bool = False) -> list[Sample]:
    """Run every load once, its targets directly after each other; every other round in the other order."""
    samples: list[Sample] = []
    for scenario in plan:
        targets = [running.server]
        if scenario.compared:
            targets.append(running.bare)
        if scenario.relayed:
            targets.append(running.relay)
        samples += [_sample(running, scenario, target, share) for target in targets[:: -1 if is_odd else 1]]
    return samples


def _sample(running: Stand, scenario: Scenario, target: Child, share: int) -> Sample:
    run_id = _kept_run(target, scenario) if scenario.replayed else ""
    job = scenario.job(target.port, relay=target is running.relay, share=share, run_id=run_id)
    before = target.cpu()
    tally = running.load(job)
    time.sleep(SETTLE)
    return Sample(
        scenario=scenario.name,
        target=target.name,
        events=scenario.events * job.streams,
        streams=job.streams,
        failed=tally.failed,
        cpu=target.cpu() - before,
        wall=tally.wall,
        first=tuple(tally.first),
        total=tuple(tally.total),
    )


def _kept_run(target: Child, scenario: Scenario) -> str:
    """Have a run made and kept, and return its id."""
    address = f"http://127.0.0.1:{target.port}{SERVER_PATH}"
    body = orjson.dumps(scenario.question)
    with urlopen(Request(address, body, {"content-type": "application/json"}), timeout=60) as answer:
        answer.read()
        run_id = answer.headers["x-run-id"]
    time.sleep(SETTLE)
    return run_id


def _say(sentence: str) -> None:
    print(f"bench: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
