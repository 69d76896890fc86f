"""An answer poured into a sink: by our own transport under asyncio and uvloop, and awaited where another carries it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
import respx
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import EndOfStream, Request, StreamPart, TextDelta
from signalbox.services.http.client import is_read, make_client, pour
from signalbox.services.http.connection import Http1Connection
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at

from tests.support.scripted import heard
from tests.support.upstream import DONE, chunk
from tests.unit.services.http.test_client import (
    END,
    OK,
    STREAM,
    Peer,
    answering,
    closing_after,
    pool_of,
    streaming,
    turn_until,
)
from tests.unit.services.http.test_client import Upstream as Server

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

HEADERS = {"content-type": "text/event-stream"}


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Run each test on both event loops the app may be served on."""
    return ("asyncio", {"use_uvloop": request.param})


async def poured(client: httpx.AsyncClient, url: str, sink: Callable[[bytes], object]) -> bool:
    """Pour one answer; tell whether all of it is known to have come."""
    async with client.stream("GET", url) as answer:
        await pour(answer, answer.aiter_raw(), lambda data: bool(sink(data)))
        return is_read(answer)


async def test_a_whole_body_keeps_its_connection() -> None:
    """Every byte is poured, nothing more is known to come, and the next request goes out on the same connection."""
    body = STREAM + b"2\r\nok\r\n" + END
    async with Server(answering(body)) as server, make_client() as client:
        got: list[bytes] = []
        for _ in range(3):
            assert await poured(client, server.url, got.append)
        assert b"".join(got) == b"ok" * 3
        assert server.connections == 1


async def test_what_the_sink_raises_closes_the_connection() -> None:
    """It comes out as it is, the server sees its client leave, and the next request has a connection of its own."""

    def breaks(data: bytes) -> None:
        raise ValueError("enough")

    async with Server(streaming) as server, make_client() as client:
        for number in (1, 2):
            with pytest.raises(ValueError, match="enough"):
                await poured(client, server.url, breaks)
            await asyncio.wait_for(server.left.wait(), 30)
            server.left.clear()
            assert (server.connections, pool_of(client).connections) == (number, [])


async def test_a_full_sink_leaves_the_rest_to_be_read() -> None:
    """What the sink did not want is in the reads, to the end."""
    full = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(STREAM + b"5\r\nfirst\r\n")
        await full.wait()
        await peer.send(b"4\r\nrest\r\n" + END)
        await peer.gone()

    async with Server(script) as server, make_client() as client, client.stream("GET", server.url) as answer:
        reads, got = answer.aiter_raw(), list[bytes]()
        await pour(answer, reads, lambda data: got.append(data) is None)
        assert (got, is_read(answer)) == ([b"first"], False)
        full.set()
        assert b"".join([data async for data in reads]) == b"rest"


@pytest.mark.parametrize("ending", ["cut", "silence", "no HTTP"])
async def test_a_break_is_one_of_httpxs_exceptions_behind_the_good_bytes(ending: str) -> None:
    """Whoever pours tells a cut, a silence and garbage apart as whoever reads does."""
    good = STREAM + b"4\r\ngood\r\n"
    script = {"cut": closing_after(good), "silence": streaming, "no HTTP": answering(good + b"zz\r\n")}[ending]
    error = httpx.ReadTimeout if ending == "silence" else httpx.RemoteProtocolError
    async with Server(script) as server, make_client(idle_timeout=0.05 if ending == "silence" else 30) as client:
        got: list[bytes] = []
        with pytest.raises(error):
            await poured(client, server.url, got.append)
        assert got == [b"ok" if ending == "silence" else b"good"]
        assert pool_of(client).connections == []


async def test_cancelling_closes_the_connection() -> None:
    """The server sees its client leave, and the place in the pool is free."""
    async with Server(streaming) as server, make_client() as client:
        got: list[bytes] = []
        task = asyncio.create_task(poured(client, server.url, got.append))
        await turn_until(lambda: bool(got))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 30)
        assert pool_of(client).connections == []


async def test_a_paused_socket_goes_on() -> None:
    """A body that had to wait for a slow reader is poured whole."""
    size = 4 * 2**20

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(OK + b"content-length: %d\r\n\r\n" % size + b"x" * size)
        await peer.gone()

    async with Server(script) as server, make_client() as client, client.stream("GET", server.url) as answer:
        (connection,) = pool_of(client).connections
        assert isinstance(connection, Http1Connection)
        link = connection._channel
        assert link is not None
        await turn_until(lambda: link._paused)
        sizes: list[int] = []
        await pour(answer, answer.aiter_raw(), lambda data: sizes.append(len(data)) is not None)
        assert sum(sizes) == size
        assert is_read(answer)


# Where another transport carries the answer


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    """Make a body of these reads."""
    for one in data:
        yield one


async def test_an_answer_of_another_transport_is_awaited() -> None:
    """A mocker's or a proxy's has no short way: its reads come one by one, and what the sink leaves can be read."""
    with respx.mock:
        route = respx.get("https://provider.test/")
        route.mock(side_effect=lambda _: httpx.Response(200, content=pieces(b"a", b"b", b"c")))
        async with make_client() as client:
            got: list[bytes] = []
            assert await poured(client, "https://provider.test/", got.append) is False  # it cannot be known
            assert got == [b"a", b"b", b"c"]
            async with client.stream("GET", "https://provider.test/") as answer:
                reads = answer.aiter_raw()
                await pour(answer, reads, lambda data: data == b"b")
                assert [data async for data in reads] == [b"c"]


FRAMES = (chunk({"content": "a"}), chunk({"content": "b"}, finish="stop"), DONE)


async def test_the_service_hears_an_answer_of_another_transport() -> None:
    """The same parts, read by read; and whoever takes them may end it there as well."""
    with respx.mock:
        url = "https://provider.test/api/v1/chat/completions"
        respx.post(url).mock(side_effect=lambda _: httpx.Response(200, headers=HEADERS, content=pieces(*FRAMES)))
        async with make_client() as client:
            service = UpstreamClient(client, upstream_at("https://provider.test/api/v1", "key"))
            ask = Request("openai/sim", (UserMessage("Hello!"),))
            reads = await heard(service, ask)
            assert [[p.text for p in parts if isinstance(p, TextDelta)] for parts in reads] == [["a"], ["b"], []]
            assert isinstance(reads[-1][-1], EndOfStream)
            taken: list[list[StreamPart]] = []

            def takes(parts: list[StreamPart]) -> None:
                taken.append(parts)
                raise ValueError("enough")

            with pytest.raises(ValueError, match="enough"):
                await service.stream(ask, takes)
            assert len(taken) == 1


async def test_a_cut_of_another_transport_is_a_cut() -> None:
    """What came before it is handed over."""

    async def breaks() -> AsyncIterator[bytes]:
        yield FRAMES[0]
        raise httpx.RemoteProtocolError("peer closed connection")

    with respx.mock:
        respx.post("https://provider.test/v1/chat/completions").mock(
            side_effect=lambda _: httpx.Response(200, headers=HEADERS, content=breaks())
        )
        async with make_client() as client:
            service = UpstreamClient(client, upstream_at("https://provider.test/v1", "key"))
            seen: list[StreamPart] = []
            with pytest.raises(UpstreamError) as refused:
                await service.stream(Request("openai/sim", (UserMessage("Hello!"),)), seen.extend)
    assert refused.value.code is Code.STREAM_CUT
    assert [part.text for part in seen if isinstance(part, TextDelta)] == ["a"]
