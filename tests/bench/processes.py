"""Processes of the benchmark: started with a clean environment on chosen cores, measured, and ended."""

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
# Prefixes of variables that would change the measurements.
_REMOVED = ("OPENROUTER_", "SIGNALBOX_", "TOOL_LOOP", "SEARCH_", "SEARXNG_", "WEB_CONCURRENCY", "HTTP", "ALL_PROXY")
# Seconds; a slow machine may take long to start a server.
_TIMEOUT = 120.0
_SET_DEATH_SIGNAL = 1


@dataclass(frozen=True, slots=True)
class Cores:
    """The cores of the measured process and of the others; empty with one core or without support for affinity."""

    measured: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()

    @classmethod
    def of_this_machine(cls) -> "Cores":
        """Give the measured process the first core."""
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
        """Return the CPU seconds of all its threads."""
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
        """Read its output until it prints its address."""
        while not self.port:
            if found := _READY.search(self._line()):
                self.port = int(found[1])

    def wait_listening(self) -> None:
        """Try to connect until the port accepts connections."""
        until = time.monotonic() + _TIMEOUT
        while self.process.poll() is None and time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.02)
        raise RuntimeError(self.failure_message())

    def end(self) -> None:
        """Terminate it, and kill it after ten seconds."""
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
        """Return an error message with the end of its log."""
        self.errors.seek(0)
        words = self.errors.read().decode("utf-8", "replace")[-2000:]
        return f"{self.name} does not respond; the end of its log: {words or '(empty)'}"

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
    """Start a process that ends when this one does, even if this one is killed."""
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
    """Return the environment without the variables in `_REMOVED`, and with these settings."""
    kept = {key: value for key, value in os.environ.items() if not key.upper().startswith(_REMOVED)}
    return {**kept, "PYTHONPATH": python_path(ROOT), **settings}


def python_path(tree: Path) -> str:
    """Return where the packages of a source tree are imported from."""
    return os.pathsep.join((str(tree / "backend"), str(tree)))


def child_setup(cores: frozenset[int]) -> Callable[[], None]:
    """Return a function that pins a new process to cores and makes it end with its parent."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def prepare() -> None:
        if cores:
            os.sched_setaffinity(0, cores)
        if prctl is not None:
            prctl(_SET_DEATH_SIGNAL, signal.SIGTERM)

    return prepare


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _threads_cpu(pid: int) -> float:
    """Return the CPU seconds of all threads: in nanoseconds if the kernel has schedstat, else in ticks."""
    with suppress(OSError):
        files = Path(f"/proc/{pid}/task").glob("*/schedstat")
        if nanoseconds := sum(int(file.read_text().split()[0]) for file in files):
            return nanoseconds / 1e9
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
