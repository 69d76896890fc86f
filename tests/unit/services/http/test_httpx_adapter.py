"""Requests through httpx: proxies of the environment, respx, and given transports."""

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
import respx
from signalbox.services.http import errors
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import HttpError
from signalbox.services.http.httpx_adapter import Proxies
from signalbox.services.http.request import Origin, PreparedRequest

from tests.support.http_server import TWO, Server, answering, fetched, opened

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

URL = "https://provider.test/v1"


def mocked(handler: Callable[[httpx.Request], httpx.Response]) -> HttpClient:
    """Return a client whose requests reach a function."""
    return HttpClient(transport=httpx.MockTransport(handler))


# --- proxies ---


async def test_proxies_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY sends a request through httpx; NO_PROXY uses our connections."""
    async with Server(answering(TWO)) as proxy, Server(answering(TWO)) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        async with HttpClient() as client:
            assert (await fetched(client, "http://provider.test/v1", b"{}")).body == b"ok"
            assert client.open_connections == 0
            await fetched(client, server.url)
            assert client.open_connections == 1
    assert proxy.requests[0].startswith(b"POST http://provider.test/v1 HTTP/1.1\r\n")
    assert proxy.requests[0].endswith(b"\r\n\r\n{}")
    assert server.requests[0].startswith(b"GET /v1/chat HTTP/1.1\r\n")


async def test_a_proxy_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that does not open a tunnel raises ProxyFailed."""
    async with Server(answering(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n")) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        async with HttpClient() as client:
            with pytest.raises(errors.ProxyFailed):
                await fetched(client, URL)


@pytest.mark.parametrize(
    ("environment", "scheme", "host", "carried"),
    [
        ({}, "https", "provider.test", False),
        ({"HTTPS_PROXY": "http://p"}, "https", "provider.test", True),
        ({"HTTPS_PROXY": "http://p"}, "http", "provider.test", False),
        ({"ALL_PROXY": "http://p"}, "http", "provider.test", True),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "*"}, "http", "provider.test", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "provider.test"}, "http", "provider.test", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "Provider.Test"}, "http", "provider.test", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "other, provider.test"}, "http", "eu.provider.test", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": ".provider.test"}, "http", "eu.provider.test", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": ".provider.test"}, "http", "provider.test", True),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "vider.test"}, "http", "provider.test", True),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "10.0.0.0/8"}, "http", "10.0.0.1", True),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "10.0.0.1"}, "http", "10.0.0.1", False),
        ({"ALL_PROXY": "http://p", "NO_PROXY": ", ,"}, "http", "provider.test", True),
    ],
)
def test_which_requests_a_proxy_may_carry(
    environment: dict[str, str], scheme: str, host: str, carried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy of the scheme or of all schemes, except for hosts and domains in NO_PROXY."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Proxies().may_carry(Origin(scheme, host, 80)) is carried


# --- the same surface ---


async def test_both_clients_send_the_same_request() -> None:
    """Httpx sends the same headers and body as our connections."""
    async with Server(answering(TWO)) as server:
        request = PreparedRequest("POST", server.url.replace("://", "://me:pw@") + "?a=b", {"x-me": "1"})
        for client in (HttpClient(), HttpClient(transport=httpx.AsyncHTTPTransport())):
            async with client:
                await (await client.send(request, b"{}")).aclose()
        ours, theirs = (sorted(one.lower().split(b"\r\n")) for one in server.requests)
        assert ours == theirs


async def test_both_clients_return_the_same_response() -> None:
    """Status, headers, redirect and body are equal; no redirect is followed."""
    head = {"X-One": "a", "location": "/b"}
    echo = mocked(lambda request: httpx.Response(302, headers=head, content=pieces(request.content)))
    async with echo as client, opened(client, URL, b"body") as response:
        assert (response.status, response.is_redirect, response.is_success) == (302, True, False)
        assert (response.header("x-one"), response.header("x-two")) == ("a", None)
        assert response.headers["x-one"] == "a"
        assert [data async for data in response] == [b"body"]


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    """Return a body of these reads."""
    for one in data:
        yield one


async def test_a_body_is_emitted_read_by_read() -> None:
    """Streaming ends with the body or when it is stopped; iterating continues there."""
    async with mocked(lambda _: httpx.Response(200, content=pieces(b"a", b"b", b"c"))) as client:
        async with opened(client, URL) as response:
            got: list[bytes] = []
            await response.stream_body(got.append)
            assert (got, response.is_complete) == ([b"a", b"b", b"c"], False)
        async with opened(client, URL) as response:
            await response.stream_body(lambda data: response.stop_streaming() if data == b"b" else None)
            assert [data async for data in response] == [b"c"]


async def test_an_error_of_emit_is_raised() -> None:
    """The error is not wrapped."""

    def breaks(data: bytes) -> None:
        raise ValueError("enough")

    two = mocked(lambda _: httpx.Response(200, content=pieces(b"a", b"b")))
    async with two as client, opened(client, URL) as response:
        with pytest.raises(ValueError, match="enough"):
            await response.stream_body(breaks)


ERRORS = [
    (httpx.ConnectTimeout, errors.ConnectTimeout),
    (httpx.PoolTimeout, errors.PoolFull),
    (httpx.ReadTimeout, errors.ReadTimeout),
    (httpx.WriteTimeout, errors.WriteTimeout),
    (httpx.ConnectError, errors.ConnectFailed),
    (httpx.ReadError, errors.Broken),
    (httpx.WriteError, errors.Broken),
    (httpx.CloseError, errors.Broken),
    (httpx.RemoteProtocolError, errors.ProtocolError),
    (httpx.LocalProtocolError, errors.InvalidRequest),
    (httpx.UnsupportedProtocol, errors.InvalidRequest),
    (httpx.ProxyError, errors.ProxyFailed),
]


@pytest.mark.parametrize(("theirs", "ours"), ERRORS)
@pytest.mark.parametrize("phase", ["head", "body", "stream"])
async def test_httpx_errors_become_ours(theirs: type[httpx.HTTPError], ours: type[HttpError], phase: str) -> None:
    """Errors are converted before the head, while reading and while streaming; earlier bytes are delivered."""

    async def cut() -> AsyncIterator[bytes]:
        yield b"a"
        raise theirs("cut")

    def handler(request: httpx.Request) -> httpx.Response:
        if phase == "head":
            raise theirs("cut")
        return httpx.Response(200, content=cut())

    got: list[bytes] = []

    async def read_body(client: HttpClient) -> None:
        async with opened(client, URL) as response:
            if phase == "stream":
                await response.stream_body(got.append)
            got.extend([await anext(aiter(response))])
            await anext(aiter(response))

    async with mocked(handler) as client:
        with pytest.raises(ours, match="cut") as raised:
            await read_body(client)
    assert type(raised.value) is ours
    assert got == ([] if phase == "head" else [b"a"])


async def test_respx_mocks_it() -> None:
    """Respx intercepts httpx's transport, and nothing is sent."""
    with respx.mock:
        route = respx.post(URL).mock(return_value=httpx.Response(200, text="mocked"))
        async with HttpClient(transport=httpx.AsyncHTTPTransport()) as client:
            assert (await fetched(client, URL, b"{}")).body == b"mocked"
        assert route.called


async def test_closing_the_client_closes_the_transport() -> None:
    """A closed client sends nothing."""
    closed: list[bool] = []

    class Transport(httpx.MockTransport):
        async def aclose(self) -> None:
            closed.append(True)

    async with HttpClient(transport=Transport(lambda _: httpx.Response(200))):
        assert closed == []
    assert closed == [True]
