"""httpcore's pool with our connection, and with books in which nothing is walked."""

import ssl
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar, cast

import httpcore
from httpcore._async.connection_pool import AsyncPoolRequest, PoolByteStream

from signalbox.services.connection import Body, Http1Connection

Member = TypeVar("Member", bound=Hashable)


class _Bag(Generic[Member]):
    """An ordered set under a list's names, for httpcore uses those: taking one out costs the same however many."""

    def __init__(self) -> None:
        self._members: dict[Member, None] = {}

    def append(self, member: Member) -> None:
        self._members[member] = None

    def remove(self, member: Member) -> None:
        del self._members[member]

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class _Requests(_Bag[AsyncPoolRequest]):
    """The requests under way; notes who waits for a connection, and which ones are held no more."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[AsyncPoolRequest] = deque()
        self.newest: AsyncPoolRequest | None = None  # whose task has not begun to wait
        self.left: list[Http1Connection] = []

    def append(self, member: AsyncPoolRequest) -> None:
        super().append(member)
        self.waiting.append(member)
        self.newest = member

    def remove(self, member: AsyncPoolRequest) -> None:
        super().remove(member)
        if (connection := _held(member)) is not None:
            self.left.append(connection)


class Pool(httpcore.AsyncConnectionPool):
    """Gives each request a connection of its own, a kept one where there is one to its server.

    httpcore's own way walks all connections on each acquire and release, and builds a list of them for every idle one:
    26 CPU-ms per stream with 1,000 streams. A walk alone still grows with what is open: 0.3 ms per stream with 2,000.
    """

    def __init__(self, tls: ssl.SSLContext, max_connections: int, keepalive: float) -> None:
        # Where httpcore counts for the keep-alive limit it counts all connections, not the idle ones: with httpx's
        # 100/20 fifty overlapping streams opened 170 connections in five rounds, with equal limits 50.
        super().__init__(
            ssl_context=tls,
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=keepalive,
        )
        self._books = _Requests()
        # httpcore's own names for both, which its other methods use.
        self._requests = cast("list[AsyncPoolRequest]", self._books)
        self._all: _Bag[Http1Connection] = _Bag()
        self._connections = cast("list[httpcore.AsyncConnectionInterface]", self._all)
        self._idle: dict[str, _Bag[Http1Connection]] = {}

    def create_connection(self, origin: httpcore.Origin) -> Http1Connection:
        """Return our connection in place of httpcore's."""
        return Http1Connection(origin, self._ssl_context, self._keepalive_expiry)

    @property
    def connections(self) -> list[httpcore.AsyncConnectionInterface]:
        """The connections that are open or being opened."""
        return [connection for connection in self._all if not connection.is_closed()]

    async def aclose(self) -> None:
        """Close all connections."""
        # Who was given one and has not begun finds it closed, asks again, and has to be known as waiting then.
        self._books.waiting.extend(one for one in self._books if (own := _held(one)) and own.is_at_rest)
        closing: list[httpcore.AsyncConnectionInterface] = [*self._all]
        self._all = _Bag()
        self._connections = cast("list[httpcore.AsyncConnectionInterface]", self._all)
        self._idle.clear()
        await self._close_connections(closing)

    def give_back(self, body: Body, stream: PoolByteStream) -> None:
        """Do as closing the pool's stream of a body does: nothing here waits, so it need not be awaited or shielded."""
        if stream._closed:  # pyright: ignore[reportPrivateUsage]
            return
        stream._closed = True  # pyright: ignore[reportPrivateUsage]
        body.close()
        self._books.remove(stream._pool_request)  # pyright: ignore[reportPrivateUsage]
        for connection in self._assign_requests_to_connections():
            cast(Http1Connection, connection).close()

    async def _close_connections(self, closing: list[httpcore.AsyncConnectionInterface]) -> None:
        """Close what there is, which is nothing as a rule: httpcore sets up a shield before it looks.

        Ours close without waiting, so nothing needs a shield: those were 4% of a short stream's steps in Python.
        """
        for connection in closing:
            await connection.aclose()

    def _assign_requests_to_connections(self) -> list[httpcore.AsyncConnectionInterface]:
        """Give every waiting request a connection while there are any; return those the pool has to close."""
        requests = self._books
        closing: list[httpcore.AsyncConnectionInterface] = []
        while requests.left:
            self._put_away(requests.left.pop(), closing)
        if requests.waiting:
            self._forget_closed()
        while requests.waiting and (len(self._all) < self._max_connections or any(self._idle.values())):
            request = requests.waiting.popleft()
            if request in requests:
                self._give(request, self._provide(request.request.url.origin, closing))
        requests.newest = None
        return closing

    def _give(self, request: AsyncPoolRequest, connection: Http1Connection) -> None:
        """Give a request its connection, and wake its task if it waits; the newest one's looks before it waits."""
        if request is self._books.newest:
            request.connection = connection
        else:
            request.assign_to_connection(connection)

    def _put_away(self, connection: Http1Connection, closing: list[httpcore.AsyncConnectionInterface]) -> None:
        """Take back a connection: kept it is idle; one that was made for a request that never began is closed."""
        if connection not in self._all:
            return
        if connection.is_idle():
            self._idle.setdefault(str(connection.origin), _Bag()).append(connection)
            return
        self._all.remove(connection)
        if not connection.is_closed():
            closing.append(connection)

    def _provide(self, origin: httpcore.Origin, closing: list[httpcore.AsyncConnectionInterface]) -> Http1Connection:
        """Find an idle connection to an origin or make one, in place of another origin's where the pool is full."""
        own = self._idle.get(str(origin))
        while own:
            connection = next(iter(own))
            own.remove(connection)
            if connection.is_idle():
                return connection
            self._all.remove(connection)
        if len(self._all) >= self._max_connections:
            idle = next(bag for bag in self._idle.values() if bag)
            oldest = next(iter(idle))
            idle.remove(oldest)
            self._all.remove(oldest)
            closing.append(oldest)
        connection = self.create_connection(origin)
        self._all.append(connection)
        return connection

    def _forget_closed(self) -> None:
        """Let go of idle connections that were closed; who is idle longest comes first, and so is closed first."""
        for bag in self._idle.values():
            while bag and not (oldest := next(iter(bag))).is_idle():
                bag.remove(oldest)
                self._all.remove(oldest)


def _held(request: AsyncPoolRequest) -> Http1Connection | None:
    return cast("Http1Connection | None", request.connection)
