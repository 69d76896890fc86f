"""The connections of a client: idle ones are reused, and their number is limited."""

import asyncio
import ssl

from signalbox.services.http.connect import connect
from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import ConnectFailed, PoolFull
from signalbox.services.http.request import Origin


class Pool:
    """Hands out slots: each is an idle connection to an origin, or room to open one.

    Every operation takes constant time, however many connections are open.
    """

    def __init__(self, tls: ssl.SSLContext, *, connect_timeout: float, max_connections: int, keepalive: float) -> None:
        self.size = 0  # connections that are open or being opened
        self._tls = tls
        self._connect_timeout = connect_timeout
        self._max_connections = max_connections
        self._keepalive = keepalive
        self._active: set[Connection] = set()
        self._idle: dict[Origin, dict[Connection, None]] = {}  # the longest idle first
        self._waiting: dict[asyncio.Future[Connection | None], Origin] = {}
        self._closed = False

    async def acquire(self, origin: Origin) -> Connection | None:
        """Return an idle connection, None if a new one may be opened; in a full pool, wait for a slot.

        Each slot must be given back to `release`. Raises PoolFull or ConnectFailed.
        """
        self._raise_if_closed()
        if not self._waiting and self._has_room:
            return self._take(origin)
        slot: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting[slot] = origin
        try:
            async with asyncio.timeout(self._connect_timeout):
                connection = await slot
        except BaseException as error:
            self._waiting.pop(slot, None)
            if slot.done() and not slot.cancelled() and slot.exception() is None:  # served while it was cancelled
                self.release(slot.result())
            if isinstance(error, TimeoutError):
                raise PoolFull(f"No connection became free within {self._connect_timeout:g} s") from None
            raise
        return self.replace(connection) if connection is not None and connection.closed else connection

    async def open(self, origin: Origin) -> Connection:
        """Open a connection in a slot without one. Raises ConnectTimeout or ConnectFailed."""
        self._raise_if_closed()
        connection = await connect(origin, time_limit=self._connect_timeout, tls=self._tls)
        if self._closed:
            connection.abort()
            self._raise_if_closed()
        connection.on_close = self._drop_idle
        self._active.add(connection)
        return connection

    def replace(self, connection: Connection) -> None:
        """Close the connection of a slot, and keep the slot for a new one."""
        self._active.discard(connection)
        connection.abort()

    def release(self, connection: Connection | None) -> None:
        """Give a slot back; a connection stays open if its response was complete, and is closed otherwise."""
        if connection is not None:
            self._active.discard(connection)
        if connection is not None and connection.finish(self._keepalive):
            self._idle.setdefault(connection.origin, {})[connection] = None
        else:
            self.size -= 1
        while self._waiting and self._has_room:
            slot = next(iter(self._waiting))
            waiting_for = self._waiting.pop(slot)
            if not slot.done():
                slot.set_result(self._take(waiting_for))

    def close(self) -> None:
        """Close all connections; exchanges and waiting requests fail."""
        self._closed = True
        for slot in self._waiting:
            if not slot.done():
                slot.set_exception(ConnectFailed("The client was closed"))
        for connection in [*self._active, *(one for idle in self._idle.values() for one in idle)]:
            connection.abort()

    def _raise_if_closed(self) -> None:
        if self._closed:
            raise ConnectFailed("The client was closed")

    @property
    def _has_room(self) -> bool:
        return self.size < self._max_connections or any(self._idle.values())

    def _take(self, origin: Origin) -> Connection | None:
        """Fill a slot: with an idle connection, or with room that another origin's idle connection may have to make.

        The most recently used connection comes first, so that those left over from a peak expire.
        """
        if idle := self._idle.get(origin):
            connection, _ = idle.popitem()
            self._active.add(connection)
            return connection
        if self.size >= self._max_connections:
            longest_idle = next(next(iter(idle)) for idle in self._idle.values() if idle)
            longest_idle.abort()  # calls _drop_idle
        self.size += 1
        return None

    def _drop_idle(self, connection: Connection) -> None:
        """Forget an idle connection that its server or its timer closed; an active one is released by its user."""
        idle = self._idle.get(connection.origin, {})
        if connection in idle:
            del idle[connection]
            self.size -= 1
