"""A channel on a clock turned by hand: its one timer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import httpcore
import pytest
from signalbox.services.channel import Channel

pytestmark = pytest.mark.anyio

STREAM = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


class Clock:
    """An event loop's clock and timers, turned by hand."""

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
    """A transport that goes nowhere."""

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


async def open_channel(read_timeout: float = 10) -> tuple[Channel, Socket, Clock]:
    """A channel in the middle of a streamed response."""
    link, transport, clock = Channel(), Socket(), Clock()
    link._loop = clock  # type: ignore[assignment]
    link.connection_made(transport)
    link.begin(b"GET", read_timeout)
    await link.write(b"GET / HTTP/1.1\r\n\r\n", None)
    link.request_sent()
    link.data_received(STREAM + b"2\r\nok\r\n")
    assert await link.read() == b"ok"
    return link, transport, clock


async def test_one_timer_serves_many_reads() -> None:
    """A hundred reads within the time allowed move one timer as it fires, and none of them times out."""
    link, transport, clock = await open_channel()
    for second in range(1, 101):
        reading = asyncio.create_task(link.read())
        await asyncio.sleep(0)
        clock.go(second)
        link.data_received(b"2\r\nok\r\n")
        assert await reading == b"ok"
    assert clock.calls <= 12
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    clock.go(109)
    assert not transport.aborted
    clock.go(110)
    with pytest.raises(httpcore.ReadTimeout):
        await reading
    assert transport.aborted


async def test_a_slow_reader_is_not_a_silent_server() -> None:
    """The time a reader is away does not count: the clock starts when it waits."""
    link, transport, clock = await open_channel()
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    link.data_received(b"2\r\nok\r\n")
    await reading
    clock.go(1000)
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    clock.go(1009)
    assert not transport.aborted
    link.data_received(b"2\r\nok\r\n")
    assert await reading == b"ok"


async def test_an_unused_connection_expires() -> None:
    """A kept connection is closed by its own timer, and not while a response is being read on it again."""
    link, transport, clock = await open_channel(read_timeout=120)
    link.data_received(END)
    assert link.release(30)
    clock.go(29)
    assert not link.closed
    clock.go(30)
    assert link.closed
    assert transport.aborted
