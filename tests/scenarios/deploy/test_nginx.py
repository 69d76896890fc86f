"""deploy/nginx.conf in a real nginx in front of `signalbox serve`: streams arrive event by event."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from signalbox.app.asgi import streaming
from signalbox.app.config import Settings
from signalbox.core.codes import Code

from tests.scenarios.crash.restarts import until
from tests.support.nginx import SAMPLE, Nginx, message_of, nginx
from tests.support.processes import Process, serving
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, no_models, says
from tests.support.stream_reader import check_stream, parse_stream

STREAM = "/api/chat/stream"
ASKED = {"model": "openai/sim", "prompt": "Hello!"}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@contextmanager
def serve_behind_nginx(folder: Path, upstream: ScriptedUpstream) -> Iterator[tuple[Nginx, Process]]:
    """Run `signalbox serve` with a provider, and nginx in front of it."""
    env = {"OPENROUTER_BASE_URL": upstream.base_url, "TOOL_LOOP_V2": "true"}
    with serving(folder, env=env) as process, nginx(folder / "nginx", int(process.url.rpartition(":")[2])) as front:
        yield front, process


async def _in_two_pieces(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("one ")
    await exchange.gate_opened()
    await exchange.send_text("two")
    await exchange.end()


async def _until_left(exchange: Exchange) -> None:
    await exchange.head()
    await exchange.send_text("one ")
    await exchange.client_left()


def test_a_stream_comes_event_by_event(tmp_path: Path) -> None:
    """The client reads the first piece before the provider sends the second; a resume gives the rest."""
    with (
        ScriptedUpstream(_in_two_pieces, models=no_models) as upstream,
        serve_behind_nginx(tmp_path, upstream) as (front, _),
        front.client() as client,
    ):
        body = {**ASKED, "on_disconnect": "continue"}
        with client.stream("POST", STREAM, json=body) as answer:
            run_id, chunks = answer.headers["x-run-id"], answer.iter_raw()
            seen = read_until(chunks, b"one ")
            last = parse_stream(seen[: seen.rfind(b"\n\n") + 2]).ids[-1]
            upstream.opened.set()
            seen += b"".join(chunks)
        assert check_stream(seen).text == "one two"
        resumed = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": last})
        assert check_stream(resumed.content, resumed=True).text == "two"


def test_who_leaves_nginx_leaves_the_worker(tmp_path: Path) -> None:
    """A disconnected client stops its run and closes the upstream."""
    with (
        ScriptedUpstream(_until_left, models=no_models) as upstream,
        serve_behind_nginx(tmp_path, upstream) as (front, _),
    ):
        with front.client() as client, client.stream("POST", STREAM, json=ASKED) as answer:
            read_until(answer.iter_raw(), b"one ")
        assert upstream.wait_until(lambda: len(upstream.left) == 1)


def test_pings_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nginx forwards the pings of a silent stream immediately."""
    monkeypatch.setattr(streaming, "PING_SECONDS", 0.05)
    with ScriptedUpstream(_in_two_pieces, models=no_models) as upstream:
        settings = settings_for(tmp_path, openrouter_base_url=upstream.base_url)
        with (
            RunningApp(settings) as app,
            nginx(tmp_path / "nginx", app.port) as front,
            front.client() as client,
            client.stream("POST", STREAM, json=ASKED) as answer,
        ):
            chunks = answer.iter_raw()
            seen = read_until(chunks, b": ping\n\n: ping\n\n")
            upstream.opened.set()
            seen += b"".join(chunks)
    assert check_stream(seen).text == "one two"


def test_a_large_body(tmp_path: Path) -> None:
    """Bodies up to the setting pass; nginx rejects larger ones in the shape of Signalbox's errors."""
    with (
        RunningApp(settings_for(tmp_path)) as app,
        nginx(tmp_path / "nginx", app.port) as front,
        front.client() as client,
    ):
        room = 8 * 1024 * 1024
        fits = client.post("/api/conversations", content=b" " * (room - 2) + b"{}")
        assert fits.is_success, fits.text
        over = client.post(STREAM, content=b"x" * (room + 1))
        assert over.status_code == 413
        assert error_of(over) == {**message_of(Code.BODY_TOO_LARGE), "field": "body"}
        assert "retry-after" not in over.headers


def test_a_page_of_our_own_may_ask(tmp_path: Path) -> None:
    """The Host header keeps its port, so that it matches a browser's Origin; a foreign host is rejected."""
    with (
        RunningApp(settings_for(tmp_path)) as app,
        nginx(tmp_path / "nginx", app.port) as front,
        front.client() as client,
    ):
        assert client.post(STREAM, json=ASKED, headers={"Origin": front.url}).status_code == 200
        refused = client.post(STREAM, json=ASKED, headers={"Origin": "http://127.0.0.1:1"})
        assert error_of(refused)["code"] == "ORIGIN_NOT_ALLOWED"


def test_metrics_are_not_public(tmp_path: Path) -> None:
    """Prometheus scrapes the workers; nginx answers in the shape of Signalbox's errors."""
    token = "the-token-of-prometheus"
    with (
        RunningApp(settings_for(tmp_path, signalbox_metrics_token=token)) as app,
        nginx(tmp_path / "nginx", app.port) as front,
        front.client() as client,
    ):
        headers = {"authorization": f"Bearer {token}"}
        assert app.client.get("/metrics", headers=headers).status_code == 200
        hidden = client.get("/metrics", headers=headers)
        assert (hidden.status_code, error_of(hidden)["code"]) == (404, "NOT_FOUND")
        assert hidden.headers["content-type"] == "application/json"


# --- numbers that must agree with Signalbox's ---


def _figure(name: str) -> int:
    [found] = set(re.findall(rf"^ {{4,8}}{name} (\d+)\w*;", SAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    return int(found)


def test_the_figures_of_the_sample() -> None:
    """Read timeout > ping interval, body limit = setting, and nginx closes idle connections first."""
    assert _figure("proxy_read_timeout") >= 3 * streaming.PING_SECONDS
    assert _figure("client_max_body_size") == Settings.model_fields["signalbox_max_body_mb"].default
    assert _figure("keepalive_timeout") < uvicorn.Config("x:y").timeout_keep_alive


def test_a_request_is_found_in_both_logs(tmp_path: Path) -> None:
    """Nginx takes in or creates the request id, logs it, passes it on, and returns it once, also in its own errors."""
    log = tmp_path / "nginx" / "access.log"
    with (
        ScriptedUpstream(says("Hello."), models=no_models) as upstream,
        serve_behind_nginx(tmp_path, upstream) as (front, process),
    ):
        with front.client() as client:
            headers = {"X-Request-ID": "a-clients-own", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
            answer = client.post(STREAM, json=ASKED, headers=headers)
            refused = client.post(STREAM, json={}, headers={"X-Request-ID": "not {valid}"})
            too_large = client.post(STREAM, content=b"x" * 9_000_000, headers={"X-Request-ID": "large/1"})
        [request_id] = answer.headers.get_list("x-request-id")
        run_id = answer.headers["x-run-id"]
        assert (request_id, too_large.status_code) == ("a-clients-own", 413)
        assert re.fullmatch("[0-9a-f]{32}", refused.headers["x-request-id"])
        assert too_large.headers["x-request-id"] == "large/1"
        # nginx logs a rejected upload only after its lingering close, and a fast shutdown would lose that line.
        until(lambda: len(log.read_text().splitlines()) == 3)
        own = [json.loads(line) for line in process.errors().splitlines()]
    of_nginx = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["request_id"], line["run_id"]) for line in own if line["event"] == "run.finished"] == [
        (request_id, run_id)
    ]
    [ours] = [line for line in own if line["event"] == "request.rejected"]
    assert [(line["request_id"], line["run_id"], line["status"]) for line in of_nginx] == [
        (request_id, run_id, "200"),
        (refused.headers["x-request-id"], "", "422"),
        (too_large.headers["x-request-id"], "", "413"),
    ]
    assert [line["trace_id"] for line in of_nginx] == [TRACE, "", ""]
    assert ours["request_id"] == refused.headers["x-request-id"]
