"""Clients that send the next request before their stream has ended: whoever leaves is noticed, and harms nobody."""

import json
import socket
import struct
from queue import SimpleQueue

import pytest

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import QUESTION, RestartableApp
from tests.support.scripted_upstream import Exchange
from tests.support.stream_reader import check_stream

WORDS = 50
HEALTH = b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def speaks(exchange: Exchange) -> None:
    """Say a word, wait for the test, then say many."""
    await exchange.head()
    await exchange.send_text("Go ")
    await exchange.gate_opened()
    for number in range(WORDS):
        await exchange.send_text(f"{number} ")
    await exchange.end()


async def falls_silent(exchange: Exchange) -> None:
    """Say a word, and nothing more until the reader has gone."""
    await exchange.head()
    await exchange.send_text("Go ")
    await exchange.client_left()


def following(run_id: str | None) -> bytes:
    """Write a request for a run's events."""
    return f"GET /api/runs/{run_id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


def asking() -> bytes:
    """Write a question whose run ends with its reader."""
    body = json.dumps({"model": "openai/sim", "prompt": "Hello!", "tools": []}).encode()
    return b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def connect(playing: RestartableApp, first: bytes, queued: bytes, *, later: bool = False) -> socket.socket:
    """Send a request and others right behind it, or later, and read until the first word of the first answer."""
    client = socket.create_connection(("127.0.0.1", playing.app.port), timeout=10)
    client.sendall(first if later else first + queued)
    heard = b""
    while b"Go " not in heard:
        heard += client.recv(65536)
    if later:
        client.sendall(queued)
    return client


def leave(client: socket.socket, *, hard: bool) -> None:
    """Close a connection, or break it."""
    if hard:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize("hard", [False, True])
def test_one_who_follows_and_leaves_harms_nobody(stage: StartApp, hard: bool) -> None:
    """Its run goes on, and another reader has every word."""
    playing = stage(speaks)
    with playing.asking({**QUESTION, "tools": []}) as first:
        first.until(b"Go ")
        leave(connect(playing, following(first.run_id), HEALTH), hard=hard)
        playing.upstream.opened.set()
        whole = check_stream(first.rest())
    assert (whole.done["status"], len(whole.text.split())) == ("complete", WORDS + 1)
    assert playing.app.call(lambda: playing.app.parts.streams.open) == 0


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("queued", [1, 3])
@pytest.mark.parametrize("later", [False, True])
def test_one_who_asks_and_leaves_ends_the_run(stage: StartApp, hard: bool, queued: int, later: bool) -> None:
    """At once, though the model says nothing more, so that no write finds out."""
    playing = stage(falls_silent)
    over = SimpleQueue[str | None]()
    playing.app.parts.runs.on_over = lambda run: over.put(run.done and run.done.status)
    leave(connect(playing, asking(), HEALTH * queued, later=later), hard=hard)
    assert over.get(timeout=5) == "cancelled"


@pytest.mark.parametrize("said", [b"", b"GET /health/li", HEALTH])
def test_one_who_asks_nothing_may_leave(stage: StartApp, said: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever looks whether a port is open, sends half a request, or has been answered."""
    playing = stage(speaks)
    for hard in (False, True):
        client = socket.create_connection(("127.0.0.1", playing.app.port), timeout=10)
        client.sendall(said)
        assert said != HEALTH or client.recv(65536).startswith(b"HTTP/1.1 200")
        leave(client, hard=hard)
    assert playing.app.client.get("/health/live").status_code == 200  # behind them, on the same loop
    assert caplog.records == []


@pytest.mark.parametrize("queued", [1, 20])
def test_one_who_stays_is_answered_in_order(stage: StartApp, queued: int) -> None:
    """More may be sent than is read ahead; what is behind the stream is answered behind it."""
    playing = stage(speaks)
    with connect(playing, asking(), HEALTH * queued) as client:
        playing.upstream.opened.set()
        heard = b""
        while heard.count(b'"status":"live"') < queued:
            piece = client.recv(65536)
            assert piece, heard[-500:]
            heard += piece
    assert heard.rindex(b'"type":"done"') < heard.index(b'"status":"live"')
