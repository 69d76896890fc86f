"""httpcore's pool with our connection, and with books in which no connection is walked past another."""

import ssl
from collections import defaultdict, deque
from collections.abc import Hashable
from typing import TypeAlias, TypeVar, cast

import httpcore
from httpcore._async.connection_pool import AsyncPoolRequest

from signalbox.services.http.connection import Body, Http1Connection, extensions_of
from signalbox.services.http.request import Post

Member = TypeVar("Member", bound=Hashable)
_Address: TypeAlias = tuple[bytes, bytes, int | None]


class _Bag(dict[Member, None]):
    """An ordered set under a list's names, for httpcore uses those: taking one out costs the same however many."""

    def append(self, member: Member) -> None:
        self[member] = None

    def remove(self, member: Member) -> None:
        del self[member]

    @property
    def newest(self) -> Member:
        return next(reversed(self))


class _Requests(_Bag[AsyncPoolRequest]):
    """The requests that httpcore takes care of; notes who waits for a connection, and which ones are held no more."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[AsyncPoolRequest] = deque()
        self.left: list[Http1Connection] = []

    def append(self, member: AsyncPoolRequest) -> None:
        super().append(member)
        self.waiting.append(member)

    def remove(self, member: AsyncPoolRequest) -> None:
        super().remove(member)
        if (connection := _held(member)) is not None:
            self.left.append(connection)

    def forget(self, member: AsyncPoolRequest) -> None:
        """Take out a request whose connection stays with its caller."""
        super().remove(member)


class Pool(httpcore.AsyncConnectionPool):
    """Gives each request a connection, a kept-alive one where there is one to its server.

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
        self._idle: defaultdict[_Address, _Bag[Http1Connection]] = defaultdict(_Bag)

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

    async def post(self, post: Post) -> Body:
        """Send a request and return the body of its response, once its head is here; to be given back when it is read.

        That is what `handle_async_request` does, for a request that needs nothing else of httpcore: its requests,
        responses and streams were 4% of a short stream's steps in Python. Raises httpcore's exceptions.
        """
        while True:
            connection = await self._take(post)
            try:
                return await connection.converse(post)
            except httpcore.ConnectionNotAvailable:  # the pool was closed since
                continue
            except BaseException:
                self._put_away(connection)
                raise

    def give_back(self, body: Body) -> None:
        """Take back the connection of a response, read to its end or not; nothing here waits."""
        if not body.is_closed:
            body.close()
            self._put_away(body.connection)

    async def _take(self, post: Post) -> Http1Connection:
        """Return a connection for a request; where the pool is full, wait for a free one."""
        books = self._books
        if not books.waiting and self._has_room:
            return self._provide(post.origin)
        asked = AsyncPoolRequest(post)
        books.append(asked)
        try:
            self._assign_requests_to_connections()
            connection = await asked.wait_for_connection(extensions_of(post).get("timeout", {}).get("pool"))
        except BaseException:
            books.remove(asked)
            self._assign_requests_to_connections()
            raise
        books.forget(asked)
        return cast(Http1Connection, connection)

    async def _close_connections(self, closing: list[httpcore.AsyncConnectionInterface]) -> None:
        """Close what there is, which is nothing as a rule: httpcore sets up a shield before it looks.

        Ours close without waiting, so nothing needs a shield: those were 4% of a short stream's steps in Python.
        """
        for connection in closing:
            await connection.aclose()

    def _assign_requests_to_connections(self) -> list[httpcore.AsyncConnectionInterface]:
        """Give every waiting request a connection while there are any.

        httpcore would close what this returns: ours need not be waited for, and are closed by now.
        """
        books = self._books
        while books.left:
            self._take_back(books.left.pop())
        if books.waiting:
            self._forget_closed()
        while books.waiting and self._has_room:
            request = books.waiting.popleft()
            if request in books:
                request.assign_to_connection(self._provide(request.request.url.origin))
        return []

    @property
    def _has_room(self) -> bool:
        return len(self._all) < self._max_connections or any(self._idle.values())

    def _put_away(self, connection: Http1Connection) -> None:
        """Take back a connection, and see who waits for one."""
        self._take_back(connection)
        if self._books.waiting:
            self._assign_requests_to_connections()

    def _take_back(self, connection: Http1Connection) -> None:
        """Take back a connection: kept it is idle; one that was made for a request that never began is closed."""
        if connection not in self._all:
            return
        if connection.is_idle():
            self._idle[_address(connection.origin)].append(connection)
            self._forget_closed()
            return
        self._all.remove(connection)
        if not connection.is_closed():
            connection.close()

    def _provide(self, origin: httpcore.Origin) -> Http1Connection:
        """Find an idle connection to an origin or make one, in place of another origin's where the pool is full."""
        own = self._idle.get(_address(origin))
        while own:
            connection = own.newest  # so that those a peak has left behind come to their end
            own.remove(connection)
            if connection.is_idle():
                return connection
            self._all.remove(connection)
        if len(self._all) >= self._max_connections:
            idle = next(bag for bag in self._idle.values() if bag)
            oldest = next(iter(idle))
            idle.remove(oldest)
            self._all.remove(oldest)
            oldest.close()
        connection = self.create_connection(origin)
        self._all.append(connection)
        return connection

    def _forget_closed(self) -> None:
        """Let go of idle connections that were closed: who is idle longest comes first, and our timer closes it first.

        One that its server has closed behind another that is open is let go when it would be taken, or when its turn
        comes.
        """
        for bag in self._idle.values():
            while bag and not (oldest := next(iter(bag))).is_idle():
                bag.remove(oldest)
                self._all.remove(oldest)


def _held(request: AsyncPoolRequest) -> Http1Connection | None:
    return cast("Http1Connection | None", request.connection)


def _address(origin: httpcore.Origin) -> _Address:
    return origin.scheme, origin.host, origin.port
