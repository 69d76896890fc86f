"""Opening a connection: name lookup, "happy eyeballs" (RFC 8305), TCP and TLS."""

import asyncio
import socket
import ssl
from collections import deque
from functools import cache, partial
from typing import cast

import httpx

from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import ConnectFailed, ConnectTimeout
from signalbox.services.http.request import Origin

ATTEMPT_DELAY = 0.25  # seconds before the next address is tried as well (RFC 8305, "Connection Attempt Delay")

_Address = tuple[socket.AddressFamily, tuple[str | int, ...]]


@cache
def default_tls() -> ssl.SSLContext:
    """Return the TLS context that all clients share: certifi's authorities or those of SSL_CERT_FILE, HTTP/1.1 only.

    It is built once, because reading the authorities blocks the event loop for tens of milliseconds.
    """
    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    origin: Origin, *, time_limit: float, tls: ssl.SSLContext | None = None, server_hostname: str | None = None
) -> Connection:
    """Open a connection to an origin, with TLS for https.

    `time_limit` (seconds) covers name lookup, TCP and TLS. The certificate must have the name `server_hostname`, the
    host by default. Raises ConnectTimeout or ConnectFailed.
    """
    loop = asyncio.get_running_loop()
    scheme, host, port = origin
    context = (tls or default_tls()) if scheme == "https" else None
    name = (server_hostname or host) if context is not None else None
    try:
        async with asyncio.timeout(time_limit):
            sock = await _open_socket(host, port)
            _, connection = await loop.create_connection(
                partial(Connection, origin), sock=sock, ssl=context, server_hostname=name
            )
    except TimeoutError as error:
        raise ConnectTimeout(f"No connection to {host}:{port} within {time_limit:g} s") from error
    except OSError as error:
        raise ConnectFailed(str(error)) from error
    return connection


async def _open_socket(host: str, port: int) -> socket.socket:
    """Connect to the first address that answers; each gets a short lead over the next. Raises OSError.

    uvloop's create_connection tries one address after the other: an unreachable IPv6 address would use up the timeout.
    """
    untried = deque(await _addresses(host, port))
    attempts: set[asyncio.Task[socket.socket]] = set()
    connected: socket.socket | None = None
    failure: BaseException = OSError(f"No address for {host}")
    try:
        while connected is None and (untried or attempts):
            if untried:
                attempts.add(asyncio.create_task(_connect_socket(*untried.popleft())))
            delay = ATTEMPT_DELAY if untried else None
            done, _ = await asyncio.wait(attempts, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for attempt in done:
                if (error := attempt.exception()) is None:
                    connected = attempt.result()
                    break
                failure = error
                attempts.discard(attempt)
        if connected is None:
            raise failure
        return connected
    finally:
        _discard(attempts, connected)


def _discard(attempts: set[asyncio.Task[socket.socket]], connected: socket.socket | None) -> None:
    """Cancel the attempts that are still running, and close the sockets that connected too late."""
    for attempt in attempts:
        if not attempt.done():
            attempt.cancel()
        elif not attempt.cancelled() and attempt.exception() is None and attempt.result() is not connected:
            attempt.result().close()


async def _addresses(host: str, port: int) -> list[_Address]:
    """Look a name up; IPv6 and IPv4 addresses alternate, otherwise in the resolver's order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    counts: dict[socket.AddressFamily, int] = {}
    ranked: list[tuple[int, socket.AddressFamily, tuple[str | int, ...]]] = []
    for family, _, _, _, address in found:
        counts[family] = counts.get(family, 0) + 1
        ranked.append((counts[family], family, cast("tuple[str | int, ...]", address)))
    return [(family, address) for _, family, address in sorted(ranked, key=lambda row: row[0])]


async def _connect_socket(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock
