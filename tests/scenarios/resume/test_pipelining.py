"""Clients that send further requests before their stream has ended: their disconnects are noticed."""

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
    """Send one word, wait for the test, then send many."""
    await exchange.head()
    await exchange.send_text("Go ")
    await exchange.gate_opened()
    for number in range(WORDS):
        await exchange.send_text(f"{number} ")
    await exchange.end()


async def falls_silent(exchange: Exchange) -> None:
    """Send one word, then nothing until the client disconnects."""
    await exchange.head()
    await exchange.send_text("Go ")
    await exchange.client_left()


def following(run_id: str | None) -> bytes:
    """Return a request for a run's events."""
    return f"GET /api/runs/{run_id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


def asking() -> bytes:
    """Return a question whose run ends with its client."""
    body = json.dumps({"model": "openai/sim", "prompt": "Hello!", "tools": []}).encode()
    return b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def connect(playing: RestartableApp, first: bytes, queued: bytes, *, later: bool = False) -> socket.socket:
    """Send a request and others with it or later, and read until the first text of the first response."""
    client = socket.create_connection(("127.0.0.1", playing.app.port), timeout=10)
    client.sendall(first if later else first + queued)
    heard = b""
    while b"Go " not in heard:
        heard += client.recv(65536)
    if later:
        client.sendall(queued)
    return client


def leave(client: socket.socket, *, hard: bool) -> None:
    """Close a connection, or reset it."""
    if hard:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@pytest.mark.parametrize("hard", [False, True])
def test_a_leaving_subscriber_does_not_affect_others(stage: StartApp, hard: bool) -> None:
    """The run continues, and another subscriber receives every word."""
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
    """The run ends immediately, although the model is silent and no write fails."""
    playing = stage(falls_silent)
    over = SimpleQueue[str | None]()
    playing.app.parts.runs.on_over = lambda run: over.put(run.done and run.done.status)
    leave(connect(playing, asking(), HEALTH * queued, later=later), hard=hard)
    assert over.get(timeout=5) == "cancelled"


@pytest.mark.parametrize("said", [b"", b"GET /health/li", HEALTH])
def test_one_who_asks_nothing_may_leave(stage: StartApp, said: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Port checks, half requests and finished requests cause no error when they disconnect."""
    playing = stage(speaks)
    for hard in (False, True):
        client = socket.create_connection(("127.0.0.1", playing.app.port), timeout=10)
        client.sendall(said)
        assert said != HEALTH or client.recv(65536).startswith(b"HTTP/1.1 200")
        leave(client, hard=hard)
    assert playing.app.client.get("/health/live").status_code == 200  # after them, on the same loop
    assert caplog.records == []


@pytest.mark.parametrize("queued", [1, 20])
def test_one_who_stays_is_answered_in_order(stage: StartApp, queued: int) -> None:
    """More can be sent than is read ahead; queued requests are answered after the stream."""
    playing = stage(speaks)
    with connect(playing, asking(), HEALTH * queued) as client:
        playing.upstream.opened.set()
        heard = b""
        while heard.count(b'"status":"live"') < queued:
            piece = client.recv(65536)
            assert piece, heard[-500:]
            heard += piece
    assert heard.rindex(b'"type":"done"') < heard.index(b'"status":"live"')
