"""The tuned upstream client: httpx with httpcore's pool, and our own HTTP/1.1 connection under it.

This file, `connection.py`, `pool.py` and `request.py` lean on private parts of httpx 0.28.1 and httpcore 1.0.9;
`tests/unit/services/http/test_client.py` checks that each of them still fits: an upgrade fails there with a sentence.
"""

import ssl
from collections.abc import AsyncIterable, AsyncIterator
from functools import cached_property, partial
from typing import Any, cast

import httpcore
import httpx
from httpx._transports.default import AsyncResponseStream

from signalbox.services.http.connect import trust
from signalbox.services.http.connection import FAILURES, Body, extensions_of, raise_as_httpx
from signalbox.services.http.pool import Pool
from signalbox.services.http.protocol import Sink
from signalbox.services.http.request import Form, Post

# What respx puts something else in place of.
_WHOLE_WAY = httpcore.AsyncConnectionPool.handle_async_request
KEEPALIVE = 30.0  # seconds an unused connection is kept


async def ask(client: httpx.AsyncClient, form: Form, body: bytes) -> httpx.Response:
    """Do as `client.send(request, stream=True)` does, without cookies, redirects, auth and hooks.

    None of them is used for a model's answer, and together they cost as much as the request itself.
    """
    transport = client._transport_for_url(form.request.url)  # pyright: ignore[reportPrivateUsage]
    if isinstance(transport, Transport):
        return await transport.post(form, body)
    request = form.filled(body)
    answer = await transport.handle_async_request(request)
    answer.request = request
    return answer


async def pour(answer: httpx.Response, reads: AsyncIterator[bytes], sink: Sink) -> None:
    """Hand over an answer's body, one object per network read, until the sink wants no more; the rest is in `reads`.

    An answer of another transport (a proxy's, a test's) has no short way: there the reads are awaited.
    """
    body: Body | None = answer.extensions.get("body")
    if body is not None:
        await body.pour(sink)
        return
    async for data in reads:
        if sink(data):
            return


def is_read(answer: httpx.Response) -> bool:
    """Whether it is known that nothing more of an answer comes."""
    body: Body | None = answer.extensions.get("body")
    return body is not None and body.is_read


def field(answer: httpx.Response, name: str) -> str | None:
    """Read one header of an answer, by its name in lower case, as `answer.headers.get` does.

    For answers of our connection class no httpx.Headers is built: 5 µs of a stream, and 0.5 KiB while it is open.
    """
    body: Body | None = answer.extensions.get("body")
    if body is None:
        return answer.headers.get(name)
    value = body.head.fields.get(name.encode())
    return None if value is None else value.decode("utf-8", "replace")


# What is the same in every new response.
_BLANK = vars(httpx.Response(200, stream=httpx.ByteStream(b"")))
del _BLANK["headers"]


class Answer(httpx.Response):
    """What our pool answers to a form: its headers are built on first use, and closing it waits for nothing."""

    def __init__(self, form: Form, body: Body, pool: Pool) -> None:
        head = body.head
        vars(self).update(_BLANK, history=[])
        self.status_code = head.status
        self.extensions = {"http_version": head.version, "reason_phrase": head.reason, "body": body}
        self.stream = AsyncResponseStream(body)
        self.request = form.request
        self._give_back = partial(pool.give_back, body)
        self._fields = head.headers

    @cached_property
    def headers(self) -> httpx.Headers:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All headers."""
        return httpx.Headers(self._fields)

    async def aclose(self) -> None:
        """Give the connection back, read to its end or not."""
        self.is_closed = True
        self._give_back()


class Transport(httpx.AsyncHTTPTransport):
    """httpx's transport over our pool: it keeps httpx's mapping of exceptions, and respx intercepts it."""

    def __init__(self, tls: ssl.SSLContext, max_connections: int, keepalive: float) -> None:
        super().__init__(verify=tls)
        self._pool = self._own_pool = Pool(tls, max_connections, keepalive)

    async def post(self, form: Form, body: bytes) -> httpx.Response:
        """Do as handle_async_request does with the filled form, without building httpx's and httpcore's requests."""
        try:
            post = Post(form, body)
            if Pool.handle_async_request is _WHOLE_WAY:
                return Answer(form, await self._own_pool.post(post), self._own_pool)
            reply = await self._pool.handle_async_request(post)  # respx stepped in between
        except FAILURES as error:
            raise_as_httpx(error)
        stream = AsyncResponseStream(cast(AsyncIterable[bytes], reply.stream))
        extensions, sent = extensions_of(reply), form.request
        return httpx.Response(reply.status, headers=reply.headers, stream=stream, extensions=extensions, request=sent)


class _Client(httpx.AsyncClient):
    """httpx's client with our transport where no proxy is set.

    Handed a transport in the usual way, httpx would ignore the proxies of the environment.
    """

    def __init__(self, transport: Transport, **settings: Any) -> None:
        super().__init__(**settings)
        self._transport = transport


def make_client(
    *,
    connect_timeout: float = 10,
    idle_timeout: float = 120,
    max_connections: int = 1000,
    tls: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """Make the client for model providers: streams come as one bytes object per network read.

    `connect_timeout` is the seconds for lookup, TCP and TLS (and for a place in a full pool); `idle_timeout` the
    seconds of silence allowed while reading or writing. A request's own `timeout=` overrides both. `tls` replaces the
    default context (certifi's authorities, or those of SSL_CERT_FILE). Failures are httpx's exceptions: ConnectError,
    ConnectTimeout, PoolTimeout, ReadTimeout, ReadError, WriteTimeout, RemoteProtocolError, LocalProtocolError.
    A body cut short is RemoteProtocolError, never a silent end. A request that finds its kept connection closed goes
    out once more on a new one.

    Where the environment names a proxy (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, less NO_PROXY) httpx's own, slower
    transport carries those requests. Works under asyncio and uvloop only.
    """
    context = tls or trust()
    context.set_alpn_protocols(["http/1.1"])
    return _Client(
        Transport(context, max_connections, KEEPALIVE),
        verify=context,
        limits=httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections),
        timeout=httpx.Timeout(connect=connect_timeout, read=idle_timeout, write=idle_timeout, pool=connect_timeout),
        # httpx asks for gzip by default, and compressed streams are held back and cut by what stands between.
        headers={"accept-encoding": "identity"},
    )
