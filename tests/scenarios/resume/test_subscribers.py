"""Many subscribers of one run: none waits for another, and all receive the same bytes."""

import socket
from http.client import HTTPResponse
from queue import SimpleQueue

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import QUESTION, subscribe
from tests.support.scripted_upstream import Exchange, chunk
from tests.support.stream_reader import check_stream

# More than the socket buffers between a run and a stalled client can hold.
PIECES, PIECE = 300, "x" * 50_000


async def floods(exchange: Exchange) -> None:
    """Send one word, wait for the test, then send fifteen megabytes."""
    await exchange.head()
    await exchange.send_text("Go ")
    await exchange.gate_opened()
    for _ in range(PIECES):
        await exchange.send(chunk({"content": PIECE}))
    await exchange.end()


def test_a_slow_subscriber_does_not_delay_others(stage: StartApp) -> None:
    """A subscriber that starts reading after the others have finished still receives every byte."""
    playing = stage(floods)
    with playing.asking({**QUESTION, "tools": []}) as first:
        first.until(b"Go ")
        path = f"/api/runs/{first.run_id}/events"
        with socket.socket() as slow, subscribe(playing.app, "GET", path) as second:
            slow.settimeout(10)
            slow.connect(("127.0.0.1", playing.app.port))
            slow.sendall(b"GET %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % path.encode())
            late = HTTPResponse(slow)
            late.begin()
            assert playing.app.client.get(f"/api/runs/{first.run_id}").json()["watchers"] == 3
            playing.upstream.opened.set()
            whole = first.rest()
            assert second.rest() == whole
            assert playing.app.parts.streams.open == 1
            assert late.read() == whole
    assert len(check_stream(whole).text) == 3 + PIECES * len(PIECE)


def test_a_subscriber_that_left_before_the_first_byte(stage: StartApp) -> None:
    """A client that disconnects immediately leaves no subscriber behind, and its run ends."""
    playing = stage(floods)
    runs, over = playing.app.parts.runs, SimpleQueue[str | None]()
    runs.on_over = lambda run: over.put(run.done and run.done.status)
    body = b'{"model":"openai/sim","prompt":"Hello!","tools":[]}'
    head = b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", playing.app.port)) as hasty:
            hasty.sendall(head + body)
    assert [over.get(timeout=5) for _ in range(20)] == ["cancelled"] * 20
    assert playing.app.call(lambda: playing.app.parts.streams.open) == 0
