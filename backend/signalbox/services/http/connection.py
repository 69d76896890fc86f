"""One place in httpcore's pool: our HTTP/1.1 connection with the request it carries, and the body that it answers."""

import asyncio
import enum
import ssl
from collections.abc import AsyncIterable
from typing import Any, NoReturn, cast

import httpcore
import httpx
from httpx._transports.default import map_httpcore_exceptions

from signalbox.services.http.connect import connect
from signalbox.services.http.parser import encode_head
from signalbox.services.http.protocol import Channel, Sink
from signalbox.services.http.request import Post

# What httpcore raises; there is no one class above them.
FAILURES = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol)
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
        self.origin = origin
        self._tls = tls if origin.scheme == b"https" else None
        self._keepalive = keepalive
        self._channel: Channel | None = None
        self._state = _State.NEW

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request and return once the response's head is here. Raises httpcore's exceptions."""
        return _Reply(await self.converse(request))

    async def converse(self, request: httpcore.Request) -> "Body":
        """Do the same, and return what httpcore needs no response for."""
        if self._state in (_State.ACTIVE, _State.CLOSED):
            raise httpcore.ConnectionNotAvailable
        if self._channel is not None and self._channel.closed:  # by the server, since it was taken from the pool
            self._channel = None
        self._state = _State.ACTIVE
        try:
            channel = await self._converse(request)
        except BaseException:  # cancellation too: a client that leaves in this phase must not leave a socket behind
            self.close()
            raise
        return Body(self, channel)

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
        host = self.origin.host.decode("ascii")
        return await connect(
            host,
            self.origin.port,
            tls=self._tls,
            server_hostname=extensions_of(request).get("sni_hostname") or host,
            patience=_timeouts_of(request).get("connect"),
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

    @property
    def is_at_rest(self) -> bool:
        """Whether no request is under way, and one may still begin."""
        return self._state in (_State.NEW, _State.IDLE)

    # What follows is called by httpcore's pool.

    async def aclose(self) -> None:
        """Close the socket now."""
        self.close()

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        """Say whether this connection leads to `origin`."""
        return origin == self.origin

    def is_available(self) -> bool:
        """Say whether a request may be sent now."""
        return self.is_idle()

    def has_expired(self) -> bool:
        """Never: the channel's timer closes idle connections and notices when the server closes one."""
        return False

    def is_idle(self) -> bool:
        """Say whether the connection is open and kept for another request."""
        return self._state is _State.IDLE and self._channel is not None and not self._channel.closed

    def is_closed(self) -> bool:
        """Say whether the connection is of no more use; a server may have closed it while it was idle."""
        return self._state is _State.CLOSED or (self._state is _State.IDLE and not self.is_idle())

    def info(self) -> str:
        """Describe the connection for logs and for `repr`."""
        return f"{str(self.origin)!r}, HTTP/1.1, {self._state.name}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} [{self.info()}]>"


class Body:
    """A response's body: one bytes object per network read; and the head that came before it."""

    def __init__(self, connection: Http1Connection, channel: Channel) -> None:
        self.connection = connection
        self._channel = channel
        self.is_closed = False
        self.head = channel.response

    def __aiter__(self) -> "Body":
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
        try:
            await self._channel.pour(sink)
        except FAILURES as error:
            raise_as_httpx(error)

    def close(self) -> None:
        """Give the connection back."""
        if not self.is_closed:
            self.is_closed = True
            self.connection.release()

    async def aclose(self) -> None:
        """Give the connection back."""
        self.close()


class _Reply(httpcore.Response):
    """A response whose parts are known to be of the right type: httpcore looks at every header again."""

    def __init__(self, body: Body) -> None:
        head = body.head
        self.status = head.status
        self.headers = head.headers
        self.stream = body
        self.extensions = {"http_version": head.version, "reason_phrase": head.reason, "body": body}
        self._stream_consumed = False


def raise_as_httpx(error: Exception) -> NoReturn:
    """Raise httpx's exception in place of httpcore's: its `with` costs something where nothing fails too."""
    with map_httpcore_exceptions():
        raise error
    raise AssertionError("not reached")


async def _send(channel: Channel, request: httpcore.Request) -> Channel:
    """Write a request and wait for the response's head."""
    timeouts = _timeouts_of(request)
    channel.begin(request.method, timeouts.get("read"))
    patience = timeouts.get("write")
    if not isinstance(request, Post):
        await _write(channel, request, patience)
    elif await channel.write(request.message, patience):
        channel.request_sent()
    await channel.head()
    return channel


async def _write(channel: Channel, request: httpcore.Request, patience: float | None) -> None:
    """Write a request piece by piece; an answer that comes early ends the upload.

    Raises httpcore.LocalProtocolError when the body is not as long as it says: the rest of it, or the next request,
    would be read as something else.
    """
    head = encode_head(request.method, request.url.target, request.headers)
    length, chunked = _framing(request.headers)
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


def _framing(headers: list[tuple[bytes, bytes]]) -> tuple[int, bool]:
    """Say how a request's body is delimited: its length in bytes, and whether it goes out in chunks instead."""
    fields = {name.lower(): value for name, value in headers}
    length = fields.get(b"content-length", b"0")
    if not length.isdigit():
        raise httpcore.LocalProtocolError(f"Illegal Content-Length {length!r}")
    return int(length), fields.get(b"transfer-encoding", b"").lower() == b"chunked"


def extensions_of(message: httpcore.Request | httpcore.Response) -> dict[str, Any]:
    """Return what httpcore leaves untyped."""
    return cast("dict[str, Any]", message.extensions)  # pyright: ignore[reportUnknownMemberType]


def _timeouts_of(request: httpcore.Request) -> dict[str, float | None]:
    """Return httpx's four timeouts of a request by their names, in seconds; None is no limit."""
    return extensions_of(request).get("timeout") or {}


def _may_send_again(request: httpcore.Request, channel: Channel, sent_at: float) -> bool:
    """Decide whether a kept connection was dead already when the request went out on it.

    A server closes an idle connection just as we write: the loss then shows within a round trip, with not one byte of
    response. A loss long after the request is a server that died at work, and a completion may have been paid for.
    """
    late = asyncio.get_running_loop().time() - sent_at > STALE_WINDOW
    return channel.unanswered and not late and isinstance(request.stream, httpx.ByteStream)
