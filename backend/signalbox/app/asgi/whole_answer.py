"""The response to a request without streaming: one body when the run is over."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from math import ceil

from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from signalbox.app.asgi.streaming import until_disconnect
from signalbox.core.events import Done, Stamped
from signalbox.encoders.encoder import WholeEncoder


def retry_headers(done: Done) -> dict[str, str]:
    """Return when a failed run may be retried, and for clients of OpenAI whether it makes sense at all."""
    headers = {} if done.retry_after is UNSET else {"retry-after": str(max(1, ceil(done.retry_after)))}
    return {**headers, "x-should-retry": "false"} if done.retryable is False else headers


class WholeAnswer(Response):
    """Reads a run to its end and sends the body that the encoder makes.

    A disconnect ends the subscription, as with a stream. `on_end` is called once, at every end.
    """

    def __init__(
        self,
        encoder: WholeEncoder,
        batches: AsyncGenerator[list[Stamped], None],
        headers: dict[str, str],
        on_end: Callable[[], None],
    ) -> None:
        super().__init__(headers=headers, media_type=encoder.content_type)
        self._encoder = encoder
        self._batches = batches
        self._on_end = on_end
        self._done: Done | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the body, unless the client disconnects before the run is over."""
        reading, leaving = asyncio.create_task(self._read_run()), asyncio.create_task(until_disconnect(receive))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return
            reading.result()
        finally:
            leaving.cancel()
            reading.cancel()
            await asyncio.wait({reading})
            self._on_end()
        self.status_code, body = self._encoder.answer()
        self.headers["content-length"] = str(len(body))
        if self._done is not None:
            self.headers.update(retry_headers(self._done))
        self.body = body
        await super().__call__(scope, receive, send)

    async def _read_run(self) -> None:
        async with aclosing(self._batches) as batches:
            async for batch in batches:
                self._encoder.feed(batch)
                if type(done := batch[-1].event) is Done:
                    self._done = done
