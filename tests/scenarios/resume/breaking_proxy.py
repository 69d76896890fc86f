"""A proxy between a client and the app whose connections break after a number of bytes."""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self, TypeAlias

from tests.support.running_app import WAIT


class BreakingProxy:
    """Forwards connections on a loopback port; each carries its share of the response, then breaks.

    `shares` are used one per connection; connections after the last share are not limited.
    """

    def __init__(self, target: int, shares: Iterable["Share"]) -> None:
        self._target = target
        self._shares: Iterator[Share] = iter(shares)
        self._ready = threading.Event()
        self._over: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="wire", daemon=True)
        self._connections: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cuts = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._loop is not None
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(WAIT)
        assert not self._thread.is_alive()

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._begin, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        # A connection that was accepted just before gets its task only now: look until there are no more.
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to forward a connection; the task is kept here, as the event loop holds only a weak reference."""
        task = asyncio.create_task(self._forward(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        # A task that is cancelled before its first step never runs its own `finally`.
        task.add_done_callback(lambda _: writer.close())

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        share = next(self._shares, None)
        try:
            app_reader, app_writer = await asyncio.open_connection("127.0.0.1", self._target)
            asking = asyncio.create_task(_carry(reader, app_writer, None))
            try:
                if await _carry(app_reader, writer, share):
                    self.cuts += 1
            finally:
                asking.cancel()
                app_writer.close()
                writer.close()
        except (ConnectionError, asyncio.CancelledError):
            pass  # broken by one of its ends, or the test is over


@dataclass
class Bytes:
    """A number of bytes of the response, including its head."""

    left: int

    def let_through(self, piece: bytes) -> bytes:
        """Return the part of a piece that still passes."""
        passes = piece[: self.left]
        self.left -= len(passes)
        return passes

    @property
    def is_used_up(self) -> bool:
        return self.left == 0


def frames(count: int) -> "Until":
    """Return a share of this many complete frames, without a byte more."""
    return Until(count, b"\n\n")


@dataclass
class Until:
    """Everything up to and including the count-th occurrence of a word."""

    left: int
    word: bytes
    _end: bytes = b""

    def let_through(self, piece: bytes) -> bytes:
        """Return the part of a piece that still passes."""
        for at, byte in enumerate(piece, 1):
            self._end = (self._end + bytes([byte]))[-len(self.word) :]
            if self._end == self.word:
                self.left -= 1
                if self.left == 0:
                    return piece[:at]
        return piece

    @property
    def is_used_up(self) -> bool:
        return self.left == 0


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, share: "Share | None") -> bool:
    """Forward bytes until the end, or until the share is used up; return whether it was."""
    while piece := await reader.read(65536):
        # An empty share breaks here, too: a response shows that the request has arrived.
        writer.write(piece if share is None else share.let_through(piece))
        await writer.drain()
        if share is not None and share.is_used_up:
            return True
    return False


Share: TypeAlias = Bytes | Until
