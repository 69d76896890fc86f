"""The rolling restart of docs/deploy.md behind a real nginx with 100 clients: nothing is lost or doubled."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import httpx
import pytest

from tests.project.docs.pages import page
from tests.support.nginx import Nginx, nginx
from tests.support.postgres import Server
from tests.support.processes import WAIT, Process
from tests.support.stream_reader import check_stream, parse_stream

pytestmark = [pytest.mark.e2e, pytest.mark.anyio]

CLIENTS = 100
LONG = 4 * WAIT
STREAM = "/api/chat/stream"
GOING_ON = {"model": "openai/sim", "tools": [], "on_disconnect": "continue"}
# Long enough that every restart happens while each worker has open streams.
PACE = "0.01"


@dataclass
class Workers:
    """One `signalbox serve` per port, like one systemd unit per port."""

    folder: Path
    database_url: str
    access_token: str = ""
    by_port: dict[int, Process] = field(default_factory=dict[int, Process])
    statuses: list[int] = field(default_factory=list[int])

    def start(self, port: int = 0) -> int:
        """Start a worker; return its port when it is ready."""
        life = self.folder / f"life-{len(self.statuses)}-{len(self.by_port)}"
        life.mkdir()
        env = {
            "DATABASE_URL": self.database_url,
            "SIGNALBOX_ADMIN_TOKEN": "the-operators-token",
            "SIGNALBOX_ACCESS_TOKEN": self.access_token,
            "SIGNALBOX_SIMULATOR_PACE": PACE,
            "SIGNALBOX_DRAIN_SECONDS": str(LONG),  # no run is cut, even on a busy machine
        }
        process = Process(["-m", "signalbox", "serve", "--port", str(port)], life, env).ready()
        port = int(process.url.rpartition(":")[2])
        self.by_port[port] = process
        return port

    def restart(self, port: int) -> None:
        """Act like `systemctl restart`: SIGTERM, wait for the exit, start."""
        self.by_port[port].process.send_signal(signal.SIGTERM)
        self.by_port[port].process.wait(LONG)
        self.statuses.append(self.by_port[port].end())
        self.start(port)

    def end(self) -> None:
        for process in self.by_port.values():
            if process.process.poll() is None:
                process.process.send_signal(signal.SIGINT)
                process.end()


@contextmanager
def two_workers(folder: Path, database_url: str, access_token: str = "") -> Iterator[Workers]:
    """Run two workers on one database until the block ends."""
    workers = Workers(folder, database_url, access_token)
    try:
        workers.start()
        workers.start()
        yield workers
    finally:
        workers.end()


@contextmanager
def systemctl(folder: Path, restart: Callable[[int], None]) -> Iterator[str]:
    """Put a fake `systemctl` first in a PATH: `restart signalbox@PORT` restarts a worker, anything else fails."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        program = folder / "systemctl"
        program.write_text(
            f"#!{sys.executable}\n"
            "import re, socket, sys\n"
            r"port = re.fullmatch(r'restart signalbox@(\d+)', ' '.join(sys.argv[1:]))[1]" + "\n"
            f"with socket.create_connection({listener.getsockname()!r}) as line:\n"
            "    line.sendall(port.encode())\n"
            "    sys.exit(line.recv(1) != b'y')\n"
        )
        program.chmod(0o755)

        def obey() -> None:
            while True:
                line, _ = listener.accept()
                with line:
                    if not (port := line.recv(16)):
                        return
                    restart(int(port))
                    line.sendall(b"y")

        thread = Thread(target=obey)
        thread.start()
        try:
            yield os.pathsep.join([str(folder), os.environ["PATH"]])
        finally:
            socket.create_connection(listener.getsockname()).close()
            thread.join(WAIT)


@dataclass
class Crowd:
    """The clients, their requests and their failures."""

    url: str
    access_token: str = ""
    statuses: Counter[str] = field(default_factory=Counter[str])
    faults: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    rounds: Counter[str] = field(default_factory=Counter[str])
    is_enough: asyncio.Event = field(default_factory=asyncio.Event)
    half_way: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, restart: Callable[[], Awaitable[None]]) -> None:
        """Run all clients, restart once each has completed a round, and let each complete its current round."""
        kinds = [self.look, self.ask, self.ask_and_resume, self.ask_twice]
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(self._go_on(kinds[number % len(kinds)], number))
            await asyncio.wait_for(self.half_way.wait(), LONG)
            await restart()
            self.is_enough.set()

    async def _go_on(self, act: Callable[[httpx.AsyncClient, str], Awaitable[None]], number: int) -> None:
        turn = 0
        headers = {"Authorization": f"Bearer {self.access_token}"} if self.access_token else {}
        async with httpx.AsyncClient(
            base_url=self.url, timeout=WAIT, trust_env=False, verify=False, headers=headers
        ) as client:
            client.event_hooks["response"].append(self._count)
            while not self.is_enough.is_set():
                turn += 1
                try:
                    await act(client, f"client {number} asks {turn}")
                except Exception as error:  # noqa: BLE001 - every error is a failure of the test
                    self.faults.append(f"{act.__name__} {number}/{turn}: {error!r}")
                self.rounds[act.__name__] += 1
                if sum(self.rounds.values()) >= CLIENTS:
                    self.half_way.set()

    async def _count(self, answer: httpx.Response) -> None:
        key = " with key" if "idempotency-key" in answer.request.headers else ""
        self.statuses[f"{answer.request.method}{key} {answer.status_code}"] += 1

    async def look(self, client: httpx.AsyncClient, name: str) -> None:
        """Read what any worker can answer."""
        for path in ("/health/live", "/api/runs?limit=1", "/api/tools", "/"):
            answer = await client.get(path)
            assert answer.status_code == 200, (path, answer.status_code, answer.text)

    async def ask(self, client: httpx.AsyncClient, name: str) -> None:
        """Send a question without a key, and read to the end."""
        self.asked.append(name)
        answer = await client.post(STREAM, json={**GOING_ON, "prompt": name})
        assert answer.status_code == 200, (answer.status_code, answer.text)
        assert check_stream(answer.content).done["status"] == "complete"

    async def ask_and_resume(self, client: httpx.AsyncClient, name: str) -> None:
        """Send a question without a key, disconnect in the middle, and resume after the last complete frame."""
        self.asked.append(name)
        seen = b""
        async with client.stream("POST", STREAM, json={**GOING_ON, "prompt": name}) as answer:
            assert answer.status_code == 200, answer.status_code
            run = answer.headers["x-run-id"]
            async for chunk in answer.aiter_raw():
                seen += chunk
                if b'"type":"content"' in seen:
                    break
        seen = seen[: seen.rfind(b"\n\n") + 2]
        rest = await client.get(f"/api/runs/{run}/events", headers={"Last-Event-ID": parse_stream(seen).ids[-1]})
        assert rest.status_code in (200, 204), (rest.status_code, rest.text)
        assert check_stream(seen + rest.content).done["status"] == "complete"

    async def ask_twice(self, client: httpx.AsyncClient, name: str) -> None:
        """Send a question with a key twice in a row: both responses are the same run."""
        self.asked.append(name)
        body, key = {**GOING_ON, "prompt": name}, {"Idempotency-Key": name}
        first, second = [await client.post(STREAM, json=body, headers=key) for _ in range(2)]
        assert (first.status_code, second.status_code) == (200, 200), (first.text, second.text)
        assert first.headers["x-run-id"] == second.headers["x-run-id"]
        assert first.content == second.content
        assert check_stream(first.content).done["status"] == "complete"


@pytest.mark.parametrize("access_token", ["", "letmein-letmein"], ids=["open", "with a token"])
async def test_a_rolling_restart_loses_nothing(
    tmp_path: Path, postgres: Server, postgres_url: str, access_token: str
) -> None:
    """A hundred clients read, ask, resume and repeat questions during the restart of both workers: no request fails."""
    if shutil.which("curl") is None:
        pytest.skip("the documented commands need curl")
    with (
        two_workers(tmp_path, postgres_url, access_token) as workers,
        nginx(tmp_path / "nginx", *workers.by_port) as front,
        systemctl(tmp_path, workers.restart) as path,
    ):
        crowd = Crowd(front.url, access_token)
        await crowd.run(lambda: _as_documented(list(workers.by_port), path))
        print(f"{dict(crowd.statuses)}, {len(_retried(front))} sent to the other worker")  # shown by `pytest -s`
        assert crowd.faults == [], f"{len(crowd.faults)} of {sum(crowd.rounds.values())} rounds"
        assert set(crowd.statuses) <= {"GET 200", "GET 204", "POST 200", "POST with key 200"}
        assert min(crowd.rounds[kind] for kind in ("look", "ask", "ask_and_resume", "ask_twice")) > 0
        assert workers.statuses == [0, 0]
        assert len(_retried(front)) > 0  # nginx noticed the restarts, so the test is meaningful
    asked = Counter(crowd.asked)
    kept = postgres.sql("SELECT question, status FROM runs", database=postgres_url)
    started = Counter(
        name for question, _ in kept for name in set(re.findall(r"client \d+ asks \d+", question.decode()))
    )
    assert started == asked
    assert {status for _, status in kept} == {"complete"}


async def _as_documented(ports: list[int], path: str) -> None:
    """Run the loop of docs/deploy.md with the test's ports."""
    [loop] = [block for block in page("deploy.md").blocks("sh") if "systemctl restart signalbox@" in block]
    assert loop.count("8001 8002") == 1
    script = loop.replace("8001 8002", " ".join(map(str, ports)))
    done = await asyncio.to_thread(
        subprocess.run,
        ["sh", "-ec", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        timeout=2 * LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def _retried(front: Nginx) -> list[str]:
    """Return the requests that nginx sent to a second worker."""
    lines = (json.loads(line) for line in (front.log.parent / "access.log").read_text().splitlines())
    return [line["request_id"] for line in lines if "," in line["worker"]]
