"""A connection over a scripted socket, with a manual clock."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from signalbox.services.http.connection import Connection
from signalbox.services.http.request import Origin

STREAM = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


class Clock:
    """An event loop's clock and timers, advanced by the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.set: list[tuple[float, Callable[[], None]]] = []
        self.calls = 0

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], None]) -> "Handle":
        self.calls += 1
        entry = (when, callback)
        self.set.append(entry)
        return Handle(self, entry)

    def call_soon(self, callback: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_soon(callback)

    def create_future(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    def go(self, to: float) -> None:
        self.now = to
        for entry in [entry for entry in self.set if entry[0] <= to]:
            self.set.remove(entry)
            entry[1]()


@dataclass
class Handle:
    clock: Clock
    entry: tuple[float, Callable[[], None]]

    def cancel(self) -> None:
        self.clock.set.remove(self.entry)


class Socket(asyncio.Transport):
    """A transport without a network."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = False
        self.paused = False

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True

    def write(self, data: object) -> None:
        pass

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


async def begin(first: bytes = STREAM, *, idle_timeout: float = 10) -> tuple[Connection, Socket, Clock]:
    """Return a connection whose request is sent and whose first read has arrived."""
    link, transport, clock = Connection(Origin("http", "host.test", 80)), Socket(), Clock()
    link._loop = clock  # type: ignore[assignment]
    link.connection_made(transport)
    sending = asyncio.create_task(link.exchange("GET", b"GET / HTTP/1.1\r\n\r\n", idle_timeout))
    await asyncio.sleep(0)
    link.data_received(first)
    await sending
    return link, transport, clock


async def open_stream(idle_timeout: float = 10) -> tuple[Connection, Socket, Clock]:
    """A connection in the middle of a streamed response."""
    link, transport, clock = await begin(STREAM + b"2\r\nok\r\n", idle_timeout=idle_timeout)
    assert await link.read() == b"ok"
    return link, transport, clock
