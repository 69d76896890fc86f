"""Requests through httpx: for a proxy of the environment, or for a given transport."""

import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.request import getproxies

import httpx

from signalbox.core.ports import Emit
from signalbox.services.http import errors
from signalbox.services.http.request import Origin, PreparedRequest
from signalbox.services.http.response import Response

# The first class that matches counts.
_ERRORS: tuple[tuple[type[httpx.HTTPError], type[errors.HttpError]], ...] = (
    (httpx.ConnectTimeout, errors.ConnectTimeout),
    (httpx.PoolTimeout, errors.PoolFull),
    (httpx.WriteTimeout, errors.WriteTimeout),
    (httpx.TimeoutException, errors.ReadTimeout),
    (httpx.ConnectError, errors.ConnectFailed),
    (httpx.NetworkError, errors.Broken),
    (httpx.RemoteProtocolError, errors.ProtocolError),
    (httpx.ProxyError, errors.ProxyFailed),
    (httpx.HTTPError, errors.InvalidRequest),
)


class Proxies:
    """The proxies that the environment names (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY), and their exceptions (NO_PROXY)."""

    def __init__(self) -> None:
        named = getproxies()
        self._schemes = named.keys() & {"http", "https", "all"}
        self._direct = [name.strip().lower() for name in named.get("no", "").split(",") if name.strip()]

    def __bool__(self) -> bool:
        return bool(self._schemes)

    def may_carry(self, origin: Origin) -> bool:
        """Whether a proxy may apply. httpx makes the decision: forms of NO_PROXY unknown here count as no match."""
        if not self._schemes & {origin.scheme, "all"}:
            return False
        return not any(
            name in ("*", origin.host) or origin.host.endswith(f".{name.lstrip('.')}") for name in self._direct
        )


class HttpxAdapter:
    """The surface of HttpClient over a plain httpx.AsyncClient. It is slower: its reads wake a task each."""

    def __init__(
        self,
        *,
        connect_timeout: float,
        idle_timeout: float,
        max_connections: int,
        tls: ssl.SSLContext,
        transport: httpx.AsyncBaseTransport | None = None,
        proxy: str | None = None,
    ) -> None:
        self._client = httpx.AsyncClient(
            verify=tls,
            transport=transport,
            proxy=proxy,
            limits=httpx.Limits(max_connections=max_connections, max_keepalive_connections=max_connections),
            timeout=httpx.Timeout(connect=connect_timeout, read=idle_timeout, write=idle_timeout, pool=connect_timeout),
        )

    async def send(self, request: PreparedRequest, body: bytes) -> Response:
        """Send a request and return its response once the head has arrived. Raises HttpError."""
        with _translated():
            sent = self._client.build_request(
                request.method, request.url, headers=request.headers, content=body or None
            )
            return HttpxResponse(await self._client.send(sent, stream=True, follow_redirects=False))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


class HttpxResponse(Response):
    """A response of httpx."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self._response = response
        self._reads = response.aiter_raw()
        self._is_streaming = False

    @property
    def headers(self) -> Mapping[str, str]:
        """All headers, by name in lower case."""
        return dict(self._response.headers.items())

    def header(self, name: str) -> str | None:
        """Return one header, by its name in lower case."""
        return self._response.headers.get(name)

    async def __anext__(self) -> bytes:
        with _translated():
            return await anext(self._reads)

    async def stream_body(self, emit: Emit[bytes]) -> None:
        """Emit each read as it is awaited."""
        self._is_streaming = True
        async for data in self:
            emit(data)
            if not self._is_streaming:
                return

    def stop_streaming(self) -> None:
        """End `stream_body` after the read that is being emitted."""
        self._is_streaming = False

    @property
    def is_complete(self) -> bool:
        """False: httpx does not tell before the next read."""
        return False

    async def aclose(self) -> None:
        """Close the response."""
        await self._response.aclose()


@contextmanager
def _translated() -> Generator[None]:
    """Raise the HttpError that corresponds to httpx's exception."""
    try:
        yield
    except httpx.HTTPError as error:
        ours = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        raise ours(str(error)) from error
