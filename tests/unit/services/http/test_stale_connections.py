"""Pooled connections that the server has closed: a request is repeated only if it cannot have been processed."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from signalbox.services.http import connection
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import ProtocolError

from tests.support.http_server import (
    OK,
    TWO,
    Peer,
    Script,
    Server,
    answering,
    closing_after,
    fetched,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


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
    """If a kept connection ends without a byte of response, the request is sent on a new one."""
    async with Server(dropping(drop)) as server, HttpClient() as client:
        await fetched(client, server.url)
        assert (await fetched(client, server.url, b'{"a": 1}')).body == b"ok"
        assert (server.connections, client.open_connections) == (2, 1)
        assert server.requests[1] == server.requests[2]


@pytest.mark.parametrize("why", ["begun", "late", "fresh"])
async def test_a_request_that_may_have_been_processed_is_not_repeated(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a byte of response, a late loss or on a new connection there is no second attempt."""
    if why == "late":
        monkeypatch.setattr(connection, "STALE_WINDOW", -1.0)
    async with Server(dropping(begin_and_close if why == "begun" else close)) as server, HttpClient() as client:
        if why == "fresh":
            server.script = closing_after(b"")
        else:
            await fetched(client, server.url)
        with pytest.raises(ProtocolError):
            await fetched(client, server.url, b"{}")
        assert (server.connections, client.open_connections) == (1, 0)


async def test_a_second_stale_connection_is_an_error() -> None:
    """There is one retry."""

    async def script(peer: Peer) -> None:
        await peer.request()
        if peer.number == 1:
            await peer.send(TWO)
            await peer.request()

    async with Server(script) as server, HttpClient() as client:
        await fetched(client, server.url)
        with pytest.raises(ProtocolError):
            await fetched(client, server.url)
        assert (server.connections, client.open_connections) == (2, 0)


async def test_bytes_on_an_idle_connection_close_it() -> None:
    """An unrequested response is not read as the response to the next request."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(TWO)
        if peer.number == 1:
            await received.wait()
            await peer.send(OK + b"content-length: 6\r\n\r\npoison")
        await peer.gone()

    received = asyncio.Event()
    async with Server(script) as server, HttpClient() as client:
        await fetched(client, server.url)
        received.set()
        await server.left.wait()
        assert (await fetched(client, server.url)).body == b"ok"
        assert server.connections == 2
