"""A channel on a clock turned by hand: its one timer, and its bytes poured where they arrive."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import httpcore
import pytest
from signalbox.services.http.protocol import MAX_BUFFERED, TURN, Channel

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


async def begin(read_timeout: float = 10) -> tuple[Channel, Socket, Clock]:
    """A channel whose request is sent."""
    link, transport, clock = Channel(), Socket(), Clock()
    link._loop = clock  # type: ignore[assignment]
    link.connection_made(transport)
    link.begin(b"GET", read_timeout)
    await link.write(b"GET / HTTP/1.1\r\n\r\n", None)
    link.request_sent()
    return link, transport, clock


async def open_channel(read_timeout: float = 10) -> tuple[Channel, Socket, Clock]:
    """A channel in the middle of a streamed response."""
    link, transport, clock = await begin(read_timeout)
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


# Pouring


class Glass:
    """A sink: `got` is what it was given; it wants no more after `fill` reads, or breaks there."""

    def __init__(self, fill: int | None = None, error: Exception | None = None) -> None:
        self.got: list[bytes] = []
        self.fill, self.error = fill, error

    def __call__(self, data: bytes) -> bool:
        self.got.append(data)
        is_full = len(self.got) == self.fill
        if is_full and self.error is not None:
            raise self.error
        return is_full


async def taken(link: Channel, data: bytes) -> None:
    """Have a network read come, and wait until it is taken in."""
    link.data_received(data)
    for _ in range(len(data) // TURN + 2):
        await asyncio.sleep(0)


def piece(data: bytes) -> bytes:
    """Write one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


async def pouring(link: Channel, sink: Glass) -> "asyncio.Task[None]":
    """Begin to pour, and come to the first wait."""
    task = asyncio.create_task(link.pour(sink))
    await asyncio.sleep(0)
    return task


async def test_each_read_is_poured_where_it_arrives() -> None:
    """What came with the head is there first; then one object per network read, in the very call that brings it."""
    link, _, _ = await begin()
    link.data_received(STREAM + piece(b"with ") + piece(b"the head"))
    glass = Glass()
    task = await pouring(link, glass)
    assert glass.got == [b"with the head"]
    link.data_received(piece(b"a") + piece(b"b"))
    link.data_received(piece(b"c")[:3])  # and no object for a piece of framing
    link.data_received(piece(b"c")[3:])
    assert glass.got == [b"with the head", b"ab", b"c"]
    assert not task.done()
    link.data_received(piece(b"last") + END)
    await asyncio.wait_for(task, 30)
    assert glass.got[-1] == b"last"
    assert link.is_read
    assert link.release(30)


async def test_a_body_that_is_there_needs_no_wait() -> None:
    """It is poured at once, also an empty one."""
    for body in (b"whole", b""):
        link, _, _ = await begin()
        link.data_received(STREAM + (piece(body) if body else b"") + END)
        glass = Glass()
        await asyncio.wait_for(link.pour(glass), 30)
        assert b"".join(glass.got) == body


@pytest.mark.parametrize("together", [True, False], ids=["in one read", "in two reads"])
async def test_a_sink_that_wants_no_more_leaves_the_rest(together: bool) -> None:
    """What follows the read that filled it waits for `read`, and the connection serves again."""
    link, _, _ = await begin()
    link.data_received(STREAM)
    glass = Glass(fill=1)
    task = await pouring(link, glass)
    for data in [piece(b"enough")] if together else [piece(b"enough"), piece(b"rest")]:
        link.data_received(data)
    await asyncio.wait_for(task, 30)
    assert not link.is_read
    link.data_received(piece(b" and more") + END)
    assert glass.got == [b"enough"]
    assert await link.read() == (b" and more" if together else b"rest and more")
    assert (await link.read(), link.is_read) == (b"", True)
    assert link.release(30)


async def test_what_a_sink_raises_comes_out_where_it_is_poured() -> None:
    """Not in the event loop; it is given nothing more, and the connection is not used again."""
    link, transport, _ = await open_channel()
    glass = Glass(fill=1, error=ValueError("enough"))
    task = await pouring(link, glass)
    link.data_received(piece(b"a"))
    link.data_received(piece(b"b"))
    with pytest.raises(ValueError, match="enough"):
        await asyncio.wait_for(task, 30)
    assert glass.got == [b"a"]
    assert not link.release(30)
    assert transport.aborted


async def test_what_a_sink_raises_at_once_comes_out_too() -> None:
    """What had come before it was poured is enough for it to break."""
    link, _, _ = await begin()
    link.data_received(STREAM + piece(b"a"))
    with pytest.raises(ValueError, match="enough"):
        await link.pour(Glass(fill=1, error=ValueError("enough")))


async def test_pouring_keeps_the_one_timer() -> None:
    """Each read puts the silence off; a hundred of them set it a few times, and a long one is a timeout."""
    link, transport, clock = await open_channel()
    glass = Glass()
    task = await pouring(link, glass)
    for second in range(1, 101):
        clock.go(second)
        link.data_received(piece(b"%d " % second))
    assert clock.calls <= 12
    clock.go(109)
    assert not transport.aborted
    clock.go(110)
    with pytest.raises(httpcore.ReadTimeout):
        await asyncio.wait_for(task, 30)
    assert transport.aborted
    assert len(glass.got) == 100


@pytest.mark.parametrize("is_poured", [True, False], ids=["while it is poured", "before"])
@pytest.mark.parametrize(
    ("end", "error"),
    [
        pytest.param(lambda link: link.data_received(b"zz\r\n"), httpcore.RemoteProtocolError, id="no HTTP"),
        pytest.param(lambda link: link.eof_received(), httpcore.RemoteProtocolError, id="cut"),
        pytest.param(lambda link: link.connection_lost(ConnectionResetError()), httpcore.ReadError, id="reset"),
        pytest.param(lambda link: link.abort(), httpcore.ReadError, id="closed by us"),
    ],
)
async def test_what_came_before_the_break_is_poured_first(
    end: Callable[[Channel], None], error: type[Exception], is_poured: bool
) -> None:
    """The good bytes are not lost to the error behind them."""
    link, _, _ = await begin()
    link.data_received(STREAM)
    glass = Glass()
    task = await pouring(link, glass) if is_poured else None
    link.data_received(piece(b"good"))
    end(link)
    with pytest.raises(error):
        await asyncio.wait_for(task or link.pour(glass), 30)
    assert glass.got == [b"good"]


@pytest.mark.parametrize("how", ["goes on", "is full", "breaks"])
async def test_good_bytes_and_garbage_in_one_read(how: str) -> None:
    """The bytes come first, then the error: at once, with the next read, or not at all behind the sink's own."""
    link, _, _ = await open_channel()
    glass = Glass(fill=None if how == "goes on" else 1, error=ValueError("enough") if how == "breaks" else None)
    task = await pouring(link, glass)
    link.data_received(piece(b"good") + b"zz\r\n")
    wanted = {"goes on": httpcore.RemoteProtocolError, "breaks": ValueError}
    if how == "is full":
        await asyncio.wait_for(task, 30)
        with pytest.raises(httpcore.RemoteProtocolError):
            await link.read()
    else:
        with pytest.raises(wanted[how]):
            await asyncio.wait_for(task, 30)
    assert glass.got == [b"good"]
    assert not link.release(30)


async def test_whoever_is_cancelled_gets_nothing_more() -> None:
    """What arrives behind a cancellation reaches no sink, and the connection is closed."""
    link, transport, _ = await open_channel()
    glass = Glass()
    task = await pouring(link, glass)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    link.data_received(piece(b"late"))
    assert glass.got == []
    assert not link.release(30)
    assert transport.aborted


async def test_a_paused_socket_goes_on_when_it_is_poured() -> None:
    """What waited for a slow reader is taken; while it is poured nothing waits; behind it the socket is held again."""
    link, transport, _ = await open_channel()
    much = b"x" * (MAX_BUFFERED + 1)
    await taken(link, piece(much))
    assert transport.paused
    glass = Glass(fill=2)
    task = await pouring(link, glass)
    assert not transport.paused
    await taken(link, piece(b"y"))
    assert not transport.paused
    assert glass.got == [much, b"y"]
    await asyncio.wait_for(task, 30)
    await taken(link, piece(much))
    assert transport.paused
    assert await link.read() == much
    assert not transport.paused


async def test_a_connection_that_is_kept_reads_on() -> None:
    """A body that came whole, and was left unread by its reader, had the socket wait: the next request needs it."""
    link, transport, _ = await open_channel()
    await taken(link, piece(b"x" * (MAX_BUFFERED + 1)) + END)
    assert transport.paused
    assert link.release(30)
    assert not transport.paused


async def test_a_large_read_is_taken_in_by_turns() -> None:
    """A read of many bytes is poured piece by piece; the socket waits, and what else is due runs in between."""
    link, transport, _ = await open_channel()
    glass = Glass(fill=100)
    task = await pouring(link, glass)
    link.data_received(piece(b"x" * (4 * TURN)) + END)
    pieces: list[int] = []
    assert transport.paused
    while not task.done():
        pieces.append(len(glass.got))
        await asyncio.sleep(0)
    assert b"".join(glass.got) == b"x" * (4 * TURN)
    assert max(map(len, glass.got)) <= TURN
    assert {0, 1, 2, 3, 4} <= set(pieces)
    assert not transport.paused


async def test_what_came_before_the_end_of_a_connection_is_taken_in() -> None:
    """A connection that ends behind a large read loses none of it."""
    link, _, _ = await begin(10)
    link.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
    glass = Glass(fill=100)
    task = await pouring(link, glass)
    link.data_received(b"x" * (3 * TURN))
    link.connection_lost(None)
    await asyncio.wait_for(task, 30)
    assert b"".join(glass.got) == b"x" * (3 * TURN)


async def test_a_connection_with_more_than_its_response_is_not_kept() -> None:
    """What waits behind a response that its reader has left is nobody's: the next exchange must not read it."""
    link, _, _ = await open_channel()
    link.data_received(piece(b"x" * (2 * TURN)) + END)
    assert not link.release(30)
    assert link.closed
    await asyncio.sleep(0)
