"""Servers that stop responding: a listener that never answers, and a proxy that a test can hold, cut and release."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

WAIT = 10.0
_COMMIT = b"COMMIT;"


@contextmanager
def silent_listener() -> Iterator[int]:
    """Accept connections and never respond; yield the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]  # the kernel accepts


class Proxy:
    """A proxy in front of a server on loopback.

    `hold()`: it accepts connections, forwards nothing and answers nothing. `cut()`: it resets all connections,
    including new ones. `release()`: it forwards again, first what it held. `lose_commits()` and `keep_commits()` make
    one connection silent at its next COMMIT, which is forwarded or not; then `commits` is set, and `drop_silent()`
    resets the connection.
    """

    def __init__(self, port: int) -> None:
        self._start_app = port
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._open.set()
        self._is_cut = False
        self._commits: str | None = None
        self.commits = threading.Event()
        self._silent: list[asyncio.StreamWriter] = []
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT)
        return self

    def __exit__(self, *error: object) -> None:
        self._do(self._stop.set)
        self._thread.join(WAIT)
        assert not self._thread.is_alive()

    def hold(self) -> None:
        self._do(self._open.clear)

    def cut(self) -> None:
        def cut() -> None:
            self._is_cut = True
            self._reset(*self._writers)

        self._do(cut)

    def release(self) -> None:
        def release() -> None:
            self._is_cut = False
            self._open.set()

        self._do(release)

    def lose_commits(self) -> None:
        """Forward the next COMMIT and drop its response."""
        self._commits = "forward"

    def keep_commits(self) -> None:
        """Drop the next COMMIT."""
        self._commits = "keep"

    def drop_silent(self) -> None:
        """Reset the silent connection on both sides."""
        self._do(lambda: self._reset(*self._silent))

    def _do(self, work: Callable[[], None]) -> None:
        done = threading.Event()

        def called() -> None:
            work()
            done.set()

        self._loop.call_soon_threadsafe(called)
        assert done.wait(WAIT)

    def _reset(self, *writers: asyncio.StreamWriter) -> None:
        for writer in writers:
            writer.transport.abort()

    # --- in its thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        self._is_cut = True
        self._open.set()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._reset(*self._writers)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._forward(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pair = [writer]
        self._writers.add(writer)
        try:
            await self._open.wait()
            if self._is_cut:
                return
            start_app, to_behind = await asyncio.open_connection("127.0.0.1", self._start_app)
            pair.append(to_behind)
            self._writers.add(to_behind)
            told = asyncio.Event()
            told.set()
            ways: list[Any] = [self._pump(reader, to_behind, told, pair), self._pump(start_app, writer, told, None)]
            await asyncio.wait([self._loop.create_task(way) for way in ways], return_when=asyncio.FIRST_COMPLETED)
        except ConnectionError:
            pass
        finally:
            self._reset(writer)
            if not self._is_cut:
                await self._open.wait()  # a server that is cut off does not notice disconnects
            self._reset(*pair)
            self._writers.difference_update(pair)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        told: asyncio.Event,
        pair: list[asyncio.StreamWriter] | None,
    ) -> None:
        """Forward one direction.

        `told` is awaited before the way back is forwarded; `pair` is set on the way to the server.
        """
        try:
            while data := await reader.read(65536):
                await self._open.wait()
                if pair is None:
                    await told.wait()
                elif self._commits is not None and _COMMIT in data:
                    is_kept, self._commits = self._commits == "keep", None
                    told.clear()
                    self._silent = list(pair)
                    self.commits.set()
                    if is_kept:
                        continue
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
