"""A watcher's response: bytes as the run makes them, a ping when it is silent, a clean end when the client leaves."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from signalbox.encoders.sse_v1 import CONTENT_TYPE, HEADERS, PING

PING_SECONDS = 15.0


class EventStream(Response):
    """Sends what a generator yields, one write per item.

    Unlike Starlette's StreamingResponse it also notices a client that leaves while `send` is blocked (quirk E3), and
    it always closes the generator, so that the run knows that its watcher has gone. `ended` is told of every end,
    maybe twice.
    """

    def __init__(
        self, body: AsyncGenerator[bytes, None], headers: dict[str, str], ended: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(headers={"content-type": CONTENT_TYPE, **HEADERS, **headers})
        del self.headers["content-length"]
        self._body = body
        self._ended = ended
        self._last_write = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client has gone."""
        try:
            await self._exchange(receive, send)
        finally:
            self._ended()

    async def _exchange(self, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        pinging = asyncio.create_task(self._ping(send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (pinging, leaving, sending):
                task.cancel()
            await asyncio.gather(pinging, leaving, return_exceptions=True)
            await asyncio.wait({sending})
        if not sending.cancelled() and (error := sending.exception()) is not None:
            raise error

    async def _send(self, send: Send) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with aclosing(self._body) as body:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                async for chunk in body:
                    self._last_write = loop.time()
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            self._ended()  # before anyone can read the end, and ask again
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _ping(self, send: Send) -> None:
        """Keep the line open between frames (each write is whole frames); one timer per ping, none per event."""
        loop = asyncio.get_running_loop()
        self._last_write = loop.time()
        while True:
            silent = loop.time() - self._last_write
            if silent >= PING_SECONDS:
                self._last_write = loop.time()
                await send({"type": "http.response.body", "body": PING, "more_body": True})
                silent = 0.0
            await asyncio.sleep(PING_SECONDS - silent)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
