"""`just bench-peers`: LiteLLM, the Vercel AI SDK, pydantic-ai and TensorZero on the same work, beside ours."""

import argparse
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import orjson

from tests.bench.peers import install
from tests.bench.peers.loads import LOADS, WARMING, Load, Sample, put
from tests.bench.peers.report import rows, text
from tests.bench.peers.running import Running, free_port, process, started
from tests.bench.peers.targets import PEERS, ROOT, Target, ours, relay

ROUNDS = 3
# What is not measured by then is left out; a load that is under way ends first.
LIMIT = 540.0
TOOLS = ("fakeup", "loadgen")


def main() -> int:
    """Install, measure, print; return 2 when the machine cannot do it."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what it started ends with it
    if missing := _missing():
        _say(missing)
        return 2
    only = {name.strip() for names in arguments.only for name in names.split(",")}
    targets, versions = _targets({name for name in PEERS if name in only} or set(PEERS))
    loads = [load for load in LOADS if load.name in only] or list(LOADS)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="signalbox-peers-") as name, ExitStack() as stack:
        folder = Path(name)
        client = _tools(folder)
        running = _start(targets, folder, stack)
        samples = _measure(running, loads, arguments.rounds, client, folder)
    table = rows(samples, versions)
    print(text(table), flush=True)
    if arguments.json:
        about = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}",
            "seconds": round(time.monotonic() - begun, 1),
            "rows": [asdict(row) for row in table],
            "samples": [asdict(sample) for sample in samples],
        }
        arguments.json.write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2))
    _say(f"{time.monotonic() - begun:.0f} s")
    return 0


def _arguments() -> argparse.Namespace:
    names = ", ".join((*PEERS, *(load.name for load in LOADS)))
    parser = argparse.ArgumentParser(prog="just bench-peers", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help=f"some of: {names}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"default: {ROUNDS}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and samples to FILE")
    return parser.parse_args()


def _sources() -> Path:
    return Path(os.environ.get("SIGNALBOX_BENCH_TOOLS") or ROOT.parent / "shared" / "bench")


def _missing() -> str:
    """Say what this machine lacks, if anything."""
    if sys.platform != "linux":
        return "the comparison reads /proc and pins processes: it runs on Linux only"
    if not all((_sources() / f"{tool}.c").is_file() for tool in TOOLS):
        return "fakeup.c and loadgen.c are not in ../shared/bench: set SIGNALBOX_BENCH_TOOLS to their folder"
    return "" if shutil.which("cc") else "no C compiler is installed: apt-get install gcc"


def _tools(folder: Path) -> Path:
    """Build the upstream and the load client; return the client."""
    for tool in TOOLS:
        subprocess.run(["cc", "-O2", "-o", str(folder / tool), str(_sources() / f"{tool}.c")], check=True)
    return folder / "loadgen"


def _targets(names: set[str]) -> tuple[list[Target], dict[str, str]]:
    """Return nginx, ours and each peer that is installed, with the peers' versions."""
    bare, versions = relay(), dict[str, str]()
    if bare is None:
        _say("nginx is left out: it is not installed")
    targets = [ours()] if bare is None else [bare, ours()]
    for name in (name for name in PEERS if name in names):
        try:
            target = PEERS[name](install.home(name))
        except install.NotInstalled as problem:
            _say(f"{name} is left out: {problem}")
            continue
        targets.append(target)
        versions[target.name] = install.version(name)
    return targets, versions


def _start(targets: list[Target], folder: Path, stack: ExitStack) -> list[Running]:
    """Start the upstream and every target; one that does not start is left out."""
    port = free_port()
    (folder / "upstream").mkdir()
    stack.enter_context(process([str(folder / "fakeup"), str(port)], {}, folder / "upstream", last=True))
    running: list[Running] = []
    for target in targets:
        begun = time.monotonic()
        try:
            running.append(stack.enter_context(started(target, port, folder / target.name.replace(" ", "-"))))
        except RuntimeError as problem:
            _say(f"{target.name} is left out: {problem}")
            continue
        _say(f"{target.name} listens after {time.monotonic() - begun:.1f} s")
    return running


def _measure(running: list[Running], loads: list[Load], rounds: int, client: Path, folder: Path) -> list[Sample]:
    """Put every load on every target, directly after each other, every other round in the other order."""
    limit = time.monotonic() + LIMIT
    for one in running:
        for load in WARMING:
            if one.target.steps or not load.tools:
                put(load, one, client, folder)
    samples: list[Sample] = []
    for number in range(rounds):
        for load in loads:
            if load.once and number:
                continue
            for one in running[:: -1 if number % 2 else 1]:
                if load.steps and not one.target.steps:
                    continue
                if time.monotonic() > limit:
                    _say(f"the time is over in round {number + 1}: the rest is left out")
                    return samples
                samples.append(put(load, one, client, folder))
            _say(f"round {number + 1} of {rounds}: {load.name}")
    return samples


def _say(sentence: str) -> None:
    print(f"bench-peers: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
