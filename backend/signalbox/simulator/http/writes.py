"""An ASGI response that sends exact network writes, paced, until its end or until the client disconnects."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Literal

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .state import Received, SimulatorState

Ending = Literal["clean", "cut", "stall"]

# Most families send one chunk of about this many bytes per write.
_USUAL_BYTES = 100


class Writes(Response):
    """Sends each item of `writes` as one write; `ending` is what follows the last one."""

    def __init__(
        self,
        writes: Iterable[bytes],
        *,
        state: SimulatorState,
        received: Received,
        pace: float,
        media_type: str,
        status: int = 200,
        headers: dict[str, str] | None = None,
        ending: Ending = "clean",
        whole: Callable[[], int] | None = None,
    ) -> None:
        """`whole` returns the bytes of the complete answer; the share of them that was sent is billed."""
        self.writes = list(writes)
        self.whole = whole
        self.sent = 0
        self.state = state
        self.received = received
        self.pace = pace
        self.ending = ending
        self.status_code = status
        self.background = None
        self.body = b""
        # A recorded content type must not get a charset.
        fields = {"content-type": media_type, "cache-control": "no-cache", **(headers or {})}
        self.raw_headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end, or until the client disconnects."""
        finished = False
        self.state.opened()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_on_disconnect, receive, group.cancel_scope)
                await self._send(send)
                finished = True
                group.cancel_scope.cancel()
        finally:
            if self.received.generation_id in self.state.unfinished:
                self.state.settle(self.received.generation_id, self._share(), early=not finished)
            self.state.closed(self.received, early=not finished)

    def _share(self) -> float:
        return self.sent / max(self.whole(), 1) if self.whole else 1.0

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for write in self._paced():
            if b'"usage":{' in write:  # the cost must be available before the client reads the end
                self.state.settle(self.received.generation_id)
            await send({"type": "http.response.body", "body": write, "more_body": True})
            self.sent += len(write)
        if self.ending == "stall":
            await anyio.sleep_forever()
        if self.ending == "clean":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        # "cut": the body is never completed, and the server closes the socket.

    async def _paced(self) -> AsyncIterator[bytes]:
        # An answer in tiny writes takes about as long as one in ordinary writes.
        usual = sum(map(len, self.writes)) / _USUAL_BYTES
        pace = self.pace * min(1.0, usual / max(len(self.writes), 1))
        for write in self.writes:
            yield write
            await anyio.sleep(pace)


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
