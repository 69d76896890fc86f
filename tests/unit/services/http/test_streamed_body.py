"""A response body emitted inside the read callback of its connection."""

import asyncio
from collections.abc import Callable

import pytest
from signalbox.services.http.connection import MAX_BUFFERED, PARSE_LIMIT, Connection
from signalbox.services.http.errors import Broken, ProtocolError, ReadTimeout

from tests.unit.services.http.manual_connection import END, STREAM, begin, open_stream

pytestmark = pytest.mark.anyio


class Collector:
    """An `emit` that collects reads; after `most` of them it stops the streaming or raises `error`."""

    def __init__(self, link: Connection, most: int | None = None, error: Exception | None = None) -> None:
        self.got: list[bytes] = []
        self.link, self.most, self.error = link, most, error

    def __call__(self, data: bytes) -> None:
        self.got.append(data)
        if len(self.got) == self.most:
            if self.error is not None:
                raise self.error
            self.link.stop_streaming()


def is_complete(link: Connection) -> bool:
    """Whether the whole body was delivered."""
    return link.response.complete and not link.response.pending


async def received(link: Connection, data: bytes) -> None:
    """Deliver a network read, and wait until it is parsed."""
    link.data_received(data)
    for _ in range(len(data) // PARSE_LIMIT + 2):
        await asyncio.sleep(0)


def piece(data: bytes) -> bytes:
    """Return one chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


async def streaming(link: Connection, emit: Collector) -> "asyncio.Task[None]":
    """Start to stream, up to the first wait."""
    task = asyncio.create_task(link.stream_body(emit))
    await asyncio.sleep(0)
    return task


async def test_each_read_is_emitted_as_it_arrives() -> None:
    """Bytes that came with the head are emitted first, then one object per network read, inside the callback."""
    link, _, _ = await begin(STREAM + piece(b"with ") + piece(b"the head"))
    emit = Collector(link)
    task = await streaming(link, emit)
    assert emit.got == [b"with the head"]
    link.data_received(piece(b"a") + piece(b"b"))
    link.data_received(piece(b"c")[:3])  # and no object for a piece of framing
    link.data_received(piece(b"c")[3:])
    assert emit.got == [b"with the head", b"ab", b"c"]
    assert not task.done()
    link.data_received(piece(b"last") + END)
    await asyncio.wait_for(task, 30)
    assert emit.got[-1] == b"last"
    assert is_complete(link)
    assert link.finish(30)


async def test_a_complete_body_is_emitted_at_once() -> None:
    """A body that has arrived is emitted without waiting, also an empty one."""
    for body in (b"whole", b""):
        link, _, _ = await begin(STREAM + (piece(body) if body else b"") + END)
        emit = Collector(link)
        await asyncio.wait_for(link.stream_body(emit), 30)
        assert b"".join(emit.got) == body


@pytest.mark.parametrize("together", [True, False], ids=["in one read", "in two reads"])
async def test_stopping_leaves_the_rest(together: bool) -> None:
    """Bytes after the last emitted read wait for `read`, and the connection is reusable."""
    link, _, _ = await begin()
    emit = Collector(link, most=1)
    task = await streaming(link, emit)
    for data in [piece(b"enough")] if together else [piece(b"enough"), piece(b"rest")]:
        link.data_received(data)
    await asyncio.wait_for(task, 30)
    assert not is_complete(link)
    link.data_received(piece(b" and more") + END)
    assert emit.got == [b"enough"]
    assert await link.read() == (b" and more" if together else b"rest and more")
    assert (await link.read(), is_complete(link)) == (b"", True)
    assert link.finish(30)


async def test_an_error_of_emit_is_raised_by_stream_body() -> None:
    """The error is not raised in the event loop; nothing more is emitted, and the connection is not reused."""
    link, transport, _ = await open_stream()
    emit = Collector(link, most=1, error=ValueError("enough"))
    task = await streaming(link, emit)
    link.data_received(piece(b"a"))
    link.data_received(piece(b"b"))
    with pytest.raises(ValueError, match="enough"):
        await asyncio.wait_for(task, 30)
    assert emit.got == [b"a"]
    assert not link.finish(30)
    assert transport.aborted


async def test_an_error_of_the_first_emit_is_raised() -> None:
    """Bytes that had already arrived are enough to raise it."""
    link, _, _ = await begin(STREAM + piece(b"a"))
    with pytest.raises(ValueError, match="enough"):
        await link.stream_body(Collector(link, most=1, error=ValueError("enough")))


async def test_streaming_uses_one_timer() -> None:
    """Each read postpones the limit, a hundred of them re-arm the timer a few times, and silence is a timeout."""
    link, transport, clock = await open_stream()
    emit = Collector(link)
    task = await streaming(link, emit)
    for second in range(1, 101):
        clock.go(second)
        link.data_received(piece(b"%d " % second))
    assert clock.calls <= 12
    clock.go(109)
    assert not transport.aborted
    clock.go(110)
    with pytest.raises(ReadTimeout):
        await asyncio.wait_for(task, 30)
    assert transport.aborted
    assert len(emit.got) == 100


@pytest.mark.parametrize("is_streaming", [True, False], ids=["while streaming", "before"])
@pytest.mark.parametrize(
    ("end", "error"),
    [
        pytest.param(lambda link: link.data_received(b"zz\r\n"), ProtocolError, id="no HTTP"),
        pytest.param(lambda link: link.eof_received(), ProtocolError, id="cut"),
        pytest.param(lambda link: link.connection_lost(ConnectionResetError()), Broken, id="reset"),
        pytest.param(lambda link: link.abort(), Broken, id="closed by us"),
    ],
)
async def test_bytes_before_a_failure_are_emitted_first(
    end: Callable[[Connection], None], error: type[Exception], is_streaming: bool
) -> None:
    """Bytes before an error are not lost."""
    link, _, _ = await begin()
    emit = Collector(link)
    task = await streaming(link, emit) if is_streaming else None
    link.data_received(piece(b"good"))
    end(link)
    with pytest.raises(error):
        await asyncio.wait_for(task or link.stream_body(emit), 30)
    assert emit.got == [b"good"]


@pytest.mark.parametrize("how", ["goes on", "is stopped", "breaks"])
async def test_good_bytes_and_garbage_in_one_read(how: str) -> None:
    """The bytes are emitted first; then the error is raised at once, with the next read, or that of `emit`."""
    link, _, _ = await open_stream()
    emit = Collector(
        link, most=None if how == "goes on" else 1, error=ValueError("enough") if how == "breaks" else None
    )
    task = await streaming(link, emit)
    link.data_received(piece(b"good") + b"zz\r\n")
    wanted = {"goes on": ProtocolError, "breaks": ValueError}
    if how == "is stopped":
        await asyncio.wait_for(task, 30)
        with pytest.raises(ProtocolError):
            await link.read()
    else:
        with pytest.raises(wanted[how]):
            await asyncio.wait_for(task, 30)
    assert emit.got == [b"good"]
    assert not link.finish(30)


async def test_nothing_is_emitted_after_a_cancellation() -> None:
    """Later bytes are dropped, and the connection is closed."""
    link, transport, _ = await open_stream()
    emit = Collector(link)
    task = await streaming(link, emit)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    link.data_received(piece(b"late"))
    assert emit.got == []
    assert not link.finish(30)
    assert transport.aborted


async def test_streaming_resumes_a_paused_socket() -> None:
    """Streaming emits buffered bytes and resumes the socket; afterwards it is paused again."""
    link, transport, _ = await open_stream()
    much = b"x" * (MAX_BUFFERED + 1)
    await received(link, piece(much))
    assert transport.paused
    emit = Collector(link, most=2)
    task = await streaming(link, emit)
    assert not transport.paused
    await received(link, piece(b"y"))
    assert not transport.paused
    assert emit.got == [much, b"y"]
    await asyncio.wait_for(task, 30)
    await received(link, piece(much))
    assert transport.paused
    assert await link.read() == much
    assert not transport.paused


async def test_a_kept_connection_resumes_reading() -> None:
    """An unread complete body had paused the socket; the next request resumes it."""
    link, transport, _ = await open_stream()
    await received(link, piece(b"x" * (MAX_BUFFERED + 1)) + END)
    assert transport.paused
    assert link.finish(30)
    assert not transport.paused


async def test_a_large_read_is_parsed_in_slices() -> None:
    """A large read is emitted in slices while the socket is paused and other callbacks run."""
    link, transport, _ = await open_stream()
    emit = Collector(link, most=100)
    task = await streaming(link, emit)
    link.data_received(piece(b"x" * (4 * PARSE_LIMIT)) + END)
    pieces: list[int] = []
    assert transport.paused
    while not task.done():
        pieces.append(len(emit.got))
        await asyncio.sleep(0)
    assert b"".join(emit.got) == b"x" * (4 * PARSE_LIMIT)
    assert max(map(len, emit.got)) <= PARSE_LIMIT
    assert {0, 1, 2, 3, 4} <= set(pieces)
    assert not transport.paused


async def test_bytes_before_the_end_of_a_connection_are_emitted() -> None:
    """A connection that ends after a large read loses no byte."""
    link, _, _ = await begin(b"HTTP/1.1 200 OK\r\n\r\n")
    emit = Collector(link, most=100)
    task = await streaming(link, emit)
    link.data_received(b"x" * (3 * PARSE_LIMIT))
    link.connection_lost(None)
    await asyncio.wait_for(task, 30)
    assert b"".join(emit.got) == b"x" * (3 * PARSE_LIMIT)


async def test_a_connection_with_surplus_bytes_is_closed() -> None:
    """Bytes after a response must not be read as the next response."""
    link, _, _ = await open_stream()
    link.data_received(piece(b"x" * (2 * PARSE_LIMIT)) + END)
    assert not link.finish(30)
    assert link.closed
    await asyncio.sleep(0)
