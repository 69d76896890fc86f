"""Leaving a port to the workers that stay: no connection that was made is dropped, and none is closed under a request.

A proxy tries the next worker where a connection is refused, and can do so safely with any request: nothing was sent. A
connection that was accepted is different: what was sent on it may have begun, so a proxy must not send it again.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

# tcpi_unacked of Linux's struct tcp_info; of a listening socket it counts the connections that wait to be accepted.
_WAITING = struct.Struct("24xI")
# Longer than the seconds for which uvicorn and proxies keep an idle connection (5, in deploy/nginx.conf 4).
_KEPT_SECONDS = 6.0
_LOOK_SECONDS = 0.02


class Closable(Protocol):
    """An event loop's server, or a socket."""

    def close(self) -> None:
        """Stop listening."""


async def close_port(servers: Iterable[Closable], sockets: Sequence[socket.socket]) -> None:
    """Refuse connections from here on, once those that the kernel holds ready are accepted."""
    while any(_has_waiting(one) for one in sockets):  # noqa: ASYNC110 - the kernel's queue wakes no task of ours
        await asyncio.sleep(0)
    for one in (*servers, *sockets):
        one.close()


def _has_waiting(listener: socket.socket) -> bool:
    with suppress(AttributeError, OSError, struct.error):  # not Linux, or no TCP
        told = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _WAITING.size)
        return bool(_WAITING.unpack(told)[0])
    return False


async def until_none(connections: Callable[[], int]) -> None:
    """Wait until no connection is open that could bring a request; one that stays silent for seconds brings none."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_KEPT_SECONDS):
            while connections():  # noqa: ASYNC110 - uvicorn's set of them has no event
                await asyncio.sleep(_LOOK_SECONDS)
