"""Opening a connection: a name looked up, its addresses tried, TLS where it is asked for."""

import asyncio
import socket
import ssl
from collections import deque
from functools import cache
from typing import cast

import httpcore
import httpx

from signalbox.services.http.protocol import Channel

STAGGER = 0.25  # seconds an address has before the next is tried beside it (RFC 8305, "Connection Attempt Delay")

_Address = tuple[socket.AddressFamily, tuple[str | int, ...]]


@cache
def trust() -> ssl.SSLContext:
    """Return the context of every client: certifi's authorities, or those of SSL_CERT_FILE, and HTTP/1.1 alone.

    Reading the authorities holds everything else up for some tens of milliseconds, so it is done once.
    """
    context = httpx.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    host: str, port: int, *, tls: ssl.SSLContext | None, server_hostname: str, patience: float | None
) -> Channel:
    """Open a connection, with TLS where a context is given.

    `patience` is the seconds for name lookup, TCP and TLS together. Raises httpcore.ConnectTimeout or ConnectError.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(patience):
            sock = await _open_socket(host, port)
            name = server_hostname if tls is not None else None
            _, channel = await loop.create_connection(Channel, sock=sock, ssl=tls, server_hostname=name)
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"No connection to {host}:{port} within {patience} s") from error
    except OSError as error:
        raise httpcore.ConnectError(str(error)) from error
    return channel


async def _open_socket(host: str, port: int) -> socket.socket:
    """Connect to the first address that answers, each getting a short lead over the next ("happy eyeballs").

    httpcore does this through anyio; uvloop's create_connection tries one address after the other, and a host with a
    dead IPv6 route would eat the whole connect timeout. Raises OSError.
    """
    waiting = deque(await _addresses(host, port))
    trying: set[asyncio.Task[socket.socket]] = set()
    won: socket.socket | None = None
    failure: BaseException = OSError(f"No address for {host}")
    try:
        while won is None and (waiting or trying):
            if waiting:
                trying.add(asyncio.create_task(_dial(*waiting.popleft())))
            lead = STAGGER if waiting else None
            done, _ = await asyncio.wait(trying, timeout=lead, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if (error := task.exception()) is None:
                    won = task.result()
                    break
                failure = error
                trying.discard(task)
        if won is None:
            raise failure
        return won
    finally:
        _give_up(trying, won)


def _give_up(tasks: set[asyncio.Task[socket.socket]], won: socket.socket | None) -> None:
    """Cancel the attempts still running (each closes its socket) and close those that connected too late."""
    for task in tasks:
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None and task.result() is not won:
            task.result().close()


async def _addresses(host: str, port: int) -> list[_Address]:
    """Look a name up; families take turns, in the resolver's order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    turns: dict[socket.AddressFamily, int] = {}
    ranked: list[tuple[int, socket.AddressFamily, tuple[str | int, ...]]] = []
    for family, _, _, _, address in found:
        turns[family] = turns.get(family, 0) + 1
        ranked.append((turns[family], family, cast("tuple[str | int, ...]", address)))
    return [(family, address) for _, family, address in sorted(ranked, key=lambda row: row[0])]


async def _dial(family: socket.AddressFamily, address: tuple[str | int, ...]) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock
