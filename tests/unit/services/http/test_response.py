"""Responses with every framing, complete and broken, read through the client."""

import asyncio

import httpx
import pytest
from signalbox.services.http.client import HttpClient
from signalbox.services.http.connection import MAX_BUFFERED, Connection
from signalbox.services.http.errors import Broken, DecodingFailed, HttpError, ProtocolError
from signalbox.services.http.request import PreparedRequest
from signalbox.services.http.response import PooledResponse, decoded

from tests.support.http_server import (
    END,
    OK,
    STREAM,
    TWO,
    Peer,
    Server,
    answering,
    closing_after,
    fetched,
    opened,
    turn_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


async def test_one_network_read_is_one_piece() -> None:
    """Forty HTTP chunks that arrive together come out as one bytes object."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM)
        await turn_until(go.is_set)
        await peer.send(b"".join(b"8\r\ndata: x\n\r\n" for _ in range(40)) + END)
        await peer.gone()

    go = asyncio.Event()
    async with Server(script) as server, HttpClient() as client, opened(client, server.url) as response:
        go.set()
        assert [piece async for piece in response] == [b"data: x\n" * 40]


async def test_each_event_leaves_as_it_arrives() -> None:
    """A piece is delivered before the next one is sent."""
    received = asyncio.Semaphore(0)

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM)
        for _ in range(3):
            await peer.send(b"3\r\nabc\r\n")
            await received.acquire()
        await peer.send(END)
        await peer.gone()

    async with Server(script) as server, HttpClient() as client, opened(client, server.url) as response:
        pieces: list[bytes] = []
        async for piece in response:
            pieces.append(piece)
            received.release()
        assert pieces == [b"abc"] * 3


async def test_headers() -> None:
    """Names are lower case, equal names are joined, and undecodable bytes are replaced; one header or all of them."""
    head = b"HTTP/1.1 402 Pay\r\nX-One: a\r\nx-one: b\r\nX-Odd: \xff\r\nx-Two: \xc3\xa9\r\ncontent-length: 2\r\n\r\nno"
    async with Server(answering(head)) as server, HttpClient() as client, opened(client, server.url) as response:
        assert (response.status, response.is_success, response.is_redirect) == (402, False, False)
        wanted = {"x-one": "a, b", "x-odd": "\ufffd", "x-two": "é", "content-length": "2"}
        assert {name: response.header(name) for name in wanted} == wanted
        assert response.headers == wanted
        assert response.header("x-three") is None


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_a_redirect_is_not_followed(status: int) -> None:
    """The response is returned as it came."""
    raw = b"HTTP/1.1 %d Go\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n" % status
    async with Server(answering(raw)) as server, HttpClient() as client, opened(client, server.url) as response:
        assert (response.is_redirect, response.is_success) == (True, False)
        assert len(server.requests) == 1


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
    """Each framing gives its body, and the connection is reused only if that is safe."""
    raw, status, body, kept = GOOD[name]
    async with Server(answering(raw)) as server, HttpClient() as client:
        for _ in range(2):
            answer = await fetched(client, server.url)
            assert (answer.status, answer.body) == (status, body)
        assert server.connections == (1 if kept else 2)


@pytest.mark.parametrize("head", [OK + b"\r\n", b"HTTP/1.0 200 OK\r\n\r\n", OK + b"transfer-encoding: gzip\r\n\r\n"])
async def test_a_body_without_length_ends_with_the_connection(head: bytes) -> None:
    """Without a length, the close is the end of the body."""
    async with Server(closing_after(head, b"all of it")) as server, HttpClient() as client:
        assert (await fetched(client, server.url)).body == b"all of it"
        assert client.open_connections == 0


@pytest.mark.parametrize(("body", "connections"), [(b"", 1), (b"no", 2)])
async def test_head_has_a_length_and_no_body(body: bytes, connections: int) -> None:
    """A response to HEAD ends with its headers; body bytes close the connection."""
    async with Server(answering(OK + b"content-length: 999\r\n\r\n" + body)) as server, HttpClient() as client:
        for _ in range(2):
            answer = await fetched(client, server.url, method="HEAD")
            assert (answer.headers["content-length"], answer.body) == ("999", b"")
        assert server.connections == connections


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
    """A response that breaks the protocol or is cut short raises ProtocolError and its connection is closed."""
    async with Server(closing_after(BAD[name])) as server, HttpClient() as client:
        with pytest.raises(ProtocolError):
            await fetched(client, server.url)
        assert client.open_connections == 0
        assert server.connections == 1


async def outcome(client: HttpClient, url: str) -> tuple[int, bytes] | type[Exception]:
    """Fetch, and return the response or the kind of error."""
    try:
        answer = await fetched(client, url)
    except HttpError as error:
        return type(error)
    return answer.status, answer.body


@pytest.mark.parametrize("name", [*GOOD, *sorted(BAD.keys() - {"header flood"})])
async def test_httpx_agrees(name: str) -> None:
    """Httpx returns the same for each of these responses, except that it has no limit on headers."""
    raw = GOOD[name][0] if name in GOOD else BAD[name]
    own, adapted = HttpClient(), HttpClient(transport=httpx.AsyncHTTPTransport())
    async with Server(closing_after(raw)) as server, own as ours, adapted as theirs:
        assert await outcome(ours, server.url) == await outcome(theirs, server.url)


async def read_pieces(client: HttpClient, url: str, pieces: list[bytes], received: asyncio.Event | None = None) -> None:
    """Read a response into `pieces`; set `received` after each."""
    async with opened(client, url) as response:
        async for piece in response:
            pieces.append(piece)
            if received is not None:
                received.set()


async def test_bytes_before_a_cut_are_delivered() -> None:
    """The reader gets all bytes before the error."""
    async with Server(closing_after(STREAM, b"3\r\nabc\r\nzz")) as server, HttpClient() as client:
        pieces: list[bytes] = []
        with pytest.raises(ProtocolError):
            await read_pieces(client, server.url, pieces)
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
async def test_an_endless_head_is_cut_off(name: str) -> None:
    """A server that sends head, trailer or extension bytes without end is disconnected."""
    start, more = ENDLESS[name]

    async def script(peer: Peer) -> None:
        await peer.request()
        try:
            await peer.send(start)
            while True:
                await peer.send(more)
                await asyncio.sleep(0)
        finally:
            peer.server.left.set()

    async with Server(script) as server, HttpClient() as client, asyncio.timeout(30):
        with pytest.raises(ProtocolError, match="65536"):
            await fetched(client, server.url)
        await server.left.wait()


async def test_a_reset_mid_body_is_broken() -> None:
    """A reset raises Broken; a clean close would be a ProtocolError."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM + b"2\r\nok\r\n")
        await received.wait()
        peer.reset()

    received = asyncio.Event()
    async with Server(script) as server, HttpClient() as client:
        with pytest.raises(Broken):
            await read_pieces(client, server.url, [], received)


def connection_of(response: object) -> Connection:
    """Return the connection of a response."""
    assert isinstance(response, PooledResponse)
    return response._open_connection


async def test_a_slow_reader_holds_the_server_back() -> None:
    """Reading pauses at 128 KiB of unread bytes, resumes later, and loses nothing."""
    size = 16 * 2**20

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"content-length: %d\r\n\r\n" % size)
        await peer.send(b"x" * size)
        await peer.gone()

    async with Server(script) as server, HttpClient() as client, opened(client, server.url) as response:
        connection = connection_of(response)
        await turn_until(lambda: connection._paused)
        for _ in range(100):
            await asyncio.sleep(0)
        assert sum(map(len, connection.response.pending)) <= 2 * MAX_BUFFERED
        assert sum([len(piece) async for piece in response]) == size
        assert not connection._paused


async def test_a_closed_response_cannot_be_read() -> None:
    """Its connection may carry another response; the head is still available."""
    async with Server(answering(TWO)) as server, HttpClient() as client:
        response = await client.send(PreparedRequest("GET", server.url))
        await response.aclose()
        with pytest.raises(Broken):
            await anext(aiter(response))
        with pytest.raises(Broken):
            await response.stream_body(lambda _: None)
        assert response.header("content-length") == "2"


# --- content-encoding ---

TEXT = b"all of the words of an answer, " * 1000


@pytest.mark.parametrize("coding", ["gzip", "deflate", "GZIP", "identity", "unknown", ""])
async def test_a_compressed_body_is_decoded(coding: str) -> None:
    """Gzip and deflate are decoded although they were not requested; other codings are left unchanged."""
    import gzip
    import zlib

    encode = {"gzip": gzip.compress, "deflate": zlib.compress}.get(coding.lower(), bytes)
    body = encode(TEXT)
    line = b"content-encoding: %b\r\n" % coding.encode() if coding else b""
    raw = OK + line + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    async with Server(answering(raw)) as server, HttpClient() as client, opened(client, server.url) as response:
        assert b"".join([data async for data in decoded(response)]) == TEXT


async def test_a_body_with_a_wrong_coding() -> None:
    """Text with a gzip header raises DecodingFailed."""
    raw = OK + b"content-encoding: gzip\r\ncontent-length: 4\r\n\r\ntext"
    async with Server(answering(raw)) as server, HttpClient() as client, opened(client, server.url) as response:
        with pytest.raises(DecodingFailed):
            _ = [data async for data in decoded(response)]


async def test_a_compressed_body_that_is_cut() -> None:
    """`decoded` raises the connection's error unchanged."""
    raw = OK + b"content-encoding: gzip\r\ncontent-length: 400\r\n\r\n\x1f\x8b\x08"
    async with Server(closing_after(raw)) as server, HttpClient() as client, opened(client, server.url) as response:
        with pytest.raises(ProtocolError):
            _ = [data async for data in decoded(response)]
