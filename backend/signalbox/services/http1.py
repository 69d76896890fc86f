"""One HTTP/1.1 connection over asyncio with llhttp as its parser: a request out, a response's head and body in."""

import asyncio
import math
import re
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from typing import cast

import httpcore
import httptools

MAX_HEAD = (
    64 * 1024
)  # bytes of header fields, and of bytes in a row that bring no body (heads, trailers, chunk extensions)
MAX_BUFFERED = 256 * 1024  # bytes read ahead of a slow reader before the socket is told to wait
STAGGER = 0.25  # seconds an address has before the next is tried beside it (RFC 8305, "Connection Attempt Delay")

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BODILESS = (204, 304)

Header = tuple[bytes, bytes]


def encode_head(method: bytes, target: bytes, headers: Iterable[Header]) -> bytes:
    """Write a request line and its fields; raise httpcore.LocalProtocolError for what would break out of its line.

    httpx itself checks neither names nor values: h11 did, and h11 is not here any more.
    """
    lines = [b"%b %b HTTP/1.1" % (method, target)]
    for name, value in headers:
        if not _TOKEN.fullmatch(name):
            raise httpcore.LocalProtocolError(f"Illegal header name {name!r}")
        lines.append(b"%b: %b" % (name, value))
    head = b"\r\n".join(lines)
    breaks = len(lines) - 1
    if lines[0].count(b" ") != 2 or head.count(b"\n") != breaks or head.count(b"\r") != breaks or b"\0" in head:
        raise httpcore.LocalProtocolError("Illegal character in the request line or in a header value")
    return head + b"\r\n\r\n"


class ResponseParser:
    """What one response has brought so far: head, body not yet taken, and how it ended. No socket, no clock.

    `feed` and `finish` raise httpcore.RemoteProtocolError when the server broke the protocol.
    """

    __slots__ = ("complete", "head_done", "headers", "on_body", "pending", "reason", "reusable", "status", "version",
                 "_bodiless", "_dry", "_head_size", "_parser", "_to_eof")  # fmt: skip

    def __init__(self, method: bytes) -> None:
        self.status = 0
        self.reason = b""
        self.version = b""
        self.headers: list[Header] = []
        self.head_done = False
        self.complete = False
        self.reusable = False  # the connection may carry another request once this response is complete
        self.pending: list[bytes] = []
        # llhttp reports every HTTP chunk, and OpenRouter sends a chunk per token: list.append spares a Python frame each.
        self.on_body: Callable[[bytes], None] = self.pending.append
        self._bodiless = method == b"HEAD"
        self._to_eof = False
        self._head_size = 0
        self._dry = 0
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        # A bare LF, a blank after a chunk size and a Content-Length beside chunked are all understood by httpx's own
        # parser, and home-made upstreams do send them; nobody else shares this connection who could be smuggled to.
        self._parser.set_dangerous_leniencies(
            lenient_chunked_length=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes) -> None:
        """Take one network read."""
        if self._parser is None:
            self.reusable = False
            return
        before = len(self.pending)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.reusable = False
            if not self.complete:
                raise _protocol_error(error) from error
        if self.complete:
            self._settle()
        elif len(self.pending) > before:
            self._dry = 0
        else:
            self._count_dry(len(data))

    def finish(self) -> None:
        """Take the end of the connection: fine after a whole message or a body without a length, an error else."""
        if self.complete:
            return
        if not self.head_done:
            raise httpcore.RemoteProtocolError("Server disconnected without sending a response.")
        if not self._to_eof:
            raise httpcore.RemoteProtocolError("Server disconnected before the response body was complete.")
        self.complete = True
        self._settle()

    def take(self) -> bytes:
        """Return the body bytes that came since the last call, as one object."""
        body = b"".join(self.pending)
        self.pending.clear()
        return body

    def _settle(self) -> None:
        """Let the parser go (it and this object hold each other) and drop a body that must not be there."""
        self._parser = None
        if self._bodiless and self.pending:
            self.pending.clear()
            self.reusable = False

    def _count_dry(self, size: int) -> None:
        """Stop a head, a trailer or a chunk extension that never ends: llhttp would gather it for ever."""
        self._dry += size
        if self._dry > MAX_HEAD:
            raise httpcore.RemoteProtocolError(f"More than {MAX_HEAD} bytes of response without any body")

    # What follows is called by llhttp.

    def on_message_begin(self) -> None:
        if self.complete:  # a second response nobody asked for: this one stands, the connection does not
            self.reusable = False
            return
        self.headers = []
        self.reason = b""

    def on_status(self, reason: bytes) -> None:
        if not self.complete:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4
        if self._head_size > MAX_HEAD:
            raise httpcore.RemoteProtocolError(f"Response headers of more than {MAX_HEAD} bytes")
        if not self.head_done:  # later ones are trailers
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.complete:
            return
        parser = cast(httptools.HttpResponseParser, self._parser)
        self.status = parser.get_status_code()
        if self.status == 101:
            raise httpcore.RemoteProtocolError("Server switched protocols without being asked")
        if self.status < 200:  # 100 Continue, 103 Early Hints: the response proper is still to come
            return
        self.version = b"HTTP/" + parser.get_http_version().encode()
        self._frame(parser)
        self.head_done = True

    def _frame(self, parser: httptools.HttpResponseParser) -> None:
        """Work out how the body ends where llhttp does not know: HEAD, 304 with a length, and no length at all."""
        lengths = [value for name, value in self.headers if name.lower() == b"content-length"]
        codings = [value for name, value in self.headers if name.lower() == b"transfer-encoding"]
        if self._bodiless or self.status in _BODILESS:
            self._bodiless = self.complete = True
            self.reusable = parser.should_keep_alive()
        else:
            chunked = bool(codings) and codings[-1].lower().rstrip().endswith(b"chunked")
            self._to_eof = not chunked and (bool(codings) or not lengths)

    def on_message_complete(self) -> None:
        if self.head_done and not self.complete:
            self.complete = True
            self.reusable = cast(httptools.HttpResponseParser, self._parser).should_keep_alive()


def _protocol_error(error: Exception) -> httpcore.RemoteProtocolError:
    """Turn llhttp's complaint, or the one a callback raised through it, into httpcore's."""
    if isinstance(error.__context__, httpcore.RemoteProtocolError):
        return error.__context__
    return httpcore.RemoteProtocolError(str(error))


class Channel(asyncio.Protocol):
    """One socket: writes requests, feeds responses to a parser, and keeps one timer.

    The timer is re-armed lazily: a wait only stores a deadline, and when the timer fires early it is set again for what
    is left. httpx's own connection starts and cancels a timeout per read instead. Between requests the same timer
    closes a connection that nobody has used for the keep-alive time.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: ResponseParser | None = None  # None: idle, no response is expected
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._drain: asyncio.Future[None] | None = None
        self._paused = False
        self._buffered = 0
        self._read_timeout = math.inf
        self._deadline = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf
        self._request_sent = False
        self._answered = False
        self.closed = False
        self.dropped = False  # the other side closed, or the network did

    # The request.

    def begin(self, method: bytes, read_timeout: float | None) -> None:
        """Expect one response; `read_timeout` is the seconds of silence allowed while somebody waits for bytes."""
        self._parser = ResponseParser(method)
        self._read_timeout = math.inf if read_timeout is None else read_timeout
        self._buffered = 0
        self._request_sent = self._answered = False

    async def write(self, data: bytes, timeout: float | None) -> bool:
        """Send bytes and wait for room; False when there is no point in sending more.

        Raises httpcore.WriteTimeout when the other side takes nothing for `timeout` seconds.
        """
        if self.response.complete or self.closed or self._transport is None or self._transport.is_closing():
            return False
        if data:
            self._transport.write(data)
        if self._drain is not None:
            try:
                async with asyncio.timeout(timeout):
                    await self._drain
            except TimeoutError as error:
                raise httpcore.WriteTimeout(f"Server took no bytes for {timeout} s") from error
        return True

    def request_sent(self) -> None:
        """Say that the whole request is on its way: without this the connection is not used again."""
        self._request_sent = True

    # The response.

    @property
    def response(self) -> ResponseParser:
        """The response being read."""
        if self._parser is None:
            raise httpcore.ReadError("No response is being read on this connection")
        return self._parser

    @property
    def unanswered(self) -> bool:
        """The other side went away before the first byte of a response."""
        return self.dropped and not self._answered

    async def head(self) -> ResponseParser:
        """Wait for status and headers. Raises httpcore's ReadTimeout, ReadError or RemoteProtocolError."""
        response = self.response
        while not response.head_done:
            await self._wait()
        return response

    async def read(self) -> bytes:
        """Return the body bytes that came since the last call as one object, b"" at the end. Raises like `head`.

        One object per network read, or more where the reader lags. Handing out reads and not HTTP chunks is what makes
        a burst cheap: 3.5 -> 0.65 CPU-s per 100,000 events.
        """
        response = self.response
        while not response.pending:
            if response.complete:
                return b""
            await self._wait()
        self._buffered = 0
        if self._paused:
            self._paused = False
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()
        return response.take()

    def release(self, keepalive: float | None) -> bool:
        """End the exchange: keep the connection for `keepalive` seconds (None: for ever), or close it. True: kept."""
        response, self._parser = self._parser, None
        whole = response is not None and response.complete and response.reusable and self._request_sent
        if not whole or self.closed or self._transport is None or self._transport.is_closing():
            self.abort()
            return False
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        self._arm(math.inf if keepalive is None else keepalive)
        return True

    def abort(self, error: Exception | None = None) -> None:
        """Close the socket now; whoever still waits on it gets `error`."""
        self.closed = True
        if self._error is None:
            self._error = error or httpcore.ReadError("Connection closed")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    async def _wait(self) -> None:
        """Wait for the next network read, the end, or the timer."""
        if self._error is not None:
            raise self._error
        self._arm(self._read_timeout)
        self._reader = self._loop.create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
        if self._drain is not None and (self.closed or self.response.complete):
            self.resume_writing()

    # The timer.

    def _arm(self, seconds: float) -> None:
        self._deadline = self._loop.time() + seconds
        if self._deadline < math.inf and (self._timer is None or self._timer_at > self._deadline):
            self._schedule()

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = self._deadline
        self._timer = self._loop.call_at(self._deadline, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._parser is not None and self._reader is None:
            return  # the reader is busy elsewhere, silence is not the server's: the next wait arms again
        if self._deadline > self._loop.time():
            if self._deadline < math.inf:
                self._schedule()
        elif self._parser is None:
            self.abort()
        else:
            self.abort(httpcore.ReadTimeout(f"Server sent nothing for {self._read_timeout:g} s"))

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.closed:
            return
        if self._parser is None:  # a response to nothing we sent would be taken for the answer to the next request
            self.abort()
            return
        self._answered = True
        self._deadline = self._loop.time() + self._read_timeout
        try:
            self._parser.feed(data)
        except httpcore.RemoteProtocolError as error:
            self.abort(error)
            return
        self._buffered += len(data)
        if self._buffered > MAX_BUFFERED and not self._paused:
            self._paused = True
            cast(asyncio.Transport, self._transport).pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.closed:
            return
        self.dropped = True
        error: Exception | None = httpcore.ReadError(str(exc) or repr(exc)) if exc is not None else None
        if exc is None and self._parser is not None:
            try:
                self._parser.finish()
            except httpcore.RemoteProtocolError as broken:
                error = broken
        self.abort(error)

    def pause_writing(self) -> None:
        self._drain = self._loop.create_future()

    def resume_writing(self) -> None:
        drain, self._drain = self._drain, None
        if drain is not None and not drain.done():
            drain.set_result(None)


async def connect(
    host: str, port: int, *, tls: ssl.SSLContext | None, server_hostname: str, timeout: float | None
) -> Channel:
    """Open a connection, with TLS where a context is given.

    `timeout` is the seconds for name lookup, TCP and TLS together. Raises httpcore.ConnectTimeout or ConnectError.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            sock = await _open_socket(host, port)
            name = server_hostname if tls is not None else None
            _, channel = await loop.create_connection(Channel, sock=sock, ssl=tls, server_hostname=name)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"No connection to {host}:{port} within {timeout} s") from error
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    return channel


_Address = tuple[socket.AddressFamily, tuple[str | int, ...]]


async def _open_socket(host: str, port: int) -> socket.socket:
    """Connect to the first address that answers, each getting a short lead over the next ("happy eyeballs").

    httpcore does this through anyio; uvloop's create_connection tries one address after the other, and a host with a
    dead IPv6 route would eat the whole connect timeout. Raises OSError.
    """
    waiting = deque(await _addresses(host, port))
    trying: set[asyncio.Task[socket.socket]] = set()
    won: socket.socket | None = None
    failure: BaseException = OSError(f"No address for {host}")
    try:
        while won is None and (waiting or trying):
            if waiting:
                trying.add(asyncio.create_task(_dial(*waiting.popleft())))
            lead = STAGGER if waiting else None
            done, _ = await asyncio.wait(trying, timeout=lead, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (error := task.exception()) is None:
                    won = task.result()
                    break
                failure = error
                trying.discard(task)
        if won is None:
            raise failure
        return won
    finally:
        _give_up(trying, won)


def _give_up(tasks: set[asyncio.Task[socket.socket]], won: socket.socket | None) -> None:
    """Cancel the attempts still running (each closes its socket) and close those that connected too late."""
    for task in tasks:
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None and task.result() is not won:
            task.result().close()


async def _addresses(host: str, port: int) -> list[_Address]:
    """Look a name up; families take turns, in the resolver's order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    turns: dict[socket.AddressFamily, int] = {}
    ranked: list[tuple[int, socket.AddressFamily, tuple[str | int, ...]]] = []
    for family, _, _, _, address in found:
        turns[family] = turns.get(family, 0) + 1
        ranked.append((turns[family], family, address))
    return [(family, address) for _, family, address in sorted(ranked, key=lambda row: row[0])]


async def _dial(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock
