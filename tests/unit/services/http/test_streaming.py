"""A response streamed to a callback, over the network."""

import asyncio

import pytest
from signalbox.core.ports import Emit
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import ProtocolError, ReadTimeout

from tests.support.http_server import (
    END,
    OK,
    STREAM,
    Peer,
    Server,
    answering,
    closing_after,
    opened,
    streaming,
    turn_until,
)
from tests.unit.services.http.test_response import connection_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


async def streamed(client: HttpClient, url: str, emit: Emit[bytes]) -> bool:
    """Stream one response; return whether it is known to be complete."""
    async with opened(client, url) as response:
        await response.stream_body(emit)
        return response.is_complete


async def test_a_whole_body_keeps_its_connection() -> None:
    """Every byte is emitted, the response is complete, and the next request goes out on the same connection."""
    async with Server(answering(STREAM + b"2\r\nok\r\n" + END)) as server, HttpClient() as client:
        got: list[bytes] = []
        for _ in range(3):
            assert await streamed(client, server.url, got.append)
        assert b"".join(got) == b"ok" * 3
        assert server.connections == 1


async def test_an_error_of_emit_closes_the_connection() -> None:
    """The error is raised unchanged, the server sees the disconnect, and the next request opens a new connection."""

    def breaks(data: bytes) -> None:
        raise ValueError("enough")

    async with Server(streaming) as server, HttpClient() as client:
        for number in (1, 2):
            with pytest.raises(ValueError, match="enough"):
                await streamed(client, server.url, breaks)
            await asyncio.wait_for(server.left.wait(), 30)
            server.left.clear()
            assert (server.connections, client.open_connections) == (number, 0)


async def test_iteration_continues_where_streaming_was_stopped() -> None:
    """Bytes after the read that stopped the streaming are read to the end."""
    stopped = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM + b"5\r\nfirst\r\n")
        await stopped.wait()
        await peer.send(b"4\r\nrest\r\n" + END)
        await peer.gone()

    async with Server(script) as server, HttpClient() as client, opened(client, server.url) as response:
        got: list[bytes] = []

        def emit(data: bytes) -> None:
            got.append(data)
            response.stop_streaming()

        await response.stream_body(emit)
        assert (got, response.is_complete) == ([b"first"], False)
        stopped.set()
        assert b"".join([data async for data in response]) == b"rest"


@pytest.mark.parametrize("ending", ["cut", "silence", "no HTTP"])
async def test_a_failure_is_raised_after_the_bytes(ending: str) -> None:
    """A cut, a silence and garbage raise the same errors as in reading, and the connection is closed."""
    good = STREAM + b"4\r\ngood\r\n"
    script = {"cut": closing_after(good), "silence": streaming, "no HTTP": answering(good + b"zz\r\n")}[ending]
    error = ReadTimeout if ending == "silence" else ProtocolError
    async with Server(script) as server, HttpClient(idle_timeout=0.05 if ending == "silence" else 30) as client:
        got: list[bytes] = []
        with pytest.raises(error):
            await streamed(client, server.url, got.append)
        assert got == [b"ok" if ending == "silence" else b"good"]
        assert client.open_connections == 0


async def test_cancelling_closes_the_connection() -> None:
    """The server sees the disconnect, and the slot in the pool is free."""
    async with Server(streaming) as server, HttpClient() as client:
        got: list[bytes] = []
        task = asyncio.create_task(streamed(client, server.url, got.append))
        await turn_until(lambda: bool(got))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 30)
        assert client.open_connections == 0


async def test_a_paused_socket_resumes() -> None:
    """A body that waited for a slow reader is emitted completely."""
    size = 4 * 2**20

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"content-length: %d\r\n\r\n" % size + b"x" * size)
        await peer.gone()

    async with Server(script) as server, HttpClient() as client, opened(client, server.url) as response:
        connection = connection_of(response)
        await turn_until(lambda: connection._paused)
        sizes: list[int] = []
        await response.stream_body(lambda data: sizes.append(len(data)))
        assert sum(sizes) == size
        assert response.is_complete
