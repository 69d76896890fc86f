"""The response of a request that asks for no stream: one answer when the run is over."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from math import ceil

from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from signalbox.app.asgi.streaming import until_gone
from signalbox.core.events import Done, Stamped
from signalbox.encoders.encoder import WholeEncoder


class WholeAnswer(Response):
    """Reads a run to its end and sends what its encoder makes of it.

    A client that disconnects is a subscriber that leaves, as with a stream. `ended` is called once, at every end.
    """

    def __init__(
        self,
        encoder: WholeEncoder,
        batches: AsyncGenerator[list[Stamped], None],
        headers: dict[str, str],
        ended: Callable[[], None],
    ) -> None:
        super().__init__(headers=headers, media_type=encoder.content_type)
        self._encoder = encoder
        self._batches = batches
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer once, unless the client disconnects before."""
        reading, leaving = asyncio.create_task(self._read()), asyncio.create_task(until_gone(receive))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return
            reading.result()
        finally:
            leaving.cancel()
            reading.cancel()
            await asyncio.wait({reading})
            self._ended()
        self.status_code, body = self._encoder.answer()
        self.headers["content-length"] = str(len(body))
        self.body = body
        await super().__call__(scope, receive, send)

    async def _read(self) -> None:
        async with aclosing(self._batches) as batches:
            async for batch in batches:
                self._encoder.feed(batch)
                if type(done := batch[-1].event) is Done and done.retry_after is not UNSET:
                    self.headers["retry-after"] = str(max(1, ceil(done.retry_after)))
