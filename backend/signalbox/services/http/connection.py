"""One HTTP/1.1 connection: an asyncio.Protocol that sends a request, parses its response and delivers the body."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import cast

from signalbox.core.ports import Emit
from signalbox.services.http.errors import Broken, ProtocolError, ReadTimeout, WriteTimeout
from signalbox.services.http.parser import ResponseParser
from signalbox.services.http.request import Origin

# Bytes parsed per iteration of the event loop; the rest of a larger read waits. Parsing costs up to a third of a
# microsecond per byte, and libuv delivers up to 32 full reads of 256 KB in a row.
PARSE_LIMIT = 64 * 1024
MAX_BUFFERED = 64 * 1024  # unread body bytes beyond which the socket is paused
STALE_WINDOW = 3.0  # seconds after a request within which a dropped connection counts as stale


class Connection(asyncio.Protocol):
    """A connection to one origin; it carries one request at a time.

    It keeps one timer, which is re-armed lazily: a read only stores its time, and a timer that fires early is set again
    for the remainder. A timeout per read would cost more than the read. Between requests the same timer closes a
    connection that is idle for the keep-alive time.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.closed = False
        self.on_close: Callable[[Connection], None] | None = None
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: ResponseParser | None = None  # None: idle, no response is expected
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._emit: Emit[bytes] | None = None
        self._emit_error: BaseException | None = None
        self._drain: asyncio.Future[None] | None = None
        self._paused = False
        self._unparsed: deque[bytes] = deque()
        self._buffered = 0
        self._idle_timeout = math.inf
        self._silent_since = 0.0
        self._silence_limit = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf
        self._sent_at = 0.0
        self._is_sent = False
        self._is_reused = False
        self._dropped = False  # by the server or the network

    # --- exchanging ---

    async def exchange(self, method: str, message: bytes, idle_timeout: float) -> ResponseParser:
        """Send an encoded request and return its response once the head has arrived.

        Raises ReadTimeout or WriteTimeout after `idle_timeout` seconds of silence, Broken, or ProtocolError.
        """
        self._parser = response = ResponseParser(method.encode())
        self._idle_timeout = idle_timeout
        self._buffered = 0
        self._sent_at = self._loop.time()
        self._is_sent = await self._write(message)
        while not response.head_done:
            await self._wait()
        return response

    async def _write(self, message: bytes) -> bool:
        """Send bytes; False if the response ended, or the connection closed, before all were taken."""
        if self.closed or self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(message)
        if self._drain is None:
            return True
        try:
            async with asyncio.timeout(self._idle_timeout):
                await self._drain
        except TimeoutError as error:
            raise WriteTimeout(f"Server took no bytes for {self._idle_timeout:g} s") from error
        return not (self.response.complete or self.closed)

    @property
    def response(self) -> ResponseParser:
        """The response being read."""
        if self._parser is None:
            raise Broken("No response is being read on this connection")
        return self._parser

    @property
    def was_stale(self) -> bool:
        """Whether this reused connection was closed before the request arrived, so that it can be sent again.

        A server may close an idle connection just as we write. The loss then shows within a round trip, and without a
        byte of response. After a later loss the request may have been processed, and paid for.
        """
        is_early = self._loop.time() - self._sent_at <= STALE_WINDOW
        return self._is_reused and self._dropped and is_early and not self.response.has_begun

    # --- reading the body ---

    async def read(self) -> bytes:
        """Return the body bytes that arrived since the last call, b"" at the end. Raises like `exchange`.

        Returning network reads rather than HTTP chunks is what makes a burst cheap.
        """
        response = self.response
        while not response.pending:
            if response.complete:
                return b""
            await self._wait()
        self._release_backpressure()
        return response.take_body()

    async def stream_body(self, emit: Emit[bytes]) -> None:
        """Emit the body, one object per network read, until it ends or `stop_streaming` is called.

        `emit` is called inside the read callback: no task wakes per read, which is a third of a paced event's cost.
        Raises like `exchange`, and what `emit` raises.
        """
        response = self.response
        self._release_backpressure()
        self._emit = emit
        try:
            self._deliver(response, emit)
            while self._emit is not None and not response.complete:
                await self._wait()
        finally:
            self._emit = None
            error, self._emit_error = self._emit_error, None
        if error is not None:
            raise error

    def stop_streaming(self) -> None:
        """End `stream_body` after the current read; `read` returns what follows."""
        self._emit = None

    def _deliver(self, response: ResponseParser, emit: Emit[bytes]) -> bool:
        """Emit the pending bytes; True if the task in `stream_body` must wake."""
        if response.pending:
            try:
                emit(response.take_body())
            except BaseException as error:  # noqa: BLE001 - `stream_body` raises it
                self._emit, self._emit_error = None, error
        return self._emit is None or response.complete

    def _release_backpressure(self) -> None:
        self._buffered = 0
        if self._paused and not self._unparsed:
            self._resume_reading()

    def _resume_reading(self) -> None:
        self._paused = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def _pause_reading(self) -> None:
        if not self._paused:
            self._paused = True
            cast(asyncio.Transport, self._transport).pause_reading()

    # --- ending ---

    def finish(self, keepalive: float) -> bool:
        """End the exchange. Keep the connection open for `keepalive` seconds if it can be reused, else close it."""
        response, self._parser = self._parser, None
        reusable = response is not None and response.complete and response.reusable and self._is_sent
        if not reusable or self._unparsed or self.closed or self._transport is None or self._transport.is_closing():
            self.abort()
            return False
        if self._paused:
            self._resume_reading()
        self._is_reused = True
        self._arm(keepalive)
        return True

    def abort(self, error: Exception | None = None) -> None:
        """Close the socket now; `error` is raised to waiting tasks."""
        self.closed = True
        self._unparsed.clear()
        if self._error is None:
            self._error = error or Broken("Connection closed")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
        self._wake()
        if self.on_close is not None:
            self.on_close(self)

    # --- waiting ---

    async def _wait(self) -> None:
        """Wait for the next network read, the end, or the timer."""
        if self._error is not None:
            raise self._error
        self._arm(self._idle_timeout)
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

    def _arm(self, seconds: float) -> None:
        self._silent_since, self._silence_limit = self._loop.time(), seconds
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
            return  # the reader is busy elsewhere, the server is not silent: the next wait arms again
        deadline = self._silent_since + self._silence_limit
        if deadline > self._loop.time():
            if deadline < math.inf:
                self._schedule(deadline)
        elif self._parser is None:
            self.abort()
        else:
            self.abort(ReadTimeout(f"Server sent nothing for {self._idle_timeout:g} s"))

    # --- called by the event loop ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse one network read and deliver its body bytes."""
        if self.closed:
            return
        if self._parser is None:  # nothing was requested: the next request must not take this for its response
            self.abort()
            return
        self._silent_since = self._loop.time()
        if len(data) > PARSE_LIMIT or self._unparsed:
            self._parse_later(data)
        else:
            self._parse(data)

    def _parse_later(self, data: bytes) -> None:
        """Parse a large read in slices, one per iteration of the event loop."""
        if not self._unparsed:
            self._pause_reading()
            self._loop.call_soon(self._parse_next)
        self._unparsed.extend(data[at : at + PARSE_LIMIT] for at in range(0, len(data), PARSE_LIMIT))

    def _parse_next(self) -> None:
        if not self._unparsed:  # closed meanwhile
            return
        self._silent_since = self._loop.time()
        self._parse(self._unparsed.popleft())
        if self._unparsed:
            self._loop.call_soon(self._parse_next)
        elif not self.closed and self._buffered <= MAX_BUFFERED:
            self._resume_reading()

    def _parse(self, data: bytes) -> None:
        response, emit = self._parser, self._emit
        if response is None:  # read for an exchange that is over
            self.abort()
            return
        try:
            response.feed(data)
        except ProtocolError as error:
            if emit is not None:
                self._deliver(response, emit)
            self.abort(error)
            return
        if emit is None:
            self._buffered += len(data)
            if self._buffered > MAX_BUFFERED:
                self._pause_reading()
        elif not self._deliver(response, emit):
            return
        self._wake()

    def eof_received(self) -> None:
        """End at once: asyncio would first flush an upload that the server may no longer read."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """End because the server closed or the network failed."""
        self._end(exc)

    def _end(self, exc: Exception | None) -> None:
        while self._unparsed and not self.closed:  # received before the end
            self._parse(self._unparsed.popleft())
        if self.closed:
            return
        self._dropped = True
        error: Exception | None = None
        try:
            if exc is not None:
                error = Broken(str(exc) or repr(exc))
            elif self._parser is not None:
                self._parser.finish()
        except ProtocolError as broken:
            error = broken
        self.abort(error)

    def pause_writing(self) -> None:
        """Hold writes: the server reads more slowly than we send."""
        self._drain = self._loop.create_future()

    def resume_writing(self) -> None:
        """Continue held writes."""
        drain, self._drain = self._drain, None
        if drain is not None and not drain.done():
            drain.set_result(None)
