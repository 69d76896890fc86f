"""The HTTP/1.1 client for model providers."""

import ssl
from types import TracebackType
from typing import Self

import httpx

from signalbox.services.http.connect import default_tls
from signalbox.services.http.errors import Broken, ProtocolError
from signalbox.services.http.httpx_adapter import HttpxAdapter, Proxies
from signalbox.services.http.pool import Pool
from signalbox.services.http.request import PreparedRequest
from signalbox.services.http.response import PooledResponse, Response

KEEPALIVE = 30.0  # seconds an idle connection stays open


class HttpClient:
    """Sends prepared requests; a response delivers its body as one bytes object per network read.

    `connect_timeout` is the time limit in seconds for lookup, TCP and TLS, and for a slot in a full pool;
    `idle_timeout` is the limit for silence while reading or writing. `tls` replaces the default context (certifi's
    authorities, or those of SSL_CERT_FILE).

    A request is sent again only if a kept connection turns out to be closed. Redirects are not followed, and cookies
    are not kept. A body that is cut short raises ProtocolError.

    Where the environment names a proxy, and for every request if a `proxy` or `transport` is given, httpx carries the
    request instead. Works under asyncio and uvloop.
    """

    def __init__(
        self,
        *,
        connect_timeout: float = 10,
        idle_timeout: float = 120,
        max_connections: int = 1000,
        tls: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
    ) -> None:
        context = tls or default_tls()
        context.set_alpn_protocols(["http/1.1"])
        self._idle_timeout = idle_timeout
        self._pool = Pool(
            context, connect_timeout=connect_timeout, max_connections=max_connections, keepalive=KEEPALIVE
        )
        self._proxies = Proxies()
        self._is_adapted = transport is not None or proxy is not None
        self._adapter: HttpxAdapter | None = None
        if self._is_adapted or self._proxies:
            self._adapter = HttpxAdapter(
                connect_timeout=connect_timeout,
                idle_timeout=idle_timeout,
                max_connections=max_connections,
                tls=context,
                transport=transport,
                proxy=proxy,
            )

    async def send(self, request: PreparedRequest, body: bytes = b"") -> Response:
        """Send a request and return its response once the head has arrived; the caller closes it.

        Cancelling this closes the connection. Raises HttpError.
        """
        if self._adapter is not None and (self._is_adapted or self._proxies.may_carry(request.origin)):
            return await self._adapter.send(request, body)
        message = request.encode(body)
        connection = await self._pool.acquire(request.origin)
        try:
            while True:
                connection = connection or await self._pool.open(request.origin)
                try:
                    await connection.exchange(request.method, message, self._idle_timeout)
                    return PooledResponse(connection, self._pool)
                except (Broken, ProtocolError):
                    if not connection.was_stale:
                        raise
                    connection = self._pool.replace(connection)
        except BaseException:
            self._pool.release(connection)
            raise

    @property
    def open_connections(self) -> int:
        """How many connections are open or being opened, without those of httpx."""
        return self._pool.size

    async def aclose(self) -> None:
        """Close all connections; requests under way fail."""
        self._pool.close()
        if self._adapter is not None:
            await self._adapter.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
