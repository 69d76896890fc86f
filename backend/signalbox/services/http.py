"""The tuned upstream client: httpx with httpcore's pool, and our own HTTP/1.1 connection under it.

This file is the one that leans on private parts of httpx 0.28.1 and httpcore 1.0.9; `tests/services/test_http.py`
checks that each of them still fits, so an upgrade fails there with a sentence.
"""

import asyncio
import enum
import ssl
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, cast

import httpcore
import httpx
from httpx._transports.default import map_httpcore_exceptions

from signalbox.services.channel import Channel, Sink, connect
from signalbox.services.http1 import encode_head

KEEPALIVE = 30.0  # seconds an unused connection is kept
STALE_WINDOW = 3.0  # seconds after the request within which a dropped kept connection counts as stale


class _State(enum.Enum):
    NEW = "new"
    ACTIVE = "active"
    IDLE = "idle"
    CLOSED = "closed"


class Http1Connection(httpcore.AsyncConnectionInterface):
    """A place in httpcore's pool for one origin, carrying one request at a time over a Channel.

    It knows no HTTP/2, no protocol upgrade, and not httpcore's `trace` and `network_stream` extensions.
    """

    def __init__(self, origin: httpcore.Origin, tls: ssl.SSLContext | None, keepalive: float | None) -> None:
        self._origin = origin
        self._tls = tls if origin.scheme == b"https" else None
        self._keepalive = keepalive
        self._channel: Channel | None = None
        self._state = _State.NEW

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request and return once the response's head is here. Raises httpcore's exceptions."""
        if self._state is _State.ACTIVE or self.is_closed():
            raise httpcore.ConnectionNotAvailable
        self._state = _State.ACTIVE
        try:
            channel = await self._converse(request)
            head = await channel.head()
        except BaseException:  # cancellation too: a client that leaves in this phase must not leave a socket behind
            self.close()
            raise
        body = _Body(self, channel)
        return httpcore.Response(
            head.status,
            headers=head.headers,
            content=body,
            extensions={"http_version": head.version, "reason_phrase": head.reason, "body": body},
        )

    async def _converse(self, request: httpcore.Request) -> Channel:
        """Send on the kept connection or on a new one, and see the response begin."""
        if self._channel is not None:
            sent_at = asyncio.get_running_loop().time()
            try:
                return await _send(self._channel, request)
            except (httpcore.NetworkError, httpcore.RemoteProtocolError):
                if not _may_send_again(request, self._channel, sent_at):
                    raise
        self._channel = await self._connect(request)
        if self.is_closed():  # the client was closed meanwhile
            self._channel.abort()
            raise httpcore.ConnectError("Connection closed while it was being opened")
        return await _send(self._channel, request)

    async def _connect(self, request: httpcore.Request) -> Channel:
        host = self._origin.host.decode("ascii")
        return await connect(
            host,
            self._origin.port,
            tls=self._tls,
            server_hostname=_extension(request, "sni_hostname") or host,
            patience=_timeout(request, "connect"),
        )

    def release(self) -> None:
        """Take the connection back when a response is closed, read to its end or not."""
        if self._state is _State.ACTIVE and self._channel is not None:
            kept = self._channel.release(self._keepalive)
            self._state = _State.IDLE if kept else _State.CLOSED

    def close(self) -> None:
        """Close the socket now."""
        self._state = _State.CLOSED
        if self._channel is not None:
            self._channel.abort()

    # What follows is called by httpcore's pool.

    async def aclose(self) -> None:
        """Close the socket now."""
        self.close()

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        """Say whether this connection leads to `origin`."""
        return origin == self._origin

    def is_available(self) -> bool:
        """Say whether a request may be sent now."""
        return self.is_idle()

    def has_expired(self) -> bool:
        """Never: the channel's timer closes what nobody uses, and sees a server close, without being asked."""
        return False

    def is_idle(self) -> bool:
        """Say whether the connection is open and kept for another request."""
        return self._state is _State.IDLE and self._channel is not None and not self._channel.closed

    def is_closed(self) -> bool:
        """Say whether the connection is of no more use; a server may have closed it while it was idle."""
        return self._state is _State.CLOSED or (self._state is _State.IDLE and not self.is_idle())

    def info(self) -> str:
        """Describe the connection for logs and for `repr`."""
        return f"{str(self._origin)!r}, HTTP/1.1, {self._state.name}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} [{self.info()}]>"


class _Body:
    """A response's body: one bytes object per network read."""

    def __init__(self, connection: Http1Connection, channel: Channel) -> None:
        self._connection = connection
        self._channel = channel
        self._closed = False

    def __aiter__(self) -> "_Body":
        return self

    async def __anext__(self) -> bytes:
        data = await self._channel.read()
        if not data:
            raise StopAsyncIteration
        return data

    @property
    def is_read(self) -> bool:
        """Whether nothing more comes."""
        return self._channel.is_read

    async def pour(self, sink: Sink) -> None:
        """Hand over the body where it arrives, past httpx and httpcore; raises httpx's exceptions."""
        with map_httpcore_exceptions():
            await self._channel.pour(sink)

    async def aclose(self) -> None:
        """Give the connection back."""
        if not self._closed:
            self._closed = True
            self._connection.release()


async def _send(channel: Channel, request: httpcore.Request) -> Channel:
    """Write a request and wait for the response's head; an answer that comes early ends the upload.

    Raises httpcore.LocalProtocolError when the body is not as long as it says: the rest of it, or the next request,
    would be read as something else.
    """
    patience = _timeout(request, "write")
    head = encode_head(request.method, request.url.target, request.headers)
    length, chunked = _framing(request.headers)
    channel.begin(request.method, _timeout(request, "read"))
    assert isinstance(request.stream, AsyncIterable)
    async for part in request.stream:
        if not part:
            continue
        length -= len(part)
        if length < 0 and not chunked:
            raise httpcore.LocalProtocolError("Too much data for declared Content-Length")
        if not await channel.write(head + (b"%x\r\n%b\r\n" % (len(part), part) if chunked else part), patience):
            break
        head = b""
    else:
        if length > 0 and not chunked:
            raise httpcore.LocalProtocolError("Too little data for declared Content-Length")
        if await channel.write(head + (b"0\r\n\r\n" if chunked else b""), patience):
            channel.request_sent()
    await channel.head()
    return channel


def _framing(headers: list[tuple[bytes, bytes]]) -> tuple[int, bool]:
    """Say how a request's body is delimited: its length in bytes, and whether it goes out in chunks instead."""
    fields = {name.lower(): value for name, value in headers}
    length = fields.get(b"content-length", b"0")
    if not length.isdigit():
        raise httpcore.LocalProtocolError(f"Illegal Content-Length {length!r}")
    return int(length), fields.get(b"transfer-encoding", b"").lower() == b"chunked"


def _extension(request: httpcore.Request, name: str) -> Any:
    extensions = cast("dict[str, Any]", request.extensions)  # pyright: ignore[reportUnknownMemberType]  httpcore's `{}`
    return extensions.get(name)


def _timeout(request: httpcore.Request, kind: str) -> float | None:
    """Read one of httpx's four timeouts from a request, in seconds; None is no limit."""
    timeouts: dict[str, float | None] = _extension(request, "timeout") or {}
    return timeouts.get(kind)


def _may_send_again(request: httpcore.Request, channel: Channel, sent_at: float) -> bool:
    """Decide whether a kept connection was dead already when the request went out on it.

    A server closes an idle connection just as we write: the loss then shows within a round trip, with not one byte of
    response. A loss long after the request is a server that died at work, and a completion may have been paid for.
    """
    late = asyncio.get_running_loop().time() - sent_at > STALE_WINDOW
    return channel.unanswered and not late and isinstance(request.stream, httpx.ByteStream)


async def ask(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """Do as `client.send(request, stream=True)` does, without cookies, redirects, auth and hooks.

    None of them is used for a model's answer, and together they cost as much as the request itself.
    """
    transport = client._transport_for_url(request.url)  # pyright: ignore[reportPrivateUsage]
    answer = await transport.handle_async_request(request)
    answer.request = request
    return answer


async def pour(answer: httpx.Response, reads: AsyncIterator[bytes], sink: Sink) -> None:
    """Hand over an answer's body, one object per network read, until the sink wants no more; the rest is in `reads`.

    An answer of another transport (a proxy's, a test's) has no short way: there the reads are awaited.
    """
    body: _Body | None = answer.extensions.get("body")
    if body is not None:
        await body.pour(sink)
        return
    async for data in reads:
        if sink(data):
            return


def is_read(answer: httpx.Response) -> bool:
    """Whether it is known that nothing more of an answer comes."""
    body: _Body | None = answer.extensions.get("body")
    return body is not None and body.is_read


class Pool(httpcore.AsyncConnectionPool):
    """httpcore's pool with our connection, and with an assignment that walks the connections once.

    httpcore's own builds a list of all connections for every idle one, on each acquire and release: 26 CPU-ms per
    stream with 1,000 streams, and 15 ms instead of 5 per tool turn with 100 idle connections.
    """

    def __init__(self, tls: ssl.SSLContext, max_connections: int, keepalive: float) -> None:
        # Where httpcore counts for the keep-alive limit it counts all connections, not the idle ones: with httpx's
        # 100/20 fifty overlapping streams opened 170 connections in five rounds, with equal limits 50.
        super().__init__(
            ssl_context=tls,
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=keepalive,
        )

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        """Return our connection in place of httpcore's."""
        return Http1Connection(origin, self._ssl_context, self._keepalive_expiry)

    def _assign_requests_to_connections(self) -> list[httpcore.AsyncConnectionInterface]:
        """Give every waiting request a connection while there are any; return those the pool has to close.

        A connection belongs to the request that holds it or it is idle. One that is neither was made for a request
        cancelled before it started, and httpcore would keep its place taken for ever.
        """
        held = {request.connection for request in self._requests}
        closing: list[httpcore.AsyncConnectionInterface] = []
        idle: list[httpcore.AsyncConnectionInterface] = []
        kept: list[httpcore.AsyncConnectionInterface] = []
        for connection in self._connections:
            if connection in held:
                kept.append(connection)
            elif connection.is_idle():
                kept.append(connection)
                idle.append(connection)
            elif not connection.is_closed():
                closing.append(connection)
        self._connections = kept
        for request in self._requests:
            if request.is_queued():
                connection = self._provide(request.request.url.origin, idle, closing)
                if connection is not None:
                    request.assign_to_connection(connection)
        return closing

    def _provide(
        self,
        origin: httpcore.Origin,
        idle: list[httpcore.AsyncConnectionInterface],
        closing: list[httpcore.AsyncConnectionInterface],
    ) -> httpcore.AsyncConnectionInterface | None:
        """Find an idle connection to an origin or make one, in place of another origin's where the pool is full."""
        for connection in idle:
            if connection.can_handle_request(origin):
                idle.remove(connection)
                return connection
        if len(self._connections) >= self._max_connections:
            if not idle:
                return None
            oldest = idle.pop(0)
            self._connections.remove(oldest)
            closing.append(oldest)
        connection = self.create_connection(origin)
        self._connections.append(connection)
        return connection


class Transport(httpx.AsyncHTTPTransport):
    """httpx's transport over our pool: it keeps httpx's mapping of exceptions, and respx intercepts it."""

    def __init__(self, tls: ssl.SSLContext, max_connections: int, keepalive: float) -> None:
        super().__init__(verify=tls)
        self._pool = Pool(tls, max_connections, keepalive)


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
    context = tls or httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return _Client(
        Transport(context, max_connections, KEEPALIVE),
        verify=context,
        limits=httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections),
        timeout=httpx.Timeout(connect=connect_timeout, read=idle_timeout, write=idle_timeout, pool=connect_timeout),
        # httpx asks for gzip by default, and compressed streams are held back and cut by what stands between.
        headers={"accept-encoding": "identity"},
    )
