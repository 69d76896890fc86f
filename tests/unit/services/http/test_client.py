"""The upstream client against scripted servers on loopback, under asyncio and under uvloop."""

import asyncio
import inspect
import re
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

import httpcore
import httpx
import pytest
import respx
from httpcore._async.connection_pool import AsyncPoolRequest
from signalbox.services.fetch import PageFetcher
from signalbox.services.http import client as http_client
from signalbox.services.http import connect, connection
from signalbox.services.http.client import Pool, Transport, ask, make_client
from signalbox.services.http.connection import Http1Connection
from signalbox.services.http.protocol import MAX_BUFFERED
from signalbox.services.http.request import Form, Post

from tests.conftest import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

PEM = ROOT / "tests/support/data/loopback.pem"
OK = b"HTTP/1.1 200 OK\r\n"
TWO = OK + b"content-length: 2\r\n\r\nok"
STREAM = OK + b"transfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"

ADVICE = "client, connection, pool and request lean on private parts of httpx 0.28.1 and httpcore 1.0.9: see there."

Script = Callable[["Peer"], Awaitable[None]]


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Run each test on both event loops the app may be served on."""
    return ("asyncio", {"use_uvloop": request.param})


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the proxies of whoever runs the tests out of them."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@dataclass
class Peer:
    """One accepted connection, as the script sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    upstream: "Upstream"

    async def request(self) -> bytes:
        """Read one request, head and body; b"" when the client is gone."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        body = b""
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                body = await self.reader.readexactly(int(line.split(b":")[1]))
            if line == b"transfer-encoding: chunked":
                body = await self.reader.readuntil(END)
        self.upstream.requests.append(head + body)
        return head + body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the client has closed its side."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass
        self.upstream.left.set()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class Upstream:
    """A server that plays one script per connection."""

    script: Script
    tls: ssl.SSLContext | None = None
    connections: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    left: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])
    port: int = 0

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = Peer(reader, writer, self.connections, self)
        self.tasks.append(asyncio.get_running_loop().create_task(self.play(peer)))

    async def play(self, peer: Peer) -> None:
        try:
            await self.script(peer)
        except ConnectionError:
            pass
        finally:
            peer.writer.close()

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self.accept, "127.0.0.1", 0, ssl=self.tls, limit=2**24)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for task in self.tasks:
            task.cancel()
        results = await asyncio.gather(*self.tasks, return_exceptions=True)
        assert [r for r in results if isinstance(r, Exception)] == []
        await self.server.wait_closed()

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/v1/chat"


def answering(*answers: bytes) -> Script:
    """Answer the requests of a connection in turn, the last one for ever."""

    async def script(peer: Peer) -> None:
        turn = 0
        while await peer.request():
            await peer.send(answers[min(turn, len(answers) - 1)])
            turn += 1

    return script


def closing_after(*parts: bytes) -> Script:
    """Answer one request with these bytes and close."""

    async def script(peer: Peer) -> None:
        if await peer.request():
            await peer.send(b"".join(parts))

    return script


def pool_of(client: httpx.AsyncClient) -> Pool:
    """Look at our pool inside a client."""
    transport = client._transport_for_url(httpx.URL("http://127.0.0.1"))
    assert isinstance(transport, Transport)
    assert isinstance(transport._pool, Pool)
    return transport._pool


async def read(client: httpx.AsyncClient, url: str, pieces: list[bytes], heard: asyncio.Event | None = None) -> None:
    """Stream a response into `pieces`, and say when something was heard."""
    async with client.stream("GET", url) as response:
        async for piece in response.aiter_raw():
            pieces.append(piece)
            if heard is not None:
                heard.set()


async def turn_until(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until something holds."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  what the client has done has no event of its own
            await asyncio.sleep(0)


# What is handed out


async def test_one_network_read_is_one_piece() -> None:
    """Forty HTTP chunks that arrive together come out as one bytes object."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM)
        await turn_until(go.is_set)
        await peer.send(b"".join(b"8\r\ndata: x\n\r\n"[:13] for _ in range(40)) + END)
        await peer.gone()

    go = asyncio.Event()
    async with Upstream(script) as upstream, make_client() as client, client.stream("GET", upstream.url) as response:
        go.set()
        assert [piece async for piece in response.aiter_raw()] == [b"data: x\n" * 40]


async def test_each_event_leaves_as_it_arrives() -> None:
    """A piece is handed out before the next one is sent."""
    heard = asyncio.Semaphore(0)

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM)
        for _ in range(3):
            await peer.send(b"3\r\nabc\r\n")
            await heard.acquire()
        await peer.send(END)
        await peer.gone()

    async with Upstream(script) as upstream, make_client() as client, client.stream("GET", upstream.url) as response:
        pieces = []
        async for piece in response.aiter_raw():
            pieces.append(piece)
            heard.release()
        assert pieces == [b"abc"] * 3


async def test_compression_is_declined() -> None:
    """The request says accept-encoding: identity unless the caller says otherwise."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        await client.get(upstream.url)
        await client.get(upstream.url, headers={"accept-encoding": "gzip"})
    assert b"accept-encoding: identity\r\n" in upstream.requests[0].lower()
    assert b"accept-encoding: gzip\r\n" in upstream.requests[1].lower()


GOOD = {
    "length": (TWO, 200, b"ok", True),
    "chunked": (STREAM + b"2\r\nok\r\n" + END, 200, b"ok", True),
    "chunk extension": (STREAM + b"2;a=b\r\nok\r\n" + END, 200, b"ok", True),
    "blank after the chunk size": (STREAM + b"2 \r\nok\r\n" + END, 200, b"ok", True),
    "trailers": (STREAM + b"2\r\nok\r\n0\r\nx-cost: 1\r\n\r\n", 200, b"ok", True),
    "bare line feeds": (b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok", 200, b"ok", True),
    "no reason": (b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", True),
    "100 and 103 first": (b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + TWO, 200, b"ok", True),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    "304 with a length": (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, b"", True),
    "empty": (OK + b"content-length: 0\r\n\r\n", 200, b"", True),
    "error status": (b"HTTP/1.1 429 Slow Down\r\ncontent-length: 2\r\n\r\nok", 429, b"ok", True),
    "Connection: close": (OK + b"connection: close\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", False),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", False),
    "HTTP/1.0 kept": (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok", 200, b"ok", True),
    "two lengths": (OK + b"content-length: 9\r\n" + STREAM[len(OK) :] + b"2\r\nok\r\n" + END, 200, b"ok", False),
    "more than the length": (TWO + b"HTTP/1.1 200 OK\r\n", 200, b"ok", False),
    "garbage after the end": (TWO + b"?!", 200, b"ok", False),
    "body of a 304": (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\nok", 304, b"", False),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
async def test_odd_but_whole_responses_are_understood(name: str) -> None:
    """Each way to frame a response gives its body, and the connection is used again only where that is safe."""
    raw, status, body, kept = GOOD[name]
    async with Upstream(answering(raw)) as upstream, make_client() as client:
        for _ in range(2):
            response = await client.get(upstream.url)
            assert (response.status_code, response.content) == (status, body)
        assert upstream.connections == (1 if kept else 2)


@pytest.mark.parametrize("head", [OK + b"\r\n", b"HTTP/1.0 200 OK\r\n\r\n", OK + b"transfer-encoding: gzip\r\n\r\n"])
async def test_a_body_without_length_ends_with_the_connection(head: bytes) -> None:
    """Where nothing says how long the body is, the close is its end and no error."""
    async with Upstream(closing_after(head, b"all of it")) as upstream, make_client() as client:
        assert (await client.get(upstream.url)).content == b"all of it"
        assert pool_of(client).connections == []


@pytest.mark.parametrize(("body", "connections"), [(b"", 1), (b"no", 2)])
async def test_head_has_a_length_and_no_body(body: bytes, connections: int) -> None:
    """HEAD ends with the headers whatever length they promise; a body that comes all the same costs the connection."""
    async with Upstream(answering(OK + b"content-length: 999\r\n\r\n" + body)) as upstream, make_client() as client:
        for _ in range(2):
            response = await client.head(upstream.url)
            assert (response.headers["content-length"], response.content) == ("999", b"")
        assert upstream.connections == connections


# What is refused


BAD = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "garbage status": b"HTTP/1.1 2x0 OK\r\n\r\n",
    "garbage version": b"HTTP/9 200 OK\r\n\r\n",
    "nothing": b"",
    "cut head": OK + b"content-le",
    "only 100": b"HTTP/1.1 100 Continue\r\n\r\n",
    "101": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
    "blank in a header name": OK + b"x y: 1\r\ncontent-length: 2\r\n\r\nok",
    "bad length": OK + b"content-length: two\r\n\r\nok",
    "unequal lengths": OK + b"content-length: 2\r\ncontent-length: 3\r\n\r\nok",
    "cut length": OK + b"content-length: 9\r\n\r\nok",
    "cut chunks": STREAM + b"2\r\nok\r\n",
    "cut chunk": STREAM + b"9\r\nok",
    "cut end": STREAM + b"2\r\nok\r\n0\r\n",
    "bad chunk size": STREAM + b"2\r\nok\r\nzz\r\nok\r\n" + END,
    "bad chunk end": STREAM + b"2\r\nokay\r\n" + END,
    "header flood": OK + b"".join(b"x-%d: %s\r\n" % (n, b"v" * 80) for n in range(900)) + b"content-length: 0\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD)
async def test_broken_responses_are_errors(name: str) -> None:
    """A response that breaks the protocol or is cut short raises RemoteProtocolError and its connection is closed."""
    async with Upstream(closing_after(BAD[name])) as upstream, make_client() as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(upstream.url)
        assert pool_of(client).connections == []
        assert upstream.connections == 1


async def outcome(client: httpx.AsyncClient, url: str) -> tuple[int, bytes] | type[Exception]:
    """Fetch and say what came of it."""
    try:
        response = await client.get(url)
    except httpx.HTTPError as error:
        return type(error)
    return response.status_code, response.content


@pytest.mark.parametrize("name", [*GOOD, *sorted(BAD.keys() - {"header flood"})])
async def test_httpx_itself_agrees(name: str) -> None:
    """The connection httpx brings makes the same of each of these responses (it has no limit on headers)."""
    raw = GOOD[name][0] if name in GOOD else BAD[name]
    async with Upstream(closing_after(raw)) as upstream, make_client() as ours, httpx.AsyncClient() as theirs:
        assert await outcome(ours, upstream.url) == await outcome(theirs, upstream.url)


async def test_what_came_before_the_cut_is_handed_out() -> None:
    """The body read so far reaches the reader before the error does."""
    async with Upstream(closing_after(STREAM, b"3\r\nabc\r\nzz")) as upstream, make_client() as client:
        pieces: list[bytes] = []
        with pytest.raises(httpx.RemoteProtocolError):
            await read(client, upstream.url, pieces)
        assert b"".join(pieces) == b"abc"


ENDLESS = {
    "header line": (OK + b"x: ", b"v" * 4096),
    "headers": (OK, b"x: " + b"v" * 500 + b"\r\n"),
    "status line": (b"HTTP/1.1 200 ", b"O" * 4096),
    "hints": (b"", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 50),
    "trailers": (STREAM + b"2\r\nok\r\n0\r\n", b"x: " + b"v" * 500 + b"\r\n"),
    "trailer line": (STREAM + b"2\r\nok\r\n0\r\nx: ", b"v" * 4096),
    "chunk extension": (STREAM + b"2\r\nok\r\n2;", b"v" * 4096),
}


@pytest.mark.parametrize("name", ENDLESS)
async def test_what_never_ends_is_cut_off(name: str) -> None:
    """A server that sends head, trailer or extension bytes for ever is dropped, and its socket closed."""
    start, more = ENDLESS[name]

    async def script(peer: Peer) -> None:
        await peer.request()
        try:
            await peer.send(start)
            while True:
                await peer.send(more)
                await asyncio.sleep(0)
        finally:
            peer.upstream.left.set()

    async with Upstream(script) as upstream, make_client() as client, asyncio.timeout(10):
        with pytest.raises(httpx.RemoteProtocolError, match="65536"):
            await client.get(upstream.url)
        await upstream.left.wait()


async def test_a_reset_mid_body_is_a_read_error() -> None:
    """A connection that breaks, where a clean close would be a protocol error, raises ReadError."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM + b"2\r\nok\r\n")
        await heard.wait()
        peer.reset()

    heard = asyncio.Event()
    async with Upstream(script) as upstream, make_client() as client:
        with pytest.raises(httpx.ReadError):
            await read(client, upstream.url, [], heard)


# Kept connections


async def test_connections_are_reused() -> None:
    """Ten requests in a row share one connection; two at once need two."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        for _ in range(10):
            await client.get(upstream.url)
        assert upstream.connections == 1
        await asyncio.gather(client.get(upstream.url), client.get(upstream.url))
        assert upstream.connections == 2


async def test_what_a_peak_has_left_behind_comes_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request at a time keeps one connection alive, not each of them in turn; and the pool holds no dead ones."""
    monkeypatch.setattr(http_client, "KEEPALIVE", 0.2)
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        await asyncio.gather(*(client.get(upstream.url) for _ in range(5)))
        assert upstream.connections == 5
        async with asyncio.timeout(30):
            while len(pool_of(client)._all) > 1:
                await client.get(upstream.url)
        assert len(pool_of(client).connections) == 1


async def test_a_connection_closed_while_idle_is_noticed() -> None:
    """The server's close is seen without sending anything, and the next request gets a new connection."""
    async with Upstream(closing_after(TWO)) as upstream, make_client() as client:
        await client.get(upstream.url)
        (connection,) = pool_of(client).connections
        await turn_until(connection.is_closed)
        assert (await client.post(upstream.url, content=post())).content == b"ok"
        assert upstream.connections == 2


async def post() -> AsyncIterator[bytes]:
    """A body that can be sent only once."""
    yield b"{}"


def dropping(drop: Callable[[Peer], Awaitable[None]]) -> Script:
    """Answer the first request of the first connection, read its second, then drop it; later connections answer."""

    async def script(peer: Peer) -> None:
        if peer.number > 1:
            await answering(TWO)(peer)
            return
        await peer.request()
        await peer.send(TWO)
        await peer.request()
        await drop(peer)

    return script


async def close(peer: Peer) -> None:
    """Drop it with FIN."""
    peer.writer.close()


async def reset(peer: Peer) -> None:
    """Drop it with RST."""
    peer.reset()


async def begin_and_close(peer: Peer) -> None:
    """Drop it in the middle of a status line."""
    await peer.send(b"HT")


@pytest.mark.parametrize("drop", [close, reset])
async def test_a_stale_connection_is_replaced_once(drop: Callable[[Peer], Awaitable[None]]) -> None:
    """A kept connection that dies without a byte of response: the request goes out again on a new one, unnoticed."""
    async with Upstream(dropping(drop)) as upstream, make_client() as client:
        await client.get(upstream.url)
        assert (await client.post(upstream.url, json={"a": 1})).content == b"ok"
        assert upstream.connections == 2
        assert upstream.requests[1] == upstream.requests[2]


@pytest.mark.parametrize("why", ["begun", "late", "body gone", "fresh"])
async def test_a_request_is_not_sent_twice_where_it_may_have_been_worked_on(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte of response, a late loss, a body that cannot be replayed or a new connection: no second attempt."""
    if why == "late":
        monkeypatch.setattr(connection, "STALE_WINDOW", -1.0)
    async with Upstream(dropping(begin_and_close if why == "begun" else close)) as upstream, make_client() as client:
        if why == "fresh":
            upstream.script = closing_after(b"")
        else:
            await client.get(upstream.url)
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post(upstream.url, content=post() if why == "body gone" else b"{}")
        assert upstream.connections == 1


async def test_a_second_stale_connection_is_an_error() -> None:
    """The retry happens once: a server that drops that one too is believed."""

    async def script(peer: Peer) -> None:
        await peer.request()
        if peer.number == 1:
            await peer.send(TWO)
            await peer.request()

    async with Upstream(script) as upstream, make_client() as client:
        await client.get(upstream.url)
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(upstream.url)
        assert upstream.connections == 2


async def test_bytes_on_an_idle_connection_close_it() -> None:
    """A response to a request that was not sent is not taken for the answer to the next one."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(TWO)
        if peer.number == 1:
            await received.wait()
            await peer.send(OK + b"content-length: 6\r\n\r\npoison")
        await peer.gone()

    received = asyncio.Event()
    async with Upstream(script) as upstream, make_client() as client:
        await client.get(upstream.url)
        received.set()
        await upstream.left.wait()
        assert (await client.get(upstream.url)).content == b"ok"
        assert upstream.connections == 2


async def test_a_full_pool_times_out_and_recovers() -> None:
    """With one place taken a second request raises PoolTimeout; once it is free the third goes through."""
    async with (
        Upstream(answering(STREAM + b"2\r\nok\r\n", TWO)) as upstream,
        make_client(max_connections=1, connect_timeout=0.05) as client,
    ):
        async with client.stream("GET", upstream.url):
            with pytest.raises(httpx.PoolTimeout):
                await client.get(upstream.url)
        upstream.script = answering(TWO)
        assert (await client.get(upstream.url)).content == b"ok"


async def test_a_full_pool_gives_another_origins_place_away() -> None:
    """An idle connection to one server makes room for another server."""
    async with (
        Upstream(answering(TWO)) as one,
        Upstream(answering(TWO)) as two,
        make_client(max_connections=1) as client,
    ):
        for upstream in (one, two, one):
            await client.get(upstream.url)
        assert (one.connections, two.connections) == (2, 1)
        assert len(pool_of(client).connections) == 1
        await asyncio.wait_for(one.tasks[0], 5)  # over once its client is gone


# Leaving


async def hanging(peer: Peer) -> None:
    """Read a request and never answer."""
    await peer.request()
    await peer.gone()


async def streaming(peer: Peer) -> None:
    """Begin a body and never end it."""
    await peer.request()
    await peer.send(STREAM + b"2\r\nok\r\n")
    await peer.gone()


@pytest.mark.parametrize("phase", ["head", "body"])
async def test_a_cancelled_request_closes_its_socket(phase: str) -> None:
    """Cancelled in either phase: the server sees the close, the place in the pool is free, no task is left."""
    async with Upstream(hanging if phase == "head" else streaming) as upstream, make_client() as client:
        started = asyncio.Event()
        task = asyncio.create_task(read(client, upstream.url, [], started))
        await turn_until(lambda: bool(upstream.requests) if phase == "head" else started.is_set())
        before = asyncio.all_tasks() - {task}
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool_of(client).connections == []
        assert not len(pool_of(client)._requests)
        assert asyncio.all_tasks() <= before
        await asyncio.wait_for(upstream.left.wait(), 5)


async def test_leaving_mid_body_closes_the_socket() -> None:
    """A reader that breaks off closes the connection: the rest of the body must not meet the next request."""
    async with Upstream(streaming) as upstream, make_client() as client:
        async with client.stream("GET", upstream.url) as response:
            async for _ in response.aiter_raw():
                break
        await asyncio.wait_for(upstream.left.wait(), 5)
        assert pool_of(client).connections == []


async def test_leaving_before_the_body_is_taken_keeps_a_finished_connection() -> None:
    """A response that is complete but unread is dropped without closing the connection."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        for _ in range(2):
            async with client.stream("GET", upstream.url) as response:
                assert response.status_code == 200
        assert upstream.connections == 1


async def test_closing_the_client_ends_what_is_under_way() -> None:
    """aclose() of the client fails a request in flight and closes its socket."""
    async with Upstream(hanging) as upstream:
        client = make_client()
        task = asyncio.create_task(client.get(upstream.url))
        await turn_until(lambda: bool(upstream.requests))
        await client.aclose()
        with pytest.raises(httpx.ReadError):
            await task
        await asyncio.wait_for(upstream.left.wait(), 5)


async def test_closing_the_client_while_it_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that comes up after the client was closed is closed too, and the request fails."""
    looked_up = asyncio.Event()
    addresses = connect._addresses

    async def slowly(host: str, port: int) -> list[Any]:
        await looked_up.wait()
        return await addresses(host, port)

    monkeypatch.setattr(connect, "_addresses", slowly)
    async with Upstream(hanging) as upstream:
        client = make_client()
        task = asyncio.create_task(client.get(upstream.url))
        await turn_until(lambda: len(pool_of(client).connections) == 1)
        await client.aclose()
        looked_up.set()
        with pytest.raises(httpx.ConnectError):
            await task
        await turn_until(lambda: upstream.connections == 1)
        await asyncio.wait_for(upstream.left.wait(), 5)
        assert upstream.requests == []


async def test_a_connection_closed_before_its_request_began_is_replaced() -> None:
    """A waiting request that is given a connection just as the client is closed dials anew, at once."""
    async with Upstream(answering(TWO)) as upstream, make_client(max_connections=1) as client:
        async with client.stream("GET", upstream.url):
            waiting = asyncio.create_task(client.get(upstream.url, timeout=60))
            await turn_until(lambda: len(pool_of(client)._requests) == 2)
        assert upstream.requests[1:] == []  # the waiting one has its connection, and its task has not run yet
        await pool_of(client).aclose()
        assert (await asyncio.wait_for(waiting, 60)).content == b"ok"
        assert upstream.connections == 2


async def test_a_connection_needs_no_pool_to_close_itself() -> None:
    """A connection whose request fails is closed by itself."""
    async with Upstream(closing_after(b"?")) as upstream:
        connection = Http1Connection(httpcore.Origin(b"http", b"127.0.0.1", upstream.port), None, 30)
        with pytest.raises(httpcore.RemoteProtocolError):
            await connection.request("GET", upstream.url)
        assert connection.is_closed()
        with pytest.raises(httpcore.ConnectionNotAvailable):
            await connection.request("GET", upstream.url)


async def test_a_cancelled_waiter_does_not_keep_a_place() -> None:
    """A request cancelled just when it was given a new connection leaves no connection behind that nobody uses."""
    async with Upstream(answering(TWO)) as upstream, make_client(max_connections=1) as client:
        async with client.stream("GET", upstream.url) as response:
            await response.aread()
            waiting = asyncio.create_task(client.get(upstream.url.replace("127.0.0.1", "localhost")))
            await turn_until(lambda: len(pool_of(client)._requests) == 1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert (await asyncio.wait_for(client.get(upstream.url), 5)).content == b"ok"


# Time


async def test_silence_is_a_read_timeout() -> None:
    """A server that says nothing raises ReadTimeout in the head and in the body, and its socket is closed."""
    for script in (hanging, streaming):
        async with Upstream(script) as upstream, make_client(idle_timeout=0.05) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.get(upstream.url)
            await asyncio.wait_for(upstream.left.wait(), 5)
            assert pool_of(client).connections == []


async def test_a_requests_own_timeout_counts() -> None:
    """timeout= on the request overrides the client's, also on a connection whose timer is already set for later."""
    async with Upstream(answering(TWO, b"")) as upstream, make_client(idle_timeout=60) as client:
        await client.get(upstream.url)
        with pytest.raises(httpx.ReadTimeout):
            await asyncio.wait_for(client.get(upstream.url, timeout=0.05), 5)
        assert upstream.connections == 1


async def test_a_slow_reader_holds_the_server_back() -> None:
    """Reading stops once 256 KiB wait, goes on when they are taken, and nothing is lost."""
    size = 16 * 2**20

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"content-length: %d\r\n\r\n" % size)
        await peer.send(b"x" * size)
        await peer.gone()

    async with Upstream(script) as upstream, make_client() as client, client.stream("GET", upstream.url) as response:
        (connection,) = pool_of(client).connections
        assert isinstance(connection, Http1Connection)
        link = connection._channel
        assert link is not None
        await turn_until(lambda: link._paused)
        for _ in range(100):
            await asyncio.sleep(0)
        assert sum(map(len, link.response.pending)) <= 2 * MAX_BUFFERED
        assert sum([len(piece) async for piece in response.aiter_raw()]) == size
        assert not link._paused


# Requests


async def test_bodies_arrive_as_sent() -> None:
    """Bytes and an async iterable with a length arrive whole; one without a length goes out in chunks."""

    async def parts() -> AsyncIterator[bytes]:
        for part in (b"one", b"", b"two"):
            yield part

    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        await client.post(upstream.url, content=b"z" * 3_000_000)
        await client.post(upstream.url, content=parts(), headers={"content-length": "6"})
        await client.post(upstream.url, content=parts())
        assert upstream.connections == 1
    assert upstream.requests[0].endswith(b"\r\n\r\n" + b"z" * 3_000_000)
    assert upstream.requests[1].endswith(b"\r\n\r\nonetwo")
    assert upstream.requests[2].endswith(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")


@pytest.mark.parametrize("length", ["5", "7"])
async def test_a_body_must_be_as_long_as_it_says(length: str) -> None:
    """Too much or too little of a body is an error here, not a riddle for the server."""

    async def parts() -> AsyncIterator[bytes]:
        yield b"onetwo"

    async with Upstream(hanging) as upstream, make_client() as client:
        with pytest.raises(httpx.LocalProtocolError, match="Content-Length"):
            await client.post(upstream.url, content=parts(), headers={"content-length": length})
        assert pool_of(client).connections == []
        await turn_until(lambda: upstream.connections == 1)


@pytest.mark.parametrize(
    "headers", [{"x": "a\r\nhost: evil"}, {"x": "a\nb"}, {"x": "a\0"}, {"x y": "1"}, {"x\r\ny": "1"}, {"": "1"}]
)
async def test_headers_cannot_break_out(headers: dict[str, str]) -> None:
    """A line break or a zero byte in a header is refused before anything is sent."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        with pytest.raises(httpx.LocalProtocolError):
            await client.get(upstream.url, headers=headers)
        assert upstream.requests == []
        with pytest.raises(httpx.LocalProtocolError):
            await client.get(upstream.url, extensions={"target": b"/a HTTP/1.1\r\nx: y"})


@pytest.mark.parametrize("framing", [b"content-length: 2\r\n", b""])
async def test_an_early_answer_ends_the_upload(framing: bytes) -> None:
    """A server that answers without reading the whole body is heard, and its connection is not used again."""

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await peer.send(b"HTTP/1.1 413 Too Large\r\n%b\r\nno" % framing)
        if not framing:
            peer.writer.write_eof()
        await done.wait()

    done = asyncio.Event()
    async with Upstream(script) as upstream, make_client() as client, asyncio.timeout(10):
        response = await client.post(upstream.url, content=b"z" * 2**25)
        assert (response.status_code, response.content) == (413, b"no")
        assert pool_of(client).connections == []
        done.set()


async def test_a_server_that_takes_no_bytes_is_a_write_timeout() -> None:
    """An upload nobody reads raises WriteTimeout."""

    async def script(peer: Peer) -> None:
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await done.wait()

    done = asyncio.Event()
    async with Upstream(script) as upstream, make_client(idle_timeout=0.1) as client:
        with pytest.raises(httpx.WriteTimeout):
            await client.post(upstream.url, content=b"z" * 2**25)
        done.set()


# Connecting


async def test_a_refused_connection_is_a_connect_error() -> None:
    """Nobody listens: ConnectError, and the place in the pool is free."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        async with make_client() as client:
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{sock.getsockname()[1]}/")
            assert pool_of(client).connections == []


async def mute(peer: Peer) -> None:
    """Say nothing, not even in TLS."""
    await peer.gone()


async def test_a_handshake_that_hangs_is_a_connect_timeout() -> None:
    """The time to connect covers TLS, and the half-open socket is closed."""
    async with Upstream(mute) as upstream, make_client(connect_timeout=0.05) as client:
        with pytest.raises(httpx.ConnectTimeout):
            await client.get(f"https://127.0.0.1:{upstream.port}/")
        await asyncio.wait_for(upstream.left.wait(), 5)
        assert pool_of(client).connections == []


async def test_a_cancelled_handshake_closes_the_socket() -> None:
    """A client that leaves while TLS is being set up leaves no socket behind."""
    async with Upstream(mute) as upstream, make_client() as client:
        task = asyncio.create_task(client.get(f"https://127.0.0.1:{upstream.port}/"))
        await turn_until(lambda: upstream.connections == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(upstream.left.wait(), 5)
        assert pool_of(client).connections == []


async def test_a_dead_address_does_not_hold_up_a_live_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose first address is refused and whose second never answers is reached by its third."""
    dial = connect._dial
    hung = asyncio.Event()

    async def addresses(host: str, port: int) -> list[Any]:
        return [(socket.AF_INET, (address, port)) for address in ("dead", "hanging", "127.0.0.1")]

    async def dial_or_hang(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
        if address[0] == "dead":
            raise ConnectionRefusedError("dead")
        if address[0] == "hanging":
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                hung.set()
        return await dial(family, address)

    monkeypatch.setattr(connect, "_addresses", addresses)
    monkeypatch.setattr(connect, "_dial", dial_or_hang)
    monkeypatch.setattr(connect, "STAGGER", 0.01)
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        assert (await client.get(upstream.url)).content == b"ok"
        await asyncio.wait_for(hung.wait(), 5)


def server_tls(names: list[str | None]) -> ssl.SSLContext:
    """Make a server's context that notes the names it is asked for and would rather speak HTTP/2."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    context.set_alpn_protocols(["h2", "http/1.1"])
    context.sni_callback = lambda _, name, __: names.append(name)
    return context


async def test_tls() -> None:
    """Over TLS: certificate checked, name sent, HTTP/1.1 agreed on, connection reused, and a cut body is an error."""
    names: list[str | None] = []
    agreed: list[str | None] = []

    async def script(peer: Peer) -> None:
        agreed.append(peer.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await peer.request()
        await peer.send(TWO)
        await peer.request()
        await peer.send(STREAM + b"2\r\nok\r\n")

    trusting = ssl.create_default_context(cafile=str(PEM))
    async with Upstream(script, server_tls(names)) as upstream, make_client(tls=trusting) as client:
        url = upstream.url.replace("127.0.0.1", "localhost")
        assert (await client.get(url)).content == b"ok"
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(url)
        assert (upstream.connections, names, agreed) == (1, ["localhost"], ["http/1.1"])


async def test_an_unknown_certificate_is_a_connect_error() -> None:
    """A server the authorities do not vouch for is refused before a request is sent."""
    async with Upstream(answering(TWO), server_tls([])) as upstream, make_client() as client:
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await client.get(upstream.url)
        assert upstream.requests == []


async def test_the_authorities_are_read_once() -> None:
    """Every client and every page is checked by one context, which speaks HTTP/1.1; only one that is given differs."""
    pages = PageFetcher()
    own = ssl.create_default_context()
    async with make_client() as one, make_client() as two, make_client(tls=own) as three:
        shared = pages._context(pages.target("https://example.org/"))
        assert shared is not None
        assert [pool_of(client)._ssl_context for client in (one, two, three)] == [shared, shared, own]


async def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY carries a request through httpx's own transport, NO_PROXY leaves a host to ours."""
    async with Upstream(answering(TWO)) as proxy, Upstream(answering(TWO)) as upstream:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with make_client() as client:
            await client.get("http://provider.test/v1")
            await client.get(upstream.url)
            assert len(pool_of(client).connections) == 1
    assert proxy.requests[0].startswith(b"GET http://provider.test/v1 HTTP/1.1\r\n")
    assert upstream.requests[0].startswith(b"GET /v1/chat HTTP/1.1\r\n")


# The seam


async def test_respx_mocks_it() -> None:
    """The default mocker of respx intercepts the client, and nothing is sent."""
    with respx.mock:
        route = respx.post("https://provider.test/v1").mock(return_value=httpx.Response(200, text="mocked"))
        async with make_client() as client:
            assert (await client.post("https://provider.test/v1", json={})).text == "mocked"
        assert route.called


def test_the_private_seam_still_fits() -> None:
    """Every private part of httpx and httpcore that client.py, connection.py and pool.py lean on is where it was."""
    pool, transport = httpcore.AsyncConnectionPool(), httpx.AsyncHTTPTransport()
    wanted: dict[object, tuple[str, ...]] = {
        pool: ("_connections", "_requests", "_max_connections", "_ssl_context", "_keepalive_expiry"),
        transport: ("_pool",),
        httpx.AsyncClient(): ("_transport",),
    }
    missing = [f"{type(owner).__name__}.{name}" for owner, names in wanted.items() for name in names
               if not hasattr(owner, name)]  # fmt: skip
    assert missing == [], f"{ADVICE} These are gone: {missing}"
    assert isinstance(transport._pool, httpcore.AsyncConnectionPool), f"{ADVICE} _pool is another kind of pool."
    for caller, call in {
        httpx.AsyncClient._transport_for_url: "return self._transport",
        httpx.AsyncHTTPTransport.handle_async_request: "await self._pool.handle_async_request(",
        httpcore.AsyncConnectionPool.handle_async_request: "closing = self._assign_requests_to_connections()",
        httpcore.AsyncConnectionPool.aclose: "closing_connections = list(self._connections)",
        httpcore.AsyncConnectionPool._close_connections: "await connection.aclose()",
        AsyncPoolRequest.assign_to_connection: "self.connection = connection",
        AsyncPoolRequest.wait_for_connection: "if self.connection is None:",
    }.items():
        assert call in inspect.getsource(caller), f"{ADVICE} {caller.__qualname__} no longer does {call}"


async def test_what_is_built_past_its_constructor_lacks_nothing() -> None:
    """A form's request, its reply and its answer have every field that httpx's and httpcore's own have."""
    form = Form(httpx.Request("POST", "http://127.0.0.1/"))
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        answer = await ask(client, Form(httpx.Request("POST", upstream.url)), b"")
        assert answer.headers == {"content-length": "2"}
        reply = connection._Reply(answer.extensions["body"])
        post = Post(form, b"{}")
        assert post.headers[-1] == (b"Content-Length", b"2")
        assert [part async for part in post.stream] == [b"{}"]
        for ours, theirs in (
            (post, httpcore.Request(b"POST", form.url)),
            (reply, httpcore.Response(200)),
            (answer, httpx.Response(200, stream=httpx.ByteStream(b""))),
        ):
            missing = vars(theirs).keys() - vars(ours).keys()
            assert missing == set(), f"{ADVICE} {type(ours).__name__} lacks {missing}."
        await answer.aclose()


def test_our_connection_has_every_method_the_pool_calls() -> None:
    """The pool asks a connection for nothing but what we define, and httpcore's interface demands nothing more."""
    module = inspect.getsource(inspect.getmodule(httpcore.AsyncConnectionPool.handle_async_request))  # type: ignore[arg-type]
    called = set(re.findall(r"\bconnection\.(\w+)\(", module))
    demanded = {name for name, value in vars(httpcore.AsyncConnectionInterface).items() if inspect.isfunction(value)}
    assert {"handle_async_request", "is_closed", "is_idle", "aclose"} <= called, f"{ADVICE} The pool was rewritten."
    missing = (called | demanded) - set(vars(Http1Connection))
    assert missing == set(), f"{ADVICE} Http1Connection lacks {missing}."


async def test_the_client_runs_on_our_connection() -> None:
    """A request made through httpx really goes over our pool and connection, not beside them."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        await client.get(upstream.url)
        (connection,) = pool_of(client).connections
        assert isinstance(connection, Http1Connection)
        assert connection.is_idle()
        assert "IDLE" in connection.info()
