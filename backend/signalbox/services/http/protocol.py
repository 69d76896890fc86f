"""One HTTP/1.1 connection on asyncio: written to, read from, and closed when it is idle."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import TypeAlias, cast

import httpcore

from signalbox.services.http.parser import ResponseParser

# Bytes of a body that are taken in at once; the rest of a larger read waits for the next turns of the loop. Uneven
# frames take a third of a microsecond for each byte, and libuv hands over up to 32 full reads of 256 KB in a row.
TURN = 64 * 1024
MAX_BUFFERED = 64 * 1024  # bytes read ahead of a slow reader before the socket is told to wait

Sink: TypeAlias = Callable[[bytes], bool]
"""Takes one network read of a body where it arrives; true when it wants no more. What it raises ends the response."""


class Channel(asyncio.Protocol):
    """One socket: writes requests, feeds responses to a parser, and keeps one timer.

    The timer is re-armed lazily: a wait or a read only stores since when it is silent, and when the timer fires early
    it is set again for what is left. httpcore's own connection, over anyio, starts and cancels a timeout per read.
    Between requests the same timer closes a connection that was idle for the keep-alive time.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: ResponseParser | None = None  # None: idle, no response is expected
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._sink: Sink | None = None
        self._sink_error: BaseException | None = None
        self._drain: asyncio.Future[None] | None = None
        self._paused = False
        self._later: deque[bytes] = deque()  # what was read, and is not taken in yet
        self._buffered = 0
        self._read_timeout = math.inf
        self._silent_since = 0.0
        self._patience = math.inf  # seconds of it that are allowed
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf
        self._request_sent = False
        self.closed = False
        self.dropped = False  # the other side closed, or the network did

    # The request.

    def begin(self, method: bytes, read_timeout: float | None) -> None:
        """Expect one response; `read_timeout` is how many seconds a reader waits for bytes."""
        self._parser = ResponseParser(method)
        self._read_timeout = math.inf if read_timeout is None else read_timeout
        self._buffered = 0
        self._request_sent = False

    async def write(self, data: bytes, patience: float | None) -> bool:
        """Send bytes and wait for room; False when there is no point in sending more.

        Raises httpcore.WriteTimeout when the other side takes nothing for `patience` seconds.
        """
        if self.response.complete or self.closed or self._transport is None or self._transport.is_closing():
            return False
        if data:
            self._transport.write(data)
        if self._drain is not None:
            try:
                async with asyncio.timeout(patience):
                    await self._drain
            except TimeoutError as error:
                raise httpcore.WriteTimeout(f"Server took no bytes for {patience} s") from error
            return not (self.response.complete or self.closed)
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
        return self.dropped and self._parser is not None and not self._parser.has_begun

    async def head(self) -> ResponseParser:
        """Wait for status and headers. Raises httpcore's ReadTimeout, ReadError or RemoteProtocolError."""
        response = self.response
        while not response.head_done:
            await self._wait()
        return response

    async def read(self) -> bytes:
        """Return the body bytes that came since the last call as one object, b"" at the end. Raises like `head`.

        One object per network read, or more where the reader lags. Handing out reads and not HTTP chunks is what makes
        a burst cheap.
        """
        response = self.response
        while not response.pending:
            if response.complete:
                return b""
            await self._wait()
        self._go_on()
        return response.take()

    def _go_on(self) -> None:
        """Let the socket read on: what has come is being taken."""
        self._buffered = 0
        if self._paused and not self._later:
            self._resume_reading()

    def _resume_reading(self) -> None:
        self._paused = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _pause_reading(self) -> None:
        if not self._paused:
            self._paused = True
            cast(asyncio.Transport, self._transport).pause_reading()

    @property
    def is_read(self) -> bool:
        """Whether the response has come, and was taken, as a whole."""
        return self.response.complete and not self.response.pending

    async def pour(self, sink: Sink) -> None:
        """Hand the body to `sink`, one object per network read, until it wants no more or the body ends.

        It is called right where the bytes arrive: a paced event then wakes no task, and that is a third of its cost.
        Raises like `head`, and what the sink raises.
        """
        response = self.response
        self._go_on()
        self._sink = sink
        try:
            self._offer(response, sink)
            while self._sink is not None and not response.complete:
                await self._wait()
        finally:
            self._sink = None
            error, self._sink_error = self._sink_error, None
        if error is not None:
            raise error

    def _offer(self, response: ResponseParser, sink: Sink) -> bool:
        """Give the sink the bytes that are there; true when the reading task must be woken."""
        if response.pending:
            try:
                if sink(response.take()):
                    self._sink = None
                    return True
            except BaseException as error:  # noqa: BLE001 - it is raised again where the pouring is awaited
                self._sink, self._sink_error = None, error
                return True
        return response.complete

    def release(self, keepalive: float | None) -> bool:
        """End the exchange: keep the connection for `keepalive` seconds (None: for ever), or close it. True: kept."""
        response, self._parser = self._parser, None
        whole = response is not None and response.complete and response.reusable and self._request_sent
        if self._later:  # more than the response
            whole = False
        if not whole or self.closed or self._transport is None or self._transport.is_closing():
            self.abort()
            return False
        if self._paused:
            self._resume_reading()
        self._arm(math.inf if keepalive is None else keepalive)
        return True

    def abort(self, error: Exception | None = None) -> None:
        """Close the socket now; waiting tasks get `error`."""
        self.closed = True
        self._later.clear()
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
        self._silent_since, self._patience = self._loop.time(), seconds
        if seconds < math.inf and (self._timer is None or self._timer_at > self._silent_since + seconds):
            self._schedule(self._silent_since + seconds)

    def _schedule(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._parser is not None and self._reader is None:
            return  # the reader is busy elsewhere, silence is not the server's: the next wait arms again
        deadline = self._silent_since + self._patience
        if deadline > self._loop.time():
            if deadline < math.inf:
                self._schedule(deadline)
        elif self._parser is None:
            self.abort()
        else:
            self.abort(httpcore.ReadTimeout(f"Server sent nothing for {self._read_timeout:g} s"))

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse one network read and wake the reader."""
        if self.closed:
            return
        if self._parser is None:  # a response to nothing we sent would be taken for the answer to the next request
            self.abort()
            return
        self._silent_since = self._loop.time()
        if len(data) > TURN or self._later:
            self._take_later(data)
        else:
            self._take_in(data)

    def _take_later(self, data: bytes) -> None:
        """Take a large read in piece by piece, with a turn of the loop for everything else in between."""
        if not self._later:
            self._pause_reading()
            self._loop.call_soon(self._take_next)
        self._later.extend(data[at : at + TURN] for at in range(0, len(data), TURN))

    def _take_next(self) -> None:
        if not self._later:  # closed meanwhile
            return
        self._silent_since = self._loop.time()
        self._take_in(self._later.popleft())
        if self._later:
            self._loop.call_soon(self._take_next)
        elif not self.closed and self._buffered <= MAX_BUFFERED:
            self._resume_reading()

    def _take_in(self, data: bytes) -> None:
        """Parse bytes, and hand what they bring to the sink or the reader."""
        parser, sink = self._parser, self._sink
        if parser is None:  # as above: they were read for an exchange that is over
            self.abort()
            return
        try:
            parser.feed(data)
        except httpcore.RemoteProtocolError as error:
            if sink is not None:
                self._offer(parser, sink)
            self.abort(error)
            return
        if sink is None:
            self._hold_back(len(data))
        elif not self._offer(parser, sink):
            return
        self._wake()

    def _hold_back(self, size: int) -> None:
        """Have the socket wait for a reader who lags."""
        self._buffered += size
        if self._buffered > MAX_BUFFERED:
            self._pause_reading()

    def eof_received(self) -> None:
        """Take the end at once: asyncio would first flush an upload that the peer may no longer read."""
        self._ended(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take a close without an end, or a broken network."""
        self._ended(exc)

    def _ended(self, exc: Exception | None) -> None:
        while self._later and not self.closed:  # it came before the end
            self._take_in(self._later.popleft())
        if self.closed:
            return
        self.dropped = True
        error: Exception | None = None
        try:
            if exc is not None:
                error = httpcore.ReadError(str(exc) or repr(exc))
            elif self._parser is not None:
                self._parser.finish()
        except httpcore.RemoteProtocolError as broken:
            error = broken
        self.abort(error)

    def pause_writing(self) -> None:
        """Hold back the next write: the other side reads more slowly than we send."""
        self._drain = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let a held write go on."""
        drain, self._drain = self._drain, None
        if drain is not None and not drain.done():
            drain.set_result(None)
