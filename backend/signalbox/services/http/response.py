"""A response whose head has arrived; its body is read, or streamed to a callback."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping

import httpx

from signalbox.core.ports import Emit
from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import Broken, DecodingFailed
from signalbox.services.http.pool import Pool


class Response(ABC):
    """Status, headers and body of a response.

    `async for data in response` yields the body as it was sent, one object per network read. Raises HttpError.
    """

    status: int

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        """Whether the status is 3xx; no redirect is followed."""
        return 300 <= self.status < 400

    @property
    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """All headers, by name in lower case; values of the same name are joined by commas."""

    @abstractmethod
    def header(self, name: str) -> str | None:
        """Return one header, by its name in lower case, without decoding the others."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    @abstractmethod
    async def __anext__(self) -> bytes: ...

    @abstractmethod
    async def stream_body(self, emit: Emit[bytes]) -> None:
        """Emit the body, one object per network read, until it ends or `stop_streaming` is called.

        Iterating returns what follows. Raises HttpError, and what `emit` raises.
        """

    @abstractmethod
    def stop_streaming(self) -> None:
        """End `stream_body` after the read that is being emitted."""

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether the whole body is known to have been delivered."""

    @abstractmethod
    async def aclose(self) -> None:
        """End the exchange. The connection is reused if the body is complete, and closed otherwise."""


class PooledResponse(Response):
    """A response on a connection of our pool. Headers are decoded when they are asked for."""

    def __init__(self, connection: Connection, pool: Pool) -> None:
        self._head = connection.response
        self._connection: Connection | None = connection
        self._pool = pool
        self.status = self._head.status

    @property
    def headers(self) -> Mapping[str, str]:
        """All headers, by name in lower case."""
        return {name.decode("ascii"): value.decode("utf-8", "replace") for name, value in self._head.fields.items()}

    def header(self, name: str) -> str | None:
        """Return one header, by its name in lower case."""
        value = self._head.fields.get(name.encode())
        return None if value is None else value.decode("utf-8", "replace")

    async def __anext__(self) -> bytes:
        if data := await self._open_connection.read():
            return data
        raise StopAsyncIteration

    async def stream_body(self, emit: Emit[bytes]) -> None:
        """Emit the body inside the read callback of its socket."""
        await self._open_connection.stream_body(emit)

    def stop_streaming(self) -> None:
        """End `stream_body` after the read that is being emitted."""
        self._open_connection.stop_streaming()

    @property
    def is_complete(self) -> bool:
        """Whether the whole body was delivered."""
        return self._head.complete and not self._head.pending

    @property
    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise Broken("The response was closed")
        return self._connection

    async def aclose(self) -> None:
        """Give the connection back to the pool."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.release(connection)


async def decoded(response: Response) -> AsyncIterator[bytes]:
    """Yield the body without its content-encoding. Raises HttpError.

    Requests ask for none, but some servers compress anyway. A coding that httpx does not know is left as it is.
    """
    coding = response.header("content-encoding")
    plain = (
        httpx.Response(200, headers={"content-encoding": coding}, content=response).aiter_bytes()
        if coding
        else response
    )
    try:
        async for data in plain:
            yield data
    except httpx.DecodingError as error:
        raise DecodingFailed(str(error)) from error
