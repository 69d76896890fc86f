"""deploy/nginx.conf in a real nginx: streams arrive event by event, and unsafe retries do not happen."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from signalbox.app.asgi import streaming
from signalbox.app.config import Settings
from signalbox.core.codes import CODES, Code

from tests.project.docs.pages import page
from tests.scenarios.crash.restarts import until
from tests.support.nginx import SAMPLE, Nginx, nginx
from tests.support.processes import Process, serving
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, no_models, says
from tests.support.stream_reader import check_stream, parse_stream

STREAM = "/api/chat/stream"
ASKED = {"model": "openai/sim", "prompt": "Hello!"}
KEYED = {"Idempotency-Key": "k-1"}


@contextmanager
def behind(folder: Path, upstream: ScriptedUpstream) -> Iterator[tuple[Nginx, Process]]:
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
        behind(tmp_path, upstream) as (front, _),
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
        behind(tmp_path, upstream) as (front, _),
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
        assert error_of(over) == {**_sentence(Code.BODY_TOO_LARGE), "field": "body"}
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


def _sentence(code: Code) -> dict[str, str]:
    """Return Signalbox's message for a code."""
    return {"code": code, "message": f"{CODES[code].sentence} {CODES[code].todo}"}


# --- nginx's own behaviour, in front of scripted workers ---


async def _answers(exchange: Exchange) -> None:
    """Return the request, with the second half held back and without a header against buffering.

    The body is not chunked, because nginx forwards chunks even while buffering.
    """
    await exchange.raw(b"HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    await exchange.raw(b"data: " + json.dumps(exchange.asked.headers).encode() + b"\n\n")
    await exchange.gate_opened()
    await exchange.raw(b"data: end\n\n")


async def _dies(exchange: Exchange) -> None:
    """Close the connection after reading the whole request."""
    exchange.writer.close()


async def _has_no_room(exchange: Exchange) -> None:
    body = b'{"error":{"code":"SHUTTING_DOWN","message":"The server is shutting down."}}'
    await exchange.whole(503, body, connection="close")


def _asked(*workers: ScriptedUpstream) -> int:
    return sum(len(worker.asked) + len(worker.catalogues) for worker in workers)


def test_nothing_is_held_back(tmp_path: Path) -> None:
    """The sample turns buffering off, and sets the client's address itself instead of copying the client's header."""
    with (
        ScriptedUpstream(_answers, models=_answers) as worker,
        nginx(tmp_path, worker.port) as front,
        front.client() as client,
        client.stream("GET", "/x", headers={"X-Forwarded-For": "6.6.6.6", "Accept-Encoding": "gzip"}) as answer,
    ):
        assert "content-encoding" not in answer.headers
        chunks = answer.iter_raw()
        told = json.loads(read_until(chunks, b"\n\n").removeprefix(b"data: "))
        worker.opened.set()
        assert b"".join(chunks) == b"data: end\n\n"
        assert told["host"] == f"127.0.0.1:{front.port}"
        assert (told["x-forwarded-for"], told["x-forwarded-proto"]) == ("127.0.0.1", "http")
        assert "connection" not in told


def test_a_dead_worker_is_skipped(tmp_path: Path) -> None:
    """An unreachable worker is skipped: every request is answered by the other one."""
    with (
        socket.socket() as dead,
        ScriptedUpstream(_echo, models=_echo) as living,
    ):
        dead.bind(("127.0.0.1", 0))  # bound and never listening, so no other process gets the port
        with nginx(tmp_path, dead.getsockname()[1], living.port) as front, front.client() as client:
            answers = [client.post("/x", content=b"body", headers=h) for h in ({}, KEYED) * 4]
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"body")] * 8


async def _echo(exchange: Exchange) -> None:
    await exchange.whole(200, exchange.asked.raw, connection="close")


def test_a_question_is_never_sent_twice(tmp_path: Path) -> None:
    """A POST without a key whose worker breaks off gets a 502 and is not sent to another worker."""
    with (
        ScriptedUpstream(_dies, models=_dies) as first,
        ScriptedUpstream(_dies, models=_dies) as second,
        nginx(tmp_path, first.port, second.port) as front,
        front.client() as client,
    ):
        for method in ("POST", "PATCH"):
            before = _asked(first, second)
            assert client.request(method, "/x", content=b"body").status_code == 502
            assert _asked(first, second) == before + 1


@pytest.mark.parametrize("falls", [_dies, _has_no_room])
def test_a_question_with_a_key_goes_to_the_other_worker(tmp_path: Path, falls: Script) -> None:
    """A POST with a key is repeated unchanged at the other worker, so four in a row are answered."""
    with (
        ScriptedUpstream(falls, models=falls) as failing,
        ScriptedUpstream(_echo, models=_echo) as living,
        nginx(tmp_path, failing.port, living.port) as front,
        front.client() as client,
    ):
        for number in range(4):
            answer = client.post(f"/a%20b?n={number}", content=b"x" * 300_000, headers=KEYED)
            assert (answer.status_code, len(answer.content)) == (200, 300_000)
        assert _asked(failing) >= 2  # round robin: it was asked first half of the time
        assert [(one.method, one.path) for one in living.catalogues] == [("POST", f"/a%20b?n={n}") for n in range(4)]
        assert {one.headers["idempotency-key"] for one in living.catalogues} == {"k-1"}


def test_a_503_disables_no_worker(tmp_path: Path) -> None:
    """If every worker answers 503, its message reaches each client; nginx does not turn it into 502."""
    with (
        ScriptedUpstream(_has_no_room, models=_has_no_room) as first,
        ScriptedUpstream(_has_no_room, models=_has_no_room) as second,
        nginx(tmp_path, first.port, second.port) as front,
        front.client() as client,
    ):
        asked = [("POST", "/x", KEYED), ("GET", "/health/ready", {}), ("GET", "/x", {}), ("POST", "/x", {})]
        for method, path, headers in asked * 2:
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, error_of(answer)["code"]) == (503, "SHUTTING_DOWN"), method


@pytest.mark.parametrize("headers", [{}, KEYED], ids=["no key", "key"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("POST", STREAM), ("GET", "/health/ready")])
def test_without_any_worker_the_refusal_is_json(
    tmp_path: Path, method: str, path: str, headers: dict[str, str]
) -> None:
    """Without workers, nginx returns an error like Signalbox's, with Retry-After and a request id."""
    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        port = dead.getsockname()[1]
        with nginx(tmp_path, port, port) as front, front.client() as client:
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, error_of(answer)) == (502, _sentence(Code.SERVER_UNREACHABLE))
            assert answer.headers["retry-after"] == "2"
            assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])
            assert answer.headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in answer.headers


def test_a_worker_that_says_nothing_is_a_504_as_json(tmp_path: Path) -> None:
    """A worker that never answers gives a 504 after the sample's timeout; the question is sent once."""

    async def says_nothing(exchange: Exchange) -> None:
        await exchange.client_left()

    with (
        ScriptedUpstream(says_nothing, models=says_nothing) as worker,
        nginx(tmp_path, worker.port, changes={"proxy_read_timeout 45s;": "proxy_read_timeout 50ms;"}) as front,
        front.client() as client,
    ):
        answer = client.post(STREAM, json=ASKED)
        assert (answer.status_code, error_of(answer)) == (504, _sentence(Code.SERVER_UNREACHABLE))
        assert _asked(worker) == 1


def test_an_allowed_page_can_read_the_refusal(tmp_path: Path) -> None:
    """An allowed origin of the sample can read nginx's error and its headers; others cannot."""
    page_, listed = "https://app.example.org", {"# https://app.example.org": "https://app.example.org"}
    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        with nginx(tmp_path, dead.getsockname()[1], changes=listed) as front, front.client() as client:
            read = client.get("/api/runs", headers={"Origin": page_})
            other = client.get("/api/runs", headers={"Origin": "https://evil.example"})
    assert read.headers["access-control-allow-origin"] == page_
    assert "retry-after" in read.headers["access-control-expose-headers"]
    assert read.headers["vary"] == other.headers["vary"] == "Origin"
    assert not [name for name in other.headers if name.startswith("access-control")]


def test_connections_to_workers_are_kept(tmp_path: Path) -> None:
    """Successive requests use one connection to a worker."""

    async def keeps(exchange: Exchange) -> None:
        exchange.keep = True
        sources.add(exchange.writer.get_extra_info("peername"))
        await exchange.whole(200, b"{}")

    sources: set[object] = set()
    with (
        ScriptedUpstream(keeps, models=keeps) as worker,
        nginx(tmp_path, worker.port) as front,
        front.client() as client,
    ):
        for _ in range(5):
            client.get("/x")
    assert len(sources) == 1


def test_questions_are_counted_where_they_are_to_be(tmp_path: Path) -> None:
    """The rate limit of docs/security.md rejects the 22nd question, with or without a key."""
    [lines] = page("security.md").blocks("nginx")

    async def answers(exchange: Exchange) -> None:
        await exchange.whole(200, b"{}", connection="close")

    with (
        ScriptedUpstream(answers, models=answers) as worker,
        nginx(tmp_path, worker.port, more=lines.replace("60r/m", "1r/m")) as front,
        front.client() as client,
    ):
        got = [client.post(STREAM, json=ASKED, headers=KEYED if n % 2 else {}).status_code for n in range(24)]
        assert got == [200] * 21 + [429] * 3
        refused = client.post(STREAM, json=ASKED)
        assert error_of(refused) == _sentence(Code.TOO_MANY_QUESTIONS)
        assert refused.headers["retry-after"] == "2"
        assert client.get("/api/runs").status_code == 200


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
    """Nginx creates the request id, logs it, passes it on, and returns it once, also in its own errors."""
    log = tmp_path / "nginx" / "access.log"
    with ScriptedUpstream(says("Hello."), models=no_models) as upstream, behind(tmp_path, upstream) as (front, process):
        with front.client() as client:
            answer = client.post(STREAM, json=ASKED, headers={"X-Request-ID": "a-clients-own"})
            refused = client.post(STREAM, json={})
            too_large = client.post(STREAM, content=b"x" * 9_000_000)
        [request_id] = answer.headers.get_list("x-request-id")
        run_id = answer.headers["x-run-id"]
        assert (len(request_id), too_large.status_code) == (32, 413)
        # nginx logs a rejected upload only after its lingering close, and a fast shutdown would lose that line.
        until(lambda: len(log.read_text().splitlines()) == 3)
        own = [json.loads(line) for line in process.errors().splitlines()]
    of_nginx = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["request_id"], line["run_id"]) for line in own if line["event"] == "run"] == [(request_id, run_id)]
    [ours] = [line for line in own if line["event"] == "request.refused"]
    assert [(line["request_id"], line["run_id"], line["status"]) for line in of_nginx] == [
        (request_id, run_id, "200"),
        (refused.headers["x-request-id"], "", "422"),
        (too_large.headers["x-request-id"], "", "413"),
    ]
    assert ours["request_id"] == refused.headers["x-request-id"]
