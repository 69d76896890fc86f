"""`just bench-postgres`: runs and events per second that one PostgreSQL stores for one, two and four workers.

A worker here is only its store, without HTTP and models: it writes what a worker's flush writes, as fast as the
database accepts it. The results depend on the database and on this machine.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from msgspec.structs import replace
from signalbox.core.events import AnyEvent, Content, Done, Stamped
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.leases import Sharing

# Events per flush of a stream with 40 events per second (a flush is every 80 ms), and events of a short answer.
_PER_FLUSH = 3
_SHORT = 40
_LIVE = 250
_TEXT = " and then some"


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """The result of one worker: complete runs, events, seconds, its CPU seconds, and its longest flush in ms."""

    runs: int
    events: int
    seconds: float
    cpu: float
    slowest_ms: float


async def write(url: str, name: str, kind: str, seconds: float) -> WorkerResult:
    """Write as one worker for `seconds`."""
    database = PostgresDatabase(url)
    await database.open()
    store = JournalStore(database, Sharing(name, seconds=600.0))
    worker = _Worker(store, name)
    before, started = _cpu(), time.monotonic()
    work = worker.short_runs if kind == "runs" else worker.long_streams
    await work(started + seconds)
    took, cpu = time.monotonic() - started, _cpu() - before
    await store.aclose()
    await database.aclose()
    return WorkerResult(worker.runs, worker.events, round(took, 3), round(cpu, 3), round(worker.slowest * 1000, 1))


class _Worker:
    def __init__(self, store: JournalStore, name: str) -> None:
        self.store = store
        self.name = name
        self.runs = self.events = 0
        self.slowest = 0.0
        self._number = 0

    async def short_runs(self, until: float) -> None:
        """Repeat: open 100 runs, append their answers in two flushes, and end them."""
        while time.monotonic() < until:
            records = await self._open(100)
            for part in range(2):
                for record in records:
                    self._append(record, part * _SHORT // 2, _SHORT // 2)
                await self._flush()
            await self._end(records, _SHORT)

    async def long_streams(self, until: float) -> None:
        """Append a few events to each of 250 active runs per flush."""
        records = await self._open(_LIVE)
        seq = 0
        while time.monotonic() < until:
            for record in records:
                self._append(record, seq, _PER_FLUSH)
            seq += _PER_FLUSH
            await self._flush()
        await self._end(records, seq)

    async def _open(self, number: int) -> list[RunRecord]:
        records = [self._record() for _ in range(number)]
        await asyncio.gather(*(self.store.open(record, lambda seq, reserved: None) for record in records))
        return records

    def _record(self) -> RunRecord:
        self._number += 1
        question: JsonObject = {"model": "openai/bench", "prompt": _TEXT * 20}
        return RunRecord(
            f"{self.name}{self._number:022d}", "openai/bench", "v2", question=question, started=time.time()
        )

    def _append(self, record: RunRecord, after: int, number: int) -> None:
        now = int(time.time() * 1000)
        batch = [Stamped(after + place + 1, now, Content(_TEXT)) for place in range(number)]
        self.store.append(record.id, batch)
        self.events += number

    async def _end(self, records: Sequence[RunRecord], seq: int) -> None:
        for record in records:
            done: AnyEvent = Done(done=True, status="complete", loop="v2", steps=1)
            self.store.append(record.id, [Stamped(seq + 1, int(time.time() * 1000), done)])
            over = replace(record, status="complete", ended=time.time(), seq=seq + 1)
            self.store.save_figures(record.id, lambda over=over: over)
            self.store.close(record.id)
        self.events += len(records)
        await self._flush()
        self.runs += len(records)

    async def _flush(self) -> None:
        began = time.monotonic()
        await self.store.flush()
        self.slowest = max(self.slowest, time.monotonic() - began)


def measure(url: str, kind: str, workers: int, seconds: float) -> list[WorkerResult]:
    """Run `workers` processes at the same time and return their results."""
    child = [sys.executable, "-m", "tests.bench.postgres", "--url", url, "--seconds", str(seconds), "--kind", kind]
    started = [
        subprocess.Popen([*child, "--as", f"w{number}p{os.getpid()}x{time.time_ns() % 10**6}"], stdout=subprocess.PIPE)
        for number in range(workers)
    ]
    outputs = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        raise SystemExit("bench-postgres: a worker failed; see its output above.")
    return [WorkerResult(**json.loads(words)) for words in outputs]


def server_cpu(pid: int) -> float:
    """Return the CPU seconds of a PostgreSQL server and its children, including ended ones."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        if int(stat.parent.name) == pid:
            total += sum(map(int, fields[11:15])) / ticks  # includes its ended children
        elif int(fields[1]) == pid:
            total += sum(map(int, fields[11:13])) / ticks
    return total


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measure all rows and print a table, or write as one worker (`--as`)."""
    arguments = _arguments()
    if arguments.name:
        print(json.dumps(asdict(asyncio.run(write(arguments.url, arguments.name, arguments.kind, arguments.seconds)))))
        return 0
    with ExitStack() as stack:
        url, pid = arguments.url, 0
        if url is None:
            from tests.support.postgres import Server

            server = stack.enter_context(Server.started(durable=True))
            url, pid = server.new_database(), server.pid
        print("| load | workers | runs/s | events/s | CPU-s of the workers per 100k | of PostgreSQL | slowest flush |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for kind in ("runs", "streams"):
            for workers in (1, 2, 4):
                before = server_cpu(pid)
                did = measure(url, kind, workers, arguments.seconds)
                print(_row(kind, did, server_cpu(pid) - before if pid else None), flush=True)
    return 0


def _row(kind: str, did: list[WorkerResult], served: float | None) -> str:
    seconds = max(one.seconds for one in did)
    events = sum(one.events for one in did)
    own = sum(one.cpu for one in did) / events * 100_000
    other = f"{served / events * 100_000:.2f}" if served is not None else ""
    runs = f"{sum(one.runs for one in did) / seconds:,.0f}" if kind == "runs" else ""
    slowest = max(one.slowest_ms for one in did)
    return f"| {kind} | {len(did)} | {runs} | {events / seconds:,.0f} | {own:.2f} | {other} | {slowest:.0f} ms |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="just bench-postgres", description=__doc__)
    parser.add_argument("--url", help="a database to use; by default a temporary PostgreSQL is started")
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds per row")
    parser.add_argument("--kind", choices=("runs", "streams"), default="streams", help=argparse.SUPPRESS)
    parser.add_argument("--as", dest="name", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
