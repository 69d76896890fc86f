"""deploy/nginx.conf in front of scripted workers: no buffering, no unsafe retries, refusals as JSON."""

import json
import re
import socket
from pathlib import Path

import pytest
from signalbox.core.codes import Code

from tests.project.docs.pages import page
from tests.support.nginx import message_of, nginx
from tests.support.running_app import error_of, read_until
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream

STREAM = "/api/chat/stream"
ASKED = {"model": "openai/sim", "prompt": "Hello!"}
KEYED = {"Idempotency-Key": "k-1"}


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
            assert (answer.status_code, error_of(answer)) == (502, message_of(Code.SERVER_UNREACHABLE))
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
        assert (answer.status_code, error_of(answer)) == (504, message_of(Code.SERVER_UNREACHABLE))
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
        assert error_of(refused) == message_of(Code.TOO_MANY_QUESTIONS)
        assert refused.headers["retry-after"] == "2"
        assert client.get("/api/runs").status_code == 200
