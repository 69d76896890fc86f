"""SIGTERM drains: new runs are rejected, running ones finish or end resumable, and all are on disk."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.scenarios.crash.restarts import STREAM, until
from tests.support.processes import WAIT, Process
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, says
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream

pytestmark = pytest.mark.e2e

ASK = {"model": "openai/sim", "prompt": "Hello!", "tools": []}
ENDED_BY_US = ("interrupted", "SERVER_SHUTDOWN")
# A grace period longer than any wait of these tests, so whatever ends did not wait for it.
LONG = 2 * WAIT


async def half(exchange: Exchange) -> None:
    """Send half, and the rest once the test opens the gate; ends on a disconnect."""
    await exchange.head()
    await exchange.send_text("First ")
    await exchange.gate_opened()
    await exchange.send_text("second.")
    await exchange.end()


@contextmanager
def server(folder: Path, upstream: ScriptedUpstream, seconds: float = LONG) -> Iterator[Process]:
    """Serve on a data folder; kill the server if the test has not ended it."""
    env = {"OPENROUTER_BASE_URL": upstream.base_url, "SIGNALBOX_DRAIN_SECONDS": str(seconds)}
    process = Process(["-m", "signalbox", "serve", "--port", "0"], folder, env)
    try:
        yield process.ready()
    finally:
        process.process.kill()
        process.end()


@contextmanager
def asked(process: Process, key: str = "a key") -> Iterator[tuple[httpx.Response, Iterator[bytes], bytes]]:
    """Send a question on a separate connection, and read until the first text has arrived."""
    with process.client() as client:
        headers = {"Idempotency-Key": key}
        with client.stream("POST", STREAM, json=ASK, headers=headers) as response:
            chunks = response.iter_raw()
            yield response, chunks, read_until(chunks, b"First ")


def ending(heard: ParsedStream) -> tuple[str, str | None]:
    """Return status and code of a stream."""
    return heard.done["status"], heard.done.get("code")


def replayed(process: Process, run_id: str, **headers: str) -> bytes:
    """Replay a run from another process."""
    with process.client() as client:
        response = client.get(f"/api/runs/{run_id}/events", headers=headers)
        assert response.status_code == 200, response.text
        return response.content


def test_runs_under_way_finish_while_no_new_one_starts(tmp_path: Path) -> None:
    """After the signal, new runs are rejected; streams, resumes and stops work until the last run has finished."""
    with ScriptedUpstream(half) as upstream:
        with server(tmp_path, upstream) as process:
            with (
                process.client() as client,
                asked(process, "one") as (one, rest, seen),
                asked(process, "two") as (two, others, begun),
            ):
                process.process.send_signal(signal.SIGTERM)
                until(lambda: client.get("/health/ready").status_code == 503)
                ready = client.get("/health/ready").json()
                assert ready["checks"] == {"data_folder": True, "database": True, "upstream": True, "accepting": False}
                assert client.get("/health/live").status_code == 200

                refused = client.post(STREAM, json=ASK)
                assert (refused.status_code, error_of(refused)["code"]) == (503, "SHUTTING_DOWN")
                with client.stream("POST", STREAM, json=ASK, headers={"Idempotency-Key": "one"}) as again:
                    assert again.headers["x-run-id"] == one.headers["x-run-id"]
                    assert read_until(again.iter_raw(), b"First ") == seen

                stopped = client.post(f"/api/runs/{two.headers['x-run-id']}/stop").json()
                assert (stopped["stopped"], stopped["status"]) == (True, "cancelled")
                assert ending(check_stream(begun + b"".join(others))) == ("cancelled", None)

                with (
                    process.client() as second,
                    second.stream("GET", f"/api/runs/{one.headers['x-run-id']}/events") as resumed,
                ):
                    again_from_start = resumed.iter_raw()
                    assert read_until(again_from_start, b"First ") == seen
                    upstream.opened.set()
                    whole = seen + b"".join(rest)
                    assert seen + b"".join(again_from_start) == whole
            assert process.end() == 0
        assert (ending(check_stream(whole)), parse_stream(whole).text) == (("complete", None), "First second.")
        assert "Traceback" not in process.errors()
        assert len(upstream.asked) == 2


def test_what_does_not_finish_ends_resumable(tmp_path: Path) -> None:
    """After the grace period, remaining runs end with their streams informed, and the next process replays them."""
    with ScriptedUpstream(half, says("Never asked.")) as upstream:
        with server(tmp_path, upstream, 0.5) as process:
            with asked(process) as (response, rest, seen):
                told = time.monotonic()
                process.process.send_signal(signal.SIGTERM)
                whole = seen + b"".join(rest)
            assert time.monotonic() - told >= 0.5
            assert process.end() == 0
        heard = check_stream(whole)
        assert (ending(heard), heard.text, heard.warnings) == (ENDED_BY_US, "First ", ["SERVER_SHUTDOWN"])
        run_id = response.headers["x-run-id"]
        with server(tmp_path, upstream) as process:
            assert replayed(process, run_id) == whole
            assert seen + replayed(process, run_id, **{"Last-Event-ID": parse_stream(seen).ids[-1]}) == whole
            with process.client() as client:
                assert client.post(STREAM, json=ASK, headers={"Idempotency-Key": "a key"}).content == whole
                assert client.get(f"/api/runs/{run_id}").json()["done"]["code"] == "SERVER_SHUTDOWN"
        assert len(upstream.asked) == 1


@pytest.mark.parametrize(
    ("signals", "status"),
    [
        ([signal.SIGTERM, signal.SIGTERM], 0),
        ([signal.SIGINT], 130),
        ([signal.SIGTERM, signal.SIGINT], 130),
    ],
    ids=lambda value: "-".join(item.name for item in value) if isinstance(value, list) else str(value),
)
def test_a_second_signal_and_ctrl_c_end_the_drain(tmp_path: Path, signals: list[signal.Signals], status: int) -> None:
    """A second signal or Ctrl-C ends the drain, and every stream receives its ending."""
    with ScriptedUpstream(half) as upstream, server(tmp_path, upstream) as process:
        with process.client() as client, asked(process) as (_, rest, seen):
            for place, number in enumerate(signals, 1):
                process.process.send_signal(number)
                if place < len(signals):  # two equal signals at once count as one
                    until(lambda: client.get("/health/ready").status_code == 503)
            heard = check_stream(seen + b"".join(rest))
        assert process.end() == status
        assert (ending(heard), heard.text) == (ENDED_BY_US, "First ")
        assert "Traceback" not in process.errors()


def test_a_closed_terminal_drains(tmp_path: Path) -> None:
    """SIGHUP drains like SIGTERM."""
    with ScriptedUpstream(half) as upstream, server(tmp_path, upstream) as process:
        with process.client() as client, asked(process) as (_, rest, seen):
            process.process.send_signal(signal.SIGHUP)
            until(lambda: client.get("/health/ready").status_code == 503)
            upstream.opened.set()
            assert ending(check_stream(seen + b"".join(rest))) == ("complete", None)
        assert process.end() == 0


def test_an_idle_server_ends_at_once(tmp_path: Path) -> None:
    """Without runs, the server exits immediately."""
    with ScriptedUpstream(half) as upstream, server(tmp_path, upstream) as process:
        process.process.send_signal(signal.SIGTERM)
        assert process.end() == 0
