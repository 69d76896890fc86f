"""Processes of the comparison: started clean and pinned, asked for CPU and memory, ended with the bench."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.peers.targets import Target

_READY = re.compile(r"ready: http://127\.0\.0\.1:(\d+)")
# A slow machine needs long to import LiteLLM.
_START_LIMIT = 240.0
# What a setting or a proxy of the shell would change is not what is measured.
_FOREIGN = (
    *(
        "OPENROUTER_",
        "OPENAI_",
        "SIGNALBOX_",
        "TOOL_LOOP",
        "SEARCH_",
        "SEARXNG_",
        "WEB_CONCURRENCY",
        "HTTP",
        "ALL_PROXY",
    ),
    *("LITELLM_", "TENSORZERO_", "DATABASE_URL", "REDIS_", "LOGFIRE_", "OTEL_", "NODE_", "PYTHON", "VIRTUAL_ENV"),
)


@dataclass(frozen=True, slots=True)
class Running:
    """A target that listens."""

    target: Target
    pid: int
    port: int

    def cpu(self) -> float:
        """Return the CPU seconds that it and what it started have used."""
        return sum(_cpu(pid) for pid in tree(self.pid))


@contextmanager
def started(target: Target, upstream: int, folder: Path) -> Iterator[Running]:
    """Run a target on the first core until the block ends; raises RuntimeError with its last words."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command, settings = target.start(folder, upstream, port)
    with process(command, settings, folder) as (child, log):
        listening = _wait(child, log, port, says_port=target.says_port)
        yield Running(target, child.pid, listening)


@contextmanager
def process(
    command: list[str], settings: dict[str, str], folder: Path, *, last: bool = False
) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """Run a command in a group of its own, with what it says in a file, until the block ends."""
    kept = {key: value for key, value in os.environ.items() if not key.upper().startswith(_FOREIGN)}
    log = folder / "said.log"
    with log.open("wb") as written:
        with pinned(last=last):
            child = subprocess.Popen(
                command,
                cwd=folder,
                env=kept | settings,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            yield child, log
        finally:
            _end(child)


@contextmanager
def pinned(*, last: bool) -> Iterator[None]:
    """Have what is started in this block run on the first core (what is measured) or on the others (what measures)."""
    cores = os.sched_getaffinity(0)
    ordered = sorted(cores)
    os.sched_setaffinity(0, (ordered[1:] if last else ordered[:1]) or cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def tree(pid: int) -> list[int]:
    """Return a process and all that it started."""
    found = [pid]
    for one in found:
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:  # it has ended meanwhile
            continue
    return found


def pss(pid: int) -> float:
    """Return the memory of a process tree in KiB; what is shared with others counts by its share."""
    total = 0
    for one in tree(pid):
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
        except OSError:  # it has ended meanwhile
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return float(total)


def _cpu(pid: int) -> float:
    """Read a process's own CPU clock, which is exact to the microsecond; /proc counts in ticks of 10 ms."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # how Linux numbers the clock of a process
    except OSError:  # it has ended meanwhile
        return 0.0


def _wait(child: "subprocess.Popen[bytes]", log: Path, port: int, *, says_port: bool) -> int:
    """Wait until the target takes connections and return its port."""
    limit = time.monotonic() + _START_LIMIT
    while time.monotonic() < limit and child.poll() is None:
        found = _READY.search(log.read_text(encoding="utf-8", errors="replace")) if says_port else None
        place = int(found[1]) if found else None if says_port else port
        if place and _listens(place):
            return place
        time.sleep(0.1)
    words = log.read_text(encoding="utf-8", errors="replace")[-1500:]
    raise RuntimeError(f"did not start: {words or 'without a word'}")


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _end(child: "subprocess.Popen[bytes]") -> None:
    """End a process and what it started; who does not listen is killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.killpg(child.pid, number)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            continue
        return
