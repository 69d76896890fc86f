"""A form sent by `ask`: the same on the wire, and in every failure, as httpx's own way of asking."""

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from signalbox.services.http import client as http_client
from signalbox.services.http.client import ask, field, make_client
from signalbox.services.http.request import Form, Post

from tests.unit.services.http.test_client import (
    OK,
    STREAM,
    TWO,
    Peer,
    Upstream,
    answering,
    closing_after,
    hanging,
    pool_of,
    streaming,
    turn_until,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

BODY = b'{"model":"openai/sim"}'


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Run each test on both event loops the app may be served on."""
    return ("asyncio", {"use_uvloop": request.param})


def form_of(client: httpx.AsyncClient, url: str, **headers: str) -> Form:
    """Make a form as the service does."""
    return Form(client.build_request("POST", url, headers={"x-me": "1", **headers}))


async def content(answer: httpx.Response) -> bytes:
    """Read an answer to its end, and close it."""
    try:
        return await answer.aread()
    finally:
        await answer.aclose()


def lines(request: bytes) -> list[bytes]:
    """Return what was sent as sorted lines; a header's name may be written in either case."""
    head, _, body = request.partition(b"\r\n\r\n")
    return [*sorted(line.lower() for line in head.split(b"\r\n")), body]


async def test_the_same_goes_out() -> None:
    """Address, headers and body are those of httpx's own client, each time, on one connection."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        form = form_of(client, upstream.url + "?a=b")
        for body in (BODY, b"", BODY * 100_000):
            await client.post(upstream.url + "?a=b", headers={"x-me": "1"}, content=body)
            assert await content(await ask(client, form, body)) == b"ok"
            assert lines(upstream.requests[-1]) == lines(upstream.requests[-2])
        assert upstream.connections == 1


async def test_the_same_comes_in() -> None:
    """Status, headers and body read as in httpx's own answer; and one header can be read by itself."""
    head = b"HTTP/1.1 402 Pay\r\nX-One: a\r\nx-one: b\r\nX-Odd: \xff\r\nx-Two: \xc3\xa9\r\ncontent-length: 2\r\n\r\nno"
    async with Upstream(answering(head)) as upstream, make_client() as client:
        own = await client.post(upstream.url, content=BODY)
        answer = await ask(client, form_of(client, upstream.url), BODY)
        assert await content(answer) == own.content
        assert (answer.status_code, answer.reason_phrase) == (own.status_code, own.reason_phrase)
        assert answer.headers.raw == own.headers.raw
        assert answer.is_closed
        assert answer.request.url == upstream.url
        names = ("x-one", "content-length", "x-three")
        assert [field(answer, name) for name in names] == [own.headers.get(name) for name in names]
        assert field(answer, "x-two") == "\u00e9"
        assert field(answer, "x-odd") == "\ufffd"


async def test_an_answer_that_is_left_closes_its_connection() -> None:
    """Closed in the middle of its body, and closed twice: the server sees it once, and the place is free."""
    async with Upstream(streaming) as upstream, make_client(max_connections=1) as client:
        answer = await ask(client, form_of(client, upstream.url), BODY)
        async for _ in answer.aiter_raw():
            break
        await answer.aclose()
        await answer.aclose()
        await asyncio.wait_for(upstream.left.wait(), 30)
        assert pool_of(client).connections == []
        assert not len(pool_of(client)._requests)


async def test_a_body_is_let_go_once_its_answer_has_begun() -> None:
    """A long history is not held for as long as the answer to it streams."""
    async with Upstream(streaming) as upstream, make_client() as client:
        body = b'{"model":"%b"}' % (b"m" * 4000)
        own = sys.getrefcount(body) - 1
        answer = await ask(client, form_of(client, upstream.url), body)
        assert sys.getrefcount(body) == own + 1, "somebody holds the body"
        assert not [one for one in gc.get_objects() if isinstance(one, Post)]
        await answer.aclose()


async def test_closing_hands_the_connection_to_who_waits() -> None:
    """A second request waits for the only place, gets the kept connection, and a late second close takes nothing."""
    async with Upstream(answering(TWO)) as upstream, make_client(max_connections=1) as client:
        form = form_of(client, upstream.url)
        first = await ask(client, form, BODY)
        waiting = asyncio.create_task(ask(client, form, BODY))
        await turn_until(lambda: len(pool_of(client)._requests) == 1)
        await first.aclose()
        second = await asyncio.wait_for(waiting, 30)
        await first.aclose()
        assert await content(second) == b"ok"
        assert upstream.connections == 1


async def test_who_waits_and_leaves_keeps_no_place() -> None:
    """A post that is cancelled while it waits, or just when its turn comes, leaves the only place to the next."""
    async with Upstream(answering(TWO)) as upstream, make_client(max_connections=1) as client:
        form = form_of(client, upstream.url)
        elsewhere = form_of(client, upstream.url.replace("127.0.0.1", "localhost"))
        for is_its_turn in (False, True):
            first = await ask(client, form, BODY)
            waiting = asyncio.create_task(ask(client, elsewhere, BODY))
            await turn_until(lambda: len(pool_of(client)._requests) == 1)
            if is_its_turn:
                await first.aclose()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await first.aclose()
            assert await content(await asyncio.wait_for(ask(client, form, BODY), 30)) == b"ok"
            assert not len(pool_of(client)._requests)


async def test_a_post_that_waits_while_the_client_is_closed_dials_anew() -> None:
    """A waiting post that is given a connection just as the client is closed is answered on another one."""
    async with Upstream(answering(TWO)) as upstream, make_client(max_connections=1) as client:
        form = form_of(client, upstream.url)
        first = await ask(client, form, BODY)
        waiting = asyncio.create_task(ask(client, form, BODY))
        await turn_until(lambda: len(pool_of(client)._requests) == 1)
        await first.aclose()
        await pool_of(client).aclose()
        assert await content(await asyncio.wait_for(waiting, 30)) == b"ok"
        assert upstream.connections == 2


async def test_cancelling_before_the_head_closes_the_socket() -> None:
    """The server sees the close, and the place in the pool is free."""
    async with Upstream(hanging) as upstream, make_client() as client:
        task = asyncio.create_task(ask(client, form_of(client, upstream.url), BODY))
        await turn_until(lambda: bool(upstream.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(upstream.left.wait(), 30)
        assert pool_of(client).connections == []
        assert not len(pool_of(client)._requests)


async def test_a_stale_connection_is_replaced() -> None:
    """A kept connection that is dropped as the next post goes out is replaced once, and the post goes out again."""

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(TWO)
        await peer.request()
        if peer.number > 1:
            await peer.send(TWO)

    async with Upstream(script) as upstream, make_client() as client:
        form = form_of(client, upstream.url)
        for body in (b"1", b"2"):
            assert await content(await ask(client, form, body)) == b"ok"
        assert upstream.connections == 2
        assert [request[-1:] for request in upstream.requests] == [b"1", b"2", b"2"]


async def test_an_early_answer_ends_the_upload() -> None:
    """A server that answers without reading the whole body is heard, and its connection is not used again."""

    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await peer.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")
        await done.wait()

    done = asyncio.Event()
    async with Upstream(script) as upstream, make_client() as client, asyncio.timeout(60):
        answer = await ask(client, form_of(client, upstream.url), b"z" * 2**25)
        assert (answer.status_code, await content(answer)) == (413, b"no")
        assert pool_of(client).connections == []
        done.set()


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        (closing_after(b""), httpx.RemoteProtocolError),
        (closing_after(b"?"), httpx.RemoteProtocolError),
        (hanging, httpx.ReadTimeout),
    ],
)
async def test_failures_before_the_head_are_httpxs(
    script: Callable[[Peer], Awaitable[None]], failure: type[Exception]
) -> None:
    """A close, noise and silence: httpx's exceptions, and nothing is kept."""
    async with Upstream(script) as upstream, make_client(idle_timeout=0.05) as client:
        with pytest.raises(failure):
            await ask(client, form_of(client, upstream.url), BODY)
        assert pool_of(client).connections == []


async def test_a_cut_body_is_httpxs() -> None:
    """Read, not poured: what came before the cut is handed out, and then httpx's exception is raised."""
    async with Upstream(closing_after(STREAM + b"2\r\nok\r\n")) as upstream, make_client() as client:
        answer = await ask(client, form_of(client, upstream.url), BODY)
        reads = answer.aiter_raw()
        assert await anext(reads) == b"ok"
        with pytest.raises(httpx.RemoteProtocolError):
            await anext(reads)
        await answer.aclose()
        assert pool_of(client).connections == []


async def test_a_full_pool_is_a_pool_timeout() -> None:
    """With the only place taken a post raises PoolTimeout."""
    async with Upstream(streaming) as upstream, make_client(max_connections=1, connect_timeout=0.05) as client:
        form = form_of(client, upstream.url)
        first = await ask(client, form, BODY)
        with pytest.raises(httpx.PoolTimeout):
            await ask(client, form, BODY)
        await first.aclose()


async def test_a_header_cannot_break_out() -> None:
    """A line break in a form's header is refused when it is sent, each time, and nothing goes out."""
    async with Upstream(answering(TWO)) as upstream, make_client() as client:
        form = form_of(client, upstream.url, x="a\r\nhost: evil")
        for _ in range(2):
            with pytest.raises(httpx.LocalProtocolError):
                await ask(client, form, BODY)
        assert upstream.requests == []
        assert pool_of(client).connections == []


async def test_what_another_origin_has_left_behind_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody asks that origin any more; a request to any other finds its dead connections."""
    monkeypatch.setattr(http_client, "KEEPALIVE", 0.05)
    async with Upstream(answering(TWO)) as old, Upstream(answering(TWO)) as new, make_client() as client:
        answers = await asyncio.gather(*(ask(client, form_of(client, old.url), BODY) for _ in range(3)))
        assert [await content(answer) for answer in answers] == [b"ok"] * 3
        left = [*pool_of(client)._all]
        await turn_until(lambda: all(connection.is_closed() for connection in left))
        await content(await ask(client, form_of(client, new.url), BODY))
        assert not set(left) & set(pool_of(client)._all)


async def test_any_transport_takes_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mocked transport and a proxy of the environment get the same request."""

    def answer_to(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"x-me": request.headers["x-me"]}, content=request.content)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer_to)) as client:
        answer = await ask(client, form_of(client, "http://provider.test/v1"), BODY)
        assert (field(answer, "x-me"), await content(answer)) == ("1", BODY)
    async with Upstream(answering(OK + b"content-length: 2\r\n\r\nok")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        async with make_client() as client:
            assert await content(await ask(client, form_of(client, "http://provider.test/v1"), BODY)) == b"ok"
    assert proxy.requests[0].startswith(b"POST http://provider.test/v1 HTTP/1.1\r\n")
    assert proxy.requests[0].endswith(b"\r\n\r\n" + BODY)
