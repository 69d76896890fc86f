"""A watcher's response: bytes as the run makes them, a ping when it is silent, a clean end when the client leaves."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import cache, partial
from time import monotonic
from typing import Any, cast

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from signalbox.app.asgi.eager_task import begin
from signalbox.app.asgi.transport_write import nothing_written, write_by
from signalbox.core.ports import TryEmit
from signalbox.encoders.encoder import Encoder

PING_SECONDS = 15.0
# Where the outermost middleware leaves its own `send` for bodies: the middlewares between look only at heads.
BODY_SEND = "signalbox.body_send"


@cache
def _head_of(encoder: type[Encoder]) -> list[tuple[bytes, bytes]]:
    """Return the headers that all streams of an encoder have; encoded once, not by Starlette for each stream."""
    return [*_raw({"content-type": encoder.content_type, **encoder.headers})]


def _raw(headers: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    return ((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items())


class EventStream(Response):
    """Sends what a generator yields, in one write per item, with the head and the ping of an encoder.

    Unlike Starlette's StreamingResponse it also notices a client that leaves while `send` is blocked (quirk E3), and it
    always closes the generator, so the run knows that its subscriber has gone. The bytes left in `last` and the end
    of the body are one write. `ended` is called at every end, sometimes twice. A separate task sends: in the request's
    task, each event would resume every call between the server and this response. A timer sends pings.
    """

    def __init__(
        self,
        encoder: type[Encoder],
        body: AsyncGenerator[Any, None],
        headers: dict[str, str],
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        # Not by Starlette's own constructor, which encodes every header of every stream.
        self.status_code, self.background, self.body = 200, None, b""
        self.raw_headers = [*_head_of(encoder), *_raw(headers)]
        self._ping_bytes = encoder.ping
        self.last = b""
        self._body = body
        self._ended = ended
        self._last_write = 0.0
        self.is_free = False  # something may be pushed: the head is sent, and the client has room for more
        self._send_body: Callable[[Message], Coroutine[Any, Any, None]] | None = None
        self._write: TryEmit[bytes] = nothing_written
        self._rest: asyncio.Task[None] | None = None
        self._broken: Exception | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client has gone."""
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        sending = loop.create_task(self._send(send, scope.get(BODY_SEND, send)))
        leaving = loop.create_task(until_gone(receive))
        for task in (sending, leaving):
            task.add_done_callback(partial(_tell, over))
        try:
            await over
        finally:
            self._ping_no_more()
            for task in (self._rest, leaving, sending):
                if task is not None:
                    task.cancel()
            if not sending.done():
                await asyncio.wait({sending})
            self._ended()
        if not sending.cancelled() and (error := sending.exception()) is not None:
            raise error

    async def _send(self, send: Send, send_body: Send) -> None:
        loop = asyncio.get_running_loop()
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            self._last_write = monotonic()
            self._timer = loop.call_later(PING_SECONDS, self._ping, send_body)
            self._send_body = cast("Callable[[Message], Coroutine[Any, Any, None]]", send_body)
            self._write = write_by(send_body) or nothing_written
            self.is_free = True
            async for item in self._body:
                for chunk in self._chunks(item):
                    if not self.is_free:
                        await self._pushed()
                    self._last_write = monotonic()
                    if not self._write(chunk):
                        await send_body({"type": "http.response.body", "body": chunk, "more_body": True})
            if not self.is_free:
                await self._pushed()
        finally:
            await self._body.aclose()
            self._ended()  # before anyone can read the end, and ask again
            self._ping_no_more()  # one that waited for a slow client would come behind the end
        await send_body({"type": "http.response.body", "body": self.last, "more_body": False})

    def _chunks(self, item: Any) -> Iterable[bytes]:
        """Return what is written for an item, here the bytes that it is."""
        return (item,)

    def push(self, chunk: bytes) -> None:
        """Send bytes at once, before the generator's next item; only while `is_free`, and while it has none."""
        self._last_write = monotonic()
        try:
            if self._write(chunk):
                return
            assert self._send_body is not None
            self._rest = begin(self._send_body({"type": "http.response.body", "body": chunk, "more_body": True}))
        except Exception as error:  # noqa: BLE001 - it is this client's, and raised in his task: the run goes on
            self._broken = error
        self.is_free = self._rest is None and self._broken is None

    async def _pushed(self) -> None:
        """Wait until everything pushed is sent; raises the error of sending."""
        if self._broken is not None:
            raise self._broken
        if self._rest is not None:
            await self._rest
            self._rest, self.is_free = None, True

    def _ping(self, send: Send) -> None:
        """Keep the line open between frames (each write is whole frames); one timer per ping, none per event."""
        loop, now = asyncio.get_running_loop(), monotonic()
        silent = now - self._last_write
        if silent >= PING_SECONDS:
            self._last_write, silent = now, 0.0
            if self._pinging is None or self._pinging.done():  # else the last one is still on its way
                self._pinging = loop.create_task(self._send_ping(send))
        self._timer = loop.call_later(PING_SECONDS - silent, self._ping, send)

    async def _send_ping(self, send: Send) -> None:
        try:
            await send({"type": "http.response.body", "body": self._ping_bytes, "more_body": True})
        except Exception as error:  # noqa: BLE001 - as in `push`
            self._broken, self.is_free = error, False

    def _ping_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pinging is not None:
            self._pinging.cancel()


async def until_gone(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _tell(over: asyncio.Future[None], task: asyncio.Task[None]) -> None:
    """Say that one of the two is done, whichever comes first."""
    if not over.done():
        over.set_result(None)
