"""The bench's processes: started without this shell's settings, pinned, asked for CPU and memory, and ended."""

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from tests.bench.builds import ROOT

_READY = re.compile(r"ready: http://127\.0\.0\.1:(\d+)")
# What a setting or a proxy of the shell would change is not what is measured.
_REMOVED = ("OPENROUTER_", "SIGNALBOX_", "TOOL_LOOP", "SEARCH_", "SEARXNG_", "WEB_CONCURRENCY", "HTTP", "ALL_PROXY")
# For what hangs; a slow machine may take a long time over a start.
_TIMEOUT = 120.0
_SET_DEATH_SIGNAL = 1


@dataclass(frozen=True, slots=True)
class Cores:
    """Which cores what is measured has, and which the rest; none where there is one core or no way to choose."""

    measured: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()

    @classmethod
    def of_this_machine(cls) -> "Cores":
        """Take the first core for what is measured."""
        have = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        return cls(frozenset(have[:1]), frozenset(have[1:])) if len(have) > 1 else cls()


@dataclass(slots=True)
class Child:
    """A process that the benchmark started. `reports_cpu`: it reports its CPU time on a pipe (cpu_reporting.py)."""

    name: str
    process: "subprocess.Popen[str]"
    errors: IO[bytes]
    port: int = 0
    reports_cpu: bool = False

    def cpu(self) -> float:
        """Return the CPU seconds that all its threads have used."""
        if not self.reports_cpu:
            return _threads_cpu(self.process.pid)
        pipe = cast("IO[str]", self.process.stdin)
        try:
            pipe.write("\n")
            pipe.flush()
        except BrokenPipeError:
            raise RuntimeError(self.failure_message()) from None
        return float(self._line())

    def memory(self) -> float:
        """Return the proportional set size in KiB, or the resident set size where the kernel reports no PSS."""
        with suppress(OSError):
            rollup = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
            return float(re.findall(r"^Pss: +(\d+)", rollup, re.MULTILINE)[0])
        printed = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, check=False)
        return float(printed.stdout or 0)

    def wait_ready(self) -> None:
        """Read until it says where it listens."""
        while not self.port:
            if found := _READY.search(self._line()):
                self.port = int(found[1])

    def wait_listening(self) -> None:
        """Dial until somebody answers."""
        until = time.monotonic() + _TIMEOUT
        while self.process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise RuntimeError(self.failure_message())

    def end(self) -> None:
        """Close its pipe and tell it to end; one that will not is killed."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.errors.close()

    def failure_message(self) -> str:
        """Say of a process that is gone, or never came, what it said last."""
        self.errors.seek(0)
        words = self.errors.read().decode("utf-8", "replace")[-2000:]
        return f"the bench's {self.name} does not answer: {words or 'not a word'}"

    def _line(self) -> str:
        line = cast("IO[str]", self.process.stdout).readline()
        if not line:
            raise RuntimeError(self.failure_message())
        return line


def start(
    name: str,
    command: Sequence[str],
    folder: Path,
    cores: frozenset[int],
    *,
    reports_cpu: bool = False,
    **settings: str,
) -> Child:
    """Start one process; it ends with this one, whatever ends this one."""
    errors = (folder / f"{name}.log").open("w+b")
    pipe = subprocess.PIPE if reports_cpu else subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=errors,
        text=True,
        cwd=folder,
        env=environment(**settings),
        preexec_fn=child_setup(cores),  # noqa: PLW1509  (no threads are here)
    )
    return Child(name, process, errors, reports_cpu=reports_cpu)


def environment(**settings: str) -> dict[str, str]:
    """Return this shell's environment without what would change what is measured, and with these settings."""
    kept = {key: value for key, value in os.environ.items() if not key.upper().startswith(_REMOVED)}
    return {**kept, "PYTHONPATH": python_path(ROOT), **settings}


def python_path(tree: Path) -> str:
    """Return where the packages of a source tree are imported from."""
    return os.pathsep.join((str(tree / "backend"), str(tree)))


def child_setup(cores: frozenset[int]) -> Callable[[], None]:
    """Return what a new process does first: take its cores, and have the kernel end it when its parent is gone."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def prepare() -> None:
        if cores:
            os.sched_setaffinity(0, cores)
        if prctl is not None:
            prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)

    return prepare


def free_port() -> int:
    """Return a port that nobody has now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _threads_cpu(pid: int) -> float:
    """Return the CPU seconds of all threads, to the nanosecond; whole ticks where the kernel counts only them."""
    with suppress(OSError):
        files = Path(f"/proc/{pid}/task").glob("*/schedstat")
        if nanoseconds := sum(int(file.read_text().split()[0]) for file in files):
            return nanoseconds / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
