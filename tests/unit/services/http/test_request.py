"""Prepared requests: their bytes, and uploads of bodies."""

import asyncio
import gc
import sys
from base64 import b64encode

import pytest
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import InvalidRequest, WriteTimeout
from signalbox.services.http.request import Origin, PreparedRequest

from tests.support.http_server import STREAM, TWO, Peer, Server, answering, fetched, opened, streaming

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


def lines(message: bytes) -> list[bytes]:
    """Return the request line, the sorted headers and the body."""
    head, _, body = message.partition(b"\r\n\r\n")
    first, *headers = head.split(b"\r\n")
    return [first, *sorted(headers), body]


def test_a_get() -> None:
    """Default headers are sent, the URL is percent-encoded, and its fragment is dropped."""
    assert lines(PreparedRequest("GET", "http://Host.test/a b?q=ü#f").encode(b"")) == [
        b"GET /a%20b?q=%C3%BC HTTP/1.1",
        b"accept-encoding: identity",
        b"accept: */*",
        b"connection: keep-alive",
        b"host: host.test",
        b"user-agent: Signalbox",
        b"",
    ]


def test_a_post() -> None:
    """Given headers replace the default ones, and the length of each body is sent."""
    request = PreparedRequest("POST", "https://host.test:8443/v1", {"Accept": "text/event-stream", "X-Me": "1"})
    for body in (b"", b"{}", b"x" * 1000):
        sent = lines(request.encode(body))
        assert (sent[0], sent[-1]) == (b"POST /v1 HTTP/1.1", body)
        assert {b"accept: text/event-stream", b"x-me: 1", b"host: host.test:8443"} <= set(sent)
        assert b"content-length: %d" % len(body) in sent
        assert b"accept: */*" not in sent


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://host.test/", b"host.test", ("http", "host.test", 80)),
        ("http://host.test:80/", b"host.test", ("http", "host.test", 80)),
        ("https://host.test", b"host.test", ("https", "host.test", 443)),
        ("https://host.test:80/", b"host.test:80", ("https", "host.test", 80)),
        ("http://[::1]:8000/", b"[::1]:8000", ("http", "::1", 8000)),
        ("https://bücher.test/", b"xn--bcher-kva.test", ("https", "xn--bcher-kva.test", 443)),
    ],
)
def test_where_a_request_goes(url: str, host: bytes, origin: Origin) -> None:
    """Origin and Host header follow from the URL: default ports, IPv6, international names."""
    request = PreparedRequest("GET", url)
    assert request.origin == origin
    assert b"host: " + host in lines(request.encode(b""))


def test_credentials_in_the_url_are_basic_authentication() -> None:
    """Credentials are decoded and removed from the URL; a given authorization header takes precedence."""
    url = "http://me%40here:p%3Aw@host.test/v1"
    wanted = b"authorization: Basic " + b64encode(b"me@here:p:w")
    request = PreparedRequest("POST", url)
    assert wanted in lines(request.encode(b""))
    assert "p%3Aw" not in str(request.url)
    given = lines(PreparedRequest("POST", url, {"Authorization": "Bearer key"}).encode(b""))
    assert b"authorization: Bearer key" in given
    assert wanted not in given
    assert b"authorization" not in PreparedRequest("POST", "http://host.test/v1").encode(b"")


@pytest.mark.parametrize(
    "url", ["host.test/v1", "ftp://host.test/", "http://", "", "http://host.test:99999/", "http://[::1"]
)
def test_a_url_that_cannot_be_requested(url: str) -> None:
    """An invalid URL is rejected when the request is prepared, and not quoted: it may contain a password."""
    with pytest.raises(InvalidRequest) as refused:
        PreparedRequest("GET", url)
    assert not url or url not in str(refused.value)


@pytest.mark.parametrize(
    "headers",
    [{"x": "a\r\nhost: evil"}, {"x": "a\nb"}, {"x": "a\0"}, {"x y": "1"}, {"x\r\ny": "1"}, {"": "1"}, {"é": "1"}],
)
async def test_headers_cannot_inject_lines(headers: dict[str, str]) -> None:
    """A line break or a null byte in a header is rejected before anything is sent."""
    async with Server(answering(TWO)) as server, HttpClient() as client:
        request = PreparedRequest("POST", server.url, headers)
        for _ in range(2):
            with pytest.raises(InvalidRequest):
                await client.send(request, b"{}")
        assert (server.connections, client.open_connections) == (0, 0)


async def test_bodies_arrive_as_sent() -> None:
    """One prepared request carries many bodies over one connection, small, empty and large."""
    async with Server(answering(TWO)) as server, HttpClient() as client:
        request = PreparedRequest("POST", server.url)
        for body in (b"{}", b"", b"z" * 3_000_000):
            response = await client.send(request, body)
            assert [data async for data in response] == [b"ok"]
            await response.aclose()
            assert server.requests[-1].partition(b"\r\n\r\n")[2] == body
        assert server.connections == 1


async def test_a_body_is_released_once_its_response_has_begun() -> None:
    """A long history does not stay in memory while the answer streams."""
    async with Server(streaming) as server, HttpClient() as client:
        body = b'{"model":"%b"}' % (b"m" * 4000)
        before = sys.getrefcount(body)
        async with opened(client, server.url, body):
            assert sys.getrefcount(body) <= before + 1, "only the helper's own argument may hold it"
            gc.collect()
            copies = [one for one in gc.get_objects() if isinstance(one, bytes) and body in one]
            assert copies == []


@pytest.mark.parametrize("framing", [b"content-length: 2\r\n", b""])
async def test_an_early_response_ends_the_upload(framing: bytes) -> None:
    """If a server answers before it has read the body, the upload ends and the connection is closed."""

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await peer.send(b"HTTP/1.1 413 Too Large\r\n%b\r\nno" % framing)
        if not framing:
            peer.writer.write_eof()
        await done.wait()

    done = asyncio.Event()
    async with Server(script) as server, HttpClient() as client, asyncio.timeout(60):
        answer = await fetched(client, server.url, b"z" * 2**25)
        assert (answer.status, answer.body) == (413, b"no")
        assert client.open_connections == 0
        done.set()


async def test_a_server_that_takes_no_bytes_is_a_write_timeout() -> None:
    """An upload that is not read raises WriteTimeout."""

    async def script(peer: Peer) -> None:
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await done.wait()

    done = asyncio.Event()
    async with Server(script) as server, HttpClient(idle_timeout=0.1) as client:
        with pytest.raises(WriteTimeout):
            await fetched(client, server.url, b"z" * 2**25)
        assert client.open_connections == 0
        done.set()


async def test_a_response_that_began_before_the_upload_ended() -> None:
    """A response that starts during the upload is read completely."""

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.send(STREAM + b"2\r\nok\r\n")
        await peer.reader.readexactly(2**22)
        await peer.send(b"3\r\nend\r\n0\r\n\r\n")
        await peer.gone()

    async with Server(script) as server, HttpClient() as client, asyncio.timeout(60):
        assert (await fetched(client, server.url, b"z" * 2**22)).body == b"okend"
