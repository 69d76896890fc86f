"""A server that is killed and restarted on one data folder: what clients had read, and what was on disk."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.scenarios.crash.stages import BILL, Stage, play, stages
from tests.support.processes import WAIT, Process
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, no_models
from tests.support.stream_reader import parse_stream

STREAM = "/api/chat/stream"


def until(holds: Callable[[], bool], seconds: float = WAIT) -> None:
    """Wait for a condition in another process."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextmanager
def serve_until_killed(folder: Path, upstream: ScriptedUpstream, loop: str) -> Iterator[Process]:
    """Serve with two extra tools until the block ends, then kill the server."""
    env = {"OPENROUTER_BASE_URL": upstream.base_url, "TOOL_LOOP_V2": str(loop == "v2")}
    process = Process(["-m", "tests.scenarios.crash.server"], folder, env)
    try:
        yield process.ready()
    finally:
        kill(process)


def kill(process: Process) -> None:
    """Kill a process, as in a crash."""
    if process.process.returncode is None:
        process.process.kill()
        process.end()


@dataclass
class Cut:
    """A run that a kill has cut: what its client had read, and the events on disk just before."""

    stage: Stage
    run_id: str
    chunks: Iterator[bytes]
    seen: bytes
    durable: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def read_rest(self) -> None:
        """Read what arrived before the connection broke, up to the last complete frame."""
        try:
            for chunk in self.chunks:
                self.seen += chunk
        except httpx.TransportError:
            pass
        self.seen = self.seen[: self.seen.rfind(b"\n\n") + 2] if b"\n\n" in self.seen else b""


@dataclass
class BillingEndpoint:
    """The provider's /generation: 404 before `is_open` is set, then the same cost for every id."""

    is_open: Event = field(default_factory=Event)

    async def __call__(self, exchange: Exchange) -> None:
        address = urlsplit(exchange.asked.path)
        if not address.path.endswith("/generation") or not self.is_open.is_set():
            await no_models(exchange)
            return
        told = {"id": parse_qs(address.query)["id"][0], **BILL}
        await exchange.whole(200, json.dumps({"data": told}).encode())


@dataclass
class RestartedServer:
    """The restarted server, and what is known about the runs of the killed one."""

    loop: str
    folder: Path
    upstream: ScriptedUpstream
    billing: BillingEndpoint
    process: Process
    cuts: list[Cut]
    seconds: float
    asked: int

    def replay(self, cut: Cut, **headers: str) -> httpx.Response:
        with self.process.client() as client:
            return client.get(f"/api/runs/{cut.run_id}/events", headers=headers)

    def get(self, path: str) -> Any:
        with self.process.client() as client:
            return client.get(path).json()

    def lines(self) -> list[str]:
        return (self.folder / "lines").read_text().split()


@contextmanager
def crash_and_restart(folder: Path, loop: str) -> Iterator[RestartedServer]:
    """Bring one run to each stage, kill the server, and restart it."""
    (folder / "open-next").touch()
    (folder / "open-end").touch()
    billing = BillingEndpoint()
    with ScriptedUpstream(play, models=billing) as upstream:
        with serve_until_killed(folder, upstream, loop) as process, ExitStack() as clients:
            cuts = [ask(clients, process, stage) for stage in stages(loop)]
            for cut in cuts:
                until(lambda cut=cut: is_durable(folder, cut))
                cut.durable = journal(folder, cut.run_id)
            kill(process)
            for cut in cuts:
                cut.read_rest()
        begun = time.monotonic()
        with serve_until_killed(folder, upstream, loop) as process:
            yield RestartedServer(
                loop, folder, upstream, billing, process, cuts, time.monotonic() - begun, len(upstream.asked)
            )


def ask(clients: ExitStack, process: Process, stage: Stage) -> Cut:
    """Send a question on a separate connection and read until its stage is reached.

    The client of the stage `complete` then disconnects.
    """
    client = clients.enter_context(process.client())
    headers = {"Idempotency-Key": stage.name}
    stream = clients.enter_context(client.stream("POST", STREAM, json=stage.body, headers=headers))
    cut = Cut(stage, stream.headers["x-run-id"], stream.iter_raw(), b"")
    while cut.seen.count(stage.seen.encode()) < stage.times and stage.seen:
        cut.seen += next(cut.chunks)
    if stage.name == "complete":
        cut.seen = cut.seen[: cut.seen.rfind(b"\n\n") + 2]
        stream.close()
    return cut


def is_durable(folder: Path, cut: Cut) -> bool:
    """Return whether the events that the client has read are on disk, with their costs."""
    [(steps, status)] = rows(folder, "select steps, status from runs where id = ?", cut.run_id)
    last = max((event["seq"] for event in journal(folder, cut.run_id)), default=0)
    is_reached = status is not None if cut.stage.name == "complete" else steps == cut.stage.steps
    return is_reached and last >= max(parse_stream(cut.seen).seqs, default=0)


def journal(folder: Path, run_id: str) -> list[dict[str, Any]]:
    """Return the events of a run that are on disk."""
    asked = "select frames from journal where run_id = ? order by first_seq"
    filed = [event for (frames,) in rows(folder, asked, run_id) for event in json.loads(frames)]
    last = filed[-1]["seq"] if filed else 0
    latest = [pair for (said,) in rows(folder, "select said from latest order by id") for pair in json.loads(said)]
    start_app = [event for name, events in latest if name == run_id for event in events if event["seq"] > last]
    return filed + start_app


def rows(folder: Path, asked: str, *values: str) -> list[Any]:
    """Query the database file read-only, without the product's code."""
    with closing(sqlite3.connect(f"file:{folder / 'data' / 'signalbox.db'}?mode=ro", uri=True)) as database:
        return database.execute(asked, values).fetchall()
