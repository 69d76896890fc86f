"""A stream whose items and client are controlled by the test."""

import asyncio
from collections.abc import AsyncGenerator

from signalbox.app.asgi.streaming import EventStream
from signalbox.encoders.sse_v1 import SseV1Encoder
from starlette.types import Message


class Client:
    """The server's side of a client: received bodies, whether writes block, and whether it has disconnected."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.room, self.gone = asyncio.Event(), asyncio.Event()
        self.room.set()
        self.error: Exception | None = None

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            return
        if self.error is not None:
            raise self.error
        if not self.room.is_set():
            await self.room.wait()
        self.bodies.append(message["body"])

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Stage:
    """A stream whose generator yields what the test provides; None ends it."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.client = Client()
        self.closed = False
        self.stream = EventStream(SseV1Encoder, self._body(), {})
        self.task = asyncio.create_task(self.stream({"type": "http"}, self.client.receive, self.client.send))

    async def _body(self) -> AsyncGenerator[bytes, None]:
        try:
            while (item := await self.items.get()) is not None:
                yield item
        finally:
            self.closed = True

    async def open(self) -> "Stage":
        await turns(lambda: self.stream.is_free)
        return self

    async def end(self) -> list[bytes]:
        self.items.put_nowait(None)
        await asyncio.wait_for(self.task, 30)
        return self.client.bodies


async def turns(holds: object) -> None:
    """Run the event loop until a condition holds."""
    async with asyncio.timeout(30):
        while not holds():  # type: ignore[operator]  # noqa: ASYNC110 - a state without an event
            await asyncio.sleep(0)
