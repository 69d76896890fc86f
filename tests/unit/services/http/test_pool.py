"""The connection pool: reuse, the limit, and every kind of release."""

import asyncio
from typing import Any

import pytest
from signalbox.services.http import client as http_client
from signalbox.services.http import connect
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import Broken, ConnectFailed, PoolFull
from signalbox.services.http.request import PreparedRequest

from tests.support.http_server import (
    STREAM,
    TWO,
    Server,
    answering,
    closing_after,
    fetched,
    hanging,
    opened,
    streaming,
    turn_until,
)
from tests.unit.services.http.test_response import connection_of, read_pieces

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]


async def test_connections_are_reused() -> None:
    """Ten requests in a row share one connection; two at once need two."""
    async with Server(answering(TWO)) as server, HttpClient() as client:
        for _ in range(10):
            await fetched(client, server.url)
        assert server.connections == 1
        await asyncio.gather(fetched(client, server.url), fetched(client, server.url))
        assert (server.connections, client.open_connections) == (2, 2)


async def test_connections_left_over_from_a_peak_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequential requests keep one connection alive, and the others expire."""
    monkeypatch.setattr(http_client, "KEEPALIVE", 0.2)
    async with Server(answering(TWO)) as server, HttpClient() as client:
        await asyncio.gather(*(fetched(client, server.url) for _ in range(5)))
        assert (server.connections, client.open_connections) == (5, 5)
        async with asyncio.timeout(30):
            while client.open_connections > 1:
                await fetched(client, server.url)
        assert client.open_connections == 1


async def test_connections_of_an_unused_origin_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """They leave the pool without another request."""
    monkeypatch.setattr(http_client, "KEEPALIVE", 0.05)
    async with Server(answering(TWO)) as server, HttpClient() as client:
        await asyncio.gather(*(fetched(client, server.url) for _ in range(3)))
        await turn_until(lambda: client.open_connections == 0)


async def test_a_connection_closed_while_idle_is_noticed() -> None:
    """The server's close is detected without sending, and the next request gets a new connection."""
    async with Server(closing_after(TWO)) as server, HttpClient() as client:
        await fetched(client, server.url)
        await turn_until(lambda: client.open_connections == 0)
        assert (await fetched(client, server.url, b"{}")).body == b"ok"
        assert server.connections == 2
        assert len(server.requests) == 2


# --- a full pool ---


async def test_a_full_pool_times_out_and_recovers() -> None:
    """A second request raises PoolFull while the only slot is in use; a third one succeeds when it is free."""
    async with Server(streaming) as server, HttpClient(max_connections=1) as client:
        async with opened(client, server.url):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(client._pool, "_connect_timeout", 0.05)
                with pytest.raises(PoolFull):
                    await fetched(client, server.url)
        server.script = answering(TWO)
        assert (await fetched(client, server.url)).body == b"ok"


async def test_a_full_pool_closes_another_origins_idle_connection() -> None:
    """An idle connection is closed to free a slot for another origin."""
    async with (
        Server(answering(TWO)) as one,
        Server(answering(TWO)) as two,
        HttpClient(max_connections=1) as client,
    ):
        for server in (one, two, one):
            await fetched(client, server.url)
        assert (one.connections, two.connections, client.open_connections) == (2, 1, 1)
        await asyncio.wait_for(one.tasks[0], 30)  # over once its client is gone


async def waiting_for(client: HttpClient, url: str) -> "asyncio.Task[Any]":
    """Start a request that has to wait for a slot."""
    task = asyncio.create_task(fetched(client, url))
    await turn_until(lambda: bool(client._pool._waiting))
    return task


async def test_closing_a_response_hands_its_connection_to_the_waiting_request() -> None:
    """A waiting request gets the kept connection, and a second close has no effect."""
    async with Server(answering(TWO)) as server, HttpClient(max_connections=1) as client:
        first = await client.send(PreparedRequest("GET", server.url))
        waiting = await waiting_for(client, server.url)
        await first.aclose()
        await first.aclose()
        assert (await asyncio.wait_for(waiting, 30)).body == b"ok"
        await first.aclose()
        assert (server.connections, client.open_connections) == (1, 1)


async def test_waiting_requests_are_served_in_order() -> None:
    """A request that comes later does not overtake those that wait."""
    async with Server(answering(TWO)) as server, HttpClient(max_connections=1) as client:
        order: list[int] = []

        async def numbered(number: int) -> None:
            await fetched(client, server.url)
            order.append(number)

        async with opened(client, server.url):
            tasks = [asyncio.create_task(numbered(number)) for number in range(3)]
            await turn_until(lambda: len(client._pool._waiting) == 3)
        late = asyncio.create_task(numbered(3))
        await asyncio.gather(*tasks, late)
        assert (order, server.connections) == ([0, 1, 2, 3], 1)


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("is_served", [True, False])
async def test_a_waiting_request_that_is_cancelled_keeps_no_slot(is_served: bool, elsewhere: bool) -> None:
    """A request that is cancelled while it waits, or just after it got a slot, releases it."""
    async with Server(answering(TWO)) as server, HttpClient(max_connections=1) as client:
        first = await client.send(PreparedRequest("GET", server.url))
        url = server.url.replace("127.0.0.1", "localhost") if elsewhere else server.url
        waiting = await waiting_for(client, url)
        if is_served:
            await first.aclose()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await first.aclose()
        assert not client._pool._waiting
        assert (await asyncio.wait_for(fetched(client, server.url), 30)).body == b"ok"
        assert client.open_connections == 1


async def test_a_connection_that_closes_during_handover_is_replaced() -> None:
    """The waiting request opens a new connection in the same slot."""
    async with Server(answering(TWO)) as server, HttpClient(max_connections=1) as client:
        async with opened(client, server.url) as response:
            waiting = await waiting_for(client, server.url)
            kept = connection_of(response)
        kept.abort()  # the waiting request has it, and its task has not run yet
        assert (await asyncio.wait_for(waiting, 30)).body == b"ok"
        assert (server.connections, client.open_connections) == (2, 1)


# --- leaving ---


@pytest.mark.parametrize("phase", ["head", "body"])
async def test_a_cancelled_request_closes_its_socket(phase: str) -> None:
    """Cancelled in either phase: the server sees the close, the slot in the pool is free, no task is left."""
    async with Server(hanging if phase == "head" else streaming) as server, HttpClient() as client:
        started = asyncio.Event()
        task = asyncio.create_task(read_pieces(client, server.url, [], started))
        await turn_until(lambda: bool(server.requests) if phase == "head" else started.is_set())
        before = asyncio.all_tasks() - {task}
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert client.open_connections == 0
        assert asyncio.all_tasks() <= before
        await asyncio.wait_for(server.left.wait(), 30)


async def test_leaving_mid_body_closes_the_socket() -> None:
    """The rest of an unread body must not reach the next request."""
    async with Server(streaming) as server, HttpClient(max_connections=1) as client:
        async with opened(client, server.url) as response:
            async for _ in response:
                break
        await asyncio.wait_for(server.left.wait(), 30)
        assert client.open_connections == 0


async def test_an_unread_complete_response_keeps_its_connection() -> None:
    """A response that is complete but unread is dropped without closing the connection."""
    async with Server(answering(TWO)) as server, HttpClient() as client:
        for _ in range(2):
            async with opened(client, server.url) as response:
                assert response.status == 200
        assert server.connections == 1


async def test_closing_the_client_ends_requests_under_way() -> None:
    """A request in flight fails and its socket is closed; a waiting one and a later one fail too."""
    async with Server(hanging) as server:
        client = HttpClient(max_connections=1)
        task = asyncio.create_task(fetched(client, server.url))
        await turn_until(lambda: bool(server.requests))
        waiting = await waiting_for(client, server.url)
        await client.aclose()
        with pytest.raises(Broken):
            await task
        for late in (waiting, fetched(client, server.url)):
            with pytest.raises(ConnectFailed):
                await late
        await asyncio.wait_for(server.left.wait(), 30)
        assert (server.connections, client.open_connections) == (1, 0)


async def test_closing_the_client_closes_idle_connections() -> None:
    """The server sees the close."""
    async with Server(answering(TWO)) as server:
        client = HttpClient()
        await fetched(client, server.url)
        await client.aclose()
        await asyncio.wait_for(server.tasks[0], 30)


async def test_closing_the_client_while_it_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that opens after the close is closed, and its request fails."""
    looked_up = asyncio.Event()
    addresses = connect._addresses

    async def slowly(host: str, port: int) -> list[Any]:
        await looked_up.wait()
        return await addresses(host, port)

    monkeypatch.setattr(connect, "_addresses", slowly)
    async with Server(hanging) as server:
        client = HttpClient()
        task = asyncio.create_task(fetched(client, server.url))
        await turn_until(lambda: client.open_connections == 1)
        await client.aclose()
        looked_up.set()
        with pytest.raises(ConnectFailed):
            await task
        await turn_until(lambda: server.connections == 1)
        await asyncio.wait_for(server.left.wait(), 30)
        assert (server.requests, client.open_connections) == ([], 0)


async def test_closing_the_client_during_handover() -> None:
    """A waiting request that got a kept connection fails instead of opening a new one."""
    async with Server(answering(TWO)) as server:
        client = HttpClient(max_connections=1)
        async with opened(client, server.url):
            waiting = await waiting_for(client, server.url)
        await client.aclose()  # the waiting request has its connection, and its task has not run yet
        with pytest.raises(ConnectFailed):
            await asyncio.wait_for(waiting, 30)
        assert (server.connections, client.open_connections) == (1, 0)


async def test_a_hundred_connections_are_reused() -> None:
    """A hundred concurrent streams leave a hundred idle connections, which the next hundred reuse."""
    body = STREAM + b"2\r\nok\r\n0\r\n\r\n"
    async with Server(answering(body)) as server, HttpClient(max_connections=100) as client:
        for _ in range(2):
            responses = await asyncio.gather(*(client.send(PreparedRequest("GET", server.url)) for _ in range(100)))
            for response in responses:
                assert [data async for data in response] == [b"ok"]
                await response.aclose()
        assert (server.connections, client.open_connections) == (100, 100)
