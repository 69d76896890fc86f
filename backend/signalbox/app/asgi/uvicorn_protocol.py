"""uvicorn's connection, which also reports a disconnect to the request being answered, and counts malformed requests.

uvicorn 0.54.0 reports a disconnect only to the newest request of a connection, and stops reading once a request is
queued (pipelining). If a client sends another request behind a stream and leaves, the stream is not notified, and its
run continues without a subscriber. `tests/scenarios/resume/test_pipelining.py` checks this.
"""

import asyncio

from fastapi import FastAPI
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from signalbox.app.asgi.raw_headers import PEER

# Requests that may be queued while the connection still reads, to detect a disconnect.
_MOST_QUEUED = 8


class ClientConnection(HttpToolsProtocol):
    """One connection and its requests, of which one is answered at a time."""

    __slots__ = ("_answered",)  # avoids a dict per connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start without a request."""
        self._answered: RequestResponseCycle | None = None
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        """Keep the address of the connection."""
        super().on_message_begin()
        self.scope[PEER] = self.client  # type: ignore[typeddict-unknown-key]

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def on_headers_complete(self) -> None:
        """Accept a request, and continue to read if it is queued."""
        super().on_headers_complete()
        if 0 < len(self.pipeline) < _MOST_QUEUED:
            self.flow.resume_reading()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not valid HTTP. No middleware sees it, so it is counted here."""
        app = self.config.app
        if isinstance(app, FastAPI) and app.state.metrics is not None:
            app.state.metrics.request_refused(400, None)
        super().send_400_response(msg)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the disconnect to the request that is being answered, too."""
        super().connection_lost(exc)
        answered = self._answered
        if answered is not None and not answered.response_complete:
            answered.disconnected = True
            answered.message_event.set()
