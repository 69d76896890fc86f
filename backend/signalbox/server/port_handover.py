"""Closes a worker's port while other workers stay: no accepted connection is dropped or closed during a request.

If a connection is refused, a proxy can safely try the next worker, because nothing was sent. A request on an accepted
connection may have been processed, so a proxy must not repeat it.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

# tcpi_unacked in Linux's struct tcp_info: for a listening socket, the connections that wait to be accepted.
_WAITING = struct.Struct("24xI")
# Longer than uvicorn (5 s) and proxies (4 s in deploy/nginx.conf) keep an idle connection open.
_KEEP_ALIVE_SECONDS = 6.0
_POLL_SECONDS = 0.02


class Closable(Protocol):
    """An event loop's server, or a socket."""

    def close(self) -> None:
        """Stop listening."""


async def close_port(servers: Iterable[Closable], sockets: Sequence[socket.socket]) -> None:
    """Stop listening once all connections in the kernel's queue are accepted."""
    while any(_has_waiting(one) for one in sockets):  # noqa: ASYNC110 - the kernel's queue has no event
        await asyncio.sleep(0)
    for one in (*servers, *sockets):
        one.close()


def _has_waiting(listener: socket.socket) -> bool:
    with suppress(AttributeError, OSError, struct.error):  # not Linux, or no TCP
        info = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _WAITING.size)
        return bool(_WAITING.unpack(info)[0])
    return False


async def until_none(connections: Callable[[], int]) -> None:
    """Wait until no connection is open; after some seconds, the remaining ones are idle."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_KEEP_ALIVE_SECONDS):
            while connections():  # noqa: ASYNC110 - uvicorn's set of them has no event
                await asyncio.sleep(_POLL_SECONDS)
