"""`signalbox serve --workers N` on PostgreSQL: separate processes, restarted when killed, stopped together."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.postgres import Server
from tests.support.processes import WAIT, Process, command, environment
from tests.support.running_app import read_until
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, holds
from tests.support.stream_reader import check_stream
from tests.support.workers import each_worker, has_ended, pid_of, within

pytestmark = pytest.mark.e2e

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
TOKEN = "the-operators-token"
KEY = "tool_loop_v2"
OVERRIDE = f"/api/flags/{KEY}"


async def waits(exchange: Exchange) -> None:
    """Begin an answer, and end it when the test allows."""
    await exchange.head()
    await exchange.send_text("So far")
    await exchange.gate_opened()
    await exchange.send_text(", so good.")
    await exchange.end()


@contextmanager
def workers(cwd: Path, database_url: str, *, count: int = 2, port: int = 0, **env: str) -> Iterator[Process]:
    """Serve with this many workers until the block ends."""
    given = {"DATABASE_URL": database_url, "SIGNALBOX_ADMIN_TOKEN": TOKEN, **env}
    process = Process(["-m", "signalbox", "serve", "--port", str(port), "--workers", str(count)], cwd, given)
    try:
        yield process.ready()
    finally:
        if process.process.poll() is None:
            process.process.send_signal(signal.SIGINT)
        process.end()


@contextmanager
def streaming(clients: dict[int, httpx.Client]) -> Iterator[dict[int, tuple[bytes, Iterator[bytes]]]]:
    """Open a stream in each worker; return what was read of each, and the rest."""
    with ExitStack() as stack:
        open_: dict[int, tuple[bytes, Iterator[bytes]]] = {}
        for pid, client in clients.items():
            response = stack.enter_context(client.stream("POST", "/api/chat/stream", json=ASK))
            chunks = response.iter_raw()
            open_[pid] = (read_until(chunks, b"So far"), chunks)
        yield open_


def is_refused(process: Process) -> bool:
    """Return whether a new connection is refused."""
    try:
        socket.create_connection(("127.0.0.1", int(process.url.rpartition(":")[2])), WAIT).close()
    except ConnectionRefusedError:
        return True
    return False


def logged(process: Process, event: str) -> list[dict[str, Any]]:
    """Return the log lines of an event."""
    lines = [json.loads(line) for line in process.errors().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == event]


def test_workers_serve_together_and_a_killed_one_is_back(tmp_path: Path, postgres_url: str) -> None:
    """Two pids answer, the start is logged once; after a kill -9 a new one serves soon, with a log line."""
    with workers(tmp_path, postgres_url) as process:
        assert process.printed.count(f"Signalbox is ready: {process.url} (2 workers)") == 1
        with each_worker(process, 2) as clients:
            victim, other = clients
            os.kill(victim, signal.SIGKILL)
            assert check_stream(clients[other].post("/api/chat/stream", json=ASK).content).done["status"] == "complete"
        with each_worker(process, 2) as clients:
            assert other in clients
            assert victim not in clients
            again = next(pid for pid in clients if pid != other)
            assert check_stream(clients[again].post("/api/chat/stream", json=ASK).content).done["status"] == "complete"
        [died] = logged(process, "worker.died")
        assert (died["worker"], died["status"], died["restart_in"]) == (victim, -signal.SIGKILL, 0)
        assert {line["pid"] for line in logged(process, "run.finished")} == {other, again}
        process.process.terminate()
        assert process.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stop_drains_every_worker(tmp_path: Path, postgres_url: str, number: signal.Signals) -> None:
    """A signal to the parent lets a stream in each worker finish, and refuses connections."""
    with (
        ScriptedUpstream(waits) as upstream,
        workers(tmp_path, postgres_url, OPENROUTER_BASE_URL=upstream.base_url) as process,
        each_worker(process, 2) as clients,
        streaming(clients) as streams,
    ):
        process.process.send_signal(number)
        within(WAIT, lambda: is_refused(process))
        upstream.opened.set()
        for seen, rest in streams.values():
            heard = check_stream(seen + b"".join(rest))
            assert (heard.done["status"], heard.text) == ("complete", "So far, so good.")
        assert process.end() == 0
        assert all(has_ended(pid) for pid in clients)
        assert len(logged(process, "runs.draining")) == 2
        assert not logged(process, "worker.died")


def test_sighup_reloads_the_upstreams_of_every_worker(tmp_path: Path, postgres_url: str) -> None:
    """With a file of upstreams, the parent forwards the signal, and no worker stops."""
    with ScriptedUpstream(waits) as upstream:
        file = tmp_path / "upstreams.toml"
        entry = f'[[upstream]]\nname = "one"\ndialect = "openai-chat"\nbase_url = "{upstream.base_url}"\n'
        file.write_text(entry, encoding="utf-8")
        upstream.opened.set()
        with workers(tmp_path, postgres_url, SIGNALBOX_UPSTREAMS=str(file)) as process:
            with each_worker(process, 2) as clients:
                file.write_text(entry.replace("one", "another"), encoding="utf-8")
                process.process.send_signal(signal.SIGHUP)
                within(WAIT, lambda: len(logged(process, "upstreams.reloaded")) == 2)
                for client in clients.values():
                    heard = check_stream(client.post("/api/chat/stream", json=ASK).content)
                    assert heard.done["upstream"] == "another"
            assert {line["pid"] for line in logged(process, "upstreams.reloaded")} == {*clients}
            assert not logged(process, "runs.draining")


@pytest.mark.parametrize(("numbers", "status"), [([signal.SIGTERM, signal.SIGTERM], 0), ([signal.SIGINT], 130)])
def test_a_hurried_stop_tells_every_stream(
    tmp_path: Path, postgres_url: str, numbers: list[signal.Signals], status: int
) -> None:
    """A second SIGTERM, or Ctrl-C, ends the drain of all workers; every subscriber receives an ending."""
    # A grace period longer than any wait of this test, so whatever ends did not wait for it.
    drain = str(2 * WAIT)
    with (
        ScriptedUpstream(holds) as upstream,
        workers(
            tmp_path, postgres_url, OPENROUTER_BASE_URL=upstream.base_url, SIGNALBOX_DRAIN_SECONDS=drain
        ) as process,
        each_worker(process, 2) as clients,
        streaming(clients) as streams,
    ):
        *first, last = numbers
        for number in first:
            process.process.send_signal(number)
            within(WAIT, lambda: len(logged(process, "runs.draining")) == 2)
        process.process.send_signal(last)
        for seen, rest in streams.values():
            heard = check_stream(seen + b"".join(rest))
            assert (heard.done["status"], heard.done["code"]) == ("interrupted", "SERVER_SHUTDOWN")
        assert process.end() == status


def test_a_stopping_worker_serves_what_still_comes_to_it(tmp_path: Path, postgres_url: str) -> None:
    """The port closes; a request on an open connection is answered, and that connection closes."""
    with (
        workers(tmp_path, postgres_url, count=1) as process,
        process.client(limits=httpx.Limits(max_connections=1)) as kept,
    ):
        assert kept.get("/health/live").status_code == 200
        process.process.terminate()
        within(WAIT, lambda: is_refused(process))
        answer = kept.post("/api/chat/stream", json=ASK)
        assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        assert check_stream(answer.content).done["status"] == "complete"
        assert process.end() == 0


def test_signals_to_all_processes_at_once_are_one_stop(tmp_path: Path, postgres_url: str) -> None:
    """Both systemd and `timeout` signal the whole group: this is no second signal, and streams finish."""
    with (
        ScriptedUpstream(waits) as upstream,
        workers(tmp_path, postgres_url, OPENROUTER_BASE_URL=upstream.base_url) as process,
        each_worker(process, 2) as clients,
        streaming(clients) as streams,
    ):
        process.process.terminate()
        within(WAIT, lambda: len(logged(process, "runs.draining")) == 2)
        for pid in clients:
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGINT)
        upstream.opened.set()
        for seen, rest in streams.values():
            assert check_stream(seen + b"".join(rest)).done["status"] == "complete"
        assert process.end() == 0


def test_workers_do_not_outlive_their_parent(tmp_path: Path, postgres_url: str) -> None:
    """If the parent is killed, workers release the port immediately, finish their runs, and exit."""
    with (
        ScriptedUpstream(waits) as upstream,
        workers(tmp_path, postgres_url, OPENROUTER_BASE_URL=upstream.base_url) as process,
        each_worker(process, 2) as clients,
        streaming(clients) as streams,
    ):
        process.process.kill()
        # Both at once: the second does not wait for the first one's stream.
        within(WAIT, lambda: len(logged(process, "runs.draining")) == 2)
        port = int(process.url.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):
            pass
        upstream.opened.set()
        for seen, rest in streams.values():
            assert check_stream(seen + b"".join(rest)).done["status"] == "complete"
        within(WAIT, lambda: all(has_ended(pid) for pid in clients))
        assert {line["pid"] for line in logged(process, "worker.orphaned")} == set(clients)


def test_an_override_acts_on_all_workers_within_a_second(tmp_path: Path, postgres: Server, postgres_url: str) -> None:
    """The next run of every worker follows an override, also without a notification."""
    with workers(tmp_path, postgres_url) as process, each_worker(process, 2) as clients:

        def stand(state: str) -> bool:
            return all(client.get(OVERRIDE).json()["state"] == state for client in clients.values())

        def loops() -> set[str]:
            asked = [client.post("/api/chat/stream", json=ASK) for client in clients.values()]
            return {response.headers["x-tool-loop"] for response in asked}

        assert loops() == {"v2"}
        for client, state, loop in zip(clients.values(), ("off", "on"), ("legacy", "v2"), strict=True):
            pulled = client.put(OVERRIDE, json={"state": state}, headers={"authorization": f"Bearer {TOKEN}"})
            assert pulled.json()["state"] == state
            within(WAIT, partial(stand, state))
            assert loops() == {loop}
        # Without the product's code, so that no notification is sent.
        postgres.sql("UPDATE shared SET value = $1 WHERE name = $2", b'{"state":"on"}', KEY, database=postgres_url)
        within(WAIT, partial(stand, "on"))
        assert loops() == {"v2"}
        assert {pid_of(client) for client in clients.values()} == set(clients)


def test_the_override_of_the_folder_is_migrated(tmp_path: Path, postgres_url: str) -> None:
    """Moving from SQLite to PostgreSQL keeps the override; afterwards the database stores it."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tool_loop_v2.json").write_text('{"state":"percent","percent":30}')
    with workers(tmp_path, postgres_url, count=2) as process, each_worker(process, 2) as clients:
        assert [client.get(OVERRIDE).json()["percent"] for client in clients.values()] == [30, 30]


def test_a_database_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    """For any number of workers, one error says that the database does not answer; exit status 2."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"postgresql://someone:canary@127.0.0.1:{free.getsockname()[1]}/none"
    ended = command("serve", "--port", "0", "--workers", "3", cwd=tmp_path, env={"DATABASE_URL": url})
    told = ended.stderr.decode()
    assert ended.returncode == 2, told
    assert told.count("signalbox: The database") == 1
    assert "canary" not in told
    assert ended.stdout == b""


_FALLING = """
import sys
from signalbox.server import supervisor
from signalbox.app.logs.setup import configure_logs

supervisor._FIRST_WAIT = 0.01
configure_logs()

def work(link):
    if sys.argv[1] == "at work":
        link.report_ready(["a line"])
    return 3

held = supervisor.Supervisor(2, work, on_ready=lambda lines: print(*lines), on_stop=print, drain_seconds=1)
sys.exit(held.run())
"""


@pytest.mark.parametrize("when", ["at work", "at the start"])
def test_workers_that_always_fall_are_given_up(when: str) -> None:
    """Each early exit delays the next start longer, and after five per slot the server exits with status 2.

    The very first worker reports itself why it cannot start, and is not restarted.
    """
    ended = subprocess.run(
        [sys.executable, "-c", _FALLING, when], env=environment(), capture_output=True, timeout=WAIT, check=False
    )
    assert ended.returncode == 2
    lines = ended.stderr.decode().splitlines()
    if when == "at the start":
        assert lines == []
        return
    assert lines.pop() == "signalbox: all workers keep dying, so the server stops; the log lines above say why."
    pauses = [json.loads(line)["restart_in"] for line in lines]
    assert pauses[0] == 0
    assert set(pauses) >= {0, 0.01, 0.02, 0.04, 0.08}
    # One slot may exit once more while the other reaches its fifth.
    assert all(pauses.count(pause) == 2 for pause in (0, 0.01, 0.02, 0.04, 0.08))
