"""A client's connection: uvicorn's, which also tells the request that is being answered that its client has left.

uvicorn 0.54.0 tells the newest request of a connection, and reads nothing more once one is queued behind another
(pipelining). So of a client that had sent one more request behind a stream, and left, the stream never learned: its
run went on unwatched, and was written to a closed socket. `tests/scenarios/resume/test_pipelining.py` checks this.
"""

import asyncio

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

# So many may wait behind the one that is answered, while it is still heard whether the client leaves.
_MOST_QUEUED = 8


class ClientConnection(HttpToolsProtocol):
    """One connection and its requests, of which one is answered at a time."""

    __slots__ = ("_answered",)  # an attribute more would give each connection a dictionary

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; nothing was asked yet."""
        self._answered: RequestResponseCycle | None = None
        super().connection_made(transport)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def on_headers_complete(self) -> None:
        """Take a request; go on reading where it has to wait."""
        super().on_headers_complete()
        if 0 < len(self.pipeline) < _MOST_QUEUED:
            self.flow.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell also the request that is being answered."""
        super().connection_lost(exc)
        answered = self._answered
        if answered is not None and not answered.response_complete:
            answered.disconnected = True
            answered.message_event.set()
