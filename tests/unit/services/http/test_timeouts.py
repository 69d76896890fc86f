"""Time limits: silence, and a shorter limit on a kept connection."""

import asyncio

import pytest
from signalbox.services.http.client import HttpClient
from signalbox.services.http.connect import connect
from signalbox.services.http.errors import ReadTimeout
from signalbox.services.http.request import PreparedRequest

from tests.support.http_server import TWO, Server, answering, fetched, hanging, streaming

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


async def test_silence_is_a_read_timeout() -> None:
    """A silent server raises ReadTimeout in the head and in the body, and its socket is closed."""
    for script in (hanging, streaming):
        async with Server(script) as server, HttpClient(idle_timeout=0.05) as client:
            with pytest.raises(ReadTimeout):
                await fetched(client, server.url)
            await asyncio.wait_for(server.left.wait(), 30)
            assert client.open_connections == 0


async def test_a_shorter_timeout_counts_on_a_kept_connection() -> None:
    """An exchange with a shorter limit times out although the timer is already set for later."""
    async with Server(answering(TWO, b"")) as server:
        request = PreparedRequest("GET", server.url)
        connection = await connect(request.origin, time_limit=10)
        await connection.exchange("GET", request.encode(b""), 60)
        assert await connection.read() == b"ok"
        assert connection.finish(60)
        with pytest.raises(ReadTimeout):
            await asyncio.wait_for(connection.exchange("GET", request.encode(b""), 0.05), 30)
        assert connection.closed
        assert server.connections == 1
