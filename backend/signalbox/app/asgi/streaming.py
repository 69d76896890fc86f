"""The response of a subscriber: sends events as the run emits them, pings in between, and detects a disconnect."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import cache, partial
from time import monotonic
from typing import Any, TypeAlias, cast

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from signalbox.app.asgi.eager_task import start_eagerly
from signalbox.app.asgi.late_head import PeekedBody
from signalbox.app.asgi.transport_write import direct_write, no_direct_write
from signalbox.core.ports import TryEmit
from signalbox.encoders.encoder import Encoder

Body: TypeAlias = AsyncGenerator[Any, None] | PeekedBody[Any]

PING_SECONDS = 15.0
# The key of the outermost middleware's `send` in the scope. Bodies bypass the other middlewares, which need only heads.
BODY_SEND = "signalbox.body_send"
# A key in the scope of requests of a host: its middleware may have replaced `send` by one that needs a task (anyio's
# streams do), so nothing is pushed from the read callback of the upstream's socket.
NEEDS_TASK = "signalbox.needs_task"


@cache
def _head_of(encoder: type[Encoder]) -> list[tuple[bytes, bytes]]:
    """Return the headers that all streams of an encoder have; Starlette would encode them for each stream."""
    return [*_raw({"content-type": encoder.content_type, **encoder.headers})]


def _raw(headers: Mapping[str, str]) -> Iterator[tuple[bytes, bytes]]:
    return ((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items())


class EventStream(Response):
    """Sends the items of a generator, one write each, with the headers and the ping of an encoder.

    Unlike Starlette's StreamingResponse it notices a client that leaves while `send` is blocked (quirk E3), and it
    always closes the generator, so that the run loses its subscriber. `first` is sent before the items, `last` in
    one write with the end of the body. `on_end` is called at every end, sometimes twice.

    A separate task sends: in the request's task, each event would resume every call between the server and this
    response. A timer sends pings.
    """

    def __init__(
        self,
        encoder: type[Encoder],
        body: Body,
        headers: dict[str, str],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        # Starlette's constructor is not called, because it encodes every header of every stream.
        self.status_code, self.background, self.body = 200, None, b""
        self.raw_headers = [*_head_of(encoder), *_raw(headers)]
        self._ping_bytes = encoder.ping
        self.first = self.last = b""
        self._body: Body = body
        self._on_end = on_end
        self._last_write = 0.0
        self.is_free = False  # bytes may be pushed: the headers are sent, and no write is blocked
        self._may_push = True
        self._send_body: Callable[[Message], Coroutine[Any, Any, None]] | None = None
        self._write: TryEmit[bytes] = no_direct_write
        self._blocked_push: asyncio.Task[None] | None = None
        self._send_error: Exception | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client disconnects."""
        loop = asyncio.get_running_loop()
        self._may_push = NEEDS_TASK not in scope
        over = loop.create_future()
        sending = loop.create_task(self._send(send, scope.get(BODY_SEND, send)))
        leaving = loop.create_task(until_disconnect(receive))
        for task in (sending, leaving):
            task.add_done_callback(partial(_resolve, over))
        try:
            await over
        finally:
            self._stop_pings()
            for task in (self._blocked_push, leaving, sending):
                if task is not None:
                    task.cancel()
            if not sending.done():
                await asyncio.wait({sending})
            self._on_end()
        if not sending.cancelled() and (error := sending.exception()) is not None:
            raise error

    async def _send(self, send: Send, send_body: Send) -> None:
        loop = asyncio.get_running_loop()
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            self._last_write = monotonic()
            self._timer = loop.call_later(PING_SECONDS, self._ping, send_body)
            self._send_body = cast("Callable[[Message], Coroutine[Any, Any, None]]", send_body)
            self._write = direct_write(send_body) or no_direct_write
            if self.first:
                await send_body({"type": "http.response.body", "body": self.first, "more_body": True})
            self.is_free = self._may_push
            async for item in self._body:
                for chunk in self._chunks(item):
                    if not self.is_free:
                        await self._wait_for_push()
                    self._last_write = monotonic()
                    if not self._write(chunk):
                        await send_body({"type": "http.response.body", "body": chunk, "more_body": True})
            if not self.is_free:
                await self._wait_for_push()
        finally:
            await self._body.aclose()
            self._on_end()  # before the client can read the end and send its next request
            self._stop_pings()  # a ping blocked by a slow client would follow the end
        await send_body({"type": "http.response.body", "body": self.last, "more_body": False})

    def _chunks(self, item: Any) -> Iterable[bytes]:
        """Return the bytes to write for an item; here the item itself."""
        return (item,)

    def push(self, chunk: bytes) -> None:
        """Send bytes immediately; allowed only while `is_free` and while the generator has no item ready."""
        self._last_write = monotonic()
        try:
            if self._write(chunk):
                return
            assert self._send_body is not None
            message: Message = {"type": "http.response.body", "body": chunk, "more_body": True}
            self._blocked_push = start_eagerly(self._send_body(message))
        except Exception as error:  # noqa: BLE001 - raised in the sending task: the run and its other clients continue
            self._send_error = error
        self.is_free = self._blocked_push is None and self._send_error is None

    async def _wait_for_push(self) -> None:
        """Wait until all pushed bytes are sent; raises the error of sending."""
        if self._send_error is not None:
            raise self._send_error
        if self._blocked_push is not None:
            await self._blocked_push
            self._blocked_push, self.is_free = None, True

    def _ping(self, send: Send) -> None:
        """Send a ping if nothing was written for PING_SECONDS; one timer per ping, none per event."""
        loop, now = asyncio.get_running_loop(), monotonic()
        silent = now - self._last_write
        if silent >= PING_SECONDS:
            self._last_write, silent = now, 0.0
            if self._pinging is None or self._pinging.done():  # otherwise the last ping is still blocked
                self._pinging = loop.create_task(self._send_ping(send))
        self._timer = loop.call_later(PING_SECONDS - silent, self._ping, send)

    async def _send_ping(self, send: Send) -> None:
        try:
            await send({"type": "http.response.body", "body": self._ping_bytes, "more_body": True})
        except Exception as error:  # noqa: BLE001 - as in `push`
            self._send_error, self.is_free = error, False

    def _stop_pings(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pinging is not None:
            self._pinging.cancel()


async def until_disconnect(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _resolve(over: asyncio.Future[None], task: asyncio.Task[None]) -> None:
    """Resolve the future when the first of the two tasks is done."""
    if not over.done():
        over.set_result(None)
