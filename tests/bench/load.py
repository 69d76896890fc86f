"""The load client: keeps connections busy with streams, counts their frames as bytes, and times them."""

import asyncio
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
import uvloop

_TAIL = 1024
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Job:
    """What to ask of whom. A good answer has at least so many `frames`, and `ending` in its last bytes.

    Without a body it is a GET. `ramp` spreads the connections' starts over so many seconds; after `limit` seconds what
    is not done has failed.
    """

    port: int
    path: str
    body: dict[str, Any] | None
    streams: int
    connections: int
    frames: int
    ending: str
    ramp: float = 0.0
    limit: float = 60.0


@dataclass(slots=True)
class Tally:
    """What came of it; times in seconds, one for each stream."""

    done: int = 0
    failed: int = 0
    wall: float = 0.0
    first: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)


class Stream(asyncio.Protocol):
    """One connection, one answer after the other, as long as the load asks for more."""

    def __init__(self, load: "Load") -> None:
        self._load = load
        self._transport: Any = None
        self._busy = False
        self._started = 0.0
        self.frames = 0
        self._seen_first = False
        self._tail = b""
        self._good = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        if not self._load.take():
            self._transport.close()
            return
        self._busy, self.frames, self._seen_first, self._tail, self._good = True, 0, False, b"", False
        self._started = time.perf_counter()
        self._transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        if not self._tail:
            self._good = data.startswith(b"HTTP/1.1 200 ")
        self.count(data)
        if self.frames and not self._seen_first:
            self._seen_first = True
            self._load.tally.first.append(time.perf_counter() - self._started)
        if self._tail.endswith(_LAST_CHUNK):
            self._end()
        elif not self._good and b"\r\n\r\n" in data:  # an error page has a length and no chunks
            self._transport.close()

    def count(self, data: bytes) -> None:
        """Count the frame ends, also one that is cut between two reads, and keep the last bytes."""
        self.frames += data.count(b"\n\n") + (self._tail.endswith(b"\n") and data.startswith(b"\n"))
        self._tail = data[-_TAIL:] if len(data) >= _TAIL else (self._tail + data)[-_TAIL:]

    def _end(self) -> None:
        self._busy = False
        job = self._load.job
        good = self._good and self.frames >= job.frames and job.ending.encode() in self._tail
        self._load.ended(time.perf_counter() - self._started if good else None)
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._busy:
            self._load.ended(None)


class Load:
    """One job under way."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tally = Tally()
        body = b"" if job.body is None else orjson.dumps(job.body)
        self.request = (
            b"%b %b HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\n"
            b"accept: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"
        ) % (b"GET" if job.body is None else b"POST", job.path.encode(), job.port, len(body), body)
        self._left = job.streams
        self._over = asyncio.Event()

    def take(self) -> bool:
        """Say whether another stream shall begin."""
        self._left -= 1
        return self._left >= 0

    def ended(self, seconds: float | None) -> None:
        """Note one stream's end; None: it failed."""
        tally = self.tally
        if seconds is None:
            tally.failed += 1
        else:
            tally.done += 1
            tally.total.append(seconds)
        if tally.failed or tally.done == self.job.streams:
            self._over.set()

    async def run(self) -> Tally:
        """Ask until every stream has ended, one has failed, or the time is up."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.job.limit):
                dialling = [asyncio.create_task(self._dial(place)) for place in range(self.job.connections)]
                await self._over.wait()
                await asyncio.gather(*dialling)
        except (TimeoutError, OSError) as error:
            print(f"load: {type(error).__name__} {error}", file=sys.stderr)
        self.tally.wall = time.perf_counter() - started
        self.tally.failed = self.job.streams - self.tally.done
        return self.tally

    async def _dial(self, place: int) -> None:
        if self.job.ramp:
            await asyncio.sleep(self.job.ramp * place / self.job.connections)
        await asyncio.get_running_loop().create_connection(lambda: Stream(self), "127.0.0.1", self.job.port)


async def _run(job: Job) -> Tally:
    return await Load(job).run()


if __name__ == "__main__":
    for line in sys.stdin:
        print(orjson.dumps(asdict(uvloop.run(_run(Job(**orjson.loads(line)))))).decode(), flush=True)
