"""Clients that each keep a connection to one worker of a process; workers are identified by their pids."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from tests.support.processes import WAIT, Process


def pid_of(client: httpx.Client) -> int:
    """Return the pid of the worker that answers."""
    return int(client.get("/health/live").json()["pid"])


@contextmanager
def each_worker(process: Process, count: int) -> Iterator[dict[int, httpx.Client]]:
    """Connect until every worker was reached; each client keeps its connection and thereby its worker."""
    clients: dict[int, httpx.Client] = {}
    until = time.monotonic() + WAIT
    with ExitStack() as stack:
        while len(clients) < count:
            assert time.monotonic() < until, f"only {sorted(clients)} answer"
            client = process.client(limits=httpx.Limits(max_connections=1))
            pid = pid_of(client)
            if pid in clients:
                client.close()
            else:
                stack.callback(client.close)
                clients[pid] = client
        yield clients


def within(seconds: float, is_so: Callable[[], bool]) -> float:
    """Poll until a condition holds; return the seconds that it took."""
    began = time.monotonic()
    while not is_so():
        assert time.monotonic() - began < seconds, f"not within {seconds} seconds"
        time.sleep(0.01)
    return time.monotonic() - began


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, including zombies."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True
