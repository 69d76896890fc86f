"""An ASGI response of exact network writes: paced, cut by faults, ended when the client disconnects."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Literal

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .state import Memory, Received

Ending = Literal["clean", "cut", "stall"]

# A write of most accents holds one chunk of about so many bytes; smaller ones are only cut otherwise.
_USUAL_WRITE = 100


class Writes(Response):
    """Send each item of `writes` as one write; `ending` says what follows the last one."""

    def __init__(
        self,
        writes: Iterable[bytes],
        *,
        memory: Memory,
        received: Received,
        pace: float,
        media_type: str,
        status: int = 200,
        headers: dict[str, str] | None = None,
        ending: Ending = "clean",
        whole: Callable[[], int] | None = None,
    ) -> None:
        """`whole` counts the bytes of the answer if nothing went wrong; the share that was sent is what is billed."""
        self.writes = list(writes)
        self.whole = whole
        self.sent = 0
        self.memory = memory
        self.received = received
        self.pace = pace
        self.ending = ending
        self.status_code = status
        self.background = None
        self.body = b""
        # The content type as it was recorded, without an added charset.
        fields = {"content-type": media_type, "cache-control": "no-cache", **(headers or {})}
        self.raw_headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client disconnects."""
        finished = False
        self.memory.opened()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_until_gone, receive, group.cancel_scope)
                await self._send(send)
                finished = True
                group.cancel_scope.cancel()
        finally:
            if self.received.generation_id in self.memory.unfinished:
                self.memory.settle(self.received.generation_id, self._share(), early=not finished)
            self.memory.closed(self.received, early=not finished)

    def _share(self) -> float:
        return self.sent / max(self.whole(), 1) if self.whole else 1.0

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for write in self._paced():
            if b'"usage":{' in write:  # the bill is there before the client has read the end
                self.memory.settle(self.received.generation_id)
            await send({"type": "http.response.body", "body": write, "more_body": True})
            self.sent += len(write)
        if self.ending == "stall":
            await anyio.sleep_forever()
        if self.ending == "clean":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        # "cut": the body is never completed, and the server closes the socket.

    async def _paced(self) -> AsyncIterator[bytes]:
        # An answer that drips takes about as long as one in ordinary pieces, not hours.
        usual = sum(map(len, self.writes)) / _USUAL_WRITE
        pace = self.pace * min(1.0, usual / max(len(self.writes), 1))
        for write in self.writes:
            yield write
            await anyio.sleep(pace)


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
