"""Metrics of two real workers: the same sums at either one, which never fall, also after a worker has died."""

import os
import signal
import threading
from pathlib import Path
from socket import create_server
from typing import Any

import httpx
import pytest

from tests.scenarios.tool_loop.script import fails
from tests.scenarios.workers.test_supervisor import ASK, workers
from tests.support.metrics import Scrape
from tests.support.processes import WAIT, Process, command
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says
from tests.support.stream_reader import check_stream
from tests.support.workers import each_worker, has_ended, within

pytestmark = pytest.mark.e2e

TOKEN = "the-token-of-prometheus"
METRICS: dict[str, Any] = {"SIGNALBOX_METRICS_PORT": "0", "SIGNALBOX_METRICS_TOKEN": TOKEN}
HEADERS = {"authorization": f"Bearer {TOKEN}"}


def metrics_url(process: Process) -> str:
    """Return the address that the start has printed."""
    (line,) = [line for line in process.printed if line.startswith("Metrics are at ")]
    return line.removeprefix("Metrics are at ")


def ask(client: httpx.Client) -> None:
    """Ask a question."""
    assert check_stream(client.post("/api/chat/stream", json=ASK).content).done["status"] == "complete"


def scraped(client: httpx.Client) -> Scrape:
    """Scrape one worker."""
    response = client.get("/metrics", headers=HEADERS)
    assert response.status_code == 200
    return Scrape(response.text)


def fallen(before: dict[str, float], after: dict[str, float]) -> list[str]:
    """Return the counters that are lower than before, or missing."""
    return [name for name, value in before.items() if after.get(name, -1.0) < value]


def test_counters_add_up_at_either_worker_and_survive_one(tmp_path: Path, postgres_url: str) -> None:
    """Each worker has the runs of both. After `kill -9`, the sums stay, and the gauges of the dead worker are gone."""
    with workers(tmp_path, postgres_url, **METRICS) as process:
        with each_worker(process, 2) as clients:
            for times, client in enumerate(clients.values(), 1):
                for _ in range(times):
                    ask(client)
            seen = [scraped(client) for client in clients.values()]
            assert [found.total("runs_total", status="complete", code="ok") for found in seen] == [3, 3]
            assert [found.total("run_duration_seconds_count") for found in seen] == [3, 3]
            assert [found.total("live_runs_limit") for found in seen] == [2000, 2000]
            within(WAIT, lambda: _numbers(clients) == {"1", "2"})
            before = seen[-1].counters()
            victim, other = clients
            os.kill(victim, signal.SIGKILL)
            within(WAIT, lambda: scraped(clients[other]).total("live_runs_limit") != 2000 or _has_new(process, victim))
            assert fallen(before, scraped(clients[other]).counters()) == []
        with each_worker(process, 2) as clients:
            assert victim not in clients
            new = next(pid for pid in clients if pid != other)
            ask(clients[new])
            for client in clients.values():
                found = scraped(client)
                assert found.total("runs_total") == 4
                assert fallen(before, found.counters()) == []
            within(WAIT, lambda: scraped(clients[new]).total("live_runs_limit") == 2000)
            within(WAIT, lambda: _numbers(clients) == {"1", "2"})
        process.process.terminate()
        assert process.end() == 0


def _numbers(clients: dict[int, httpx.Client]) -> set[str]:
    """Return the numbers of the workers that have values of their processes, which all workers must agree on."""
    one, other = (
        {labels["worker"] for labels in scraped(client).labels("process_resident_memory_bytes")}
        for client in clients.values()
    )
    return one & other


def _has_new(process: Process, victim: int) -> bool:
    """Return whether the supervisor has noticed a death."""
    return f'"worker":{victim}' in process.errors()


def test_the_last_answer_of_an_upstream_counts(tmp_path: Path, postgres_url: str) -> None:
    """One worker sees it fail repeatedly, the other one sees it answer; the first sends no request since."""
    is_up = threading.Event()

    async def answers_if_up(exchange: Exchange) -> None:
        await (says("Hi.") if is_up.is_set() else fails(503))(exchange)

    def ask_twice(client: httpx.Client) -> None:
        for _ in range(2):
            assert client.post("/api/chat/stream", json=ASK).status_code == 200

    def available(client: httpx.Client) -> float:
        return scraped(client).total("upstream_available")

    with ScriptedUpstream(answers_if_up) as upstream:
        env: dict[str, Any] = {"OPENROUTER_BASE_URL": upstream.base_url, "OPENROUTER_API_KEY": "sk-or-v1-metrics"}
        with workers(tmp_path, postgres_url, **METRICS, **env) as process, each_worker(process, 2) as clients:
            one, other = clients.values()
            ask_twice(one)
            within(WAIT, lambda: available(one) == available(other) == 0)
            is_up.set()
            ask_twice(other)
            within(WAIT, lambda: available(one) == available(other) == 1)


def test_a_start_removes_the_files_of_a_killed_server(tmp_path: Path, postgres_url: str) -> None:
    """`kill -9` of the supervisor leaves its folder; its workers end, too."""
    folder = tmp_path / "tmp"
    folder.mkdir()

    def folders() -> set[Path]:
        return {*folder.glob("signalbox-metrics-*")}

    with workers(tmp_path, postgres_url, **METRICS, TMPDIR=str(folder)) as process:
        with each_worker(process, 2) as clients:
            pids = [*clients]
        process.process.kill()
        within(WAIT, lambda: all(has_ended(pid) for pid in pids))
    left = folders()
    assert len(left) == 1
    with workers(tmp_path, postgres_url, **METRICS, TMPDIR=str(folder)) as process:
        assert len(folders()) == 1
        assert folders() != left
        process.process.terminate()
        assert process.end() == 0
    assert folders() == set()


def test_the_port_of_metrics_is_shared_by_the_workers(tmp_path: Path, postgres_url: str) -> None:
    """Any worker answers on it, with the token; it closes with the server."""
    with workers(tmp_path, postgres_url, **METRICS) as process:
        with each_worker(process, 2) as clients:
            for client in clients.values():
                ask(client)
        url = metrics_url(process)
        for _ in range(4):
            found = Scrape(httpx.get(url, headers=HEADERS, trust_env=False).text)
            assert found.total("runs_total") == 2
        assert httpx.get(url, trust_env=False).status_code == 401
        process.process.terminate()
        assert process.end() == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url, headers=HEADERS, trust_env=False)


def test_one_process_has_a_port_of_metrics_too(tmp_path: Path) -> None:
    """On loopback, without a token; every other path is a 404."""
    process = Process(["-m", "signalbox", "serve", "--port", "0"], tmp_path, {"SIGNALBOX_METRICS_PORT": "0"}).ready()
    with process.client() as client:
        ask(client)
        assert client.get("/metrics").status_code == 404
        url = metrics_url(process)
        assert url.startswith("http://127.0.0.1:")
        assert Scrape(httpx.get(url, trust_env=False).text).total("runs_total", code="ok") == 1
        base = url.removesuffix("/metrics")
        assert httpx.get(f"{base}/api/runs", trust_env=False).status_code == 404
        assert httpx.post(url, trust_env=False).status_code == 405
        assert httpx.head(url, trust_env=False).status_code == 200
    process.process.terminate()
    assert process.end() == 0


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    """It names the setting to change."""
    with create_server(("127.0.0.1", 0)) as taken:
        env = {"SIGNALBOX_METRICS_PORT": str(taken.getsockname()[1])}
        ended = command("serve", "--port", "0", cwd=tmp_path, env=env)
    told = ended.stderr.decode()
    assert ended.returncode == 2
    assert "is already in use" in told
    assert "SIGNALBOX_METRICS_PORT" in told
